package fit

import (
	"testing"

	"llmsweep/sweep/twin/stages"
)

// TestARealServerIsRefined fits a recorded sweep of llama.cpp, in which all prompts are equally long: no step shows that the time before the first
// token is the prompt's, so that the regression alone fails its check by far. The refinement finds it.
func TestARealServerIsRefined(t *testing.T) {
	all, _, err := stages.Of("../../../examples/real/llamacpp-native")
	if err != nil {
		t.Fatal(err)
	}
	data := dataOf(all, quickest)
	plain, err := fit(data)
	if err != nil {
		t.Fatal(err)
	}
	before := check(data, false)
	latency, cost := plain.LatencyMS, plain.Step.Compute.TokenUS
	refined := checked(plain, data)
	if before.Passed || before.Error < 0.3 || !refined.Refined || !refined.Check.Passed || refined.Check.Error > 0.08 {
		t.Errorf("before %v, after %v", before, refined.Check)
	}
	if refined.LatencyMS > 0.7*latency || refined.Step.Compute.TokenUS < cost+50 {
		t.Errorf("latency %v -> %v ms, %v -> %v us a token", latency, refined.LatencyMS, cost, refined.Step.Compute.TokenUS)
	}
	for _, d := range refined.Draws {
		if _, names := refined.Step.Values(); len(d) != len(names) {
			t.Fatal(d)
		}
	}
}
