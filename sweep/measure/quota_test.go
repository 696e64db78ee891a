package measure

import (
	"math"
	"math/rand/v2"
	"testing"

	"llmsweep/client"
	"llmsweep/sweep/rundir"
)

// TestQuotaOfRecords: periods and what passes in them are read off records, and nothing is read off servers without a
// quota.
func TestQuotaOfRecords(t *testing.T) {
	const rate, length, service = 10.0, 200.0, 0.5
	for name, c := range map[string]struct {
		answers          func(at float64, n int) (first float64, refused bool) // the n-th request
		period, requests float64                                               // 0 for no quota
	}{
		"refuses after 100 in 20 s": {func() func(float64, int) (float64, bool) {
			window, passed := 0, 0
			return func(at float64, _ int) (float64, bool) {
				if w := int(at / 20); w != window {
					window, passed = w, 0
				}
				passed++
				return at + 0.1, passed > 100
			}
		}(), 20, 100},
		"delays after 100 in 20 s": {func(at float64, n int) (float64, bool) {
			w := math.Max(math.Floor(at/20), float64(n/100))
			return math.Max(at, w*20+float64(n%100)*0.02) + 0.1, false
		}, 20, 100},
		"refuses every other": {func(at float64, n int) (float64, bool) { return at + 0.1, n%2 == 1 }, 0, 0},
		"refuses at random":   {func(at float64, n int) (float64, bool) { return at + 0.1, n*7919%10 < 4 }, 0, 0},
		"is quick":            {func(at float64, _ int) (float64, bool) { return at + 0.1, false }, 0, 0},
		"is slow to begin":    {func(at float64, _ int) (float64, bool) { return at + 3, false }, 0, 0},
		"falls behind": {func(at float64, n int) (float64, bool) {
			return math.Max(at, float64(n)*0.15) + 0.1,
				false
		}, 0, 0},
		"pauses with all streams open": {func(at float64, _ int) (float64, bool) {
			if math.Mod(at, 20) > 15 {
				return at - math.Mod(at, 20) + 20.1, false
			}
			return at + 0.1, false
		}, 0, 0},
	} {
		rng, q, at := rand.New(rand.NewPCG(1, 2)), quotas{}, 0.0
		for n := 0; at < length; n++ {
			at += rng.ExpFloat64() / rate
			first, refused := c.answers(at, n)
			r := rundir.Record{Sent: rundir.Exactly(at), Status: string(client.StatusOK), FirstToken: rundir.Exactly(first),
				LastToken: rundir.Exactly(first + service), OutputTokens: rundir.Exactly(8)}
			if name == "pauses with all streams open" {
				r.LastToken = rundir.Exactly(first + 10)
			}
			if refused {
				r = rundir.Record{
					Sent:   rundir.Exactly(at),
					Status: string(client.StatusError),
					HTTP:   429,
					Error:  string(client.ClassRateLimited),
				}
			}
			q.add(&r)
		}
		got := q.sum()
		if c.period == 0 {
			if got.Periods > 0 {
				t.Errorf("%s: %+v", name, got)
			}
			continue
		}
		if math.Abs(got.Period.Value()/c.period-1) > 0.03 || math.Abs(got.Requests.Value()/c.requests-1) > 0.05 ||
			got.Periods < 5 {
			t.Errorf("%s: %v requests in %v s, over %d periods", name, got.Requests, got.Period, got.Periods)
		}
	}
}
