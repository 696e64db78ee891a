package measure

import (
	"math"
	"math/rand/v2"
	"testing"

	"llmsweep/client"
)

// Periods and what passes in them are read off records, and nothing is read off servers without a quota.
func TestQuotaOfRecords(t *testing.T) {
	soon := func(at float64) float64 { return at + 0.1 }
	window, passed := 0, 0
	for _, c := range []struct {
		name    string
		quota   bool                                                  // of 100 requests in 20 s
		service float64                                               // seconds from the first token to the last
		answers func(at float64, n int) (first float64, refused bool) // the n-th request
	}{
		{"refuses", true, 0.5, func(at float64, _ int) (float64, bool) {
			if w := int(at / 20); w != window {
				window, passed = w, 0
			}
			passed++
			return soon(at), passed > 100
		}},
		{"delays", true, 0.5, func(at float64, n int) (float64, bool) {
			w := math.Max(math.Floor(at/20), float64(n/100))
			return soon(math.Max(at, w*20+float64(n%100)*0.02)), false
		}},
		{"refuses every other", false, 0.5, func(at float64, n int) (float64, bool) { return soon(at), n%2 == 1 }},
		{"refuses at random", false, 0.5, func(at float64, n int) (float64, bool) { return soon(at), n*7919%10 < 4 }},
		{"is quick", false, 0.5, func(at float64, _ int) (float64, bool) { return soon(at), false }},
		{"is slow to begin", false, 0.5, func(at float64, _ int) (float64, bool) { return at + 3, false }},
		{"falls behind", false, 0.5, func(at float64, n int) (float64, bool) {
			return soon(math.Max(at, float64(n)*0.15)), false
		}},
		{"pauses with all streams open", false, 10, func(at float64, _ int) (float64, bool) {
			if math.Mod(at, 20) > 15 {
				at += 20 - math.Mod(at, 20)
			}
			return soon(at), false
		}},
	} {
		rng, q := rand.New(rand.NewPCG(1, 2)), quotas{}
		for at, n := rng.ExpFloat64()/10, 0; at < 200; at, n = at+rng.ExpFloat64()/10, n+1 {
			first, refused := c.answers(at, n)
			r := answer(at, first, int64(c.service*1e6))
			if refused {
				r = failure(at, string(client.ClassRateLimited))
				r.HTTP = 429
			}
			q.add(r)
		}
		got := q.sum()
		if c.quota != (got.Periods >= 5) || !c.quota && got.Periods > 0 || c.quota &&
			(math.Abs(got.Period.Value()/20-1) > 0.03 || math.Abs(got.Requests.Value()/100-1) > 0.05) {
			t.Errorf("%s: %v requests in %v s, over %d periods", c.name, got.Requests, got.Period, got.Periods)
		}
	}
}
