package slo

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"llmsweep/sweep/rundir"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]Term{
		"ttft:p99<500ms":         {TTFT, "p99", 0.5, 0},
		"itl:mean<50ms":          {ITL, Mean, 0.05, 0},
		"tpot:p50<1.5s":          {TPOT, "p50", 1.5, 0},
		"ttft_due:p90<1s":        {TTFTDue, "p90", 1, 0},
		" Latency:P95 <= 2m ":    {Latency, "p95", 120, 0},
		"errors<1%":              {Errors, "", 0.01, 0},
		"errors<0.005":           {Errors, "", 0.005, 0},
		"accuracy > 75%":         {Accuracy, "", 0.25, 0},
		"ttfa:p95<2s":            {TTFA, "p95", 2, 0},
		"speed:p5>30tok/s":       {Speed, "p5", 1 / 30.0, 0},
		"Speed:p50 > 12.5 tok/s": {Speed, "p50", 0.08, 0},
		"stalls<1%":              {Stalls, "", 0.01, 0.5},
		"stalls<2%, stall=1s":    {Stalls, "", 0.02, 1},
		"stalls<2%,stall=250ms":  {Stalls, "", 0.02, 0.25},
		"sessions>75%":           {Sessions, "", 0.25, 0},
		"latency:p90< 12.75 ms":  {Latency, "p90", 0.01275, 0},
	} {
		got, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
		again, err := Parse(got.String())
		if err != nil || again != got {
			t.Errorf("%s prints as %s, which reads as %v (%v)", text, got, again, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for text, says := range map[string]string{
		"ttft:p99>500ms": `"ttft" takes <`, "spead:mean<1s": `"spead"`, "itl:p42<1s": `"p42"`,
		"itl:mean<-1s": "duration", "errors<200%": "errors<1%", "errors:mean<1%": "errors<1%", "": "no <",
		"accuracy<99%": `"accuracy"`, "accuracy>100%": "below 100%", "fidelity>99%": `no metric "fidelity"`,
		"sessions>100%": "below 100%", "speed:p5<30tok/s": `"speed" takes >`,
		"speed:p99>30tok/s": `"p99"`, "speed:p5>30ms": "30tok/s", "speed:mean>30tok/s": `"mean"`,
		"speed:p5>0tok/s":    "30tok/s",
		"stalls<1%,stall=0s": "stall=1s", "stalls<1%,1": "stall=1s", "stalls:p50<1%": "stall=1s",
	} {
		_, err := Parse(text)
		if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "ttft:p99<500ms") {
			t.Errorf("%q: %v", text, err)
		}
	}
	for text, example := range map[string]string{ // what is missing is shown, in place of the whole grammar
		"ttft<500ms": "ttft:p99<500ms", "itl:mean<50": "itl:mean<50ms", "e2e:p99<5s": "latency:p99<5s",
		"tbt:p50<5ms": "itl:p50<5ms",
	} {
		if _, err := Parse(text); err == nil || !strings.HasSuffix(err.Error(), " "+example) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := ParseAll([]string{"itl:mean<50ms", "itl:mean<60ms"}); err == nil {
		t.Error("two limits for one metric were taken")
	}
	if _, err := ParseAll([]string{"sessions>99%", "errors<1%"}); err == nil || !strings.Contains(err.Error(),
		"turns keep the other terms") {
		t.Errorf("sessions that keep no term: %v", err)
	}
}

func TestHolds(t *testing.T) {
	stage := rundir.Stage{
		Requests: rundir.Requests{OK: 980, Error: 20},
		TTFT: rundir.Dist{N: 250, Mean: rundir.Exactly(0.1), P95: rundir.Exactly(0.2), P99: rundir.Exactly(0.3),
			Neff: rundir.Exactly(125), Unsupported: []string{"p99"}},
		Latency:    rundir.Dist{Mean: rundir.Over(2)},
		InterToken: rundir.Exactly(0.02),
	}
	for text, want := range map[string]rundir.SLOVerdict{
		"ttft:mean<200ms":  rundir.Met,
		"ttft:mean<100ms":  rundir.Missed, // below, not at
		"ttft:p95<150ms":   rundir.Missed,
		"ttft:p99<500ms":   rundir.Unsure, // unsupported
		"ttft:p99<250ms":   rundir.Unsure, // p99 is beyond, but unsupported
		"ttft:p99<150ms":   rundir.Missed, // more than six of the 125 are
		"ttft:p90<1s":      rundir.Unsure, // absent
		"latency:mean<1s":  rundir.Missed, // at least 2 s
		"latency:mean<3s":  rundir.Unsure,
		"itl:mean<50ms":    rundir.Met, // of a table that has nothing else
		"itl:p50<50ms":     rundir.Unsure,
		"tpot:mean<50ms":   rundir.Unsure,
		"errors<3%":        rundir.Met,
		"errors<1%":        rundir.Missed,
		"errors<0.1%":      rundir.Missed, // twenty are enough to say so
		"latency:p99<10ms": rundir.Unsure,
	} {
		if got := terms(t, text)[0].Verdict(&stage); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
	// a server at the limit has no error among 298 in one of twenty
	for n, want := range map[int]rundir.SLOVerdict{0: rundir.Unsure, 298: rundir.Unsure, 299: rundir.Met} {
		if got := (Term{Errors, "", 0.01, 0}).Verdict(&rundir.Stage{Requests: rundir.Requests{OK: n}}); got != want {
			t.Errorf("no error in %d: %v", n, got)
		}
	}
}

func TestNeeds(t *testing.T) {
	d := rundir.Dist{N: 250, P99: rundir.Exactly(0.3), Neff: rundir.Exactly(125), Unsupported: []string{"p99", "p999"}}
	stage := rundir.Stage{Requests: rundir.Requests{OK: 250}, TTFT: d, ITL: d}
	for text, want := range map[string]int{
		"ttft:p99<500ms": 2042, // half a percent is beyond it
		"itl:p99<500ms":  2042,
		"ttft:p95<500ms": 0, // absent: no number of requests would help
		"errors<1%":      49,
		"errors<2%":      0,
	} {
		if got := terms(t, text)[0].Needs(&stage); got != want {
			t.Errorf("%s needs %d more, want %d", text, got, want)
		}
	}
	for text, want := range map[string]int{"ttft:p99<1s": 500, "latency:p50<1s": 10, "tpot:p95<1s": 100, "itl:p99<1s": 0,
		"ttft:mean<1s": 0, "errors<1%": 500} {
		if got := terms(t, text)[0].Sample(); got != want {
			t.Errorf("%s takes %d, want %d", text, got, want)
		}
	}
}

func TestJudge(t *testing.T) {
	all := terms(t, "ttft:p50<1s", "ttft:p99<1s", "itl:mean<10ms")
	stage := rundir.Stage{TTFT: rundir.Dist{P50: rundir.Exactly(0.5), P99: rundir.Exactly(0.6),
		Unsupported: []string{"p99"}}, InterToken: rundir.Exactly(0.02)}
	for n, want := range map[int]rundir.SLOVerdict{0: rundir.Met, 1: rundir.Met, 2: rundir.Unsure, 3: rundir.Missed} {
		got, term := Judge(&stage, all[:n])
		if got != want || (term == nil) != (want == rundir.Met) || term != nil && term != &all[n-1] {
			t.Errorf("%v: %v by %v", all[:n], got, term)
		}
	}
}

// A limit on right answers is decided by its exact bounds, over questions.
func TestAccuracy(t *testing.T) {
	for name, c := range map[string]struct {
		answers, right, items int
		term                  string
		want                  rundir.SLOVerdict
	}{
		"all of 13 are right":          {13, 13, 13, "accuracy>80%", rundir.Unsure},
		"all of 14 are right":          {14, 14, 14, "accuracy>80%", rundir.Met},
		"as many answers to 10":        {14, 14, 10, "accuracy>80%", rundir.Unsure},
		"half of 100 are right":        {100, 50, 100, "accuracy>80%", rundir.Missed},
		"80 of 100 are at the edge":    {100, 80, 100, "accuracy>80%", rundir.Unsure},
		"90 of 100 are above the edge": {100, 90, 100, "accuracy>=80%", rundir.Met},
		"none were graded":             {0, 0, 0, "accuracy>1%", rundir.Unsure},
	} {
		s := &rundir.Stage{Requests: rundir.Requests{OK: 2000}}
		if c.answers > 0 {
			s.Graded = &rundir.Graded{Answers: c.answers, Right: c.right, Items: c.items}
		}
		term := terms(t, c.term)[0]
		if got := term.Verdict(s); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		if again, err := Parse(term.String()); err != nil || again.Limit-term.Limit > 1e-9 || again.Metric != Accuracy {
			t.Errorf("%s is read as %v, %v", term, again, err)
		}
		if v, _ := term.Of(s); c.answers > 0 &&
			term.Amount(v.Value()) != trim(term.Amount(1-float64(c.right)/float64(c.answers))) {
			t.Errorf("%s: %s", name, term.Amount(v.Value()))
		}
	}
	for _, text := range []string{"accuracy>100%", "accuracy<80%", "accuracy>x", "accuracy:p50>80%", "accuracy>0%"} {
		if term, err := Parse(text); err == nil {
			t.Errorf("%s is read as %v", text, term)
		}
	}
}

// TestEarlyStopping compares the rule with the tables of distribution-free tolerance limits (Wilks, 1941; Hahn and
// Meeker, "Statistical Intervals", table J.1): the fewest requests of which 0, 1, 2 or 3 may be beyond the limit at a
// confidence of 99 %.
func TestEarlyStopping(t *testing.T) {
	for text, fewest := range map[string][]int{"ttft:p90<1s": {44, 64, 81, 97}, "latency:p95<1s": {90, 130, 165, 198},
		"tpot:p99<1s": {459, 662, 838, 1001}} {
		term := terms(t, text)[0]
		for beyond, n := range fewest {
			for _, c := range []struct {
				requests int
				passes   bool
			}{{n - 1, false}, {n, true}} {
				s := &rundir.Stage{Goodput: &rundir.Goodput{Terms: []rundir.TermResult{{Term: text,
					Beyond: &rundir.Beyond{Count: beyond, Of: c.requests}}}}}
				e, ok := term.EarlyStopping(s)
				if !ok || e.Passes() != c.passes || e.Needs != n || e.Passes() != (e.Allowed == beyond) || !c.passes &&
					e.Allowed != beyond-1 {
					t.Errorf("%s, %d of %d: %+v, want %v from %d on", text, beyond, c.requests, e, c.passes, n)
				}
			}
		}
	}
}

// TestEarlyStoppingOfOthers tests that requests that were cut off count as beyond the limit, and that what is no
// percentile of requests has no verdict.
func TestEarlyStoppingOfOthers(t *testing.T) {
	for text, want := range map[string]bool{"ttft:p99<1s": true, "ttft:mean<1s": false, "errors<1%": false,
		"itl:p99<1s": false} {
		term := terms(t, text)[0]
		s := &rundir.Stage{Goodput: &rundir.Goodput{Terms: []rundir.TermResult{{Term: text, Beyond: &rundir.Beyond{Count: 1,
			Open: 2, Of: 838}}}}}
		if e, ok := term.EarlyStopping(s); ok != want || ok && (e.Passes() || e.Beyond != 3 || e.Allowed != 2 ||
			e.Needs != 1001) {
			t.Errorf("%s: %+v, %v", text, e, ok)
		}
		if _, ok := term.EarlyStopping(&rundir.Stage{}); ok {
			t.Errorf("%s: a verdict on a stage that was not judged", text)
		}
	}
}
