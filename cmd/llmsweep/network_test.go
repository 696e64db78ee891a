package main

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
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
	"llmsweep/sweep/simtest"
)

// simHandler returns a simulated server in real time.
func simHandler(t *testing.T) http.Handler {
	t.Helper()
	live, err := sim.Start(simtest.Preset(t, "demo"))
	noError(t, err)
	t.Cleanup(live.Close)
	return simserver.New(live, simserver.Options{})
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

// serving starts a server of net/http/httptest as edit changes it, by start.
func serving(t *testing.T, h http.Handler, start func(*httptest.Server), edit func(*httptest.Server)) *httptest.Server {
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog, s.TLS = log.New(io.Discard, "", 0), &tls.Config{}
	edit(s)
	start(s)
	t.Cleanup(s.Close)
	return s
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

// TestWays reaches a server in each way of testdata/ways.txt, from the command line to the run directory. No secret is
// shown, whatever fails.
func TestWays(t *testing.T) {
	short, err := os.MkdirTemp("", "ways") // a socket's path must be short
	noError(t, err)
	t.Cleanup(func() { os.RemoveAll(short) })
	simulated := simHandler(t)
	secure := func(edit func(*httptest.Server)) *httptest.Server {
		return serving(t, simulated, (*httptest.Server).StartTLS, edit)
	}
	trusted := secure(func(*httptest.Server) {})
	own := trusted.TLS.Certificates[0]
	expired := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(-time.Hour)}
	old, err := x509.CreateCertificate(rand.Reader, expired, expired, trusted.Certificate().PublicKey, own.PrivateKey)
	noError(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(own.PrivateKey)
	noError(t, err)
	planted := map[string]string{"proxy": canary("proxy"), "own key": base64.StdEncoding.EncodeToString(secret)[:64]}
	for _, place := range []string{"user", "query", "flag", "header", "key"} {
		planted[place] = canary(place)
	}
	file := func(name, kind string, text string) string {
		path := filepath.Join(t.TempDir(), name)
		noError(t, os.WriteFile(path, []byte("-----BEGIN "+kind+"-----\n"+text+"\n-----END "+kind+"-----\n"), 0o600))
		return path
	}
	inner := listening(t, "tcp", "127.0.0.1:0", simulated)
	proxy := listening(t, "tcp", "127.0.0.1:0", passing(&url.URL{Scheme: "http", Host: inner},
		strings.TrimPrefix(trusted.URL, "https://")))
	me := "http://me:" + url.QueryEscape(planted["proxy"]) + "@"
	names := strings.NewReplacer("$PREFIXED", "http://"+listening(t, "tcp", "127.0.0.1:0",
		http.StripPrefix("/llm/a", simulated)), "$IPV6", listening(t, "tcp", "[::1]:0", simulated),
		"$SOCKET", listening(t, "unix", filepath.Join(short, "s"), simulated),
		"$INNER", listening(t, "unix", filepath.Join(short, "p"), http.StripPrefix("/llm/a", simulated)),
		"$MUTUAL", secure(func(s *httptest.Server) { s.TLS.ClientAuth = tls.RequireAnyClientCert }).URL,
		"$EXPIRED", secure(func(s *httptest.Server) {
			s.TLS.Certificates = []tls.Certificate{{Certificate: [][]byte{old}, PrivateKey: own.PrivateKey}}
		}).URL,
		"$ONLY2", serving(t, simulated, (*httptest.Server).Start, func(s *httptest.Server) {
			s.Config.Protocols = &http.Protocols{}
			s.Config.Protocols.SetUnencryptedHTTP2(true)
		}).URL,
		"$LOCALHOST", strings.Replace(trusted.URL, "127.0.0.1", "localhost", 1), "$TLS", trusted.URL, "$PLAIN", inner,
		"$CERT", file("cert.pem", "CERTIFICATE", base64.StdEncoding.EncodeToString(own.Certificate[0])),
		"$KEY", file("key.pem", "PRIVATE KEY", base64.StdEncoding.EncodeToString(secret)),
		"$DAMAGED", file("key.pem", "PRIVATE KEY", planted["key"]),
		"$PROXY", me+proxy, "$NOPASSWORD", "http://"+proxy, "$DEAD", me+"127.0.0.1:9")
	for line := range strings.Lines(contentOf(t, "testdata/ways.txt")) {
		parts := strings.Split(strings.TrimSpace(line), ": ")
		if line[0] == '#' {
			continue
		}
		t.Run(parts[0], func(t *testing.T) {
			t.Parallel()
			words, want := strings.Fields(names.Replace(parts[1])), names.Replace(parts[2])
			if words[0] == "http://" {
				t.Skip("no IPv6 here")
			}
			if scheme, host, ok := strings.Cut(words[0], "://"); ok {
				user, query := url.PathEscape(planted["user"]), url.QueryEscape(planted["query"])
				words[0] = scheme + "://me:" + user + "@" + host + "?token=" + query
			}
			var errs strings.Builder
			c := console.NewConsole(t.Context(), io.Discard, &errs)
			w, through := c.World(), ""
			w.Proxy = func(*http.Request) (*url.URL, error) { return nil, nil }
			if last := len(words) - 1; strings.HasPrefix(parts[0], "proxy") {
				at, err := url.Parse(words[last])
				noError(t, err)
				words, w.Proxy, through = words[:last], http.ProxyURL(at), "http://"+at.Host
			}
			c = c.WithWorld(w)
			c.Dir = t.TempDir()
			code := executeAgain(brief(append([]string{"run", "--concurrency", "2", "--requests", "4", "--api-key",
				planted["flag"], "--header", "X-Token: " + planted["header"]}, words...)...), c)
			for _, file := range searched(t, c.Dir) {
				search(t, planted, file, contentOf(t, file))
			}
			search(t, planted, "error", errs.String())
			if text, failed := strings.CutPrefix(want, fmt.Sprint(code, " ")); failed && code != console.Done {
				if !strings.Contains(errs.String(), text) || strings.Count(errs.String(), "\n") != 1 {
					t.Errorf("exit %d, %s", code, errs.String())
				}
				return
			}
			if code != console.Done {
				t.Fatalf("exit %d, %s", code, errs.String())
			}
			run := open(t, filepath.Join(c.Dir, "llmsweep-run"))
			stage := run.Stages[0]
			if run.State != rundir.Complete || stage.Requests.OK != 4 || !strings.Contains(run.Target.URL, want) ||
				strings.HasSuffix(run.Target.URL, "/") || run.Command.Proxy != through {
				t.Errorf("%s, %d ok, %s by %s", run.State, stage.Requests.OK, run.Target.URL, run.Command.Proxy)
			}
			noted := slices.ContainsFunc(run.Target.Notes, func(n note.Note) bool { return n.Code == "probe.http2" })
			if strings.HasPrefix(parts[0], "HTTP/2") && (!noted || run.Client.Timestamps != "user" ||
				stage.Concurrency.Peak != 2) {
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
