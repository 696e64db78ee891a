package saturation

import (
	"math"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
)

// Spent is what a number of requests took.
type Spent struct {
	Requests       int
	Prompt, Output int64 // tokens
}

// Unsaved returns what a run that was killed spent and did not save in run.json: what its records tell, and an upper
// estimate for the requests without a record. Those were in flight, or their records had not been written yet.
func Unsaved(path string, run *rundir.Run) (lost Spent, err error) {
	if run.State != rundir.Running {
		return lost, nil
	}
	var longest Spent // of a request
	latest, begun := 0.0, 0
	for r, err := range store.Unsaved(path, run) {
		if err != nil {
			return lost, err
		}
		prompt, output := r.PromptTokens, r.OutputTokens
		if !prompt.Known() {
			prompt = rundir.Exactly(float64(r.AskedPrompt))
		}
		if !output.Known() || !r.OK() {
			output = rundir.Exactly(float64(r.AskedTokens))
		}
		latest, begun = max(latest, r.End.Value()), max(begun, r.Seq+1)
		longest.Prompt, longest.Output = max(longest.Prompt, int64(prompt.Value())),
			max(longest.Output, int64(output.Value()))
		if r.Sent.Known() && !r.Refused() {
			lost.Requests++
			lost.Prompt, lost.Output = lost.Prompt+int64(prompt.Value()), lost.Output+int64(output.Value())
		}
	}
	if longest.Prompt == 0 {
		longest = Spent{Prompt: int64(run.Workload.PromptTokens.Mean), Output: int64(run.Workload.OutputTokens.Mean)}
	}
	missing := max(0, begun-lost.Requests)
	if n := len(run.Stages); n > 0 {
		st := &run.Stages[n-1]
		missing += max(st.MaxConcurrency, 1)
		if st.Rate.Known() {
			missing += int(math.Ceil(unwritten * st.Rate.Value()))
		}
	}
	if latest > 0 {
		missing += int(math.Ceil(unwritten * float64(lost.Requests) / latest))
	}
	lost.Requests += missing
	lost.Prompt, lost.Output = lost.Prompt+int64(missing)*longest.Prompt, lost.Output+int64(missing)*longest.Output
	return lost, nil
}
