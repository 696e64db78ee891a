package twin

import (
	"slices"
	"testing"
	"time"

	"llmsweep/sweep/rundir"
)

// shuffle lets requests that were sent together seem to have been sent in the reverse order: a burst does not reach a server in the order in which it
// leaves the client.
func shuffle(all []Stage) (moved int) {
	const together, apart = 0.020, 1e-5 // seconds
	for _, s := range all {
		sent := slices.Clone(s.Records)
		slices.SortStableFunc(sent, func(a, b *rundir.Record) int {
			switch {
			case a.Sent.Value() < b.Sent.Value():
				return -1
			case a.Sent.Value() > b.Sent.Value():
				return 1
			}
			return 0
		})
		for from := 0; from < len(sent); {
			to := from + 1
			for to < len(sent) && sent[to].Sent.Value() < sent[from].Sent.Value()+together {
				to++
			}
			for k := from; k < to && to-from > 2; k++ {
				at := sent[k].Sent.Value() - apart*float64(k-from)
				sent[k].Sent = rundir.Exactly(at)
				moved++
			}
			from = to
		}
	}
	return moved
}

// TestABurstArrivesInAnyOrder: what is served first was first in the queue, whatever the client's clock says of requests that were sent together.
func TestABurstArrivesInAnyOrder(t *testing.T) {
	all := swept(t, known(), 256, 64, 2*time.Minute)
	if shuffle(all) < 100 {
		t.Fatal("no burst")
	}
	if got := schedulingOf(dataOf(all), known().Latency.Seconds()); got.slots != 24 || got.budget != 512 || !got.budgetShown || got.missed > 0.1 {
		t.Errorf("%d slots and %d tokens of a step (shown: %v), want 24 and 512; %.1f %% of the prompts ended in another step", got.slots, got.budget, got.budgetShown, 100*got.missed)
	}
}

// TestTheLongPromptCameFirst: of two prompts that were sent together and end in one step, the one that takes several steps was first in the queue:
// had the short one been, it would have ended before.
func TestTheLongPromptCameFirst(t *testing.T) {
	running := StageRequest{Prompt: 10, Output: 5, Tokens: []float64{0.1, 0.2, 0.3, 0.4, 0.5}}
	short := StageRequest{Sent: 0.15, Prompt: 500, Output: 2, Tokens: []float64{0.4, 0.5}}
	long := short
	long.Prompt = 3000
	for _, all := range [][]StageRequest{{running, short, long}, {running, long, short}} {
		d := stageData{LoadedStages: LoadedStages{Requests: all}, ticks: ticksOf(all), usual: usualGap(all)}
		d.served = servedIn(len(all), d.ticks)
		r := d.replay(limits{8, 2048, 0})
		var tokens []int
		for _, o := range r.seen {
			tokens = append(tokens, o.batches[len(o.batches)-1].Tokens)
		}
		if want := []int{10, 1, 2048, 1 + 500 + 3000 - 2047, 3}; r.misses > 0 || !slices.Equal(tokens, want) {
			t.Errorf("%d misses, steps of %d tokens, want %d", r.misses, tokens, want)
		}
	}
}

// TestSlowFrontEndsHideNoSlots: requests that wait though slots are free wait for something else, such as a busy front end, and say nothing of the
// slots.
func TestSlowFrontEndsHideNoSlots(t *testing.T) {
	all := swept(t, known(), 256, 64, 2*time.Minute)
	const longer, slots = 0.2, 24 // seconds
	wide := 0
	all = slices.DeleteFunc(all, func(s Stage) bool { // all but one of those in which requests wait for slots
		if s.Width > slots {
			wide++
		}
		return s.Width > slots && wide > 1
	})
	for _, s := range all {
		for _, r := range s.Records {
			r.Sent = rundir.Exactly(r.Sent.Value() - longer)
		}
	}
	if got := schedulingOf(dataOf(all), known().Latency.Seconds()); got.slots != slots || !got.slotsShown {
		t.Errorf("%d slots (shown: %v), want %d", got.slots, got.slotsShown, slots)
	}
}

// TestPartsOfAStepAreJoined: the tokens of a step that come one after the other, because somebody was busy, are one step; two steps that come together
// are no larger server.
func TestPartsOfAStepAreJoined(t *testing.T) {
	var all []StageRequest
	for range 4 {
		var q StageRequest
		for k := range 40 {
			q.Tokens = append(q.Tokens, 1+0.010*float64(k))
		}
		all = append(all, q)
	}
	for k := 10; k < 30; k += 5 { // two requests get theirs late
		all[2].Tokens[k] += 0.006
		all[3].Tokens[k] += 0.006
	}
	ticks := ticksOf(all)
	if len(ticks) != 40 {
		t.Errorf("%d steps, want 40", len(ticks))
	}
	for k, tick := range ticks {
		if len(tick.gets) != 4 {
			t.Errorf("step %d has %d requests", k, len(tick.gets))
		}
	}
	data := []stageData{{ticks: slices.Repeat(ticks, 5)}}
	data[0].ticks[7].gets = []int{0, 1, 2, 3, 3}
	if n := fitWidest(data); n != 4 {
		t.Errorf("%d slots, want 4", n)
	}
}

// TestAQueueIsNoFullCache: that requests wait shows a full cache only where some would not have fitted in.
func TestAQueueIsNoFullCache(t *testing.T) {
	r := replay{running: make([]int, 100), held: []int{1000, 5000}}
	for range 50 {
		r.blocked = append(r.blocked, blocked{running: 1, held: 1000, needs: 100})
	}
	if r.full(8) {
		t.Error("a full cache, though all would have fitted in")
	}
	for i := range 20 {
		r.blocked[i].held = 5000
		r.blocked[i].needs = 300
	}
	if !r.full(8) {
		t.Error("no full cache")
	}
}

// TestUnlikeStagesWidenIntervals: a server that is not equally fast at all times is not predicted as well as one that is.
func TestUnlikeStagesWidenIntervals(t *testing.T) {
	all := swept(t, known(), 256, 64, 2*time.Minute)
	steady, err := Fit(all)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range all {
		if i%2 == 0 {
			continue
		}
		const slower = 1.3
		for _, r := range s.Records {
			stretch := func(v rundir.Number) rundir.Number {
				if !v.Known() {
					return v
				}
				return rundir.Exactly(slower * v.Value())
			}
			r.Sent, r.FirstToken, r.End = stretch(r.Sent), stretch(r.FirstToken), stretch(r.End)
			for k := range r.GapsUS {
				r.GapsUS[k] = int64(slower * float64(r.GapsUS[k]))
			}
		}
		all[i].From, all[i].Window = slower*s.From, slower*s.Window
	}
	unsteady, err := Fit(all)
	if err != nil {
		t.Fatal(err)
	}
	if steady.StageError > 0.04 || unsteady.StageError < 0.08 || unsteady.Stages < 6 {
		t.Errorf("stages are off by %.3f, and by %.3f (%d stages) where every second is slower by 30 %%", steady.StageError, unsteady.StageError, unsteady.Stages)
	}
	if len(unsteady.Unlike) < 4 || len(steady.Unlike) > 0 {
		t.Errorf("unlike the others: %v, and before %v", unsteady.Unlike, steady.Unlike)
	}
	for _, u := range unsteady.Unlike {
		if i := slices.IndexFunc(all, func(s Stage) bool { return s.Name == u.Stage }); (i%2 == 1) != (u.Off > 0) {
			t.Errorf("stage %d, %s, is off by %.2f", i, u.Stage, u.Off)
		}
	}
	a, b := steady.Ask(only(512, 32)), unsteady.Ask(only(512, 32))
	if before, after := a.High/a.Low, b.High/b.Low; after < 1.3*before {
		t.Errorf("the interval is %.2f wide, and was %.2f", after, before)
	}
}
