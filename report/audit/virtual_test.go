package audit_test

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"llmsweep/client/sim"
	"llmsweep/client/testkit"
	"llmsweep/report"
	"llmsweep/report/audit"
	"llmsweep/report/published"
	"llmsweep/sweep"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/simtest"
)

// tasks ask the same of the server each time.
type tasks struct{ prompt, output int }

func (w tasks) Next() (load.Session, bool) {
	return load.Session{Turns: []load.Turn{{User: "hello", PromptTokens: w.prompt, OutputTokens: w.output}}}, true
}

// TestHonestRunsPass: nothing is found in whole sweeps of simulated servers, in their records, or in what is printed of
// them and read again.
func TestHonestRunsPass(t *testing.T) {
	for _, c := range []struct {
		server string
		w      tasks
		budget time.Duration
	}{
		{"demo", tasks{64, 16}, 0}, {"Qwen2-72B/H200x4/fp16", tasks{1024, 64}, 0},
		{"Qwen2-72B/L20x4/fp16", tasks{512, 128}, 90 * time.Second}, {"Qwen2-7B/L20/fp16", tasks{512, 128}, 4 * time.Minute},
		{"plain8", tasks{512, 128}, 3 * time.Minute},
	} {
		server := testkit.Must(sim.Preset(c.server))
		if c.server == "demo" {
			server = simtest.Slowed(server, 8) // it would answer thousands of requests in each row
		}
		run, log := &rundir.Run{Labels: rundir.Labels{Model: "M", GPU: "G", GPUs: 1, Engine: "E"}}, &store.Memory{}
		run.Workload = rundir.Workload{PromptTokens: rundir.Lengths{Mean: float64(c.w.prompt)},
			OutputTokens: rundir.Lengths{Mean: float64(c.w.output)}, Forced: true}
		synctest.Test(t, func(t *testing.T) {
			live := testkit.Must(sim.Start(server))
			defer live.Close()
			config := sweep.Defaults()
			config.Points, config.Budget = 3, c.budget
			if c.budget > 0 { // what has no time is left out
				config.Points, config.StageTime = 9, 5*time.Second
			}
			config.Doer, config.Log = simtest.VirtualDoer{Live: live}, log
			config.Sources = func(string) load.Source { return c.w }
			if err := sweep.Sweep(t.Context(), config, run); err != nil {
				t.Fatal(err)
			}
		})
		found := audit.Runs([]audit.Subject{{File: c.server, Run: run}})
		for _, s := range run.Stages {
			found = append(found, testkit.Must(audit.Records(run, c.server+" records", log.Records(s.Name)))...)
		}
		for _, format := range []string{"markdown", "stress", "serving"} {
			found = append(found, reread(t, run, format)...)
		}
		for _, f := range found {
			t.Errorf("%s:%d %s: %s: %s", f.File, f.Line, f.Row, f.Rule, f.Text)
		}
	}
}

// reread prints a run, reads it again and audits that.
func reread(t *testing.T, run *rundir.Run, format string) []audit.Finding {
	t.Helper()
	var b bytes.Buffer
	if err := report.Render(&b, format, []rundir.Run{*run}, report.Options{}); err != nil {
		t.Fatal(err)
	}
	doc := testkit.Must(published.ParseText(format, &b))
	if len(doc.Runs) == 0 {
		t.Fatalf("%s: nothing was read again", format)
	}
	var all []audit.Subject
	for i := range doc.Runs {
		all = append(all, audit.Subject{Run: &doc.Runs[i]})
	}
	return audit.Runs(all)
}
