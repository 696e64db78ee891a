package sim

import (
	"fmt"
	"net/http"
)

// metrics writes the state of the engine as Prometheus text, under vLLM's names.
func (s *server) metrics(w http.ResponseWriter, _ *http.Request) {
	st := s.live.Stats()
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	for _, m := range []struct {
		name, kind, help string
		value            float64
	}{
		{"num_requests_running", "gauge", "Number of requests in model execution batches.", float64(st.Running)},
		{"num_requests_waiting", "gauge", "Number of requests waiting to be processed.", float64(st.Waiting)},
		{"kv_cache_usage_perc", "gauge", "KV-cache usage. 1 means 100 percent usage.", st.KVUsage},
		{"num_preemptions_total", "counter", "Cumulative number of preemptions from the engine.", float64(st.Preemptions)},
		{"prefix_cache_queries_total", "counter", "Prefix cache queries, in terms of number of queried tokens.", float64(st.PrefixQueries)},
		{"prefix_cache_hits_total", "counter", "Prefix cache hits, in terms of number of cached tokens.", float64(st.PrefixHits)},
		{"prompt_tokens_total", "counter", "Number of prefill tokens processed.", float64(st.PromptTokens)},
		{"generation_tokens_total", "counter", "Number of generation tokens processed.", float64(st.GenerationTokens)},
	} {
		fmt.Fprintf(w, "# HELP vllm:%[1]s %[2]s\n# TYPE vllm:%[1]s %[3]s\nvllm:%[1]s{engine=\"0\",model_name=%[4]q} %[5]v\n",
			m.name, m.help, m.kind, s.options.ModelID, m.value)
	}
}
