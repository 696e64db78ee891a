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
)

// metricsPath is where every engine that has Prometheus metrics serves them.
const metricsPath = "/metrics"

// Gauge is a value that a server may not report.
type Gauge struct {
	Value float64
	Known bool
}

// Load is the load that a server reports. Engines report different parts of it.
type Load struct {
	Running       Gauge // requests being processed
	Waiting       Gauge // requests in its queue
	KVUsage       Gauge // share of the KV cache in use, 0 to 1; the largest of several engines
	Preemptions   Gauge // requests evicted from the cache since the server started
	PrefixQueries Gauge // prompt tokens looked up in the prefix cache since the server started
	PrefixHits    Gauge // those found there
	HitRate       Gauge // share found, 0 to 1, where the server reports only that
	Steps         Gauge // of the engine since the server started
	KVTokens      Gauge // size of the KV cache

	// Of speculative decoding: drafts, their tokens, and those that were accepted, since the server started; and means
	// of late, where the server reports only those: tokens of a step (accepted ones and one more), and the share of
	// drafted tokens that were accepted.
	Drafts, Drafted, Accepted, AcceptLength, AcceptRate Gauge

	// What the engine measured of the requests that ended since the server started, in seconds.
	TTFT, Queue, ITL, Latency Tally
}

// Tally is the sum and the number of the values in a histogram that a server may not report.
type Tally struct {
	Sum, Count float64
	Known      bool
}

// Known reports whether the server reported anything.
func (l *Load) Known() bool {
	return l.Running.Known || l.Waiting.Known || l.KVUsage.Known || l.Preemptions.Known || l.PrefixQueries.Known ||
		l.HitRate.Known
}

// metric maps a family of Prometheus metrics to a part of Load.
type metric struct {
	name  string
	field func(*Load) *Gauge
	peak  bool // several series have their maximum as value, not their sum
}

// metrics are the names that engines use, newer ones first: of one kind the first that exists is used. The names come
// from vLLM's v1/metrics/loggers.py (and its older engine/metrics.py), SGLang's metrics/collector.py, lmdeploy's
// metrics/loggers.py and llama.cpp's server.
var metrics = []metric{
	{"vllm:num_requests_running", running, false},
	{"vllm:num_requests_waiting", waiting, false},
	{"vllm:kv_cache_usage_perc", kvUsage, true},
	{"vllm:gpu_cache_usage_perc", kvUsage, true},
	{"vllm:num_preemptions_total", preemptions, false},
	{"vllm:prefix_cache_queries_total", prefixQueries, false},
	{"vllm:gpu_prefix_cache_queries_total", prefixQueries, false},
	{"vllm:prefix_cache_hits_total", prefixHits, false},
	{"vllm:gpu_prefix_cache_hits_total", prefixHits, false},
	{"sglang:num_running_reqs", running, false},
	{"sglang:num_queue_reqs", waiting, false},
	{"sglang:token_usage", kvUsage, true},
	{"sglang:cache_hit_rate", hitRate, true},
	{"vllm:spec_decode_num_drafts_total", func(l *Load) *Gauge { return &l.Drafts }, false},
	{"vllm:spec_decode_num_draft_tokens_total", func(l *Load) *Gauge { return &l.Drafted }, false},
	{"vllm:spec_decode_num_accepted_tokens_total", func(l *Load) *Gauge { return &l.Accepted }, false},
	{"sglang:spec_accept_length", func(l *Load) *Gauge { return &l.AcceptLength }, true},
	{"sglang:spec_accept_rate", func(l *Load) *Gauge { return &l.AcceptRate }, true},
	{"lmdeploy:num_requests_running", running, false},
	{"lmdeploy:num_requests_waiting", waiting, false},
	{"lmdeploy:gpu_cache_usage_perc", kvUsage, true},
	{"llamacpp:requests_processing", running, false},
	{"llamacpp:requests_deferred", waiting, false},
	{"llamacpp:kv_cache_usage_ratio", kvUsage, true},
}

// histogram maps a family of Prometheus histograms to a part of Load.
type histogram struct {
	name  string
	field func(*Load) *Tally
}

// histograms are the names that engines use, from the same files: of one kind the first that exists is used.
var histograms = []histogram{
	{"vllm:time_to_first_token_seconds", ttft},
	{"vllm:request_queue_time_seconds", queue},
	{"vllm:inter_token_latency_seconds", itl},
	{"vllm:time_per_output_token_seconds", itl},
	{"vllm:e2e_request_latency_seconds", latency},
	{"sglang:time_to_first_token_seconds", ttft},
	{"sglang:queue_time_seconds", queue},
	{"sglang:inter_token_latency_seconds", itl},
	{"sglang:e2e_request_latency_seconds", latency},
	{"lmdeploy:time_to_first_token_seconds", ttft},
	{"lmdeploy:request_queue_time_seconds", queue},
	{"lmdeploy:time_per_output_token_seconds", itl},
	{"lmdeploy:e2e_request_latency_seconds", latency},
}

// stepHistograms have one value for each step of the engine.
var stepHistograms = []string{"vllm:iteration_tokens_total", "lmdeploy:iteration_tokens_total"}

func ttft(l *Load) *Tally    { return &l.TTFT }
func queue(l *Load) *Tally   { return &l.Queue }
func itl(l *Load) *Tally     { return &l.ITL }
func latency(l *Load) *Tally { return &l.Latency }

func running(l *Load) *Gauge       { return &l.Running }
func waiting(l *Load) *Gauge       { return &l.Waiting }
func kvUsage(l *Load) *Gauge       { return &l.KVUsage }
func preemptions(l *Load) *Gauge   { return &l.Preemptions }
func prefixQueries(l *Load) *Gauge { return &l.PrefixQueries }
func prefixHits(l *Load) *Gauge    { return &l.PrefixHits }
func hitRate(l *Load) *Gauge       { return &l.HitRate }

// Load reads /metrics once. An error means that there are no known metrics: many servers need a flag to have them.
func (p *Prober) Load(ctx context.Context) (Load, error) {
	a, err := p.client.Fetch(ctx, p.limit(factTime), "GET", metricsPath, nil)
	if err != nil {
		return Load{}, remedy(p.client.URL(metricsPath), err)
	}
	l, err := parseLoad(bytes.NewReader(a.Body))
	if err == nil && !l.Known() {
		err = &Error{Kind: kindNotAPI, URL: p.client.URL(metricsPath), What: "no metrics of a known engine",
			Do: "Without them its queue and cache are not shown; everything else is measured."}
	}
	return l, err
}

// parseLoad parses Prometheus text. What precedes a syntax error in it is used.
func parseLoad(r io.Reader) (Load, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(r)
	var l Load
	for _, m := range metrics {
		g := m.field(&l)
		if f := families[m.name]; f != nil && !g.Known {
			*g = sumSeries(f.GetMetric(), m.peak)
		}
	}
	for _, h := range histograms {
		if t := h.field(&l); !t.Known {
			*t = sumHistogram(families[h.name])
		}
	}
	for _, name := range stepHistograms {
		if t := sumHistogram(families[name]); t.Known && !l.Steps.Known {
			l.Steps = Gauge{t.Count, true}
		}
	}
	l.KVTokens = cacheSize(families)
	if l.Known() {
		return l, nil
	}
	return l, err
}

// cacheSize returns the size of the KV cache in tokens, of several engines together. vLLM tells it in the labels of a
// metric (CacheConfig.metrics_info), SGLang as a gauge.
func cacheSize(families map[string]*dto.MetricFamily) (size Gauge) {
	for _, s := range families["vllm:cache_config_info"].GetMetric() {
		labels := map[string]float64{}
		for _, l := range s.GetLabel() {
			if v, err := strconv.ParseFloat(l.GetValue(), 64); err == nil {
				labels[l.GetName()] = v
			}
		}
		if n := labels["block_size"] * labels["num_gpu_blocks"]; n > 0 {
			size = Gauge{size.Value + n, true}
		}
	}
	if f := families["sglang:max_total_num_tokens"]; f != nil && !size.Known {
		return sumSeries(f.GetMetric(), false)
	}
	return size
}

// sumHistogram returns the sum of a histogram's series, one for each engine; unknown where there is none.
func sumHistogram(family *dto.MetricFamily) (t Tally) {
	for _, s := range family.GetMetric() {
		h := s.GetHistogram()
		if h == nil || math.IsNaN(h.GetSampleSum()) || math.IsInf(h.GetSampleSum(), 0) {
			continue
		}
		t.Sum, t.Count, t.Known = t.Sum+h.GetSampleSum(), t.Count+float64(h.GetSampleCount()), true
	}
	return t
}

// sumSeries returns the sum of a family's series, one for each engine, or the largest with peak.
func sumSeries(series []*dto.Metric, peak bool) Gauge {
	var g Gauge
	for _, s := range series {
		v, ok := value(s)
		switch {
		case !ok:
		case peak && g.Known:
			g.Value = max(g.Value, v)
		default:
			g.Value, g.Known = g.Value+v, true
		}
	}
	return g
}

// value returns a series' number, whatever type the server gave it. NaN and infinities do not count.
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
