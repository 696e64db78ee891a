package simtest

import (
	"context"
	"testing"
	"time"

	"llmsweep/client"
	"llmsweep/client/api"
	"llmsweep/client/sim"
	"llmsweep/sweep/load"
)

// do runs requests of 64 -> 32 tokens one after the other on plain8 with habits, and returns their results.
func do(t *testing.T, n int, timeout time.Duration, habits ...string) (all []client.Result) {
	t.Helper()
	c := Preset(t, "plain8")
	var err error
	if c.Habits, err = sim.ParseHabits(habits); err != nil {
		t.Fatal(err)
	}
	Beside(t, c, func(t *testing.T, d load.Doer) {
		for range n {
			ctx, cancel := context.WithTimeout(t.Context(), timeout)
			var res client.Result
			res.Reset(time.Now())
			call, err := d.Prepare(&api.Request{PromptTokens: 64, OutputTokens: 32})
			if err != nil {
				t.Fatal(err)
			}
			d.Do(ctx, call, &res)
			cancel()
			all = append(all, res)
		}
	})
	return all
}

func TestFailuresHaveTheirClassAndTime(t *testing.T) {
	for _, c := range []struct {
		habit  string
		class  client.Class
		http   int
		end    time.Duration
		status client.Status
	}{
		{"sheds:1", "", 0, 410 * time.Millisecond, client.StatusOK}, // a slot is free
		{"rate-limited:6,1", client.ClassRateLimited, 429, sim.RefusalTime, client.StatusError},
		{"drops:2,500ms", client.ClassReset, 0, 500 * time.Millisecond, client.StatusError},
		{"freezes:500ms", "", 0, client.Absent, client.StatusIncomplete},
	} {
		all := do(t, 2, time.Minute, c.habit)
		if all[0].Status != client.StatusOK || all[0].OutputTokens != 32 || all[0].FirstToken != 100*time.Millisecond {
			t.Errorf("%s: the first request: %+v", c.habit, all[0])
		}
		if r := all[1]; r.Status != c.status || r.Class != c.class || r.HTTP != c.http || r.End != c.end {
			t.Errorf("%s: %s %q, HTTP %d, ended after %v (%s); want %s %q, %d, %v", c.habit, r.Status, r.Class, r.HTTP, r.End,
				r.Message,
				c.status, c.class, c.http, c.end)
		}
	}
}

func TestBurstsShareARead(t *testing.T) {
	r := do(t, 1, time.Minute, "batches:8")[0]
	if r.Chunks() != 32 || r.SharedReads != 28 {
		t.Errorf("%d chunks, %d of them in one read with the next; want 32 and 28", r.Chunks(), r.SharedReads)
	}
	if want := 170 * time.Millisecond; r.FirstToken != want { // the eighth token's time
		t.Errorf("the first burst came after %v, want %v", r.FirstToken, want)
	}
	for i, gap := range r.Gaps {
		if want := map[bool]time.Duration{true: 80 * time.Millisecond}[i%8 == 7]; gap != want {
			t.Errorf("gap %d is %v, want %v", i, gap, want)
		}
	}
	r = do(t, 1, time.Minute, "caches:0.999999")[0]
	if r.FirstToken != sim.CacheTime || r.LastToken != sim.CacheTime || r.Chunks() != 32 || r.Status != client.StatusOK {
		t.Errorf("from the cache: %+v", r)
	}
}
