package client

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// authority signs certificates for tests.
type authority struct {
	t    *testing.T
	own  *tls.Certificate // nil: what it signs is signed by itself
	file string           // the authority's certificate
}

func newAuthority(t *testing.T) *authority {
	a := &authority{t: t}
	own := a.sign(&x509.Certificate{Subject: pkix.Name{CommonName: "test authority"}, IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	a.own = &own
	a.file, _ = a.files(own)
	return a
}

// sign returns a certificate that is valid today, unless the template says otherwise.
func (a *authority) sign(c *x509.Certificate) tls.Certificate {
	c.SerialNumber = big.NewInt(time.Now().UnixNano())
	if c.NotAfter.IsZero() {
		c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	by, with := c, any(key)
	if a.own != nil {
		by, with = a.own.Leaf, a.own.PrivateKey
	}
	der, err := x509.CreateCertificate(rand.Reader, c, by, &key.PublicKey, with)
	if err != nil {
		a.t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

// leaf returns a certificate for 127.0.0.1 as edit changes it.
func (a *authority) leaf(edit func(*x509.Certificate)) tls.Certificate {
	c := &x509.Certificate{Subject: pkix.Name{CommonName: "leaf"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	if edit != nil {
		edit(c)
	}
	return a.sign(c)
}

// files writes a certificate and its key.
func (a *authority) files(c tls.Certificate) (cert, key string) {
	der, err := x509.MarshalPKCS8PrivateKey(c.PrivateKey)
	if err != nil {
		a.t.Fatal(err)
	}
	write := func(name, kind string, content []byte) string {
		file := filepath.Join(a.t.TempDir(), name)
		if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}), 0o600); err != nil {
			a.t.Fatal(err)
		}
		return file
	}
	return write("cert.pem", "CERTIFICATE", c.Certificate[0]), write("key.pem", "PRIVATE KEY", der)
}

// secureServer serves a good answer over TLS.
func secureServer(t *testing.T, conf *tls.Config, h http.HandlerFunc) string {
	s := httptest.NewUnstartedServer(h)
	s.TLS, s.Config.ErrorLog = conf, log.New(io.Discard, "", 0)
	s.EnableHTTP2 = len(conf.NextProtos) > 0 && conf.NextProtos[0] == "h2"
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.URL
}

// goodAnswer streams two tokens.
func goodAnswer(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "text/event-stream")
	say(w, 0, events("role A"))
	say(w, 0, events("B finish usage [DONE]"))
}

// Every way in which TLS fails has its class, cause and message; and each has a way to succeed.
func TestTLS(t *testing.T) {
	a, other := newAuthority(t), newAuthority(t)
	selfSigned := &authority{t: t}
	client := func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth} }
	cert, key := a.files(a.leaf(client))
	foreignCert, foreignKey := other.files(other.leaf(client))
	pool := x509.NewCertPool()
	pool.AddCert(a.own.Leaf)
	expired := time.Date(2024, 5, 6, 7, 8, 0, 0, time.UTC)
	mutual := func() *tls.Config {
		return &tls.Config{Certificates: []tls.Certificate{a.leaf(nil)}, ClientAuth: tls.RequireAndVerifyClientCert,
			ClientCAs: pool}
	}
	plain := func(edit func(*x509.Certificate)) *tls.Config {
		return &tls.Config{Certificates: []tls.Certificate{a.leaf(edit)}}
	}
	const untrusted = "its certificate is not trusted: "
	const unknown = untrusted + "signed by an unknown authority"
	old := &tls.Config{Certificates: []tls.Certificate{a.leaf(nil)}, MaxVersion: tls.VersionTLS11,
		MinVersion: tls.VersionTLS10}
	between := func(from, to time.Time) *tls.Config {
		return plain(func(c *x509.Certificate) { c.NotBefore, c.NotAfter = from, to })
	}
	named := plain(func(c *x509.Certificate) { c.IPAddresses, c.DNSNames = nil, []string{"a.example", "b.example"} })
	trusting := Options{CAFile: a.file}
	for name, tt := range map[string]struct {
		server  *tls.Config
		o       Options
		cause   Cause
		message string // "" for success
	}{
		"trusted":        {plain(nil), trusting, 0, ""},
		"unknown CA":     {plain(nil), Options{}, CauseUntrusted, unknown},
		"insecure":       {plain(nil), Options{Insecure: true}, 0, ""},
		"the other's CA": {plain(nil), Options{CAFile: other.file}, CauseUntrusted, unknown},
		"self-signed": {&tls.Config{Certificates: []tls.Certificate{selfSigned.leaf(nil)}}, Options{}, CauseUntrusted,
			untrusted + "it is signed by itself"},
		"expired": {between(expired.AddDate(-1, 0, 0), expired), trusting, CauseExpired,
			"its certificate expired on 6 May 2024 07:08 UTC"},
		"not yet": {between(expired.AddDate(100, 0, 0), expired.AddDate(101, 0, 0)), trusting, CauseExpired,
			"its certificate is not valid before 6 May 2124 07:08 UTC"},
		"another host":   {named, trusting, CauseWrongHost, "its certificate is for a.example, b.example, not for 127.0.0.1"},
		"TLS 1.1":        {old, trusting, CauseOldTLS, oldTLS},
		"no certificate": {mutual(), trusting, CauseNeedsCert, "the server asks for a certificate of the client"},
		"mutual":         {mutual(), Options{CAFile: a.file, CertFile: cert, KeyFile: key}, 0, ""},
		"of another authority": {mutual(), Options{CAFile: a.file, CertFile: foreignCert, KeyFile: foreignKey},
			CauseNeedsCert,
			"the server does not accept the client's certificate, or misses one (unknown certificate authority)"},
	} {
		t.Run(name, func(t *testing.T) {
			tt.o.URL = secureServer(t, tt.server, goodAnswer)
			r := do(t, tt.o)
			if tt.message == "" {
				if r.Status != StatusOK {
					t.Errorf("%s: %s", r.Class, r.Message)
				}
				return
			}
			lost := tt.cause == CauseNeedsCert && r.Class == ClassReset // the reset overtook the alert
			if !lost && (r.Class != ClassConnect || r.Message != tt.message) {
				t.Errorf("%s: %s, want connect: %s", r.Class, r.Message, tt.message)
			}
			var f *Failure
			if _, err := newClient(t, tt.o).Fetch(t.Context(), time.Minute, "GET", "/", nil); !errors.As(err, &f) || !lost &&
				f.Cause != tt.cause && f.Class != ClassReset {
				t.Errorf("cause %+v, want %v", f, tt.cause)
			}
		})
	}
}

// Files that are no certificate and no key are refused in one line, which shows nothing of a key.
func TestCertificateFiles(t *testing.T) {
	a := newAuthority(t)
	cert, key := a.files(a.leaf(nil))
	_, otherKey := a.files(a.leaf(nil))
	both := filepath.Join(t.TempDir(), "both.pem")
	b1, _ := os.ReadFile(cert)
	b2, _ := os.ReadFile(key)
	os.WriteFile(both, append(b1, b2...), 0o600)
	for name, tt := range map[string]struct {
		o    Options
		want string // FILE stands for a file's path; "" for success
	}{
		"both":     {Options{CertFile: cert, KeyFile: key}, ""},
		"one file": {Options{CertFile: both}, ""},
		"key alone": {Options{KeyFile: key},
			"--key: the certificate that belongs to the key is missing; name it with --cert"},
		"no key":    {Options{CertFile: cert}, "--cert FILE: it has no key; name the key's file with --key"},
		"wrong key": {Options{CertFile: cert, KeyFile: otherKey}, "--cert FILE: it does not belong to the key in FILE"},
		"swapped": {Options{CertFile: key, KeyFile: cert},
			"--cert FILE: it has no certificate; want a PEM file (-----BEGIN CERTIFICATE-----)"},
		"missing":      {Options{CertFile: "/nowhere", KeyFile: key}, "--cert: open /nowhere: no such file or directory"},
		"missing key":  {Options{CertFile: cert, KeyFile: "/nowhere"}, "--key: open /nowhere: no such file or directory"},
		"HTTP version": {Options{HTTP: "3"}, "--http 3: there are 1, 2 and auto"},
	} {
		tt.o.URL = "https://localhost"
		_, err := New(tt.o)
		got := ""
		if err != nil {
			got = strings.NewReplacer(cert, "FILE", key, "FILE", otherKey, "FILE").Replace(err.Error())
		}
		if got = strings.Replace(got, "The system cannot find the file specified.", "no such file or directory",
			1); got != tt.want {
			t.Errorf("%s: got  %s\nwant %s", name, got, tt.want)
		}
	}
}

// HTTP/2, over TLS and without it: the same answer, with instants of this program's own.
func TestHTTP2(t *testing.T) {
	a := newAuthority(t)
	var versions atomic.Value
	answer := func(w http.ResponseWriter, r *http.Request) { versions.Store(r.Proto); goodAnswer(w, r) }
	clear := httptest.NewUnstartedServer(http.HandlerFunc(answer))
	clear.Config.Protocols = &http.Protocols{}
	clear.Config.Protocols.SetUnencryptedHTTP2(true)
	clear.Start()
	defer clear.Close()
	overTLS := secureServer(t, &tls.Config{Certificates: []tls.Certificate{a.leaf(nil)}, NextProtos: []string{"h2"}},
		answer)
	for _, u := range []string{clear.URL, overTLS} {
		c := newClient(t, Options{URL: u, HTTP: "2", CAFile: a.file})
		if err := c.Warm(t.Context(), 3); err != nil {
			t.Error(err)
		}
		for n := range 3 {
			r := doWith(t, t.Context(), c)
			if r.Status != StatusOK || r.OutputTokens != 5 || r.Chunks() != 2 || versions.Load() != "HTTP/2.0" {
				t.Fatalf("%s %s %s over %v", u, r.Class, r.Message, versions.Load())
			}
			if r.Sent < 0 || r.Headers < r.Sent || r.FirstToken < r.Headers || r.End < r.LastToken ||
				(r.Dial > 0) != (n == 0) || r.ReadDelay.Reads != 0 {
				t.Errorf("%s: instants %+v", u, r)
			}
		}
		if c.Timestamps() != "user" || !c.HTTP2() {
			t.Errorf("timestamps %s", c.Timestamps())
		}
	}
	settings := serveTCP(t, false, func(c *serverConn, _ int) bool { // a server that speaks nothing else says so at once
		c.in.Discard(c.in.Buffered())
		c.Write([]byte("\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x64\r\n"))
		return false
	})
	if r := do(t, Options{URL: settings.url}); r.Class != ClassMalformed || r.Message != onlyHTTP2 {
		t.Errorf("%s %s", r.Class, r.Message)
	}
	// A server without it.
	old := httptest.NewServer(http.HandlerFunc(answer))
	defer old.Close()
	for _, u := range []string{old.URL, secureServer(t, &tls.Config{Certificates: []tls.Certificate{a.leaf(nil)}},
		answer)} {
		r := do(t, Options{URL: u, HTTP: "2", CAFile: a.file})
		if r.Class == ClassReset && u == old.URL {
			continue // it closed the connection before its answer to the preface was read
		}
		if r.Class != ClassConnect || r.Message != "the server does not speak HTTP/2" {
			t.Errorf("%s: %s %s", u, r.Class, r.Message)
		}
	}
}

// A Unix socket, with and without a prefix.
func TestUnixSocket(t *testing.T) {
	dir, err := os.MkdirTemp("", "sock") // t.TempDir may be longer than a socket's path can be
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	socket := filepath.Join(dir, "s")
	var path atomic.Value
	serveOn(t, "unix", socket, func(w http.ResponseWriter, r *http.Request) {
		path.Store(r.Host + r.URL.Path)
		goodAnswer(w, r)
	})
	for _, tt := range [][2]string{
		{"unix:" + socket, "/v1"}, {"unix://" + socket, "/v1"}, {"unix:" + socket + ":/", "/v1"},
		{"unix:" + socket + ":/llm/v2/", "/llm/v2"},
	} {
		c, endpoint := newClient(t, Options{URL: tt[0]}), tt[1]+"/chat/completions"
		r := doWith(t, t.Context(), c)
		if r.Status != StatusOK || path.Load() != "localhost"+endpoint || c.Endpoint() != "unix:"+socket+":"+endpoint {
			t.Errorf("%s: %s %s, asked for %v of %s", tt[0], r.Class, r.Message, path.Load(), c.Endpoint())
		}
	}
	if r := do(t, Options{URL: "unix:" + socket + "2"}); r.Class != ClassConnect ||
		!strings.Contains(r.Message, "no such file") {
		t.Errorf("%s %s", r.Class, r.Message)
	}
}

// Requests go through the proxy that the options name, with its password, which no message shows.
func TestProxies(t *testing.T) {
	var asked atomic.Value
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Store(r.Method + " " + r.URL.String() + " " + r.Header.Get("Proxy-Authorization"))
		switch {
		case r.Header.Get("Proxy-Authorization") == "":
			w.WriteHeader(http.StatusProxyAuthRequired)
		case r.Method == http.MethodConnect:
			w.WriteHeader(http.StatusBadGateway)
		default:
			goodAnswer(w, r)
		}
	}))
	defer proxy.Close()
	through := func(user string) func(*http.Request) (*url.URL, error) {
		u, _ := url.Parse(strings.Replace(proxy.URL, "//", "//"+user, 1))
		return http.ProxyURL(u)
	}
	for _, tt := range []struct{ url, user, asked, class, message string }{
		{"http://llm.invalid/x", "me:hunter2@", "POST http://llm.invalid/x/v1/chat/completions Basic bWU6aHVudGVyMg==", "",
			""},
		{"http://llm.invalid", "", "POST http://llm.invalid/v1/chat/completions ", "http_4xx",
			"407 Proxy Authentication Required"},
		{"https://llm.invalid", "", "CONNECT //llm.invalid:443 ", "connect",
			"the proxy asks for a user name and a password, or does not accept those that it was given"},
		{"https://llm.invalid", "me:hunter2@", "CONNECT //llm.invalid:443 Basic bWU6aHVudGVyMg==", "connect",
			"the proxy refuses to connect: 502 Bad Gateway"},
	} {
		r := do(t, Options{URL: tt.url, Proxy: through(tt.user)})
		got := []string{asked.Load().(string), string(r.Class), r.Message}
		if d := cmp.Diff([]string{tt.asked, tt.class, tt.message}, got); d != "" {
			t.Errorf("%s: -want +got\n%s", tt.url, d)
		}
	}
}

func TestIPv6(t *testing.T) {
	c := newClient(t, Options{URL: serveOn(t, "tcp", "[::1]:0", goodAnswer)})
	if err := c.Warm(t.Context(), 1); err != nil {
		t.Error(err)
	}
	if r := doWith(t, t.Context(), c); r.Status != StatusOK {
		t.Errorf("%s %s", r.Class, r.Message)
	}
}

// serveOn serves on a network that this machine may lack: then it skips the test. It returns the address.
func serveOn(t *testing.T, network, address string, h http.HandlerFunc) string {
	l, err := net.Listen(network, address)
	if err != nil {
		t.Skip(err)
	}
	s := &http.Server{Handler: h}
	go s.Serve(l)
	t.Cleanup(func() { s.Close() })
	return l.Addr().String()
}
