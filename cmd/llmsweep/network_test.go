package main

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"io/fs"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"llmsweep/client/note"
	"llmsweep/client/sim"
	simserver "llmsweep/client/sim/server"
	"llmsweep/cmd/llmsweep/console"
	"llmsweep/sweep/rundir"
)

// overNetwork runs a command line over the machine's own network, in real time, in a directory of its own.
func overNetwork(t *testing.T, proxy func(*http.Request) (*url.URL, error), args ...string) (dir string, code int,
	errs string) {
	t.Helper()
	var out, e strings.Builder
	c := console.NewConsole(t.Context(), &out, &e)
	w := c.World()
	w.Proxy = proxy
	c = c.In(w)
	c.Dir = t.TempDir()
	code = executeAgain(args, c)
	return c.Dir, code, e.String()
}

// simHandler returns a simulated server in real time, below a path.
func simHandler(t *testing.T, prefix string) http.Handler {
	t.Helper()
	config, err := sim.Preset("demo")
	noError(t, err)
	live, err := sim.Start(config)
	noError(t, err)
	t.Cleanup(live.Close)
	h := simserver.New(live, simserver.Options{})
	if prefix != "" {
		h = http.StripPrefix(prefix, h)
	}
	return h
}

// listening serves h on a listener, and returns its address; empty where this machine has none.
func listening(t *testing.T, network, address string, h http.Handler) string {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		return ""
	}
	s := &http.Server{Handler: h}
	go s.Serve(l)
	t.Cleanup(func() { s.Close() })
	return l.Addr().String()
}

// certificate makes a certificate for 127.0.0.1, signed by itself, and the files of it and its key.
func certificate(t *testing.T, until time.Time) (pair tls.Certificate, cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	noError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: until.Add(-48 * time.Hour), NotAfter: until,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		DNSNames:    []string{"llm.invalid"}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	noError(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	noError(t, err)
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for file, b := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der},
		key: {Type: "PRIVATE KEY", Bytes: secret}} {
		noError(t, os.WriteFile(file, pem.EncodeToMemory(b), 0o600))
	}
	if pair, err = tls.LoadX509KeyPair(cert, key); err != nil {
		t.Fatal(err)
	}
	return pair, cert, key
}

// overTLS serves h over TLS.
func overTLS(t *testing.T, h http.Handler, conf *tls.Config) string {
	s := httptest.NewUnstartedServer(h)
	s.TLS, s.Config.ErrorLog = conf, log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.URL
}

// searched returns the files below a directory, and fails the test if a text is in any of them.
func searched(t *testing.T, dir string, secrets ...string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files = append(files, path)
		text := contentOf(t, path)
		for _, secret := range secrets {
			if strings.Contains(text, secret) {
				t.Errorf("%s holds %q", path, secret)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return files
}

// TestWays reaches a server in each way that there is, from the command line to the run directory. No secret is shown,
// whatever fails.
func TestWays(t *testing.T) {
	valid, cert, key := certificate(t, time.Now().Add(time.Hour))
	expired, expiredCert, _ := certificate(t, time.Now().Add(-time.Hour))
	keyText, err := os.ReadFile(key)
	noError(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(valid.Leaf)
	short, err := os.MkdirTemp("", "ways") // a socket's path must be short
	noError(t, err)
	t.Cleanup(func() { os.RemoveAll(short) })
	simulated := simHandler(t, "")
	inner, _ := url.Parse("http://" + listening(t, "tcp", "127.0.0.1:0", simulated))
	tlsInner := overTLS(t, simulated, &tls.Config{Certificates: []tls.Certificate{valid}})
	proxy := "http://me:hunter2@" + listening(t, "tcp", "127.0.0.1:0",
		passing(inner, strings.TrimPrefix(tlsInner, "https://")))
	_, dead, _ := strings.Cut(proxy, "@")
	only2 := httptest.NewUnstartedServer(simulated)
	only2.Config.Protocols = &http.Protocols{}
	only2.Config.Protocols.SetUnencryptedHTTP2(true)
	only2.Start()
	t.Cleanup(only2.Close)
	through := func(at string) func(*http.Request) (*url.URL, error) {
		u, _ := url.Parse(at)
		return http.ProxyURL(u)
	}
	planted := map[string]string{}
	for _, place := range []string{"user", "query", "flag", "header", "key"} {
		planted[place] = canary(place)
	}
	damagedKey := filepath.Join(t.TempDir(), "key.pem")
	damaged := "-----BEGIN PRIVATE KEY-----\n" + planted["key"] + "\n-----END PRIVATE KEY-----\n"
	noError(t, os.WriteFile(damagedKey, []byte(damaged), 0o600))
	mutual := overTLS(t, simulated, &tls.Config{Certificates: []tls.Certificate{valid},
		ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool})
	for name, tt := range map[string]struct {
		url   string
		flags []string
		proxy string
		shown string // target.url in run.json
		fails string // a part of the error; "" for success
		note  string // code of a note
		code  int    // of a failure; 0 for that of one
	}{
		"prefix and slash": {url: "http://" + listening(t, "tcp", "127.0.0.1:0", simHandler(t, "/llm/a")) + "/llm/a/v1/",
			shown: "/llm/a"},
		"IPv6": {url: "http://" + listening(t, "tcp", "[::1]:0", simulated), shown: "http://[::1]:"},
		"Unix socket": {url: "unix:" + listening(t, "unix", filepath.Join(short, "s"), simulated), shown: "unix:" + short +
			"/s"},
		"Unix socket with a prefix": {url: "unix:" + listening(t, "unix", filepath.Join(short, "p"), simHandler(t, "/llm")) +
			":/llm/",
			shown: "unix:" + short + "/p:/llm"},
		"mutual TLS": {url: mutual, flags: []string{"--ca", cert, "--cert", cert, "--key", key},
			shown: "https://127.0.0.1:"},
		"no certificate": {url: mutual, flags: []string{"--ca", cert}, fails: "ertificate"},
		"broken key": {url: mutual, flags: []string{"--ca", cert, "--cert", cert, "--key", damagedKey}, fails: "key.pem",
			code: console.WrongUsage},
		"a key as authority": {url: tlsInner, flags: []string{"--ca", damagedKey}, fails: "key.pem",
			code: console.WrongUsage},
		"a key alone": {url: tlsInner, flags: []string{"--cert", damagedKey}, fails: "it has no certificate",
			code: console.WrongUsage},
		"no TLS": {url: strings.Replace(inner.String(), "http", "https", 1), fails: "TLS"},
		"expired": {url: overTLS(t, simulated, &tls.Config{Certificates: []tls.Certificate{expired}}),
			flags: []string{"--ca", expiredCert},
			fails: "Renew it, or see whether this machine's clock is right"},
		"unknown authority": {url: tlsInner, fails: "Trust its authority with --ca FILE"},
		"another host": {url: strings.Replace(tlsInner, "127.0.0.1", "localhost", 1), flags: []string{"--ca", cert},
			fails: "its certificate is for llm.invalid, 127.0.0.1, not for localhost. Use that name in the URL"},
		"HTTP/2 by itself": {url: only2.URL, shown: "http://127.0.0.1:", note: "probe.http2"},
		"HTTP/2 forbidden": {url: only2.URL, flags: []string{"--http", "1"}, fails: "/v1/models"},
		"HTTP/2 asked for": {url: tlsInner, flags: []string{"--http", "2", "--insecure"},
			fails: "the server does not speak HTTP/2. Leave out --http 2."},
		"proxy":      {url: "http://llm.invalid/", proxy: proxy, shown: "http://llm.invalid"},
		"proxy, TLS": {url: "https://llm.invalid", flags: []string{"--ca", cert}, proxy: proxy, shown: "https://llm.invalid"},
		"proxy, no password": {url: "https://llm.invalid", proxy: "http://" + dead,
			fails: "(connections go through the proxy http://" + dead +
				", set by HTTP_PROXY or HTTPS_PROXY; NO_PROXY excepts a host)"},
		"proxy, dead": {url: "http://llm.invalid", proxy: "http://me:hunter2@127.0.0.1:9",
			fails: "connection refused (on the way to the proxy)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if strings.HasSuffix(tt.url, "http://") {
				t.Skip("no IPv6 here")
			}
			by := func(*http.Request) (*url.URL, error) { return nil, nil }
			if tt.proxy != "" {
				by = through(tt.proxy)
			}
			at := tt.url
			if scheme, host, ok := strings.Cut(at, "://"); ok {
				user, query := url.PathEscape(planted["user"]), url.QueryEscape(planted["query"])
				at = scheme + "://me:" + user + "@" + host + "?token=" + query
			}
			args := slices.Concat(brief("run", at, "--concurrency", "2", "--requests", "4", "--api-key", planted["flag"],
				"--header", "X-Token: "+planted["header"]), tt.flags)
			dir, code, errs := overNetwork(t, by, args...)
			files := searched(t, dir, "hunter2", string(keyText), strings.Split(string(keyText), "\n")[1])
			for _, file := range files {
				search(t, planted, file, contentOf(t, file))
			}
			if search(t, planted, "error", errs); strings.Contains(errs, "hunter2") {
				t.Error(errs)
			}
			if tt.fails != "" {
				if code != cmp.Or(tt.code, console.Failed) || !strings.Contains(errs, tt.fails) || strings.Count(errs, "\n") != 1 {
					t.Errorf("exit %d, %s", code, errs)
				}
				return
			}
			if code != console.Done {
				t.Fatalf("exit %d, %s", code, errs)
			}
			run := open(t, filepath.Join(dir, "llmsweep-run"))
			stage := run.Stages[0]
			if run.State != rundir.Complete || stage.Requests.OK != 4 || !strings.Contains(run.Target.URL, tt.shown) ||
				strings.HasSuffix(run.Target.URL, "/") {
				t.Errorf("%s, %d ok, %s", run.State, stage.Requests.OK, run.Target.URL)
			}
			if tt.proxy != "" && run.Command.Proxy != "http://"+dead {
				t.Errorf("proxy %s", run.Command.Proxy)
			}
			noted := slices.ContainsFunc(run.Target.Notes, func(n note.Note) bool { return n.Code == tt.note })
			if tt.note != "" && (!noted || run.Client.Timestamps != "user" || stage.Concurrency.Peak != 2) {
				t.Errorf("notes %v, timestamps %s, %v in flight", run.Target.Notes, run.Client.Timestamps, stage.Concurrency.Peak)
			}
		})
	}
}

// passing is a proxy that asks for a password. It passes plain requests to one address, and tunnels to another.
func passing(plain *url.URL, tunnel string) http.Handler {
	reverse := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(plain) }, FlushInterval: -1}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Proxy-Authorization") == "" {
			w.WriteHeader(http.StatusProxyAuthRequired)
			return
		}
		if r.Method != http.MethodConnect {
			// An answer may begin before the request is read to its end. Without this, that ends the connection to the
			// server.
			if err := http.NewResponseController(w).EnableFullDuplex(); err != nil {
				panic(err)
			}
			reverse.ServeHTTP(w, r)
			return
		}
		far, err := net.Dial("tcp", tunnel)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		near, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			far.Close()
			return
		}
		io.WriteString(near, "HTTP/1.1 200 OK\r\n\r\n")
		go func() { io.Copy(far, near); far.Close() }()
		io.Copy(near, far)
		near.Close()
	})
}
