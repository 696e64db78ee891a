package sim_test

import (
	"context"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"llmsweep/client/sim"
	"llmsweep/client/testkit"
	"llmsweep/sweep/simtest"
)

// work is the workload of plain8 at 19.5 requests a second.
var work = sim.Workload{PromptTokens: 64, OutputTokens: 32}

func plain8(t testing.TB, habits ...string) simtest.DrawnServer {
	t.Helper()
	c := testkit.Must(sim.Preset("plain8"))
	c.Habits = testkit.Must(sim.ParseHabits(habits))
	return simtest.DrawnServer{Config: c, Work: work}
}

// inBubble runs f beside a server in virtual time.
func inBubble(t *testing.T, s simtest.DrawnServer, f func(t *testing.T, l *sim.Engine)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := testkit.Must(sim.Start(s.Config))
		defer l.Close()
		f(t, l)
	})
}

// offer is what becomes of Poisson arrivals on a fresh server.
func offer(t *testing.T, s simtest.DrawnServer, rate float64, from, to time.Duration,
	seed uint64) (out simtest.DrawnOutcome) {
	t.Helper()
	inBubble(t, s, func(t *testing.T, l *sim.Engine) {
		out = s.Offer(t.Context(), l, rate, from, to, seed)
	})
	return out
}

// window is a part of a simulation.
type window struct{ from, to time.Duration }

// closed is what a closed loop of n clients completes a second between two times.
func closed(t *testing.T, s simtest.DrawnServer, n int, from, to time.Duration) (rate float64) {
	t.Helper()
	return closedIn(t, s, n, window{from, to})[0]
}

// closedIn is closed for several windows of one simulation, in ascending order.
func closedIn(t *testing.T, s simtest.DrawnServer, n int, windows ...window) []float64 {
	t.Helper()
	rates := make([]float64, len(windows))
	inBubble(t, s, func(t *testing.T, l *sim.Engine) {
		ctx, cancel := context.WithCancel(t.Context())
		began := time.Now()
		var mu sync.Mutex
		var wg sync.WaitGroup
		for range n {
			wg.Go(func() {
				for ctx.Err() == nil {
					_, err := l.Generate(ctx, sim.Request{PromptTokens: s.Work.PromptTokens, OutputTokens: s.Work.OutputTokens},
						func(int, time.Time) {})
					at := time.Since(began)
					mu.Lock()
					for i, w := range windows {
						if err == nil && at >= w.from && at < w.to {
							rates[i] += 1 / (w.to - w.from).Seconds()
						}
					}
					mu.Unlock()
				}
			})
		}
		time.Sleep(windows[len(windows)-1].to)
		cancel()
		wg.Wait()
	})
	return rates
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.Abs(got-want) > tolerance*math.Abs(want) {
		t.Errorf("%s: %.4g, want %.4g within %.1f %%", what, got, want, tolerance*100)
	}
}

const (
	warm  = 10 * time.Second
	round = warm + 41*time.Second // whole requests of 410 ms
	brief = warm + 40*time.Second
	long  = warm + 120*time.Second
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
	near(t, "one at a time", closed(t, s, 1, warm, round), 1/0.41, 0.003)
	near(t, "half of the slots", closed(t, s, 4, warm, round), 4/0.41, 0.003)
	near(t, "all slots", closed(t, s, 8, warm, round), 8/0.41, 0.003)
	near(t, "a queue", closed(t, s, 30, warm, round), 8/0.41, 0.003)
	inBubble(t, s, func(t *testing.T, l *sim.Engine) {
		began := time.Now()
		var at []time.Duration
		l.Generate(t.Context(), sim.Request{PromptTokens: 64, OutputTokens: 3},
			func(_ int, i time.Time) { at = append(at, i.Sub(began)) })
		for i, want := range []time.Duration{100 * time.Millisecond, 110 * time.Millisecond, 120 * time.Millisecond} {
			if at[i] != want {
				t.Errorf("token %d at %v, want %v", i+1, at[i], want)
			}
		}
	})
	near(t, "Poisson below the capacity", offer(t, s, 17, warm, long, 1).Answered, 17, 0.05)
	near(t, "Poisson above it", offer(t, s, 25, warm, long, 1).Answered, 8/0.41, 0.005)
}

// TestRatesWithHabits offers plain8 less than it takes, and far more. The rates are worked out by hand.
func TestRatesWithHabits(t *testing.T) {
	if testing.Short() {
		t.Skip("a long simulation in one goroutine")
	}
	t.Parallel()
	const capacity = 8 / 0.41
	for _, c := range []struct {
		habits  []string
		takes   float64
		cached  float64
		refuses bool // what is too much; else a queue grows
	}{
		{nil, capacity, 0, false},
		{[]string{"sheds:8"}, capacity, 0, true},
		{[]string{"rate-limited:600,20"}, 10, 0, true},
		{[]string{"rate-limited:57600tokens,960"}, 10, 0, true}, // of 96 a request
		{[]string{"rate-limited:6000"}, capacity, 0, false},
		{[]string{"caches:0.4"}, capacity / 0.6, 0.4, false},
		{[]string{"batches:100ms"}, capacity, 0, false},
		{[]string{"caches:0.4", "rate-limited:1200,40"}, 20, 0, true}, // two habits at once
		{[]string{"sheds:40", "pauses:10s,1s"}, capacity * 0.9, 0, true},
	} {
		s := plain8(t, c.habits...)
		name := strings.Join(c.habits, " ")
		below := offer(t, s, 0.85*c.takes, warm, brief, 2)
		if lost := below.Refused / below.Offered; lost > 0.02 {
			t.Errorf("%s: at 85 %% of what it takes, %.1f %% are refused", name, lost*100)
		}
		near(t, name+": below", below.Answered, below.Offered, 0.03)
		above := offer(t, s, 1.6*c.takes, warm, brief, 3)
		near(t, name+": above", above.Answered, c.takes*(1-c.cached)+c.cached*above.Offered, 0.03)
		if (above.Refused > 0) != c.refuses || c.refuses == (above.InFlight > 100) {
			t.Errorf("%s: refused %.3g a second, %d in flight after an overload", name, above.Refused, above.InFlight)
		}
	}
	dropping := offer(t, plain8(t, "drops:3,500ms"), 10, warm, brief, 2)
	near(t, "answered", dropping.Answered/dropping.Offered, 2.0/3, 0.1)
	near(t, "dropped", dropping.Dropped/dropping.Offered, 1.0/3, 0.1)
}

func TestDriftsAndScales(t *testing.T) {
	if testing.Short() {
		t.Skip("a long simulation in one goroutine")
	}
	t.Parallel()
	drifts := []window{{0, 40 * time.Second}, {2 * time.Minute, 160 * time.Second}}
	for i, rate := range closedIn(t, plain8(t, "drifts:0.5"), 12, drifts...) {
		slower := 1 + 0.5*(drifts[i].from+20*time.Second).Minutes()
		near(t, "drifts", rate, 8/0.41/slower, 0.025)
	}
	for _, c := range []struct {
		habit         string
		before, after float64
	}{{"scales:2,1m", 19.512, 39.024}, {"scales:0.5,1m", 19.512, 9.756}, {"scales:0.01,1m", 19.512, 19.512 / 8}} {
		rates := closedIn(t, plain8(t, c.habit), 40,
			window{warm, 59 * time.Second}, window{70 * time.Second, 110 * time.Second})
		near(t, c.habit, rates[0], c.before, 0.01)
		near(t, c.habit, rates[1], c.after, 0.01)
	}
}

// TestCollapsedRates holds a queue of known length by a closed loop.
func TestCollapsedRates(t *testing.T) {
	if testing.Short() {
		t.Skip("a long simulation in one goroutine")
	}
	t.Parallel()
	for h, slowdown := range map[string]func(perSlot float64) float64{
		"collapses:0.3,2":     func(w float64) float64 { return min(2, 1+0.3*w) },
		"collapses:1,3,never": func(w float64) float64 { return min(3, 1+w) },
	} {
		s := plain8(t, h)
		for _, waiting := range []int{8, 40} {
			near(t, h, closed(t, s, 8+waiting, warm, brief), 8/0.41/slowdown(float64(waiting)/8), 0.02)
		}
	}
	near(t, "in overload", offer(t, plain8(t, "collapses:0.3,3"), 30, warm, brief, 5).Answered, 19.512/3, 0.01)
	both := plain8(t, "collapses:0.3", "sheds:8")
	near(t, "refusing keeps the queue short", offer(t, both, 40, warm, brief, 5).Answered, 19.512/1.3, 0.03)
}

// TestMetastableCollapse sends a burst, and looks at the speed after it.
func TestMetastableCollapse(t *testing.T) {
	for h, c := range map[string]struct {
		idle time.Duration // after the burst
		slow float64
	}{
		"collapses:0.3":           {0, 1},
		"collapses:0.3,100,20s":   {19 * time.Second, 1 + 0.3*24/8},
		"collapses:0.3,100,5s":    {6 * time.Second, 1},
		"collapses:0.3,1.5,never": {time.Hour, 1.5},
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

func TestParseHabits(t *testing.T) {
	got, err := sim.ParseHabits([]string{"collapses:30%,3,never", "sheds:8,503", "rate-limited:6000tokens, 200",
		"scales:0.5,90s", "batches:16", "errs:20%,0.05"})
	want := sim.Habits{
		Collapses: sim.Collapse{Share: 0.3, Worst: 3, Recovery: sim.Never}, Sheds: sim.Shed{Waiting: 8, Status: 503},
		Limits: sim.RateLimit{PerMinute: 6000, Burst: 200, Tokens: true}, Scales: sim.Scale{Factor: 0.5,
			At: 90 * time.Second},
		Bursts: sim.Burst{Tokens: 16}, Answers: sim.WrongAnswers{Errs: 0.2, ErrsBusy: 0.05},
	}
	if err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	for _, text := range []string{
		"", "shed:8", "sheds", "sheds:x", "sheds:8,503,1", "sheds:8,200", "sheds:0.5", "rate-limited", "scales:2",
		"scales:2,soon", "pauses:1s,2s", "batches:0",
		"caches:2", "drops:0,1s", "drops:3", "freezes", "freezes:-1s", "drifts:NaN", "drifts:1e999",
	} {
		if _, err := sim.ParseHabits([]string{text}); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
