package api

import "encoding/json"

// samplingFields are the members of a body, or of an object in it, that decide which token is taken.
var samplingFields = []string{
	"temperature", "seed", "top_p", "top_k", "min_p", "typical_p", "do_sample", "repetition_penalty", "repeat_penalty",
	"presence_penalty",
	"frequency_penalty", "mirostat", "samplers", "n", "best_of", "use_beam_search", "logprobs", "top_logprobs", "n_probs",
	"ignore_eos", "min_tokens",
}

// Greedy returns the settings for the most likely answer: temperature 0, without the members of Extra that change which
// token is taken.
func (p *Params) Greedy(t Traits) *Params {
	greedy := *p
	greedy.Temperature = new(float64)
	greedy.Fields.IgnoreEOS, greedy.Fields.MinTokens = false, false
	extra := map[string]any{}
	json.Unmarshal(p.Extra, &extra) // an object, see CheckExtra, or nothing
	deleteSampling(extra)
	for _, v := range extra {
		if inner, ok := v.(map[string]any); ok {
			deleteSampling(inner)
		}
	}
	if t.Seeds {
		extra["seed"] = 0
	}
	greedy.Extra = nil
	if len(extra) > 0 {
		greedy.Extra, _ = json.Marshal(extra) // cannot fail: it was read from JSON
	}
	return &greedy
}

func deleteSampling(o map[string]any) {
	for _, name := range samplingFields {
		delete(o, name)
	}
}
