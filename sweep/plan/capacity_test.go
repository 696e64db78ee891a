package plan

import (
	"testing"
	"time"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
	"llmsweep/sweep/twin"
)

// evenRates is a twin of four slots whose steps take 10 ms: a replica takes 40 requests of 10 output tokens a second.
func evenRates() *twin.Twin {
	return &twin.Twin{Version: twin.Version, Slots: 4, StepTokens: 2048, Step: twin.Step{Read: twin.Read{FixedMS: 10}},
		Seen:  twin.Seen{Prompt: [2]int{8, 400}, Output: [2]int{4, 40}},
		Draws: [][]float64{{10, 0, 0, 0, 0, 0, 0, 0}, {14, 0, 0, 0, 0, 0, 0, 0}}, Check: &twin.Check{Passed: true, Error: 0.01}}
}

func wish(t *testing.T, rate float64, texts ...string) CapacityWish {
	t.Helper()
	d, err := NewDemand(DemandWish{Rate: rate, Length: 3 * time.Minute, Prompt: rundir.Lengths{Mean: 64}, Output: rundir.Lengths{Mean: 10}})
	if err != nil {
		t.Fatal(err)
	}
	terms, err := slo.ParseAll(texts)
	if err != nil {
		t.Fatal(err)
	}
	return CapacityWish{Day: d, Terms: terms, Router: LeastLoaded, Minutes: 0.99, Most: 16, Draws: 3, Seed: 1}
}

func planned(t *testing.T, w CapacityWish, all ...Candidate) *CapacityResult {
	t.Helper()
	r, err := Plan(t.Context(), all, w, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestASizeByHand: 100 requests a second need three replicas of 40; with a quarter of headroom, or one that may be lost, four. Half of the servers that
// the measurement does not exclude take 28.6, and need one more.
func TestASizeByHand(t *testing.T) {
	one := Candidate{Name: "even", Twin: evenRates(), GPUs: 2, Price: 3}
	r := planned(t, wish(t, 100, "ttft:p99<1s"), one)
	p := r.Ranked[0]
	if p.Replicas != (RateRange{3, 3, 4}) || p.GPUs != 6 || p.Hour.Value != 9 || p.Month.Value != 9*730 || p.Hour.High != 12 {
		t.Errorf("%+v, %d GPUs, %+v", p.Replicas, p.GPUs, p.Hour)
	}
	if p.First.Term != "ttft:p99<1s" || p.First.Cause != CauseSlots || p.First.Times < 1.05 || p.First.Times > 1.3 {
		t.Errorf("%+v", p.First)
	}
	if p.Held.Value != 1 || p.Held.Low > 0.5 {
		t.Errorf("held %+v", p.Held)
	}
	if k := p.Sizes[1]; k.Replicas != 2 || k.Enough || k.Held > 0.5 || !p.Sizes[2].Enough {
		t.Errorf("%+v", p.Sizes)
	}
	w := wish(t, 100, "ttft:p99<1s")
	w.Headroom = 0.25
	if p := planned(t, w, one).Ranked[0]; p.Replicas.Value != 4 {
		t.Errorf("with headroom: %+v", p.Replicas)
	}
	w.Headroom, w.Lost = 0, 1
	if p := planned(t, w, one).Ranked[0]; p.Replicas.Value != 4 || p.HeldLost == nil || p.HeldLost.Value != 1 || p.LostAnswers == 0 {
		t.Errorf("with a lost one: %+v, %v", p.Replicas, p.HeldLost)
	}
}

// TestTwinsAreRanked by cost; a faster one may be cheaper.
func TestTwinsAreRanked(t *testing.T) {
	fast := evenRates()
	fast.Step.Read.FixedMS = 5 // 80 requests a second
	fast.Draws = nil
	r := planned(t, wish(t, 100, "ttft:p99<1s"), Candidate{Name: "even", Twin: evenRates(), GPUs: 1, Price: 3}, Candidate{Name: "fast", Twin: fast, GPUs: 1, Price: 4}, Candidate{Name: "free", Twin: fast, GPUs: 1})
	if len(r.Ranked) != 2 || r.Ranked[0].Name != "fast" || r.Ranked[0].Hour.Value != 8 || len(r.Refused) != 1 || r.Refused[0].Why != RefusedPrice {
		t.Errorf("%+v", r)
	}
}

// TestWhatTwinsRefuse: one that failed its check, lengths that are too far, demands that are too large.
func TestWhatTwinsRefuse(t *testing.T) {
	failed := evenRates()
	failed.Check.Passed = false
	w := wish(t, 100, "ttft:p99<1s")
	if r := planned(t, w, Candidate{Name: "x", Twin: failed, GPUs: 1}); len(r.Ranked) != 0 || r.Refused[0].Why != RefusedCheck {
		t.Errorf("%+v", r)
	}
	w.Unchecked, w.Draws = true, 0
	if r := planned(t, w, Candidate{Name: "x", Twin: failed, GPUs: 1}); len(r.Ranked) != 1 || !r.Ranked[0].Failed {
		t.Errorf("%+v", r)
	}
	w.Most = 2
	if r := planned(t, w, Candidate{Name: "x", Twin: evenRates(), GPUs: 1}); len(r.Ranked) != 0 || r.Refused[0].Why != RefusedMost {
		t.Errorf("%+v", r)
	}
	w.Day = w.Day.Stretched(20, 1)
	if r := planned(t, w, Candidate{Name: "x", Twin: evenRates(), GPUs: 1}); len(r.Ranked) != 0 || r.Refused[0].Why != twin.RefusedFar {
		t.Errorf("%+v", r)
	}
}

// TestWhatIfs: twice the requests, twice the slots, twice the bandwidth, and prompts that are too long to tell.
func TestWhatIfs(t *testing.T) {
	w := wish(t, 100, "ttft:p99<1s")
	w.Draws = 0
	for _, text := range []string{"requests=2x", "max-num-seqs=8", "bandwidth=2x", "prompts=100x"} {
		c, err := ParseChange(text)
		if err != nil || c.String() != text {
			t.Fatal(c, err)
		}
		w.WhatIfs = append(w.WhatIfs, c)
	}
	got := planned(t, w, Candidate{Name: "even", Twin: evenRates(), GPUs: 1}).Ranked[0].WhatIfs
	if got[0].Replicas < 5 || got[0].Replicas > 6 || got[1].Replicas != 2 || got[1].Extrapolated || got[2].Replicas != 2 || !got[2].Extrapolated || got[3].Refused != twin.RefusedFar {
		t.Errorf("%+v", got)
	}
	for _, text := range []string{"prompts=2", "speed=2x", "max-num-seqs=1.5", "prefix-hits=1", "bandwidth=-1x", "x"} {
		if _, err := ParseChange(text); err == nil {
			t.Errorf("%s is a change", text)
		}
	}
}

// TestScalingFollowsAProfile: fewer replicas are paid for than the busiest minute needs.
func TestScalingFollowsAProfile(t *testing.T) {
	w := wish(t, 100, "ttft:p99<1s")
	p, err := ParseProfile("0=5,0:20=100,0:30=5")
	if err != nil {
		t.Fatal(err)
	}
	if w.Day, err = NewDemand(DemandWish{Profile: p, Length: 40 * time.Minute, Prompt: rundir.Lengths{Mean: 64}, Output: rundir.Lengths{Mean: 10}}); err != nil {
		t.Fatal(err)
	}
	w.Draws, w.Minutes = 0, 0.95
	w.Scaling = &CapacityScaling{Least: 1, ColdStart: 2 * time.Minute, Calm: 5 * time.Minute}
	got := planned(t, w, Candidate{Name: "even", Twin: evenRates(), GPUs: 1, Price: 1}).Ranked[0]
	if got.Replicas.Value != 3 || got.Mean > 2.7 || got.Hour.Value != got.Mean || got.Held.Value < 0.95 || got.Over[0].Most > 2 || got.ScaleAt == 0 {
		t.Errorf("%+v", got)
	}
}
