package main

import (
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"llmsweep/client/redact"
	simserver "llmsweep/client/sim/server"
	"llmsweep/cmd/llmsweep/console"
	"llmsweep/cmd/llmsweep/flags"
	"llmsweep/sweep/rundir"
)

// canary returns a secret that appears nowhere else. It has characters that URLs, JSON and HTML write in other ways.
func canary(place string) string { return "cnry-" + place + "-7f/3+a&\"9" }

// secretForms returns the forms in which a secret may appear.
func secretForms(s string) []string {
	quoted := fmt.Sprintf("%q", s)
	return []string{
		s, url.QueryEscape(s), url.PathEscape(s), base64.StdEncoding.EncodeToString([]byte(s)),
		base64.RawURLEncoding.EncodeToString([]byte(s)), strings.Trim(quoted, `"`), html.EscapeString(s),
		strings.ReplaceAll(s, "/", `\/`), s[:12], // its beginning shows it too
	}
}

// echoing repeats all that it is sent, in many forms: in the names of models, in versions, errors, answers, and
// redirects.
func echoing(good http.Handler, elsewhere string) http.Handler {
	var asked atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		said := ""
		for _, name := range slices.Sorted(maps.Keys(r.Header)) {
			for _, v := range r.Header[name] {
				_, token, _ := strings.Cut(v, " ")
				said += strings.Join([]string{v, token, url.QueryEscape(v), url.PathEscape(token),
					base64.StdEncoding.EncodeToString([]byte(v)), html.EscapeString(v)}, " ") + " "
			}
		}
		if user, password, ok := r.BasicAuth(); ok {
			said += user + ":" + password + " http://" + user + ":" + url.PathEscape(password) + "@host/ "
		}
		said += r.URL.String() + " " + r.URL.Query().Get("token")
		// Most of it must fit into a message: the secrets stand at the front in some answers, and behind in others.
		parts := strings.Fields(said)
		switch n := asked.Add(1); {
		case r.URL.Path == "/version":
			fmt.Fprintf(w, `{"version":%q}`, said)
			return
		case r.Method != http.MethodPost || n < 12:
		case n%5 == 0:
			w.Header().Set("Retry-After", said)
			http.Error(w, parts[int(n)%len(parts)]+" "+said, http.StatusTooManyRequests)
			return
		case n%5 == 1:
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, `{"error":{"message":%q,"type":%q,"code":%q}}`, parts[int(n)%len(parts)]+" "+said, said, said)
			return
		case n%5 == 2:
			w.Header().Set("Location", elsewhere+"?back="+url.QueryEscape(said))
			w.WriteHeader(http.StatusTemporaryRedirect)
			return
		case n%5 == 3:
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":%q},\"finish_reason\":%q}]}\n\ndata: {\"error\":{\"message\":%q}}\n\n", said, said, said)
			return
		}
		good.ServeHTTP(w, r)
	})
}

// sixColumns is the head of a published table.
const sixColumns = "| Benchmark | Requests per Second | Request Latency | Time to First Token | Inter Token Latency | " +
	"Output Token Throughput |\n|---|---|---|---|---|---|\n"

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

// TestNoSecretIsShown plants a secret wherever one can be given, measures servers that repeat them, and searches all
// that every command prints and writes.
func TestNoSecretIsShown(t *testing.T) {
	notInShort(t)
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
	inBubble(t, dir, func(t *testing.T, w *world) {
		inputs := map[string]bool{}
		input := func(name, text string) string {
			path := w.write(name, text)
			inputs[path] = true
			return path
		}
		w.env = map[string]string{"GITHUB_STEP_SUMMARY": w.path("summary.md"), "HTTP_PROXY": "http://me:" + plant("proxy") +
			"@proxy:1"}
		for i, name := range variables {
			w.env[name] = planted[fmt.Sprint("env", i)]
		}
		search := func(what, text string) {
			t.Helper()
			search(t, planted, what, text)
		}
		tell := func(want int, args ...string) (out, errs string) {
			t.Helper()
			code, out, errs := w.llmsweep(args...)
			if want >= 0 && code != want {
				t.Errorf("%.200q: exit %d, want %d\n%s", args, code, want, errs)
			}
			search(fmt.Sprintf("output of %.60q", args), out)
			search(fmt.Sprintf("errors of %.60q", args), errs)
			return out, errs
		}
		var leaked atomic.Int64
		elsewhere, _ := w.server(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { leaked.Add(1) }))
		fresh := func() string { // its first answers are good: the preflight succeeds
			u, _ := w.server(echoing(w.simulated(simserver.Options{}), elsewhere))
			return u
		}
		server := fresh()
		_, at, _ := strings.Cut(server, "://")
		user, query := plant("user"), plant("query")
		withUser := "http://me:" + url.PathEscape(user) + "@" + at + "/v1?token=" + url.QueryEscape(query)
		body := fmt.Sprintf(`{"top_p":0.9,"metadata":{"api_key":%q},"user":%q}`, plant("body"), planted["env0"])
		asFlags := []string{"--header", "X-Token: " + plant("header"), "--body", body, "--max-error-rate", "1"}

		run := append(brief("run", withUser, "--concurrency", "2", "--requests", "30", "--out", w.path("run")), asFlags...)
		tell(-1, run...)
		tell(-1, append(quick("sweep", fresh(), "--out", w.path("sweep"), "--api-key="+plant("flag"), "--header=Cookie: "+
			plant("cookie")), "--max-error-rate", "1")...)
		tell(-1, append(brief("run", fresh(), "--api", "messages", "--concurrency", "1", "--requests", "4", "--out",
			w.path("messages")), "--api-key", planted["flag"])...)
		tell(-1, pairwise(fresh(), "me:"+url.PathEscape(user)+"@"+at, "--rate", "4", "--out", w.path("pair"),
			"--max-error-rate", "1")...)
		tell(-1, append(run, "--dry-run")...)
		tell(-1, "run", "--config", input("good.yaml", "url: '"+withUser+"'\napi-key: '"+plant("configkey")+
			"'\nheader: {X-Other: '"+plant("configheader")+"'}\n"),
			"--concurrency", "1", "--requests", "2", "--warmup", "1", "--no-selftest", "--max-error-rate", "1", "--out",
			w.path("configured"))

		// What goes wrong.
		strict, _ := w.server(w.simulated(simserver.Options{APIKey: "another"}))
		redirecting, _ := w.server(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			http.Redirect(rw, r, elsewhere+"/?h="+url.QueryEscape(r.Header.Get("Authorization")), http.StatusFound)
		}))
		missing, _ := w.server(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			http.Error(rw, "no "+r.URL.String()+" for "+r.Header.Get("X-Token"), http.StatusNotFound)
		}))
		for _, u := range []string{
			"http://me:" + url.PathEscape(user) + "@127.0.0.1:9/?token=" + url.QueryEscape(query), strict, redirecting, missing,
			"ftp://me:" + user + "@" + at + "/?token=" + query, "http://me:" + user + "@" + at, "http://me:" + user +
				"@x/?token=" + query, "http://" + user + "@x:y",
			"me:" + user + "@" + at + "x", "unix:/nowhere:/v1?token=" + query + "%zz", server + "/?token=" + query + "\n",
		} {
			// Where the server's next answers happen to be good, the run begins: a self-test would wait for real time.
			_, errs := tell(-1, append([]string{"run", u, "--concurrency", "1", "--requests", "4", "--no-selftest"},
				asFlags...)...)
			if errs == "" {
				t.Errorf("%q: no error", u)
			}
		}
		flag, header := planted["flag"], planted["header"]
		for _, args := range [][]string{
			{"run", server, "--api-key", "-" + flag}, {"run", server, "--header", "X-Token:", header},
			{"run", server, "--header", header}, {"run", server, "--concurrency", "1", "--header", "a " + header + ": x"},
			{"run", server, "--no-such-flag", "--api-key", flag, flag},
			{"run", server, "--concurrency", "1", "--body", `{"api_key": "` + flag + `"`, "--api-key", flag},
			{"sim", "--require-key", plant("simflag"), "--no-such-flag=" + planted["simflag"]},
		} {
			tell(console.WrongUsage, args...)
		}
		planted["config"] = canary("config")
		for i, text := range []string{"api-key: ['%s']", "api-key: {a: '%s'}", "api-ky: '%s'", "api-key: '%s", "header: ['%s']",
			"api-key: &a '%s' x", "api-key '%s'", "'%s'", "api-key: @%s"} {
			config := input(fmt.Sprintf("wrong%d.yaml", i), fmt.Sprintf(text+"\n", planted["config"]))
			tell(-1, "run", server, "--concurrency", "1", "--config", config)
		}

		// Several servers, a run that is interrupted and continued, and what is made from runs.
		secretly := func(server string) string {
			_, at, _ := strings.Cut(server, "://")
			return "http://me:" + url.PathEscape(user) + "@" + at + "/v1?token=" + url.QueryEscape(query)
		}
		tell(-1, append(brief("run", secretly(fresh()), secretly(fresh()), "--concurrency", "2", "--requests", "30", "--out",
			w.path("replicas")), asFlags...)...)
		w.interruptAfter(3 * time.Second)
		// Which of its answers the server breaks depends on the order of requests, so that the run may end before the
		// interrupt.
		tell(-1, append(brief("run", secretly(fresh()), "--concurrency", "1,2", "--requests", "300", "--out", w.path("cut")),
			asFlags...)...)
		w.again()
		tell(console.WrongUsage, "resume", w.path("cut"))
		tell(console.WrongUsage, "resume", w.path("cut"), "--url", withUser, "--api-key", planted["flag"])
		tell(console.WrongUsage, "resume", w.path("cut"), "--url", "ftp://me:"+user+"@"+at, "--body", body, "--header",
			"X-Token: "+planted["header"])
		tell(-1, "resume", w.path("cut"), "--url", secretly(fresh()), "--body", body, "--header", "X-Token: "+
			planted["header"], "--api-key", planted["flag"])
		if run := open(t, w.path("cut")); run.State == rundir.Interrupted {
			t.Error("the run was not continued")
		}
		for _, words := range [][]string{{"help"}, {"help", "hosted"}, {"run", "--help"}, {"--version"}} {
			tell(-1, words...)
		}

		// What other people publish may have secrets of theirs: in the address of the server and in the command that
		// started it.
		document := input("published.md", "# Results\n\n```\nvllm serve Qwen2-7B --api-key "+plant("launch")+
			" --tensor-parallel-size 2\n```\n\nTarget: http://me:"+plant("target")+"@gpu1:8000/v1?token="+planted["target"]+
			"\n\n"+sixColumns+"| synchronous | 0.51 req/sec | 1.96 sec | 95.57 ms | 21.01 ms | 45.36 tokens/sec |\n")
		tell(console.Done, "import", document, "--out", w.path("imported"))
		tell(console.Done, "audit", document)
		result := contentOf(t, "../../report/published/testdata/results/guidellm-0.8.1-sweep.json")
		tell(console.Done, "import", input("guidellm.json", strings.ReplaceAll(result, "http://", "http://me:"+
			url.PathEscape(planted["target"])+"@")), "--out", w.path("imported-json"))
		tell(console.WrongUsage, "selftest", "--streams", planted["env0"])

		// What was written is rendered again.
		for i, format := range flags.ReportFormats() {
			for _, d := range []string{"run", []string{"sweep", "replicas", "cut"}[i%3]} {
				tell(console.Done, "report", w.path(d), "--format", format)
			}
		}
		tell(-1, "compare", w.path("run"), w.path("sweep"), "--any-workload", "--fail-if", "errors>1%")
		tell(-1, "compare", w.path("pair"), "--format", "json")
		tell(-1, "choose", w.path("run"), w.path("sweep"), "--any-workload", "--slo", "latency:p50<1h", "--demand", "1rps")
		tell(-1, "audit", w.path("run"), w.path("sweep"))
		tell(-1, "label", w.path("run"), "gpu=L20")
		tell(-1, "report", w.path("run"), w.path("sweep"), "--document", "--any-workload", "-o", w.path("doc/report.md"))

		files := 0
		for _, file := range searched(t, w.dir) {
			if !inputs[file] {
				files++
				search(file, contentOf(t, file))
			}
		}
		if files < 15 || leaked.Load() > 0 {
			t.Errorf("%d files, %d requests to a foreign host", files, leaked.Load())
		}
		if run := open(t, w.path("run")); len(run.Stages[0].Errors) < 3 || !strings.Contains(string(run.Command.Body),
			"top_p") {
			t.Errorf("errors %v, body %s: the server repeats nothing", run.Stages[0].Errors, run.Command.Body)
		}
	})
}
