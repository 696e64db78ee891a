package compare

import (
	"fmt"
	"strings"
	"testing"

	"llmsweep/client/testkit"
	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// withTerms returns two runs whose SLO has terms, of which the second is better or worse in all of them.
func withTerms(better bool, slos [2][]string) *Comparison {
	setups := twoRuns(0, 0.01)
	var all []setup.Input
	for i := range setups {
		run := setups[i].Run
		pick := func(worse, good float64) float64 {
			if (i == 1) == better {
				return good
			}
			return worse
		}
		run.Plan.SLO = slos[i]
		for j := range run.Stages {
			s := &run.Stages[j]
			s.OutputTokens = rundir.TokenStats{N: 600, Mean: rundir.Exactly(128)}
			s.TPOT, s.FirstAnswer = within(600, pick(0.02, 0.01), 0.02), within(600, pick(3, 2), 0.02)
			s.Progress = rundir.Progress{Rate: rundir.Exactly(100), Low: rundir.Exactly(98), High: rundir.Exactly(102)}
			s.Goodput = &rundir.Goodput{Tokens: rundir.Exactly(pick(0.5, 0.9) * s.TokensPerS.Output.Value())}
			for _, term := range slos[i] {
				missing := &rundir.Beyond{Count: int(pick(60, 0)), Of: 600, Neff: rundir.Exactly(600)}
				s.Goodput.Terms = append(s.Goodput.Terms, rundir.TermResult{Term: term, Beyond: missing})
			}
		}
		all = append(all, setup.Input{Path: setups[i].Path, Run: run})
	}
	return compared(setup.Load(all))
}

// A gate on a term fails where the second run is worse, passes where it is better, and cannot be judged where the runs
// do not have the same term.
func TestGatesOnTerms(t *testing.T) {
	same := strings.Fields("ttfa:p95<5s speed:p5>30tok/s stalls<1% sessions>99%")
	other := strings.Fields("ttfa:p95<9s speed:p5>10tok/s stalls<1%,stall=2s sessions>90%")
	for _, c := range []struct {
		gate, worse, unlike string // what the failure says: of a worse run, and of one with other terms; "?": not judged
	}{
		{"speed<-5%", "speed of m, 1 x G, new is -50.0 %", "-50.0 %"}, // speed does not depend on the limit
		{"ttfa>5%", "ttfa of m, 1 x G, new is +50.0 %", "+50.0 %"},
		{"stalls>1%", "stalls of m, 1 x G, new is +10.0 pp", "?"},
		{"sessions<-1%", "sessions of m, 1 x G, new is -10.0 pp", "?"},
		{"good_tokens_per_s<-5%", "good_tokens_per_s of m, 1 x G, new is -44.", "?"},
	} {
		check := func(better bool, slos [2][]string, want string) {
			t.Helper()
			failed, unjudged := Judge(withTerms(better, slos).Changes, []Gate{parseGate(c.gate)})
			all := strings.Join(failed, "; ")
			if want == "?" && len(unjudged) == 0 || want != "?" && (len(unjudged) > 0 || (want == "") != (all == "") ||
				!strings.Contains(all, want)) {
				t.Errorf("%s, better %v: failed %q, not judged %q, want %q", c.gate, better, failed, unjudged, want)
			}
		}
		check(false, [2][]string{same, same}, c.worse)
		check(true, [2][]string{same, same}, "")
		check(false, [2][]string{same, other}, c.unlike)
	}
	none := []string{"ttft:p95<1s"}
	if failed, unjudged := Judge(withTerms(false, [2][]string{none, none}).Changes,
		[]Gate{testkit.Must(ParseGate("speed<-5%", Keys()))}); len(failed) > 0 || len(unjudged) != 1 {
		t.Errorf("no such term: %q, %q", failed, unjudged)
	}
}

// Numbers of users are compared with their intervals, and only within the same terms.
func TestUsersAreCompared(t *testing.T) {
	const term = "ttft:p95<300ms"
	carries := func(gpu, term string, users, low, high float64) setup.Input {
		c := &rundir.UserCapacity{Terms: []string{term}, Verdict: rundir.Met, Users: rundir.Exactly(users),
			Low: rundir.Exactly(low), High: rundir.Exactly(high)}
		return setup.Input{Path: gpu, Run: &rundir.Run{
			State: rundir.Complete, Plan: rundir.Plan{Kind: rundir.KindUsers},
			Labels: rundir.Labels{Model: "m", GPU: gpu, GPUs: 2}, Answer: &rundir.Answer{Kind: rundir.Carries, Carried: c},
		}}
	}
	var all []byte
	for _, other := range []setup.Input{carries("B", term, 20, 18, 22), carries("B", term, 11, 9, 13),
		carries("B", "ttft:p95<1s", 20, 18, 22)} {
		found := compared(setup.Load([]setup.Input{carries("A", term, 10, 9, 11), other}))
		all = append(all, formatted(t, "console", found.Report(1), table.Style{Width: 100, All: true})...)
		for _, d := range found.Changes {
			all = fmt.Appendln(all, d.Key, d.String())
		}
		all = fmt.Appendln(all, found.Factors[0].Conclusion(lang.English))
	}
	testkit.CheckGolden(t, "users.txt", all)
}
