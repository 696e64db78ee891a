package probe

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"llmsweep/client"
	"llmsweep/client/testkit"
)

// scrapes are pages in the engines' own words.
var scrapes = map[string]struct {
	text string
	want func(*client.Gauges)
}{
	"vLLM": {`# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="m"} 3.0
vllm:num_requests_running{engine="1",model_name="m"} 4.0
# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting{engine="0",model_name="m"} 0.0
# TYPE vllm:kv_cache_usage_perc gauge
vllm:kv_cache_usage_perc{engine="0",model_name="m"} 0.25
vllm:kv_cache_usage_perc{engine="1",model_name="m"} 0.75
# TYPE vllm:num_preemptions_total counter
vllm:num_preemptions_total{engine="0",model_name="m"} 46.0
# TYPE vllm:prefix_cache_queries_total counter
vllm:prefix_cache_queries_total{engine="0",model_name="m"} 1.5e+06
# TYPE vllm:prefix_cache_hits_total counter
vllm:prefix_cache_hits_total{engine="0",model_name="m"} 512
# TYPE vllm:e2e_request_latency_seconds histogram
vllm:e2e_request_latency_seconds_bucket{le="+Inf"} 1
vllm:e2e_request_latency_seconds_sum 1
vllm:e2e_request_latency_seconds_count 1
# TYPE vllm:time_to_first_token_seconds histogram
vllm:time_to_first_token_seconds_bucket{engine="0",le="+Inf"} 4
vllm:time_to_first_token_seconds_sum{engine="0"} 0.5
vllm:time_to_first_token_seconds_count{engine="0"} 4
vllm:time_to_first_token_seconds_bucket{engine="1",le="+Inf"} 2
vllm:time_to_first_token_seconds_sum{engine="1"} 0.25
vllm:time_to_first_token_seconds_count{engine="1"} 2
# TYPE vllm:iteration_tokens_total histogram
vllm:iteration_tokens_total_bucket{le="+Inf"} 90
vllm:iteration_tokens_total_sum 700
vllm:iteration_tokens_total_count 90
`, func(g *client.Gauges) {
		g.Steps, g.TTFT, g.Latency = 90, client.Tally{Sum: 0.75, Count: 6}, client.Tally{Sum: 1, Count: 1}
		g.Running, g.Waiting, g.KVUsage, g.Preemptions, g.PrefixQueries, g.PrefixHits = 7, 0, 0.75, 46, 1.5e6, 512
	}},
	"older vLLM": {"vllm:num_requests_running 1\nvllm:gpu_cache_usage_perc 0.5\n",
		func(g *client.Gauges) { g.Running, g.KVUsage = 1, 0.5 }},
	"SGLang": {`# TYPE sglang:num_running_reqs gauge
sglang:num_running_reqs{model_name="m"} 5
# TYPE sglang:num_queue_reqs gauge
sglang:num_queue_reqs{model_name="m"} 2
# TYPE sglang:token_usage gauge
sglang:token_usage{model_name="m"} 0.28
# TYPE sglang:cache_hit_rate gauge
sglang:cache_hit_rate{model_name="m"} 0.1
`, func(g *client.Gauges) { g.Running, g.Waiting, g.KVUsage = 5, 2, 0.28 }},
	"only a share found": {"sglang:cache_hit_rate 0.1\n", func(*client.Gauges) {}},
	"lmdeploy": {"lmdeploy:num_requests_running{a=\"b\"} 1\nlmdeploy:num_requests_waiting 9\nlmdeploy:gpu_cache_usage_perc 1\n",
		func(g *client.Gauges) { g.Running, g.Waiting, g.KVUsage = 1, 9, 1 }},
	"llama.cpp": {"# TYPE llamacpp:requests_processing gauge\nllamacpp:requests_processing 2\n# TYPE llamacpp:requests_deferred gauge\nllamacpp:requests_deferred 1\n",
		func(g *client.Gauges) { g.Running, g.Waiting = 2, 1 }},
	"a fault further down": {"vllm:num_requests_running 1\nvllm:num_requests_waiting x\n",
		func(g *client.Gauges) { g.Running = 1 }},
	"no numbers": {"vllm:num_requests_running NaN\nvllm:num_requests_waiting 1\n",
		func(g *client.Gauges) { g.Waiting = 1 }},
}

func TestLoad(t *testing.T) {
	for name, tt := range scrapes {
		p := prober(t, client.Options{URL: serve(t, &fake{pages: map[string]string{"/metrics": tt.text}}) + "/v1"})
		got, err := p.Load(t.Context())
		want, _, _ := parseLoad(strings.NewReader(""))
		tt.want(&want)
		if d := cmp.Diff(want, got, cmpopts.EquateNaNs()); d != "" || err != nil {
			t.Errorf("%s: %v, -want +got\n%s", name, err, d)
		}
	}
}

func TestNoLoad(t *testing.T) {
	for _, text := range []string{"", "go_goroutines 7\n", "{\"a\":1}", "<html>"} {
		p := prober(t, client.Options{URL: serve(t, &fake{pages: map[string]string{"/metrics": text}})})
		if l, err := p.Load(t.Context()); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %+v, %v", text, l, err)
		}
	}
	if _, err := prober(t, client.Options{URL: serve(t, &fake{})}).Load(t.Context()); err == nil {
		t.Error("no page, no error")
	}
}

func FuzzLoad(f *testing.F) {
	for _, s := range scrapes {
		f.Add([]byte(s.text))
	}
	f.Fuzz(testkit.MutatedWith(func(t *testing.T, page []byte) {
		g, _, _ := parseLoad(bytes.NewReader(page))
		for _, v := range []float64{g.Running, g.Waiting, g.KVUsage, g.Preemptions, g.PrefixQueries, g.PrefixHits} {
			if math.IsInf(v, 0) {
				t.Errorf("%+v", g)
			}
		}
	}))
}
