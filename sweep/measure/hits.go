package measure

import (
	"llmsweep/sweep/rundir"
)

// hits gathers how much of the prompts of a window could be in the server's prefix cache, and how much was. Values are tokens.
type hits struct {
	prompt, ideal          float64 // of all
	told, cached           float64 // of those of which the server tells it
	requests, contaminated int     // of those, with prompts long enough to tell
}

// A request is contaminated that has moreHits tokens beyond what the run had sent before: no chat template, of which all prompts have the same, is as long.
// Prompts below shortPrompt tokens do not tell.
const (
	moreHits    = 96
	shortPrompt = 128
)

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
	h.told, h.cached = h.told+prompt, h.cached+cached
	if prompt >= shortPrompt {
		h.requests++
		if cached > ideal+moreHits {
			h.contaminated++
		}
	}
}

// Of the requests of a contaminated row at least fewContaminated are so, and this share.
const (
	fewContaminated   = 3
	shareContaminated = 0.01
)

// result returns the hits of a stage whose server's counters are known; nil where there are none to tell.
func (h *hits) result(st *rundir.Stage) *rundir.Hits {
	out := &rundir.Hits{Ideal: rundir.Exactly(h.ideal / max(h.prompt, 1))}
	switch {
	case h.told > 0:
		out.Reported, out.Source = rundir.Exactly(h.cached/h.told), rundir.HitsOfUsage
	case st.Server != nil && st.Server.PrefixHitRate.Known():
		out.Reported, out.Source = st.Server.PrefixHitRate, rundir.HitsOfMetrics
	}
	if out.Ideal.Value() == 0 && out.Reported.Or(0) == 0 {
		return nil
	}
	if h.contaminated >= fewContaminated && float64(h.contaminated) >= shareContaminated*float64(h.requests) {
		out.Contaminated = ratio(float64(h.contaminated), float64(h.requests))
	}
	return out
}
