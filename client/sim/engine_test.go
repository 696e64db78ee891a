package sim

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"llmsweep/client/testkit"
)

func demoConfig(t testing.TB) MachineConfig {
	t.Helper()
	c := testkit.Must(Preset("demo"))
	return c
}

func start(t testing.TB, c MachineConfig) *Engine {
	t.Helper()
	e := testkit.Must(Start(c))
	t.Cleanup(e.Close)
	return e
}

// generate runs a request, and returns the instants of its tokens from the beginning of the test.
func generate(t testing.TB, e *Engine, began time.Time, seq Request) []time.Duration {
	var at []time.Duration
	usage, err := e.Generate(t.Context(), seq, func(n int, instant time.Time) {
		if n != len(at)+1 || !time.Now().Equal(instant) {
			t.Errorf("token %d, after %d, is handed out at %v and bears %v", n, len(at), time.Now(), instant)
		}
		at = append(at, instant.Sub(began))
	})
	want := Usage{PromptTokens: seq.PromptTokens, OutputTokens: seq.OutputTokens, ReasoningTokens: seq.ReasoningTokens,
		Finish: "length"}
	if diff := cmp.Diff(want, usage); diff != "" || err != nil {
		t.Errorf("error %v, usage (-want +got):\n%s", err, diff)
	}
	return at
}

// steps returns the instants at which consecutive steps with these batches end.
func steps(c MachineConfig, from time.Duration, batches ...Batch) []time.Duration {
	var ends []time.Duration
	for _, b := range batches {
		from += c.StepTime(b)
		ends = append(ends, from)
	}
	return ends
}

func batchOf(parts ...[2]int) Batch {
	var b Batch
	for _, p := range parts {
		b.Add(p[0], p[1], true)
	}
	return b
}

func TestEngineInstantsAreExact(t *testing.T) {
	c := demoConfig(t)
	synctest.Test(t, func(t *testing.T) {
		e, began := start(t, c), time.Now()
		time.Sleep(123 * time.Millisecond) // an idle server: the step begins with the arrival
		var second []time.Duration
		var wg sync.WaitGroup
		wg.Go(func() {
			time.Sleep(time.Millisecond) // while the first one's prompt is computed
			second = generate(t, e, began, Request{PromptTokens: 30, OutputTokens: 2})
		})
		first := generate(t, e, began, Request{PromptTokens: 64, OutputTokens: 4, ReasoningTokens: 2})
		wg.Wait()
		want := steps(c, 123*time.Millisecond,
			batchOf([2]int{0, 64}), batchOf([2]int{64, 1}, [2]int{0, 30}), batchOf([2]int{65, 1}, [2]int{30, 1}),
			batchOf([2]int{66, 1}))
		if diff := cmp.Diff(want, first); diff != "" {
			t.Errorf("first request (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(want[1:3], second); diff != "" {
			t.Errorf("second request (-want +got):\n%s", diff)
		}
	})
}

// TestEngineServesCompanionsTogether checks that requests of one instant share the first step, in whatever order they
// are submitted.
func TestEngineServesCompanionsTogether(t *testing.T) {
	c := demoConfig(t)
	synctest.Test(t, func(t *testing.T) {
		e := start(t, c)
		for range 20 {
			began := time.Now()
			var wg sync.WaitGroup
			for range 8 {
				wg.Go(func() {
					got := generate(t, e, began, Request{PromptTokens: 10, OutputTokens: 1})
					var b Batch
					for range 8 {
						b.Add(0, 10, true)
					}
					if diff := cmp.Diff(steps(c, 0, b), got); diff != "" {
						t.Errorf("(-want +got):\n%s", diff)
					}
				})
			}
			wg.Wait()
		}
	})
}

func TestEngineCancel(t *testing.T) {
	c := demoConfig(t)
	c.MaxNumSeqs = 1
	synctest.Test(t, func(t *testing.T) {
		e, began := start(t, c), time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			tokens := 0
			usage, err := e.Generate(ctx, Request{PromptTokens: 64, OutputTokens: 16}, func(int, time.Time) {
				if tokens++; tokens == 3 {
					cancel() // Generate returns before the next token
				}
			})
			if !errors.Is(err, context.Canceled) || usage.OutputTokens != 3 || usage.Finish != "abort" {
				t.Errorf("error %v, usage %+v; want canceled after 3 tokens", err, usage)
			}
		})
		time.Sleep(time.Millisecond)
		next := generate(t, e, began, Request{PromptTokens: 10, OutputTokens: 1})
		wg.Wait()
		// The slot is free at the boundary after the cancelation: after the fourth step.
		ends := steps(c, 0, batchOf([2]int{0, 64}), batchOf([2]int{64, 1}), batchOf([2]int{65, 1}), batchOf([2]int{66, 1}),
			batchOf([2]int{0, 10}))
		if len(next) != 1 || next[0] != ends[4] {
			t.Errorf("the next request's token came at %v, want %v", next, ends[4])
		}
		if s := e.Stats(); s.Running != 0 || s.Waiting != 0 || s.KVUsage != 0 {
			t.Errorf("left behind: %+v", s)
		}
	})
}

// TestEngineCancelOnArrival cancels requests that the engine has not seen yet.
func TestEngineCancelOnArrival(t *testing.T) {
	c := demoConfig(t)
	synctest.Test(t, func(t *testing.T) {
		e, began := start(t, c), time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for range 3 {
			go e.Generate(ctx, Request{PromptTokens: 10, OutputTokens: 5}, func(int, time.Time) {})
		}
		synctest.Wait()
		time.Sleep(time.Second)
		if s := e.Stats(); s != (SchedulerStats{}) {
			t.Errorf("left behind: %+v", s)
		}
		generate(t, e, began, Request{PromptTokens: 10, OutputTokens: 1})
	})
}

func TestEngineRefuses(t *testing.T) {
	e := start(t, demoConfig(t))
	for _, seq := range []Request{{}, {PromptTokens: 1, OutputTokens: -1}, {PromptTokens: 1, ReasoningTokens: -1},
		{PromptTokens: 40000}} {
		if _, err := e.Generate(t.Context(), seq, nil); err == nil {
			t.Errorf("%+v was accepted", seq)
		}
	}
	if _, err := Start(MachineConfig{}); err == nil {
		t.Error("a server without a GPU was started")
	}
}
