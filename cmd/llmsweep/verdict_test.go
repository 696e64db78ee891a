package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	simserver "llmsweep/client/sim/server"
	"llmsweep/cmd/llmsweep/console"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
)

// conclusions reads what --format verdict printed, one conclusion or an array of several, each of which must follow the
// schema.
func conclusions(t *testing.T, out string) []rundir.Conclusion {
	t.Helper()
	if strings.HasPrefix(out, "{") {
		out = "[" + out + "]"
	}
	var all []rundir.Conclusion
	var parts []json.RawMessage
	if err := json.Unmarshal([]byte(out), &parts); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	for _, part := range parts {
		simtest.SchemaValue(t, "verdict", part)
		if missing := simtest.SchemaUnknown(t, "verdict", part); len(missing) > 0 {
			t.Errorf("the schema has no %v", missing)
		}
		var one rundir.Conclusion
		noError(t, json.Unmarshal(part, &one))
		all = append(all, one)
	}
	return all
}

// TestVerdicts tests that each command prints a verdict that follows the schema and agrees with the exit code.
func TestVerdicts(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		url, _ := w.server(w.simulation(simtest.Slowed(simtest.Preset(t, "demo"), 20), simserver.Options{}))
		verdict := func(code int, want rundir.Decision, may rundir.Evidence, args ...string) rundir.Conclusion {
			t.Helper()
			got, out, errs := w.llmsweep(append(args, "--format", "verdict")...)
			if got != code {
				t.Fatalf("%q: exit %d\n%s%s", args, got, out, errs)
			}
			all := conclusions(t, out)
			if c := all[0]; c.Verdict != want || c.MayClaim != may || c.Claim == "" || c.Schema != rundir.VerdictSchema {
				t.Errorf("%q: %+v, want %s, %s", args, c, want, may)
			}
			return all[0]
		}
		labels := []string{"--label", "model=m,gpu=L20,gpus=1,engine=vLLM"}
		swept := func(name string, more ...string) []string {
			return slices.Concat(brief("sweep", url, "--max-concurrency", "32", "--stage-time", "1s", "--points", "1", "--out",
				w.path(name)), labels, more)
		}
		ran := func(name string, slo ...string) []string {
			return slices.Concat(brief("run", url, "--rate", "2", "--requests", "100", "--out", w.path(name)), labels, slo)
		}
		a := verdict(console.Done, rundir.DecisionMeasured, rundir.SupportsEstimate, swept("a")...)
		if a.Cost == nil || a.Cost.Minutes <= 0 || a.Cost.Requests < 100 || a.Unit != "req/s" || !a.Value.Known() {
			t.Errorf("%+v, cost %+v", a, a.Cost)
		}
		verdict(console.Done, rundir.DecisionMeasured, rundir.SupportsEstimate, "report", w.path("a"))
		verdict(console.Done, rundir.DecisionMet, rundir.SupportsEstimate, "report", w.path("a"), "--slo", "ttft:p50<2s")
		verdict(console.Missed, rundir.DecisionMissed, rundir.SupportsSLO, swept("none", "--slo", "ttft:p50<1us")...)
		verdict(console.Done, rundir.DecisionMet, rundir.SupportsSLO, ran("met", "--slo", "ttft:p50<9s")...)
		verdict(console.Missed, rundir.DecisionMissed, rundir.SupportsSLO, ran("missed", "--slo", "ttft:p50<1us")...)
		open := verdict(console.Undecided, rundir.DecisionUndecided, rundir.SupportsNothing,
			ran("open", "--slo", "errors<1%")...)
		if !strings.Contains(open.NextCommand, "--requests ") || strings.Contains(open.NextCommand, "--requests 100 ") ||
			strings.Contains(open.NextCommand, "--out ") {
			t.Errorf("next: %s", open.NextCommand)
		}
		verdict(console.Done, rundir.DecisionMeasured, rundir.SupportsValue, ran("plain")...)
		out, _ := w.must("report", w.path("a"), w.path("met"), "--any-workload", "--format", "verdict")
		if len(conclusions(t, out)) != 2 {
			t.Error(out)
		}
		verdict(console.Done, rundir.DecisionNoDifference, rundir.SupportsNoDifference, "compare", w.path("a"), w.path("a"))
		verdict(console.Done, rundir.DecisionMet, rundir.SupportsNoDifference, "compare", w.path("a"), w.path("a"),
			"--fail-if", "tokens_per_s<-50%")
		demand := []string{"choose", w.path("a"), "--slo", "ttft:p50<2s"}
		verdict(console.Done, rundir.DecisionChosen, rundir.SupportsEstimate, append(demand, "--demand", "500rps")...)
		verdict(console.Missed, rundir.DecisionNone, rundir.SupportsSLO, append(demand, "--demand", "500rps", "--max-gpus",
			"1")...)
	})
}
