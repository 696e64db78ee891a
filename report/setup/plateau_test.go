package setup

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"llmsweep/report/published"
	"llmsweep/sweep/rundir"
)

// published120 are tables of stages of 120 s: each row completed the part of what was offered that had ended with the
// stage, but for those of a server that takes no more than most.
func published120(t *testing.T, latency func(rate float64) float64, most float64) []rundir.Run {
	t.Helper()
	var b strings.Builder
	for table := range 3 {
		fmt.Fprintf(&b, "\n- **M%d**, **1** x **L20**, **vLLM**, prompt_tokens=512, generated_tokens=128\n\n", table)
		b.WriteString("| Benchmark | Requests per Second | Request Latency | Time to First Token | Inter Token Latency | Output Token Throughput |\n" +
			"|---|---|---|---|---|---|\n| synchronous | 0.25 req/sec | 4.00 sec | 170.00 ms | 30.00 ms | 32.00 tokens/sec |\n")
		for i := range 8 {
			rate := 1 + float64(i)
			l := latency(rate)
			done := min(rate, most) * (1 - l/120)
			fmt.Fprintf(&b, "| asynchronous@%.2f | %.2f req/sec | %.2f sec | %.2f ms | %.2f ms | %.2f tokens/sec |\n",
				rate, done, l, 200+rate, (l-0.2)/127*1000, 128*done)
		}
	}
	doc, err := published.ParseText("doc.md", strings.NewReader(b.String()))
	if err != nil || len(doc.Runs) != 3 {
		t.Fatal(err, len(doc.Runs))
	}
	EstimateStageTime(doc.Runs)
	return doc.Runs
}

// TestStageTime: requests that were in flight when a stage ended are no backlog.
func TestStageTime(t *testing.T) {
	slow := func(rate float64) float64 { return 5 + 5*rate }
	for _, c := range []struct {
		most   float64
		rising bool
	}{{100, true}, {5, false}} {
		runs := published120(t, slow, c.most)
		if lasted := runs[0].Source.StageTime.Value(); math.Abs(lasted-120) > 6 {
			t.Errorf("stages of 120 s are taken for %.1f s", lasted)
		}
		p := Load([]Input{{Path: "doc.md", Run: &runs[0]}})[0].Plateau
		if p.Rising != c.rising || p.Most.Known() {
			t.Errorf("a server that takes %v req/s: %+v", c.most, p)
		}
	}
}

// TestStageTimeNeedsRows: where requests are short, or rows are few, nothing is estimated.
func TestStageTimeNeedsRows(t *testing.T) {
	runs := published120(t, func(float64) float64 { return 3 }, 100)
	if !runs[0].Source.StageTime.IsZero() {
		t.Errorf("%v s by requests of 3 s", runs[0].Source.StageTime)
	}
}

// TestSaturatedRowEndsTheRise: a row that is known to be saturated shows the most, though it completed more.
func TestSaturatedRowEndsTheRise(t *testing.T) {
	for verdict, rising := range map[rundir.Verdict]bool{rundir.Stable: true, rundir.Saturated: false, "shedding": false} {
		run := rundir.Run{Source: &rundir.Source{File: "x", Line: 1}}
		for i, done := range []float64{2, 4, 7} {
			s := rundir.Stage{
				Name: fmt.Sprint(i), Kind: "poisson", State: rundir.Complete, Rate: rundir.Exactly(done + 0.5),
				Verdict: rundir.Stable, Rates: rundir.Rates{Completed: rundir.Exactly(done)},
				Source: &rundir.Source{File: "x", Line: 2 + i},
			}
			if i == 2 {
				s.Verdict = verdict
			}
			run.Stages = append(run.Stages, s)
		}
		if p := Load([]Input{{Path: "x", Run: &run}})[0].Plateau; p.Rising != rising || p.Rate != rundir.Exactly(7) {
			t.Errorf("%s: %+v", verdict, p)
		}
	}
}

// TestPlateauOfBracket: a sweep that knows only between which rates it saturates is no sweep of its best row.
func TestPlateauOfBracket(t *testing.T) {
	run := quick()
	hold := run.Stages[1]
	hold.Role, hold.Name = rundir.Hold, "hold@4.00"
	hold.OutputTokens.Mean = rundir.Exactly(100)
	run.Stages = append(run.Stages, hold)
	for _, c := range []struct {
		sat             rundir.Saturation
		rate, most, out float64
	}{
		{rundir.Saturation{Low: rundir.Exactly(4), High: rundir.Exactly(9)}, 4, 9, 400},
		{rundir.Saturation{High: rundir.Exactly(9)}, 0, 0, 0},
		{rundir.Saturation{Rate: rundir.Exactly(6), Low: rundir.Exactly(5), High: rundir.Exactly(7),
			Output: rundir.Exactly(600)}, 6, 0, 600},
	} {
		run.Saturation, run.Answer = &c.sat, nil
		p := Load([]Input{{Path: "quick", Run: run}})[0].Plateau
		if p.Rate.Or(0) != c.rate || p.Most.Or(0) != c.most || p.Output.Or(0) != c.out || p.Rising {
			t.Errorf("%+v: %+v", c.sat, p)
		}
	}
}
