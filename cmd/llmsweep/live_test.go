package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	simserver "llmsweep/client/sim/server"
	"llmsweep/cmd/llmsweep/console"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
)

// pairwise are the flags of a short comparison of two servers.
func pairwise(args ...string) []string {
	return append(brief("compare", "--live"), append(args, "--stage-time", "1s", "--budget", "40s", "--output-tokens",
		"4")...)
}

// TestCompareLive compares two servers with keys of their own, prints the comparison again, and compares one with
// itself.
func TestCompareLive(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		a, _ := w.server(w.simulated(simserver.Options{APIKey: "key-of-a"}))
		b, _ := w.server(w.simulated(simserver.Options{APIKey: "key-of-b"}))
		dir := w.path("pair")
		args := pairwise(a, b, "--api-key", "key-of-a", "--api-key-b", "key-of-b", "--rate", "20", "--concurrency", "4",
			"--label", "gpu=L20,engine=old", "--label-b", "engine=new", "--out", dir)
		out, errs := w.must(append(args, "--fail-if", "latency@20rps>900%", "--fail-if", "errors>50%")...)
		if !strings.Contains(out, a) || !strings.Contains(out, b) || errs == "" {
			t.Errorf("%s\n%s", out, errs)
		}
		of, _ := w.must("compare", "--plain", dir)
		sides, _ := w.must("compare", "--plain", filepath.Join(dir, "a"), filepath.Join(dir, "b"))
		if of != out || sides != out {
			t.Errorf("compare prints something else:\n%s\n%s", of, sides)
		}
		text, _ := w.must("compare", dir, "--format", "json")
		var v struct {
			Blocks int
			Rows   []struct{ Key string }
		}
		if err := json.Unmarshal([]byte(text), &v); err != nil || v.Blocks < 2 || len(v.Rows) != 6 {
			t.Errorf("%v: %d blocks, %d rows", err, v.Blocks, len(v.Rows))
		}
		w.must("audit", filepath.Join(dir, "a"), filepath.Join(dir, "b"))
		w.must("report", filepath.Join(dir, "b"))
		run := open(t, filepath.Join(dir, "b"))
		if run.Labels.Engine != "new" || run.Labels.GPU != "L20" || len(run.Command.Args) == 0 {
			t.Errorf("%+v, %+v", run.Labels, run.Command)
		}
		if files := searched(t, dir, "key-of-"); len(files) != 12 { // pair.json and the report; five of each side
			t.Errorf("%q", files)
		}
		w.exits(console.WrongUsage, "already holds a comparison", args...)
		w.exits(console.Done, "同一服务", pairwise(a, a, "--api-key", "key-of-a", "--api-key-b", "key-of-a", "--concurrency", "4",
			"--lang", "zh")...)
		if _, err := os.Stat(w.path("llmsweep-pair/b/records.jsonl")); err != nil {
			t.Error(err)
		}
		w.exits(console.WrongUsage, filepath.Join(dir, "a"), "label", dir, "gpu=A100")
	})
}

// TestCompareLiveEnds: what was measured is kept and printed where a comparison is interrupted, or loses a server.
func TestCompareLiveEnds(t *testing.T) {
	type test struct {
		code  int
		says  string
		state rundir.State
	}
	each(t, map[string]test{"interrupt": {console.Interrupted, "what was measured is in ", rundir.Interrupted},
		"a server stops": {console.Failed, "the comparison failed", rundir.Failed}}, func(t *testing.T, w *world, c test) {
		url, stop := w.server(w.simulated(simserver.Options{}))
		if c.code == console.Interrupted {
			w.interruptAfter(10 * time.Second)
		} else {
			time.AfterFunc(10*time.Second, stop)
		}
		code, _, errs := w.llmsweep(pairwise("sim:", url, "--rate", "20", "--budget", "10m")...)
		p, _, err := store.OpenPair(w.path("llmsweep-pair"))
		if code != c.code || !strings.Contains(errs, c.says) || err != nil || p.State != c.state {
			t.Fatalf("exit %d, %v, %+v\n%s", code, err, p, errs)
		}
		if out, _ := w.must("compare", w.path("llmsweep-pair")); !strings.Contains(strings.ToLower(out), string(c.state)) {
			t.Error(out)
		}
	})
}
