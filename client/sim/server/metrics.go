package server

import (
	"fmt"
	"net/http"

	"llmsweep/client/sim"
)

// cacheConfig has the size of vLLM's KV cache (vllm/config/cache.py).
const cacheConfig = `# TYPE vllm:cache_config_info gauge
vllm:cache_config_info{block_size="%d",engine="0",num_gpu_blocks="%d"} 1.0
`

// metrics has the names of vllm/v1/metrics/loggers.py, v1/spec_decode/metrics.py, and sglang's metrics/collector.py.
func (s *server) metrics(w http.ResponseWriter, _ *http.Request) {
	st := s.engine.Stats()
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	write := func(kind, name string, v float64) {
		fmt.Fprintf(w, "# TYPE %s:%s %s\n%[1]s:%[2]s{engine=\"0\",model_name=%[4]q} %[5]v\n", s.Engine, name, kind,
			s.model(), v)
	}
	if s.Engine == sglang {
		write("gauge", "num_running_reqs", float64(st.Running))
		write("gauge", "num_queue_reqs", float64(st.Waiting))
		write("gauge", "token_usage", st.KVUsage)
		write("gauge", "cache_hit_rate", float64(st.PrefixHits)/max(1, float64(st.PrefixQueries)))
		if s.config.Speculation != (sim.Speculation{}) {
			write("gauge", "spec_accept_length", 1+float64(st.Accepted)/max(1, float64(st.Drafts)))
			write("gauge", "spec_accept_rate", float64(st.Accepted)/max(1, float64(st.Drafted)))
		}
	} else {
		fmt.Fprintf(w, cacheConfig, s.config.BlockTokens, s.config.Blocks())
		write("gauge", "num_requests_running", float64(st.Running))
		write("gauge", "num_requests_waiting", float64(st.Waiting))
		write("gauge", "kv_cache_usage_perc", st.KVUsage)
		write("counter", "num_preemptions_total", float64(st.Preemptions))
		write("counter", "prefix_cache_queries_total", float64(st.PrefixQueries))
		write("counter", "prefix_cache_hits_total", float64(st.PrefixHits))
		if s.config.Speculation != (sim.Speculation{}) {
			write("counter", "spec_decode_num_drafts_total", float64(st.Drafts))
			write("counter", "spec_decode_num_draft_tokens_total", float64(st.Drafted))
			write("counter", "spec_decode_num_accepted_tokens_total", float64(st.Accepted))
		}
	}
	write("counter", "prompt_tokens_total", float64(st.PromptTokens))
	write("counter", "generation_tokens_total", float64(st.GenerationTokens))
}
