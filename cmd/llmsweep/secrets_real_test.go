package main

import (
	"crypto/tls"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"llmsweep/client/redact"
	"llmsweep/cmd/llmsweep/console"
)

// TestNoSecretIsShownOverTheNetwork searches what TLS failures, the self-test and imports print and write for planted
// secrets.
func TestNoSecretIsShownOverTheNetwork(t *testing.T) {
	if !apart(t) {
		return
	}
	planted := map[string]string{}
	plant := func(place string) string {
		planted[place] = canary(place)
		return planted[place]
	}
	variables, _ := redact.SecretVariables()
	for i, name := range variables {
		t.Setenv(name, plant(fmt.Sprint("env", i)))
	}
	dir := t.TempDir()
	written := map[string]bool{}
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		written[path] = true
		return path
	}
	tell := func(want int, args ...string) string {
		t.Helper()
		var out, errs strings.Builder
		c := console.NewConsole(t.Context(), &out, &errs)
		c.Dir = dir
		if code := executeAgain(args, c); code != want {
			t.Errorf("%.200q: exit %d, want %d\n%s", args, code, want, errs.String())
		}
		search(t, planted, "output of "+strings.Join(args[:2], " "), out.String()+errs.String())
		return out.String() + errs.String()
	}

	simulated := simHandler(t, "")
	valid, cert, key := certificate(t, time.Now().Add(24*time.Hour))
	expired, expiredCert, _ := certificate(t, time.Now().Add(-time.Hour))
	secure := overTLS(t, simulated, &tls.Config{Certificates: []tls.Certificate{valid}})
	late := overTLS(t, simulated, &tls.Config{Certificates: []tls.Certificate{expired}})
	mutual := overTLS(t, simulated, &tls.Config{Certificates: []tls.Certificate{valid},
		ClientAuth: tls.RequireAnyClientCert})
	plain := "https://" + listening(t, "tcp", "127.0.0.1:0", simulated)
	with := func(u string) string {
		u = strings.Replace(u, "://", "://me:"+url.PathEscape(plant("user"))+"@", 1)
		return u + "/v1?token=" + url.QueryEscape(plant("query"))
	}
	secretKey := write("key.pem", "-----BEGIN PRIVATE KEY-----\n"+plant("key")+"\n-----END PRIVATE KEY-----\n")
	for name, c := range map[string]struct {
		url   string
		flags []string
		code  int
	}{
		"unknown authority": {url: secure, code: console.Failed},
		"another host": {url: strings.Replace(secure, "127.0.0.1", "localhost", 1), flags: []string{"--ca", cert},
			code: console.Failed},
		"expired":        {url: late, flags: []string{"--ca", expiredCert}, code: console.Failed},
		"no certificate": {url: mutual, flags: []string{"--ca", cert}, code: console.Failed},
		"no TLS":         {url: plain, code: console.Failed},
		"broken key": {url: mutual, flags: []string{"--ca", cert, "--cert", cert, "--key", secretKey},
			code: console.WrongUsage},
		"a key for authority": {url: secure, flags: []string{"--ca", secretKey}, code: console.WrongUsage},
		"a key twice":         {url: secure, flags: []string{"--cert", secretKey}, code: console.WrongUsage},
		"good":                {url: mutual, flags: []string{"--ca", cert, "--cert", cert, "--key", key}},
	} {
		args := append(brief("run", with(c.url), "--concurrency", "1", "--requests", "2", "--warmup", "1", "--out",
			filepath.Join(dir, strings.ReplaceAll(name, " ", "-"))),
			"--api-key", plant("flag"), "--header", "X-Token: "+plant("header"))
		if said := tell(c.code, append(args, c.flags...)...); said == "" {
			t.Errorf("%s: nothing", name)
		}
	}

	tell(console.WrongUsage, "selftest", "--streams", planted["env0"])
	if !testing.Short() {
		tell(console.Done, "selftest", "--quick", "--streams", "10")
	}

	// What other people publish may have secrets of theirs: in the address of the server and in the command that
	// started it.
	document := write("published.md", "# Results\n\n```\nvllm serve Qwen2-7B --api-key "+plant("launch")+
		" --tensor-parallel-size 2\n```\n\n"+
		"Target: http://me:"+plant("target")+"@gpu1:8000/v1?token="+planted["target"]+"\n\n"+
		"| Benchmark | Requests per Second | Request Latency | Time to First Token | Inter Token Latency | Output Token Throughput |\n"+
		"|---|---|---|---|---|---|\n| synchronous | 0.51 req/sec | 1.96 sec | 95.57 ms | 21.01 ms | 45.36 tokens/sec |\n")
	tell(console.Done, "import", document, "--out", filepath.Join(dir, "imported"))
	tell(console.Done, "audit", document)

	published, err := os.ReadFile("../../report/published/testdata/results/guidellm-0.8.1-sweep.json")
	if err != nil {
		t.Fatal(err)
	}
	result := write("guidellm.json", strings.ReplaceAll(string(published), "http://", "http://me:"+
		url.PathEscape(planted["target"])+"@"))
	tell(console.Done, "import", result, "--out", filepath.Join(dir, "imported-json"))

	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || written[path] {
			return err
		}
		b, err := os.ReadFile(path)
		search(t, planted, path, string(b))
		return err
	})
}

// search fails the test where a text has a planted secret in any form.
func search(t *testing.T, planted map[string]string, what, text string) {
	t.Helper()
	for place, hidden := range planted {
		for _, form := range secretForms(hidden) {
			if at := strings.Index(text, form); at >= 0 {
				t.Errorf("%s shows the secret of %s as %q in %q", what, place, form, text[max(0, at-100):min(len(text), at+60)])
				break
			}
		}
	}
}
