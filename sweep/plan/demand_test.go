package plan

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/workload"
)

func drawn(t *testing.T, w DemandWish) *Day {
	t.Helper()
	w.Prompt, w.Output = rundir.Lengths{Mean: 100, Std: 20, Min: 50}, rundir.Lengths{Mean: 10}
	d, err := NewDemand(w)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.IsSortedFunc(d.Requests, func(a, b FleetRequest) int { return int(a.At - b.At) }) {
		t.Error("out of order")
	}
	return d
}

func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if math.Abs(got/want-1) > within {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// TestRates: the mean of an hour, and of hours of a profile.
func TestRates(t *testing.T) {
	d := drawn(t, DemandWish{Rate: 5})
	near(t, "the rate", d.Rate, 5, 0.03)
	near(t, "the mean prompt", d.Prompt.Mean, 100, 0.01)
	if d.Length != time.Hour || d.Prompt.Min < 50 || d.Output.P99 != 10 {
		t.Errorf("%v, %+v, %+v", d.Length, d.Prompt, d.Output)
	}
	p, err := ParseProfile("0=1,6=1,12=5,18=1")
	if err != nil {
		t.Fatal(err)
	}
	d = drawn(t, DemandWish{Profile: p})
	near(t, "the mean of the day", d.Rate, 2, 0.02)
	near(t, "the hour around noon", float64(len(d.Part(11*time.Hour+30*time.Minute, time.Hour).Requests))/3600, 4.83, 0.04)
	if from := d.Busiest(time.Hour); from < 11*time.Hour || from > 12*time.Hour {
		t.Errorf("the busiest hour begins at %v", from)
	}
	near(t, "the scaled mean", drawn(t, DemandWish{Profile: p, Rate: 3}).Rate, 3, 0.02)
	near(t, "the mean of 1.5 times the requests", d.Times(1.5).Rate, 3, 0.02)
	near(t, "the stretched prompts", d.Stretched(2, 3).Prompt.Mean, 200, 0.01)
}

// TestATrace is replayed with its lengths, multiplied.
func TestATrace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "trace.jsonl")
	text := ""
	for i := range 100 {
		text += fmt.Sprintf(`{"timestamp": %d000, "input_length": 600, "output_length": 7, "hash_ids": [1, 2]}`+"\n", i+1)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	trace, err := workload.OpenTrace(t.Context(), file, workload.TraceOptions{Share: true})
	if err != nil {
		t.Fatal(err)
	}
	d, err := NewDemand(DemandWish{Trace: trace, Rate: 3})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "the rate", d.Rate, 3, 0.02)
	if d.Prompt.Mean != 600 || d.Output.Max != 7 || d.Block != 512 || d.Length != 100*time.Second {
		t.Errorf("%+v, %+v, blocks of %d, %v", d.Prompt, d.Output, d.Block, d.Length)
	}
	first := map[int64]int{}
	for _, r := range d.Requests {
		first[r.Hashes[0]]++
	}
	if len(first) != 3 || first[1] != 100 {
		t.Errorf("copies share prefixes: %v", first)
	}
}

// TestNonsenseIsRefused.
func TestNonsenseIsRefused(t *testing.T) {
	for _, text := range []string{"", "8", "8=x", "25=1", "8=1,7=2", "0=0", "8=-1"} {
		if _, err := ParseProfile(text); err == nil {
			t.Errorf("%q is a profile", text)
		}
	}
	if _, err := NewDemand(DemandWish{}); err != errNothing {
		t.Errorf("%v", err)
	}
	if _, err := NewDemand(DemandWish{Rate: 1e9}); err != errTooMany {
		t.Errorf("%v", err)
	}
}
