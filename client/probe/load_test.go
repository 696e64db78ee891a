package probe

import (
	"bytes"
	_ "embed"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"llmsweep/client"
	"llmsweep/client/testkit"
)

//go:embed testdata/vllm-metrics.txt
var vllmPage string

// scrapes are pages in the engines' own words.
var scrapes = map[string]struct {
	text string
	want Load
}{
	"vLLM": {vllmPage, Load{Steps: told(90), TTFT: Tally{0.75, 6, true}, Latency: Tally{1, 1, true}, Running: told(7),
		Waiting: told(0),
		KVUsage: told(0.75), Preemptions: told(46), PrefixQueries: told(1.5e6), PrefixHits: told(512)}},
	"older vLLM": {"vllm:num_requests_running 1\nvllm:gpu_cache_usage_perc 0.5\n",
		Load{Running: told(1), KVUsage: told(0.5)}},
	"SGLang": {`# TYPE sglang:num_running_reqs gauge
sglang:num_running_reqs{model_name="m"} 5
# TYPE sglang:num_queue_reqs gauge
sglang:num_queue_reqs{model_name="m"} 2
# TYPE sglang:token_usage gauge
sglang:token_usage{model_name="m"} 0.28
# TYPE sglang:cache_hit_rate gauge
sglang:cache_hit_rate{model_name="m"} 0.1
`, Load{Running: told(5), Waiting: told(2), KVUsage: told(0.28), HitRate: told(0.1)}},
	"lmdeploy": {"lmdeploy:num_requests_running{a=\"b\"} 1\nlmdeploy:num_requests_waiting 9\n" +
		"lmdeploy:gpu_cache_usage_perc 1\n",
		Load{Running: told(1), Waiting: told(9), KVUsage: told(1)}},
	"llama.cpp": {"# TYPE llamacpp:requests_processing gauge\nllamacpp:requests_processing 2\n" +
		"# TYPE llamacpp:requests_deferred gauge\nllamacpp:requests_deferred 1\n",
		Load{Running: told(2), Waiting: told(1)}},
	"a fault further down": {"vllm:num_requests_running 1\nvllm:num_requests_waiting x\n", Load{Running: told(1)}},
	"no numbers":           {"vllm:num_requests_running NaN\nvllm:num_requests_waiting 1\n", Load{Waiting: told(1)}},
}

func told(v float64) Gauge { return Gauge{v, true} }

func TestLoad(t *testing.T) {
	for name, tt := range scrapes {
		p := prober(t, client.Options{URL: serve(t, &fake{pages: map[string]string{"/metrics": tt.text}}) + "/v1"})
		got, err := p.Load(t.Context())
		if d := cmp.Diff(tt.want, got); d != "" || err != nil {
			t.Errorf("%s: %v, -want +got\n%s", name, err, d)
		}
	}
}

func TestNoLoad(t *testing.T) {
	for _, server := range []*fake{{}, {pages: map[string]string{"/metrics": ""}},
		{pages: map[string]string{"/metrics": "go_goroutines 7\n"}}, {pages: map[string]string{"/metrics": "{\"a\":1}"}}} {
		l, err := prober(t, client.Options{URL: serve(t, server)}).Load(t.Context())
		if err == nil || l.Known() || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %+v, %v", server.pages, l, err)
		}
	}
}

func FuzzLoad(f *testing.F) {
	for _, s := range scrapes {
		f.Add([]byte(s.text))
	}
	f.Fuzz(testkit.MutatedWith(func(t *testing.T, page []byte) {
		l, _ := parseLoad(bytes.NewReader(page))
		for _, m := range metrics {
			if g := m.field(&l); !g.Known && g.Value != 0 || g.Value-g.Value != 0 {
				t.Errorf("%s: %v", m.name, *g)
			}
		}
	}))
}
