package compare

import (
	"strings"
	"testing"

	"llmsweep/report/setup"
	"llmsweep/sweep/rundir"
)

// withTerms returns two runs whose SLO has terms, of which the second is better or worse in all of them.
func withTerms(t *testing.T, better bool, slos [2][]string) *Comparison {
	t.Helper()
	setups := twoRuns(0, 0.01)
	var all []setup.Input
	for i := range setups {
		run := setups[i].Run
		good := (i == 1) == better
		pick := func(worse, better float64) float64 {
			if good {
				return better
			}
			return worse
		}
		run.Plan.SLO = slos[i]
		for j := range run.Stages {
			s := &run.Stages[j]
			s.OutputTokens = rundir.TokenStats{N: 600, Mean: rundir.Exactly(128)}
			dist := func(mean float64) rundir.Dist {
				return rundir.Dist{N: 600, Mean: rundir.Exactly(mean),
					CI: map[string][2]float64{"mean": {0.98 * mean, 1.02 * mean}}}
			}
			s.TPOT, s.FirstAnswer = dist(pick(0.02, 0.01)), dist(pick(3, 2))
			s.Progress = rundir.Progress{Rate: rundir.Exactly(100), Low: rundir.Exactly(98), High: rundir.Exactly(102)}
			s.Goodput = &rundir.Goodput{Tokens: rundir.Exactly(pick(0.5, 0.9) * s.TokensPerS.Output.Value())}
			for _, term := range slos[i] {
				missing := &rundir.Beyond{Count: int(pick(60, 0)), Of: 600, Neff: rundir.Exactly(600)}
				s.Goodput.Terms = append(s.Goodput.Terms, rundir.TermResult{Term: term, Beyond: missing})
			}
		}
		all = append(all, setup.Input{Path: setups[i].Path, Run: run})
	}
	return compared(t, setup.Load(all))
}

// A gate on a term fails where the second run is worse, passes where it is better, and cannot be judged where the runs
// do not have the same term.
func TestGatesOnTerms(t *testing.T) {
	terms := []string{"ttfa:p95<5s", "speed:p5>30tok/s", "stalls<1%", "sessions>99%"}
	other := []string{"ttfa:p95<9s", "speed:p5>10tok/s", "stalls<1%,stall=2s", "sessions>90%"}
	for _, c := range []struct {
		name, gate string
		better     bool
		slos       [2][]string
		says       string // the failure; empty where the gate passes
		unjudged   bool
	}{
		{"slower", "speed<-5%", false, [2][]string{terms, terms}, "speed of m, 1 x G, new is -50.0 %", false},
		{"faster", "speed<-5%", true, [2][]string{terms, terms}, "", false},
		{"later answers", "ttfa>5%", false, [2][]string{terms, terms}, "ttfa of m, 1 x G, new is +50.0 %", false},
		{"earlier answers", "ttfa>5%", true, [2][]string{terms, terms}, "", false},
		{"more stalls", "stalls>1%", false, [2][]string{terms, terms}, "stalls of m, 1 x G, new is +10.0 pp", false},
		{"fewer stalls", "stalls>1%", true, [2][]string{terms, terms}, "", false},
		{"fewer sessions", "sessions<-1%", false, [2][]string{terms, terms}, "sessions of m, 1 x G, new is -10.0 pp", false},
		{"more sessions", "sessions<-1%", true, [2][]string{terms, terms}, "", false},
		{"less good output", "good_tokens_per_s<-5%", false, [2][]string{terms, terms},
			"good_tokens_per_s of m, 1 x G, new is -44.", false},
		{"more good output", "good_tokens_per_s<-5%", true, [2][]string{terms, terms}, "", false},
		{"speed does not depend on the limit", "speed<-5%", false, [2][]string{terms, other}, "-50.0 %", false},
		{"other stalls", "stalls>1%", false, [2][]string{terms, other}, "", true},
		{"other sessions", "sessions<-1%", false, [2][]string{terms, other}, "", true},
		{"other requests are good", "good_tokens_per_s<-5%", false, [2][]string{terms, other}, "", true},
		{"no such term", "speed<-5%", false, [2][]string{{"ttft:p95<1s"}, {"ttft:p95<1s"}}, "", true},
	} {
		gates, err := ParseGates([]string{c.gate}, Keys())
		if err != nil {
			t.Fatal(err)
		}
		failed, unjudged := Judge(withTerms(t, c.better, c.slos), gates)
		if all := strings.Join(failed, "; "); !strings.Contains(all, c.says) || c.says == "" && all != "" ||
			c.unjudged != (len(unjudged) > 0) {
			t.Errorf("%s: failed %q, not judged %q", c.name, failed, unjudged)
		}
	}
	for key, rises := range map[string]bool{keySpeed: true, keyTTFA: false, keyStalls: false, keySessions: true,
		keyGoodput: true} {
		if HigherIsBetter(key) != rises {
			t.Errorf("more %s is better: %v", key, !rises)
		}
	}
}
