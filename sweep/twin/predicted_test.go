package twin

import (
	"math"
	"testing"

	"llmsweep/sweep/rundir"
)

// steady is a server whose steps take 10 ms, four requests at once: it sustains 40 req/s of 10 tokens.
func steady() *Twin {
	return &Twin{Version: Version, Slots: 4, StepTokens: 2048, Step: Step{Read: Read{FixedMS: 10}},
		Seen: Seen{Prompt: [2]int{8, 400}, Output: [2]int{4, 40}}, Labels: Labels{Model: "m", GPU: "L20", GPUs: 2}}
}

// TestAPredictedRun: gaps are the step's, rows complete what is offered, and times to the first token grow up to saturation.
func TestAPredictedRun(t *testing.T) {
	run, a := Predict(steady(), PredictedLoad{Prompt: rundir.Lengths{Mean: 64}, Output: rundir.Lengths{Mean: 10}, Seed: 1})
	if math.Abs(a.Rate/40-1) > 0.03 || run.Labels.GPUs != 2 || run.Workload.PromptTokens.Mean != 64 {
		t.Fatalf("%+v %+v", a, run)
	}
	before := 0.0
	for i, s := range run.Stages {
		last := i == len(run.Stages)-1
		if math.Abs(s.ITL.P50.Value()-0.01) > 1e-6 || math.Abs(s.InterToken.Value()-0.01) > 1e-6 || !s.ITL.Supported("p99") {
			t.Errorf("%s: gaps of %v", s.Name, s.ITL)
		}
		if rate := min(s.Rates.Offered.Value(), 40); math.Abs(s.Rates.Completed.Value()/rate-1) > 0.04 || math.Abs(s.TokensPerS.Output.Value()/(10*rate)-1) > 0.04 {
			t.Errorf("%s: %+v, %+v", s.Name, s.Rates, s.TokensPerS)
		}
		if (s.Verdict == rundir.Saturated) != last || s.TTFT.Mean.Value() < 0.9*before {
			t.Errorf("%s: %s, TTFT %v after %v", s.Name, s.Verdict, s.TTFT.Mean, before)
		}
		before = s.TTFT.Mean.Value()
	}
}

// TestATraceKeepsItsLengths: a mix is predicted as such, and lengths that the twin cannot know are refused.
func TestATraceKeepsItsLengths(t *testing.T) {
	run, a := Predict(steady(), PredictedLoadOf(Mixed{Name: "t.jsonl", Lengths: [][2]int{{64, 5}, {64, 35}}}, 1))
	if math.Abs(a.Rate/20-1) > 0.03 || run.Workload.Dataset != "t.jsonl" || run.Workload.OutputTokens.Mean != 20 {
		t.Errorf("%+v %+v", a, run.Workload)
	}
	if run, a = Predict(steady(), PredictedLoad{Prompt: rundir.Lengths{Mean: 4000}, Output: rundir.Lengths{Mean: 10}}); run != nil || a.Refused != RefusedFar {
		t.Errorf("%+v", a)
	}
}
