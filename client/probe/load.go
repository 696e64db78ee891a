package probe

import (
	"bytes"
	"context"
	"io"
	"math"
	"strconv"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"llmsweep/client"
)

const metricsPath = "/metrics"

// Load reads /metrics once. The error is for a server without known metrics: many need a flag to have them.
func (p *Prober) Load(ctx context.Context) (client.Gauges, error) {
	a, err := p.client.Fetch(ctx, p.limit(factTime), "GET", metricsPath, nil)
	if err != nil {
		return client.Gauges{}, remedy(p.client.URL(metricsPath), err)
	}
	g, known, err := parseLoad(bytes.NewReader(a.Body))
	if !known && err == nil {
		err = &Error{Kind: kindNotAPI, URL: p.client.URL(metricsPath), What: "no metrics of a known engine",
			Do: "Without them its queue and cache are not shown; everything else is measured."}
	}
	return g, err
}

// parseLoad parses Prometheus text, up to a syntax error in it; known reports whether there was a load. The names come
// from vLLM's v1/metrics/loggers.py (and its older engine/metrics.py), SGLang's metrics/collector.py, lmdeploy's
// metrics/loggers.py and llama.cpp's server.
func parseLoad(r io.Reader) (g client.Gauges, known bool, err error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	parsed, err := parser.TextToMetricFamilies(r)
	f := families(parsed)
	g = client.Gauges{
		Running: f.sum("vllm:num_requests_running", "sglang:num_running_reqs", "lmdeploy:num_requests_running",
			"llamacpp:requests_processing"),
		Waiting: f.sum("vllm:num_requests_waiting", "sglang:num_queue_reqs", "lmdeploy:num_requests_waiting",
			"llamacpp:requests_deferred"),
		KVUsage: f.peak("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc", "sglang:token_usage",
			"lmdeploy:gpu_cache_usage_perc", "llamacpp:kv_cache_usage_ratio"),
		Preemptions:   f.sum("vllm:num_preemptions_total"),
		PrefixQueries: f.sum("vllm:prefix_cache_queries_total", "vllm:gpu_prefix_cache_queries_total"),
		PrefixHits:    f.sum("vllm:prefix_cache_hits_total", "vllm:gpu_prefix_cache_hits_total"),
		KVTokens:      f.cacheSize(),
		Steps:         math.NaN(),
		Drafts:        f.sum("vllm:spec_decode_num_drafts_total"),
		Drafted:       f.sum("vllm:spec_decode_num_draft_tokens_total"),
		Accepted:      f.sum("vllm:spec_decode_num_accepted_tokens_total"),
		AcceptLength:  f.peak("sglang:spec_accept_length"),
		AcceptRate:    f.peak("sglang:spec_accept_rate"),
	}
	g.TTFT, _ = f.tally("vllm:time_to_first_token_seconds", "sglang:time_to_first_token_seconds",
		"lmdeploy:time_to_first_token_seconds")
	g.Queue, _ = f.tally("vllm:request_queue_time_seconds", "sglang:queue_time_seconds",
		"lmdeploy:request_queue_time_seconds")
	g.ITL, _ = f.tally("vllm:inter_token_latency_seconds", "vllm:time_per_output_token_seconds",
		"sglang:inter_token_latency_seconds", "lmdeploy:time_per_output_token_seconds")
	g.Latency, _ = f.tally("vllm:e2e_request_latency_seconds", "sglang:e2e_request_latency_seconds",
		"lmdeploy:e2e_request_latency_seconds")
	// Each step of the engine adds a value to these.
	if t, ok := f.tally("vllm:iteration_tokens_total", "lmdeploy:iteration_tokens_total"); ok {
		g.Steps = t.Count
	}
	hitRate := f.peak("sglang:cache_hit_rate")
	for _, v := range []float64{g.Running, g.Waiting, g.KVUsage, g.Preemptions, g.PrefixQueries, hitRate} {
		if !math.IsNaN(v) {
			return g, true, nil
		}
	}
	return g, false, err
}

// families are the metrics of a server by name. Methods take several names for one thing, newer first, and use the
// first that the server has; a number is NaN where it has none. A metric has one series for each engine.
type families map[string]*dto.MetricFamily

func (f families) sum(names ...string) float64 {
	return f.join(func(a, b float64) float64 { return a + b }, names)
}

func (f families) peak(names ...string) float64 { return f.join(math.Max, names) }

func (f families) join(combine func(a, b float64) float64, names []string) float64 {
	for _, name := range names {
		joined, found := 0.0, false
		for _, s := range f[name].GetMetric() {
			v, ok := value(s)
			if ok && found {
				v = combine(joined, v)
			}
			if ok {
				joined, found = v, true
			}
		}
		if found {
			return joined
		}
	}
	return math.NaN()
}

func (f families) tally(names ...string) (t client.Tally, ok bool) {
	for _, name := range names {
		for _, s := range f[name].GetMetric() {
			h := s.GetHistogram()
			if h == nil || math.IsNaN(h.GetSampleSum()) || math.IsInf(h.GetSampleSum(), 0) {
				continue
			}
			t, ok = t.Add(client.Tally{Sum: h.GetSampleSum(), Count: float64(h.GetSampleCount())}), true
		}
		if ok {
			break
		}
	}
	return t, ok
}

// cacheSize returns the KV cache's size in tokens; 0 where it is not reported. vLLM has it in the labels of a metric
// (CacheConfig.metrics_info), SGLang as a gauge.
func (f families) cacheSize() (size float64) {
	for _, s := range f["vllm:cache_config_info"].GetMetric() {
		labels := map[string]float64{}
		for _, l := range s.GetLabel() {
			if v, err := strconv.ParseFloat(l.GetValue(), 64); err == nil {
				labels[l.GetName()] = v
			}
		}
		if n := labels["block_size"] * labels["num_gpu_blocks"]; n > 0 {
			size += n
		}
	}
	if size > 0 {
		return size
	}
	if gauge := f.sum("sglang:max_total_num_tokens"); gauge > 0 {
		return gauge
	}
	return 0
}

// value returns a series' number, whatever its type; false for NaN and infinities.
func value(m *dto.Metric) (float64, bool) {
	var v float64
	switch {
	case m.Gauge != nil:
		v = m.GetGauge().GetValue()
	case m.Counter != nil:
		v = m.GetCounter().GetValue()
	case m.Untyped != nil:
		v = m.GetUntyped().GetValue()
	default:
		return 0, false
	}
	return v, v-v == 0
}
