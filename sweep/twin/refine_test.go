package twin

import (
	"testing"
)

// TestARealServerIsRefined fits a recorded sweep of llama.cpp, in which all prompts are equally long: no step shows by itself what a prompt costs, so
// that the regression alone fails its check. The refinement finds it.
func TestARealServerIsRefined(t *testing.T) {
	all, _, err := stagesOf("../../examples/real/llamacpp-native")
	if err != nil {
		t.Fatal(err)
	}
	data := dataOf(all)
	plain, err := fit(data)
	if err != nil {
		t.Fatal(err)
	}
	before := check(data, false)
	refined := checked(plain, data)
	if before.Passed || !refined.Refined || !refined.Check.Passed || refined.Check.Error > before.Error/2 {
		t.Errorf("before %v, after %v", before, refined.Check)
	}
	for _, d := range refined.Draws {
		if _, names := refined.Step.Values(); len(d) != len(names) {
			t.Fatal(d)
		}
	}
}
