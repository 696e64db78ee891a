package sweep

import (
	"fmt"
	"strings"

	"llmsweep/sweep/rundir"
)

// foresee warns of a plan that goes beyond what the client was shown to measure well on this machine: so many streams at
// once, and so many requests a second, of so many tokens each. 0 is what nobody knows.
func (x *experiment) foresee(streams int, rate, tokens float64) {
	if t := x.run.Client.Selftest; t != nil {
		x.foreseen(beyond(t, streams, rate*tokens, rate))
	}
}

func (x *experiment) foreseen(beyond []string) {
	if len(beyond) == 0 {
		return
	}
	x.warn("the plan may go beyond what this client was shown to measure well on this machine: %s", strings.Join(beyond, ", "))
	x.plan = append(x.plan, x.run.Warnings[len(x.run.Warnings)-1])
}

// beyond lists what a load is that the client was not shown to bear. What was never tried is left out.
func beyond(t *rundir.Selftest, streams int, tokens, rate float64) []string {
	var all []string
	if streams > t.Streams {
		all = append(all, fmt.Sprintf("%d streams at once of %d", streams, t.Streams))
	}
	if t.TokensPerS.Known() && tokens > t.TokensPerS.Value() {
		all = append(all, fmt.Sprintf("%.0f tokens/s of %.0f", tokens, t.TokensPerS.Value()))
	}
	if t.ArrivalsPerS.Known() && rate > t.ArrivalsPerS.Value() {
		all = append(all, fmt.Sprintf("%.0f arrivals/s of %.0f", rate, t.ArrivalsPerS.Value()))
	}
	return all
}

// overreached says of a stage that it went there. Its figures may be right all the same: lag and processor time, which are
// measured in each stage, make a row invalid.
func overreached(t *rundir.Selftest, st *rundir.Stage) (warning string, ok bool) {
	if t == nil {
		return "", false
	}
	chunks := st.TokensPerS.Output
	if k := st.TokensPerChunk; k.Known() && k.Value() > 1 { // the client's work is by the chunk
		chunks = rundir.Exactly(chunks.Value() / k.Value())
	}
	tokens := 0.0
	if chunks.Known() {
		tokens = chunks.Value()
	}
	all := beyond(t, st.Concurrency.Peak, tokens, 0)
	if len(all) == 0 {
		return "", false
	}
	return "beyond what this client was shown to measure well on this machine: " + strings.Join(all, ", "), true
}
