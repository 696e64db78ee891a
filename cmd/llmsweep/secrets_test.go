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
	"strconv"
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
			fmt.Fprintf(w, `data: {"choices":[{"delta":{"content":%[1]q},"finish_reason":%[1]q}]}`+"\n\n"+
				`data: {"error":{"message":%[1]q}}`+"\n\n", said)
			return
		}
		good.ServeHTTP(w, r)
	})
}

// sixColumns is a published table of one row.
const sixColumns = "| Benchmark | Requests per Second | Request Latency | Time to First Token " +
	"| Inter Token Latency | Output Token Throughput |\n|---|---|---|---|---|---|\n" +
	"| synchronous | 0.51 req/sec | 1.96 sec | 95.57 ms | 21.01 ms | 45.36 tokens/sec |\n"

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

// TestNoSecretIsShown plants a secret wherever one can be given, measures servers that repeat them, runs the commands
// of testdata/secrets.txt, and searches all that they print and write.
func TestNoSecretIsShown(t *testing.T) {
	notInShort(t)
	if !apart(t) {
		return
	}
	planted := map[string]string{}
	for _, place := range strings.Fields("user query header body flag cookie sim config launch target proxy") {
		planted[place] = canary(place)
	}
	env := map[string]string{"HTTP_PROXY": "http://me:" + planted["proxy"] + "@proxy:1"}
	variables, _ := redact.SecretVariables()
	for i, name := range variables {
		planted[fmt.Sprint("env", i)] = canary(fmt.Sprint("env", i))
		env[name] = planted[fmt.Sprint("env", i)]
		t.Setenv(name, env[name])
	}
	inBubble(t, t.TempDir(), func(t *testing.T, w *world) {
		env["GITHUB_STEP_SUMMARY"] = w.path("summary.md")
		w.env = env
		var leaked atomic.Int64
		host := func(h http.Handler) string {
			url, _ := w.server(h)
			return strings.TrimPrefix(url, "http://")
		}
		handler := func(f http.HandlerFunc) string { return host(f) }
		elsewhere := handler(func(rw http.ResponseWriter, r *http.Request) { leaked.Add(1) })
		fresh := func() string { // its first answers are good: the preflight succeeds
			return host(echoing(w.simulated(simserver.Options{}), "http://"+elsewhere))
		}
		const short = "--warmup 1 --prompt-tokens 64 --output-tokens 8 --no-selftest --plain --max-error-rate 1"
		pairs := []string{"$W", w.dir, "$AT", fresh(), "$SHORT", short, "$FLAGS", "--header X-Token:{header} --body $BODY",
			"$STRICT", host(w.simulated(simserver.Options{APIKey: "another"})),
			"$REDIRECTING", handler(func(rw http.ResponseWriter, r *http.Request) {
				http.Redirect(rw, r, "http://"+elsewhere+"/?h="+url.QueryEscape(r.Header.Get("Authorization")), http.StatusFound)
			}),
			"$MISSING", handler(func(rw http.ResponseWriter, r *http.Request) {
				http.Error(rw, "no "+r.URL.String()+" for "+r.Header.Get("X-Token"), http.StatusNotFound)
			})}
		secrets := []string{"$BODY", fmt.Sprintf(`{"top_p":0.9,"metadata":{"api_key":%q},"user":%q}`, planted["body"],
			planted["env0"]), "_", " "}
		for place, secret := range planted {
			secrets = append(secrets, "{"+place+"}", secret, "{%"+place+"}", url.QueryEscape(secret))
		}
		hide, names := strings.NewReplacer(secrets...), strings.NewReplacer(pairs...)
		inputs := map[string]bool{}
		input := func(name, text string) string {
			inputs[w.path(name)] = true
			return w.write(name, hide.Replace(names.Replace(text)))
		}
		// What other people publish may have secrets of theirs: in the address of the server and in the command that
		// started it.
		input("published.md", "# Results\n\n```\nvllm serve Qwen2-7B --api-key {launch} --tensor-parallel-size 2\n```\n\n"+
			"Target: http://me:{target}@gpu1:8000/v1?token={target}\n\n"+sixColumns)
		w.write("guidellm.json", strings.ReplaceAll(contentOf(t,
			"../../report/published/testdata/results/guidellm-0.8.1-sweep.json"), "http://", "http://me:"+
			url.QueryEscape(planted["target"])+"@"))
		inputs[w.path("guidellm.json")] = true
		input("good.yaml", "url: 'http://me:{%user}@$AT/v1?token={%query}'\napi-key: '{config}'\n"+
			"header: {X-Other: '{config}'}\n")
		lines := strings.Split(strings.TrimSpace(contentOf(t, "testdata/secrets.txt")), "\n")
		for i, format := range flags.ReportFormats() {
			for _, dir := range []string{"run", []string{"sweep", "replicas", "cut"}[i%3]} {
				lines = append(lines, "0 report $W/"+dir+" --format "+format)
			}
		}
		for i, line := range lines {
			if strings.HasPrefix(line, "#") {
				continue
			}
			if text, ok := strings.CutPrefix(line, "wrong file: "); ok {
				input(fmt.Sprintf("wrong%d.yaml", i), text+"\n")
				line = fmt.Sprintf("- run http://$AT --concurrency 1 --config $W/wrong%d.yaml", i)
			}
			line = names.Replace(names.Replace(line)) // $FLAGS has names
			for strings.Contains(line, "$NEW") {
				line = strings.Replace(line, "$NEW", fresh(), 1)
			}
			words := strings.Fields(line)
			for i := range words {
				words[i] = hide.Replace(words[i])
			}
			if words[0] == "cut" {
				w.interruptAfter(3 * time.Second)
			}
			code, out, errs := w.llmsweep(words[1:]...)
			if want, err := strconv.Atoi(words[0]); err == nil && code != want || code != console.Done && out+errs == "" {
				t.Errorf("%s: exit %d\n%s", line, code, errs)
			}
			search(t, planted, line, out+errs)
			w.again()
		}
		files := 0
		for _, file := range searched(t, w.dir) {
			if !inputs[file] {
				files++
				search(t, planted, file, contentOf(t, file))
			}
		}
		run, cut := open(t, w.path("run")), open(t, w.path("cut"))
		if files < 15 || leaked.Load() > 0 || cut.State == rundir.Interrupted || len(run.Stages[0].Errors) < 3 ||
			!strings.Contains(string(run.Command.Body), "top_p") {
			t.Errorf("%d files, %d requests to a foreign host, %s, errors %v, body %s", files, leaked.Load(), cut.State,
				run.Stages[0].Errors, run.Command.Body)
		}
	})
}
