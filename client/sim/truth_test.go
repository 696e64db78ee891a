package sim_test

import (
	"context"
	"flag"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"llmsweep/client/sim"
	"llmsweep/client/sim/habit"
	"llmsweep/sweep/simtest"
)

// work is the workload of plain8 at 19.5 requests a second.
var work = sim.Workload{PromptTokens: 64, OutputTokens: 32}

func plain8(t testing.TB, habits ...string) simtest.DrawnServer {
	t.Helper()
	c, err := sim.Preset("plain8")
	if err != nil {
		t.Fatal(err)
	}
	if c.Habits, err = habit.ParseList(habits); err != nil {
		t.Fatal(err)
	}
	return simtest.DrawnServer{Config: c, Work: work}
}

// inBubble runs f beside a server in virtual time.
func inBubble(t *testing.T, s simtest.DrawnServer, f func(t *testing.T, l *sim.Engine)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l, err := sim.Start(s.Config)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		f(t, l)
	})
}

// offer is what becomes of Poisson arrivals on a fresh server.
func offer(t *testing.T, s simtest.DrawnServer, rate float64, from, to time.Duration, seed uint64) (out simtest.DrawnOutcome) {
	t.Helper()
	inBubble(t, s, func(t *testing.T, l *sim.Engine) {
		out = s.Offer(t.Context(), l, rate, from, to, seed)
	})
	return out
}

// closed is what a closed loop of n clients completes a second between two times.
func closed(t *testing.T, s simtest.DrawnServer, n int, from, to time.Duration) (rate float64) {
	t.Helper()
	inBubble(t, s, func(t *testing.T, l *sim.Engine) {
		ctx, cancel := context.WithCancel(t.Context())
		began := time.Now()
		var mu sync.Mutex
		var wg sync.WaitGroup
		ended := 0
		for range n {
			wg.Go(func() {
				for ctx.Err() == nil {
					_, err := l.Generate(ctx, sim.Request{PromptTokens: s.Work.PromptTokens, OutputTokens: s.Work.OutputTokens}, func(int, time.Time) {})
					mu.Lock()
					if at := time.Since(began); err == nil && at >= from && at < to {
						ended++
					}
					mu.Unlock()
				}
			})
		}
		time.Sleep(to)
		cancel()
		wg.Wait()
		rate = float64(ended) / (to - from).Seconds()
	})
	return rate
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.Abs(got-want) > tolerance*math.Abs(want) {
		t.Errorf("%s: %.4g, want %.4g within %.1f %%", what, got, want, tolerance*100)
	}
}

const (
	warm  = 20 * time.Second
	long  = warm + 120*time.Second
	brief = warm + 40*time.Second
)

func TestPlainServerIsExact(t *testing.T) {
	if testing.Short() {
		t.Skip("a long simulation in one goroutine")
	}
	t.Parallel()
	s := plain8(t)
	c := sim.CapacityOf(s.Config, work)
	near(t, "capacity", c.RequestsPerSecond, 8/0.41, 1e-9)
	if c.SyncTTFT != 100*time.Millisecond || c.SyncITL != 10*time.Millisecond || c.SyncLatency != 410*time.Millisecond {
		t.Errorf("alone: %+v", c)
	}
	near(t, "one at a time", closed(t, s, 1, warm, long), 1/0.41, 0.003)
	near(t, "half of the slots", closed(t, s, 4, warm, long), 4/0.41, 0.003)
	near(t, "all slots", closed(t, s, 8, warm, long), 8/0.41, 0.003)
	near(t, "a queue", closed(t, s, 30, warm, long), 8/0.41, 0.003)
	inBubble(t, s, func(t *testing.T, l *sim.Engine) {
		began := time.Now()
		var at []time.Duration
		l.Generate(t.Context(), sim.Request{PromptTokens: 64, OutputTokens: 3}, func(_ int, i time.Time) { at = append(at, i.Sub(began)) })
		for i, want := range []time.Duration{100 * time.Millisecond, 110 * time.Millisecond, 120 * time.Millisecond} {
			if at[i] != want {
				t.Errorf("token %d at %v, want %v", i+1, at[i], want)
			}
		}
	})
	near(t, "Poisson below the capacity", offer(t, s, 17, warm, long, 1).Answered, 17, 0.05)
	near(t, "Poisson above it", offer(t, s, 25, warm, long, 1).Answered, 8/0.41, 0.005)
}

// TestSustainedRates compares each habit's truth with long runs at 90 % of what it takes, where all is answered, and far
// above.
func TestSustainedRates(t *testing.T) {
	if testing.Short() {
		t.Skip("a long simulation in one goroutine")
	}
	t.Parallel()
	for _, c := range []struct {
		habits []string
		want   float64 // Sustained, worked out by hand
	}{
		{nil, 19.512},
		{[]string{"sheds:8"}, 19.512},
		{[]string{"rate-limited:RPM=600,burst=20"}, 10},
		{[]string{"rate-limited:TPM=57600,token-burst=960"}, 10},
		{[]string{"rate-limited:RPM=6000"}, 19.512},
		{[]string{"pauses:10s,500ms"}, 19.512 * 0.95},
		{[]string{"caches:0.4"}, 19.512 / 0.6},
		{[]string{"batches:100ms"}, 19.512},
		{[]string{"drops:3,500ms"}, 19.512},
		{[]string{"drops:2,205ms"}, 19.512},
		{[]string{"caches:0.4", "rate-limited:RPM=1200,burst=40"}, 20},
		{[]string{"sheds:40", "pauses:10s,1s"}, 19.512 * 0.9},
	} {
		s := plain8(t, c.habits...)
		name := s.Config.Habits.String()
		truth := s.Truth(0)
		near(t, name+": sustained", truth.Sustained, c.want, 0.002)
		below := offer(t, s, 0.85*truth.Takes, warm, brief, 2)
		if lost := below.Refused / below.Offered; lost > 0.02 {
			t.Errorf("%s: at 85 %% of what it takes, %.1f %% are refused", name, lost*100)
		}
		near(t, name+": below", below.Answered, truth.Answers(below.Offered), 0.03)
		above := offer(t, s, 1.6*truth.Takes, warm, brief, 3)
		near(t, name+": above", above.Answered, truth.Answers(above.Offered), 0.03)
		if refuses := above.Refused > 0; refuses != truth.Refused {
			t.Errorf("%s: refused %.3g a second, refuses says %v", name, above.Refused, truth.Refused)
		}
		if truth.Refused == (above.InFlight > 100) {
			t.Errorf("%s: %d in flight after an overload, refuses says %v", name, above.InFlight, truth.Refused)
		}
		near(t, name+": dropped", below.Dropped/below.Offered, truth.Dropped, 0.1)
	}
}

// TestTokenBucketsAcceptAsComputed compares the acceptance of small and large buckets with long runs around the limit.
func TestTokenBucketsAcceptAsComputed(t *testing.T) {
	if testing.Short() {
		t.Skip("a long simulation in one goroutine")
	}
	t.Parallel()
	for _, h := range []string{"rate-limited:RPM=300,burst=1", "rate-limited:RPM=300,burst=2.5", "rate-limited:RPM=300,burst=10", "rate-limited:TPM=19500,token-burst=10", "rate-limited:TPM=19500,token-burst=325"} {
		s := plain8(t, h)
		s.Work.OutputTokens = 1
		for _, rate := range []float64{4, 8} {
			got := offer(t, s, rate, warm, warm+160*time.Second, 4)
			near(t, h, got.Answered, s.Truth(0).Accepts(got.Offered), 0.04)
		}
	}
}

func TestDriftsAndScales(t *testing.T) {
	if testing.Short() {
		t.Skip("a long simulation in one goroutine")
	}
	t.Parallel()
	s := plain8(t, "drifts:0.1")
	for _, at := range []time.Duration{0, 10 * time.Minute} {
		near(t, "drifts", closed(t, s, 12, at, at+20*time.Second), s.Truth(at+10*time.Second).Sustained, 0.025)
	}
	near(t, "after ten minutes", s.Truth(10*time.Minute).Sustained, 8/0.41/2, 1e-6)
	for _, c := range []struct {
		habit         string
		before, after float64
	}{{"scales:2@3m", 19.512, 39.024}, {"scales:0.5@3m", 19.512, 9.756}, {"scales:0.01@3m", 19.512, 19.512 / 8}} {
		s := plain8(t, c.habit)
		near(t, c.habit, s.Truth(179*time.Second).Sustained, c.before, 0.001)
		near(t, c.habit, s.Truth(180*time.Second).Sustained, c.after, 0.001)
		near(t, c.habit, closed(t, s, 40, 140*time.Second, 179*time.Second), c.before, 0.01)
		near(t, c.habit, closed(t, s, 40, 190*time.Second, 230*time.Second), c.after, 0.01)
	}
}

// TestCollapsedRates holds a queue of known length by a closed loop.
func TestCollapsedRates(t *testing.T) {
	if testing.Short() {
		t.Skip("a long simulation in one goroutine")
	}
	t.Parallel()
	for _, h := range []string{"collapses:0.3", "collapses:0.3,worst=2", "collapses:1,worst=3,recovery=never"} {
		s := plain8(t, h)
		for _, waiting := range []int{8, 16, 40} {
			near(t, h, closed(t, s, 8+waiting, 60*time.Second, 100*time.Second), sim.Collapsed(s.Config, work, float64(waiting)), 0.02)
		}
	}
	s := plain8(t, "collapses:0.3,worst=3")
	near(t, "in overload", offer(t, s, 30, 60*time.Second, 100*time.Second, 5).Answered, s.Truth(0).Overload, 0.01)
	near(t, "the limit of the collapse", s.Truth(0).Overload, 19.512/3, 0.001)
	near(t, "the point of no return", sim.PointOfNoReturn(s.Config, work, 16), 8*(19.512/16-1)/0.3, 0.001)
	both := plain8(t, "collapses:0.3", "sheds:8")
	near(t, "refusing keeps the queue short", offer(t, both, 40, 60*time.Second, 100*time.Second, 5).Answered, both.Truth(0).Sustained, 0.03)
}

// TestSustainedBelowTheCollapse counts how many of some runs collapse below, at and above the sustained rate.
func TestSustainedBelowTheCollapse(t *testing.T) {
	if testing.Short() {
		t.Skip("a long simulation in one goroutine")
	}
	t.Parallel()
	for _, h := range []string{"collapses:1,from=1,worst=3,recovery=never"} {
		s := plain8(t, h)
		s.Config.Plain = sim.Plain{FirstToken: 500 * time.Millisecond, PerToken: 50 * time.Millisecond} // fewer steps to run
		sustained := s.Truth(0).Sustained
		const runs = 7
		collapsed := func(rate float64) (n int) {
			for seed := range uint64(runs) {
				if offer(t, s, rate, 0, sim.SustainedFor, 100+seed).InFlight > int(8+2*(8+sim.PointOfNoReturn(s.Config, work, rate)))/2 {
					n++
				}
			}
			return n
		}
		below, at, above := collapsed(0.9*sustained), collapsed(sustained), collapsed(1.1*sustained)
		t.Logf("%s: sustains %.2f req/s for 3 min, %.2f for 30 s; collapsed at 90 %%: %d, 100 %%: %d, 110 %%: %d of %d", h, sustained,
			s.Sustains(30*time.Second), below, at, above, runs)
		if below > 3 || at < 1 || at > 7 || above < 5 {
			t.Errorf("%s: of %d runs, %d collapse at 90 %%, %d at 100 %%, %d at 110 %% of the sustained rate", h, runs, below, at, above)
		}
	}
}

// TestMetastableCollapse sends a burst, and looks at the speed after it.
func TestMetastableCollapse(t *testing.T) {
	for h, c := range map[string]struct {
		idle time.Duration // after the burst
		slow float64
	}{
		"collapses:0.3":                          {0, 1},
		"collapses:0.3,recovery=20s":             {19 * time.Second, 1 + 0.3*24/8},
		"collapses:0.3,recovery=5s":              {6 * time.Second, 1},
		"collapses:0.3,recovery=never,worst=1.5": {time.Hour, 1.5},
	} {
		inBubble(t, plain8(t, h), func(t *testing.T, l *sim.Engine) {
			seq := sim.Request{PromptTokens: 64, OutputTokens: 32}
			var wg sync.WaitGroup
			for range 32 {
				wg.Go(func() { l.Generate(t.Context(), seq, func(int, time.Time) {}) })
			}
			wg.Wait()
			time.Sleep(c.idle)
			began := time.Now()
			l.Generate(t.Context(), seq, func(int, time.Time) {})
			if got := time.Since(began).Seconds() / 0.41; math.Abs(got-c.slow) > 0.001 {
				t.Errorf("%s: after the burst and %v a request takes %.3f times as long, want %.3f", h, c.idle, got, c.slow)
			}
		})
	}
}

var randomServers = flag.Int("random-servers", 1, "random servers of each habit to compare with their truth")

// TestTruthOnRandomServers compares the overload rate of random servers with a closed loop that keeps them full.
func TestTruthOnRandomServers(t *testing.T) {
	if testing.Short() {
		t.Skip("a long simulation in one goroutine")
	}
	for _, name := range []string{"sheds", "rate-limited", "drifts", "scales", "pauses", "batches", "caches", "drops"} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(*randomServers) {
				s := simtest.RandomServerWith(rand.New(rand.NewPCG(seed, 11)), name)
				k := sim.CapacityOf(s.Config, s.Work)
				from := 10*k.Latency + 20*time.Second
				to := from + max(50*k.Latency, 50*time.Second)
				if h, ok := habit.Find[habit.Scales](s.Config.Habits); ok {
					from, to = from+h.At, to+h.At
				}
				truth := s.Truth((from + to) / 2)
				got := offer(t, s, 1.6*truth.Takes, from, to, seed)
				want := truth.Answers(got.Offered)
				t.Logf("%v: %.3f req/s, truth %.3f (%+.1f %%)", s, got.Answered, want, (got.Answered/want-1)*100)
				near(t, s.String(), got.Answered, want, 0.1)
			}
		})
	}
}
