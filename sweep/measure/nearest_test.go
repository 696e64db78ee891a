package measure

import (
	"testing"

	"llmsweep/sweep/rundir"
)

// TestNearest: of a hundred latencies, p99 is the longest. A stage with a request that has no end keeps its
// percentiles.
func TestNearest(t *testing.T) {
	before := rundir.Dist{P50: rundir.Exactly(50.5), P90: rundir.Exactly(90.1), P95: rundir.Exactly(95.05),
		P99: rundir.Exactly(99.01)}
	stages := []rundir.Stage{{Name: "a", Window: 1000, Latency: before}, {Name: "b", Window: 1000, Latency: before},
		{Name: "c", Latency: before}}
	records := func(yield func(*rundir.Record, error) bool) {
		for i := range 100 {
			due := float64(i)
			for _, stage := range []string{"a", "b"} {
				r := &rundir.Record{Stage: stage, Due: rundir.Exactly(due), Sent: rundir.Exactly(due),
					End: rundir.Exactly(due + 100 - float64(i)), Status: "ok"}
				if stage == "b" && i == 7 {
					r.Status = "incomplete"
				}
				if !yield(r, nil) {
					return
				}
			}
		}
	}
	if err := Nearest(stages, records); err != nil {
		t.Fatal(err)
	}
	want := rundir.Dist{P50: before.P50, P90: rundir.Exactly(91), P95: rundir.Exactly(96), P99: rundir.Exactly(100)}
	for i, want := range []rundir.Dist{want, before, before} {
		got := stages[i].Latency
		if got.P50 != want.P50 || got.P90 != want.P90 || got.P95 != want.P95 || got.P99 != want.P99 {
			t.Errorf("stage %s: p50 %v p90 %v p95 %v p99 %v", stages[i].Name, got.P50, got.P90, got.P95, got.P99)
		}
	}
}
