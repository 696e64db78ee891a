package main

import (
	"encoding/json"
	"os"
	"path/filepath"

	"llmsweep/sweep/rundir"
)

// moreOutputs adds the outputs of several servers, ranks, and jobs to those of a hostile name. tell runs a command.
func moreOutputs(w *world, url, evil string, all outputs, tell func(kind, name string, args ...string) int) {
	page := func(name, file string) {
		if b, err := os.ReadFile(w.path(file)); err == nil {
			all["html "+name] = string(b)
		}
	}
	flags := []string{"--concurrency", "2", "--requests", "8", "--max-error-rate", "1"}

	// Several servers, and several ranks.
	tell("text", "replicas", append(brief("run", url, url, "--out", w.path("replicas")), flags...)...)
	delete(all, "text replicas, errors") // it has times, which differ
	edited(w, "replicas", func(run map[string]any) {
		target := run["target"].(map[string]any)
		target["replicas"] = []any{map[string]any{"url": evil, "engine": evil, "version": evil},
			map[string]any{"url": evil, "engine": evil}}
		run["cluster"] = map[string]any{"source": evil, "ranks": []any{
			map[string]any{"rank": 0, "host": evil, "os": evil, "valid": true},
			map[string]any{"rank": 1, "host": evil, "os": evil, "lost": map[string]any{"code": "rank.lost",
				"args": map[string]any{"host": evil, "rank": 1}}, "unfit": []any{evil}},
		}}
	})
	for _, kind := range []string{"text", "markdown", "html"} {
		format := map[string]string{"text": "console", "markdown": "markdown", "html": "html"}[kind]
		tell(kind, "replicas and ranks", "report", w.path("replicas"), "--format", format)
	}

	tell("text", "choose with a page", "choose", w.path("again"), w.path("other"), "--any-workload", "--slo",
		"latency:p50<10s",
		"--demand", "1rps", "--html", w.path("choice.html"))
	page("choose", "choice.html")

	// A run that goes on.
	edited(w, "replicas", func(run map[string]any) { run["state"] = rundir.Interrupted })
	tell("text", "resume", "resume", w.path("replicas"))
}

// edited changes the run.json of a run directory, where it was written.
func edited(w *world, dir string, change func(run map[string]any)) {
	w.t.Helper()
	file := filepath.Join(w.path(dir), rundir.RunFile)
	b, err := os.ReadFile(file)
	if err != nil {
		w.t.Error(err)
		return
	}
	var run map[string]any
	if err := json.Unmarshal(b, &run); err != nil {
		w.t.Fatal(err)
	}
	change(run)
	if b, err = json.Marshal(run); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(file, b, 0o644); err != nil {
		w.t.Fatal(err)
	}
}
