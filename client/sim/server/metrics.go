package server

import (
	"fmt"
	"net/http"
	"slices"

	"llmsweep/client/sim"
)

// metric is one family of an engine's metrics.
type metric struct {
	name, kind, help string
	value            func(sim.SchedulerStats) float64
}

func running(st sim.SchedulerStats) float64          { return float64(st.Running) }
func waiting(st sim.SchedulerStats) float64          { return float64(st.Waiting) }
func kvUsage(st sim.SchedulerStats) float64          { return st.KVUsage }
func preemptions(st sim.SchedulerStats) float64      { return float64(st.Preemptions) }
func prefixQueries(st sim.SchedulerStats) float64    { return float64(st.PrefixQueries) }
func prefixHits(st sim.SchedulerStats) float64       { return float64(st.PrefixHits) }
func promptTokens(st sim.SchedulerStats) float64     { return float64(st.PromptTokens) }
func generationTokens(st sim.SchedulerStats) float64 { return float64(st.GenerationTokens) }

func hitRate(st sim.SchedulerStats) float64 {
	if st.PrefixQueries == 0 {
		return 0
	}
	return float64(st.PrefixHits) / float64(st.PrefixQueries)
}

// vllmMetrics are the metrics of vllm/v1/metrics/loggers.py about load.
func vllmMetrics() []metric {
	return []metric{
		{"vllm:num_requests_running", "gauge", "Number of requests in model execution batches.", running},
		{"vllm:num_requests_waiting", "gauge", "Number of requests waiting to be processed.", waiting},
		{"vllm:kv_cache_usage_perc", "gauge", "KV-cache usage. 1 means 100 percent usage.", kvUsage},
		{"vllm:num_preemptions_total", "counter", "Cumulative number of preemptions from the engine.", preemptions},
		{"vllm:prefix_cache_queries_total", "counter", "Prefix cache queries, in terms of number of queried tokens.", prefixQueries},
		{"vllm:prefix_cache_hits_total", "counter", "Prefix cache hits, in terms of number of cached tokens.", prefixHits},
		{"vllm:prompt_tokens_total", "counter", "Number of prefill tokens processed.", promptTokens},
		{"vllm:generation_tokens_total", "counter", "Number of generation tokens processed.", generationTokens},
	}
}

// vllmCache is where vLLM tells the size of its KV cache (vllm/config/cache.py).
const vllmCache = `# HELP vllm:cache_config_info Information of the LLMEngine CacheConfig
# TYPE vllm:cache_config_info gauge
vllm:cache_config_info{block_size="%d",engine="0",num_gpu_blocks="%d"} 1.0
`

// sglangMetrics are the metrics of sglang's metrics/collector.py; not checked against a running engine.
func sglangMetrics() []metric {
	return []metric{
		{"sglang:num_running_reqs", "gauge", "The number of running requests.", running},
		{"sglang:num_queue_reqs", "gauge", "The number of requests in the waiting queue.", waiting},
		{"sglang:token_usage", "gauge", "The token usage.", kvUsage},
		{"sglang:cache_hit_rate", "gauge", "The prefix cache hit rate.", hitRate},
		{"sglang:prompt_tokens_total", "counter", "Number of prefill tokens processed.", promptTokens},
		{"sglang:generation_tokens_total", "counter", "Number of generation tokens processed.", generationTokens},
	}
}

func drafts(st sim.SchedulerStats) float64   { return float64(st.Drafts) }
func drafted(st sim.SchedulerStats) float64  { return float64(st.Drafted) }
func accepted(st sim.SchedulerStats) float64 { return float64(st.Accepted) }

// speculationMetrics are those that engines have beside the others where they decode speculatively: of vllm/v1/spec_decode/metrics.py, and of sglang's
// metrics/collector.py.
func speculationMetrics(engine string) []metric {
	switch engine {
	case "vllm":
		return []metric{
			{"vllm:spec_decode_num_drafts_total", "counter", "Number of spec decoding drafts.", drafts},
			{"vllm:spec_decode_num_draft_tokens_total", "counter", "Number of draft tokens.", drafted},
			{"vllm:spec_decode_num_accepted_tokens_total", "counter", "Number of accepted tokens.", accepted},
		}
	case "sglang":
		return []metric{
			{"sglang:spec_accept_length", "gauge", "The average acceptance length of speculative decoding.",
				func(st sim.SchedulerStats) float64 { return 1 + accepted(st)/max(1, drafts(st)) }},
			{"sglang:spec_accept_rate", "gauge", "The average acceptance rate of speculative decoding.",
				func(st sim.SchedulerStats) float64 { return accepted(st) / max(1, drafted(st)) }},
		}
	}
	return nil
}

// metrics writes the state of the engine as Prometheus text, under the engine's own names.
func (s *server) metrics(w http.ResponseWriter, _ *http.Request) {
	st := s.engine.Stats()
	cache := ""
	if s.flavor.name == "vllm" {
		cache = fmt.Sprintf(vllmCache, s.Config.BlockTokens, s.Config.Blocks())
	}
	labels := fmt.Sprintf("{engine=\"0\",model_name=%q}", s.Options.ModelID)
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	fmt.Fprint(w, cache)
	all := s.flavor.metrics
	if s.Config.Speculation.Draft > 0 {
		all = slices.Concat(all, speculationMetrics(s.flavor.name))
	}
	for _, m := range all {
		fmt.Fprintf(w, "# HELP %[1]s %[2]s\n# TYPE %[1]s %[3]s\n%[1]s%[4]s %[5]v\n", m.name, m.help, m.kind, labels, m.value(st))
	}
}
