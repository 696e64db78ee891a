package api

import (
	"encoding/json"
)

// sampling are the members of a body, or of an object in it, that decide which token is taken.
var sampling = []string{
	"temperature", "seed", "top_p", "top_k", "min_p", "typical_p", "do_sample", "repetition_penalty", "repeat_penalty",
	"presence_penalty",
	"frequency_penalty", "mirostat", "samplers", "n", "best_of", "use_beam_search", "logprobs", "top_logprobs", "n_probs",
	"ignore_eos", "min_tokens",
}

// Greedy returns the settings of a request for the most likely answer: the temperature is 0, and members of Extra that
// would have another token taken are left out.
func (p *Params) Greedy(t Traits) *Params {
	own := *p
	own.Temperature = new(float64)
	own.Fields.IgnoreEOS, own.Fields.MinTokens = false, false
	body := object(p.Extra)
	forget(body)
	for _, v := range body {
		if inner, ok := v.(map[string]any); ok {
			forget(inner)
		}
	}
	if t.Seeds {
		body["seed"] = 0
	}
	own.Extra = nil
	if len(body) > 0 {
		own.Extra, _ = json.Marshal(body) // it was read from JSON
	}
	return &own
}

// object reads a JSON object; it is empty where there is none.
func object(raw []byte) map[string]any {
	o := map[string]any{}
	if len(raw) > 0 {
		json.Unmarshal(raw, &o)
	}
	return o
}

func forget(o map[string]any) {
	for _, name := range sampling {
		delete(o, name)
	}
}
