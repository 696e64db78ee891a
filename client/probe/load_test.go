package probe

import (
	"bytes"
	_ "embed"
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	"llmsweep/client"
	"llmsweep/client/testkit"
)

//go:embed testdata/vllm-metrics.txt
var vllmPage string

// unknown matches what a page did not say.
var unknown = regexp.MustCompile(` ?\w+:(NaN|\{Sum:0 Count:0\})`)

// What pages of metrics say, in the engines' own words. A page without gauges is an error in one line.
func TestLoad(t *testing.T) {
	testkit.CheckCases(t, "loads.txt", func(t *testing.T, text string, _ bool) string {
		page := strings.NewReplacer("VLLM\n", vllmPage, "NOTHING\n", "").Replace(text)
		url := serve(t, &fake{pages: map[string]string{"/metrics": page}})
		g, err := prober(t, client.Options{URL: url + "/v1"}).Load(t.Context())
		if err == nil {
			return "  " + unknown.ReplaceAllString(fmt.Sprintf("%+v", g), "") + "\n"
		}
		return strings.ReplaceAll(fmt.Sprintf("  error: %v\n", err), url, "URL")
	})
	if _, err := prober(t, client.Options{URL: serve(t, &fake{})}).Load(t.Context()); err == nil {
		t.Error("a server without metrics has a load")
	}
}

func FuzzLoad(f *testing.F) {
	for _, page := range []string{vllmPage, "sglang:cache_hit_rate 0.1\nsglang:num_running_reqs{m=\"m\"} 5\n",
		"lmdeploy:num_requests_running{a=\"b\"} 1\nlmdeploy:num_requests_waiting x\n",
		"# TYPE llamacpp:requests_deferred gauge\nllamacpp:requests_deferred NaN\n"} {
		f.Add([]byte(page))
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
