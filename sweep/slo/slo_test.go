package slo

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"llmsweep/sweep/rundir"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]Term{
		"ttft:p99<500ms":        {TTFT, "p99", 0.5},
		"itl:mean<50ms":         {ITL, Mean, 0.05},
		"tpot:p50<1.5s":         {TPOT, "p50", 1.5},
		" Latency:P95 <= 2m ":   {Latency, "p95", 120},
		"errors<1%":             {Errors, "", 0.01},
		"errors<0.005":          {Errors, "", 0.005},
		"latency:p90< 12.75 ms": {Latency, "p90", 0.01275},
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
		"ttft:p99>500ms": "no <", "ttft<500ms": "statistic", "speed:mean<1s": `"speed"`, "itl:p42<1s": `"p42"`,
		"itl:mean<50": "duration", "itl:mean<-1s": "duration", "errors<200%": "errors<1%", "errors:mean<1%": "errors<1%", "": "no <",
	} {
		_, err := Parse(text)
		if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "ttft:p99<500ms") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := ParseAll([]string{"itl:mean<50ms", "itl:mean<60ms"}); err == nil {
		t.Error("two limits for one figure were taken")
	}
}

func TestHolds(t *testing.T) {
	stage := rundir.Stage{
		Requests:   rundir.Requests{OK: 98, Error: 2},
		TTFT:       rundir.Dist{Mean: rundir.Exactly(0.1), P95: rundir.Exactly(0.2), P99: rundir.Exactly(0.3), Unsupported: []string{"p99"}},
		Latency:    rundir.Dist{Mean: rundir.Over(2)},
		InterToken: rundir.Exactly(0.02),
	}
	for text, want := range map[string]Verdict{
		"ttft:mean<200ms":  Kept,
		"ttft:mean<100ms":  Broken, // below, not at
		"ttft:p95<150ms":   Broken,
		"ttft:p99<500ms":   Unknown, // unsupported
		"ttft:p99<100ms":   Unknown,
		"ttft:p90<1s":      Unknown, // absent
		"latency:mean<1s":  Broken,  // at least 2 s
		"latency:mean<3s":  Unknown,
		"itl:mean<50ms":    Kept, // of a table that has nothing else
		"itl:p50<50ms":     Unknown,
		"tpot:mean<50ms":   Unknown,
		"errors<3%":        Kept,
		"errors<1%":        Broken,
		"latency:p99<10ms": Unknown,
	} {
		term, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := term.Holds(&stage); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
	errors := Term{Errors, "", 0.01}
	if got := errors.Holds(&rundir.Stage{}); got != Unknown {
		t.Errorf("errors where nobody counted: %v", got)
	}
}
