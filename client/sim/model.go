package sim

// Model is a decoder-only transformer with grouped-query attention and untied embeddings, with the numbers of its
// config.json.
type Model struct {
	Name   string
	Source string // the Hugging Face repository whose config.json this follows

	Layers, Hidden, Heads, KVHeads, HeadDim, Vocab int

	Params       float64 // all parameters, both embeddings included
	ActiveParams float64 // the parameters that one token uses: Params, except for a mixture of experts

	// A mixture of experts: each token is routed to ExpertsPerToken of the Experts in each layer. ExpertParams is the
	// size of all routed experts of all layers together. All are zero in a dense model.
	Experts, ExpertsPerToken int
	ExpertParams             float64
}

// Models returns the known models.
func Models() []Model {
	return []Model{
		dense("Qwen2-7B", "Qwen/Qwen2-7B-Instruct", 28, 3584, 28, 4, 7.616e9),
		dense("Qwen2.5-14B", "Qwen/Qwen2.5-14B-Instruct", 48, 5120, 40, 8, 14.770e9),
		dense("Qwen2.5-32B", "Qwen/Qwen2.5-32B-Instruct", 64, 5120, 40, 8, 32.764e9),
		qwen57B(),
		dense("Qwen2-72B", "Qwen/Qwen2-72B-Instruct", 80, 8192, 64, 8, 72.706e9),
	}
}

func dense(name, source string, layers, hidden, heads, kvHeads int, params float64) Model {
	return Model{Name: name, Source: source, Layers: layers, Hidden: hidden, Heads: heads, KVHeads: kvHeads,
		HeadDim: 128, Vocab: 152064, Params: params, ActiveParams: params}
}

// qwen57B has 64 routed experts a layer, 8 to a token, each of three 3584 x 2560 matrices, beside a shared expert.
func qwen57B() Model {
	m := dense("Qwen2-57B-A14B", "Qwen/Qwen2-57B-A14B-Instruct", 28, 3584, 28, 4, 57.409e9)
	m.Vocab = 151936
	m.Experts, m.ExpertsPerToken = 64, 8
	m.ExpertParams = 28 * 64 * 3 * 3584 * 2560
	m.ActiveParams = m.Params - m.ExpertParams*(1-8.0/64)
	return m
}

// LookupModel finds a model by name, or by the beginning of its name where that is unambiguous. Case and hyphens do
// not matter. The error lists all names.
func LookupModel(name string) (Model, error) {
	return lookup("model", name, Models(), func(m Model) string { return m.Name })
}

// embedding is the number of parameters of one of the two embeddings. The input's is only looked up; the output's
// (lm_head) is multiplied once for each sampled token. Quantized checkpoints have both in 16 bits.
func (m Model) embedding() float64 { return float64(m.Vocab) * float64(m.Hidden) }

// kvBytes is the size of a token in the KV cache: a key and a value of 16 bits for each layer and KV head.
func (m Model) kvBytes() float64 { return 2 * 2 * float64(m.Layers*m.KVHeads*m.HeadDim) }
