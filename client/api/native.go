// The APIs that single engines have of their own, beside OpenAI's.

package api

// nativeDialects returns the APIs.
func nativeDialects() []Dialect {
	return []Dialect{sglangAPI{}, lmdeploy{}, llamacppAPI{}, ollama{}, ollama{generate: true}, tgi{}, triton{}, triton{vllm: true}}
}
