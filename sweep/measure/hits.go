package measure

import (
	"math"

	"llmsweep/sweep/rundir"
)

// hits are how much of the prompts of a window could be in the server's prefix cache (ideal), and how much was, in
// tokens.
type hits struct {
	prompt, ideal          float64  // of all requests
	reportedPrompt, cached float64  // of requests whose cached tokens the server reports
	long                   []excess // of those with prompts long enough to tell
}

// excess is what a request had in the cache beyond what the run had sent before, in tokens, and the length of its
// prompt.
type excess struct{ over, prompt int32 }

func (h *hits) add(r *rundir.Record) {
	if !r.OK() || !r.PromptTokens.Known() {
		return
	}
	prompt, ideal := r.PromptTokens.Value(), float64(r.IdealTokens)
	h.prompt, h.ideal = h.prompt+prompt, h.ideal+ideal
	if !r.CachedTokens.Known() {
		return
	}
	cached := r.CachedTokens.Value()
	h.reportedPrompt, h.cached = h.reportedPrompt+prompt, h.cached+cached
	if prompt >= shortPrompt {
		h.long = append(h.long, excess{int32(cached - ideal), int32(prompt)})
	}
}

// contaminated returns the share of the requests whose prompts were not new to the server; absent where they are too
// few.
func (h *hits) contaminated() rundir.Number {
	template := int32(math.MaxInt32)
	for _, e := range h.long {
		template = min(template, max(e.over, 0))
	}
	n := 0
	for _, e := range h.long {
		if e.over > min(template, e.prompt/2)+excessHits {
			n++
		}
	}
	if n < fewContaminated || float64(n) < shareContaminated*float64(len(h.long)) {
		return rundir.Number{}
	}
	return ratio(float64(n), float64(len(h.long)))
}

func (h *hits) result(st *rundir.Stage) *rundir.Hits {
	out := &rundir.Hits{Ideal: rundir.Exactly(h.ideal / max(h.prompt, 1))}
	switch {
	case h.reportedPrompt > 0:
		out.Reported, out.Source = rundir.Exactly(h.cached/h.reportedPrompt), rundir.HitsOfUsage
	case st.Server != nil && st.Server.PrefixHitRate.Known():
		out.Reported, out.Source = st.Server.PrefixHitRate, rundir.HitsOfMetrics
	}
	if out.Ideal.Value() == 0 && out.Reported.Or(0) == 0 {
		return nil
	}
	out.Contaminated = h.contaminated()
	return out
}
