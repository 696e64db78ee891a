package probe

import (
	"bytes"
	_ "embed"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"llmsweep/client"
	"llmsweep/client/testkit"
)

//go:embed testdata/vllm-metrics.txt
var vllmPage string

// scrapes are pages in the engines' own words.
var scrapes = map[string]struct {
	text string
	want func(*client.Gauges)
}{
	"vLLM": {vllmPage, func(g *client.Gauges) {
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
	for _, server := range []*fake{{}, {pages: map[string]string{"/metrics": ""}},
		{pages: map[string]string{"/metrics": "go_goroutines 7\n"}}, {pages: map[string]string{"/metrics": "{\"a\":1}"}}} {
		l, err := prober(t, client.Options{URL: serve(t, server)}).Load(t.Context())
		if err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %+v, %v", server.pages, l, err)
		}
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
