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
