// Package native has the APIs that single engines have of their own, beside OpenAI's.
package native

import "llmsweep/client/api"

// Dialects returns the APIs.
func Dialects() []api.Dialect {
	return []api.Dialect{sglang{}, lmdeploy{}, llamacpp{}, ollama{}, ollama{generate: true}, tgi{}, triton{}, triton{vllm: true}}
}
