package main

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
)

// harmless is the name that the outputs for hostile names are compared with.
const harmless = "a-plain-name-as-long-as-the-hostile-ones-so-that-pages-fold-the-same-lines"

// hostileTexts are the texts of testdata/hostile-texts.txt, a long one, and all in one.
func hostileTexts(t *testing.T) map[string]string {
	all, most := map[string]string{"long": strings.Repeat("long ", 20_000)}, ""
	for line := range strings.Lines(contentOf(t, "testdata/hostile-texts.txt")) {
		if name, quoted, _ := strings.Cut(strings.TrimSpace(line), ": "); line[0] != '#' {
			text, err := strconv.Unquote(quoted)
			noError(t, err)
			if all[name] = text; utf8.ValidString(text) {
				most += " " + text
			}
		}
	}
	all["everything"] = most
	return all
}

// hostileServer is a server that puts a text wherever it can: the name of the model, who serves it, its version,
// answers, reasons for their end, headers, metrics and errors. It refuses every third request.
func hostileServer(evil string) http.Handler {
	said, _ := json.Marshal(evil)
	if !utf8.ValidString(evil) { // json.Marshal would repair it
		said = []byte(`"` + evil + `"`)
	}
	header := strings.Map(func(r rune) rune { // what Go's server can send
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, evil[:min(len(evil), 1000)])
	var asked atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Server", header)
		w.Header().Set("X-Request-Id", header)
		switch r.URL.Path {
		case "/v1/models":
			fmt.Fprintf(w, `{"object":"list","data":[{"id":%s,"owned_by":%s,"max_model_len":4096},{"id":"other"}]}`, said, said)
		case "/version":
			fmt.Fprintf(w, `{"version":%s}`, said)
		case "/metrics":
			fmt.Fprintf(w, "# HELP x %[1]s\nvllm:num_requests_running{model_name=%[2]s} 1\n"+
				"vllm:num_requests_waiting{model_name=%[2]s} 0\n%[1]s 1\n", header, said)
		case "/v1/chat/completions":
			if n := asked.Add(1); n > 8 && n%3 == 0 {
				w.WriteHeader([]int{400, 500, 429, 503}[n/3%4])
				fmt.Fprintf(w, `{"error":{"message":%s,"type":%s,"code":%s}}`, said, said, said)
				return
			} else if n > 8 && n%7 == 0 {
				w.Header().Set("Content-Type", "text/event-stream")
				fmt.Fprintf(w, "event: error\ndata: {\"error\":{\"message\":%s}}\n\n", said)
				return
			}
			w.Header().Set("Content-Type", "text/event-stream")
			for i := range 8 {
				time.Sleep(10 * time.Millisecond)
				word, end := `"a"`, "null"
				if i == 3 {
					word = string(said)
				} else if i == 7 {
					end = string(said)
				}
				fmt.Fprintf(w, `data: {"id":%[1]s,"model":%[1]s,"choices":[{"index":0,"delta":{"content":%[2]s},`+
					`"finish_reason":%[3]s}]}`+"\n\n", said, word, end)
				w.(http.Flusher).Flush()
			}
			io.WriteString(w, `data: {"choices":[],"usage":{"prompt_tokens":64,"completion_tokens":8,"total_tokens":72}}`+
				"\n\ndata: [DONE]\n\n")
		default:
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprintf(w, `{"detail":%s}`, said)
		}
	})
}

// outputs are the outputs of one name, by what made them. The part before the first space is their kind.
type outputs map[string]string

// hostileOutputs measures servers that call everything so, and renders the result by testdata/hostile.txt, with the
// same text in all that people and other tools write into files.
func hostileOutputs(w *world, evil string) outputs {
	all := outputs{}
	url, stop := w.server(hostileServer(evil))
	defer func() {
		stop()
		time.Sleep(time.Minute) // until no handler sleeps any more
	}()
	w.env = map[string]string{"GITHUB_STEP_SUMMARY": w.path("summary.md")}
	flags := []string{"--concurrency", "2", "--requests", "12", "--max-error-rate", "1"}
	slo := []string{"--slo", "latency:p50<1ms", "--out", w.path("run")}
	_, all["text run"], _ = w.llmsweep(slices.Concat(brief("run", url), slo, flags)...)
	all["text unknown model"] = w.exits(console.Failed, "no model absent here", "run", url, "--model", "absent",
		"--concurrency", "1")
	w.env = nil
	_, all["text replicas"], _ = w.llmsweep(append(brief("run", url, url, "--out", w.path("replicas")), flags...)...)
	edited(w, "replicas", func(run map[string]any) {
		type object = map[string]any
		run["target"].(object)["replicas"] = []any{object{"url": evil, "engine": evil, "version": evil},
			object{"url": evil, "engine": evil}}
		lost := object{"code": "rank.lost", "args": object{"host": evil, "rank": 1}}
		run["cluster"] = object{"source": evil, "ranks": []any{object{"rank": 0, "host": evil, "os": evil, "valid": true},
			object{"rank": 1, "host": evil, "os": evil, "lost": lost, "unfit": []any{evil}}}}
		run["state"] = rundir.Interrupted
	})
	renamed(w, "run", "again", evil)
	renamed(w, "run", "other", "another-"+harmless)                           // a configuration of its own
	line := strings.NewReplacer("\r", " ", "\n", " ", "**", "").Replace(evil) // as someone writes who does not escape
	head := fmt.Sprintf("- **%[1]s**, **1** x **%[1]s**, **%[1]s**, prompt_tokens=64, generated_tokens=16\n\n", line)
	w.write("published.md", head+sixColumns+"| "+line+
		" | x | y | | | |\n")
	for row := range strings.Lines(contentOf(w.t, "testdata/hostile.txt")) {
		name, command, ok := strings.Cut(strings.TrimSpace(row), ": ")
		if !ok || row[0] == '#' {
			continue
		}
		args := strings.NewReplacer("$RUN", w.path("again"), "$BOTH", w.path("other")+" "+w.path("again"), "$MANY",
			w.path("replicas"), "$W", w.dir).Replace(command)
		_, all[name], all["text "+name+", errors"] = w.llmsweep(strings.Fields(args)...)
	}
	delete(all, "text text resume, errors") // it has times, which differ
	for name, file := range map[string]string{"html page": "run/report.html", "markdown report": "run/report.md",
		"markdown summary": "summary.md", "json run": "run/run.json", "markdown document": "doc/report.md",
		"html choice": "choice.html"} {
		b, err := os.ReadFile(w.path(file))
		if err != nil {
			w.t.Error(err)
		}
		all[name] = string(b)
	}
	drawings, _ := filepath.Glob(w.path("doc/*.svg"))
	for _, file := range drawings {
		all["xml drawing "+filepath.Base(file)] = contentOf(w.t, file)
	}
	return all
}

// edited changes the run.json of a run directory, where it was written.
func edited(w *world, dir string, change func(run map[string]any)) {
	w.t.Helper()
	file := filepath.Join(dir, rundir.RunFile)
	var run map[string]any
	noError(w.t, json.Unmarshal([]byte(contentOf(w.t, w.path(file))), &run))
	change(run)
	w.write(file, inJSON(w.t, run))
}

// renamed copies a run directory, and puts a text wherever its files hold a text that no rule restricts.
func renamed(w *world, from, to, evil string) {
	w.t.Helper()
	noError(w.t, os.CopyFS(w.path(to), os.DirFS(w.path(from))))
	edited(w, to, func(run map[string]any) {
		run["labels"] = map[string]any{"model": evil, "gpu": evil, "gpus": 1, "engine": evil, "quant": evil}
		maps.Copy(run["target"].(map[string]any), map[string]any{"url": "http://" + evil, "api": evil, "model": evil,
			"engine": evil, "version": evil, "backend": evil})
		run["warnings"] = []any{evil, map[string]any{"code": evil}}
		run["command"].(map[string]any)["args"] = []any{"llmsweep", evil}
		run["workload"].(map[string]any)["dataset"] = evil
		for _, s := range run["stages"].([]any) {
			s := s.(map[string]any)
			s["errors"], s["error_examples"] = map[string]any{evil: 3, "http_5xx": 1},
				map[string]any{evil: evil, "http_5xx": evil}
			s["warnings"], s["invalid"], s["token_source"], s["kind"] = []any{evil}, evil, evil, evil
		}
	})
}

// TestHostileNames renders a hostile server, and files with hostile texts, in every format. No text adds to what a
// harmless name produces: no control character, no column, no element. With the build tag statistics the texts are
// tried one by one too.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	measure := func(t *testing.T, evil string) (all outputs, above []string) {
		top := t.TempDir()
		dir := filepath.Join(top, "a", "b", "c", "d")
		noError(t, os.MkdirAll(dir, 0o755))
		inBubble(t, dir, func(t *testing.T, w *world) { all = hostileOutputs(w, evil) })
		filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			if path == dir {
				return fs.SkipDir
			}
			if !strings.HasPrefix(dir, path) {
				above = append(above, path)
			}
			return err
		})
		return all, above
	}
	base, _ := measure(t, harmless)
	for name, evil := range hostileTexts(t) {
		if !simtest.Full() && name != "everything" && name != "formula" && name != "not UTF-8" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all, above := measure(t, evil)
			if len(above) > 0 {
				t.Errorf("files outside: %q", above)
			}
			if name == "everything" && !strings.Contains(all["text console en"], "%s%n%d") {
				t.Error("the test does not show the name")
			}
			for _, what := range slices.Sorted(maps.Keys(base)) {
				got, ok := all[what]
				if !ok {
					t.Errorf("%s: nothing", what)
					continue
				}
				if err := sound(what, got, base[what]); err != nil {
					t.Errorf("%s: %v", what, err)
				}
			}
		})
	}
}
