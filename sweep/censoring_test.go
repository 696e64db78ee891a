package sweep

import (
	"testing"
	"time"

	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/measure"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/sample"
	"llmsweep/sweep/simtest"
)

// Beyond its capacity a server keeps some requests longer than the client waits for them. Without those its latencies
// would look better than they are. No number that is printed may lie below what the same requests took when each was
// followed to its end.
func TestOverloadIsNotFlattered(t *testing.T) {
	t.Parallel()
	w, server := simtest.SameInAll(512, 128), simtest.Preset(t, "Qwen2-7B/L20/fp16")
	stageWith := func(patience time.Duration) (st rundir.Stage, records []*rundir.Record) {
		simtest.Beside(t, server, func(t *testing.T, d load.Doer) {
			c := experimentWith(d, w)
			c.StageTime, c.Drain = time.Minute, patience
			st = oneStage(t, c, func(x *experiment.Experiment) experiment.Stage {
				s := x.Poisson(1.3*w.Capacity(server).RequestsPerSecond, rundir.Probe)
				s.MaxTime, s.Tail = s.MinTime, patience
				return s
			})
			var err error
			if records, err = collect(c.Log, st.Name); err != nil {
				t.Fatal(err)
			}
		})
		return st, records
	}
	truth, _ := stageWith(time.Hour)
	got, records := stageWith(2 * time.Second)
	if truth.Latency.Censored > 0 || got.Latency.Censored < 20 {
		t.Fatalf("%d and %d censored", truth.Latency.Censored, got.Latency.Censored)
	}
	var latency, ttft sample.Sample
	window := measure.WindowOf(&got)
	for _, r := range records {
		if r.Status == "ok" && window.Holds(r.Due.Value()) {
			latency.Add(r.Due.Value(), r.LastToken.Value()-r.Sent.Value())
			ttft.Add(r.Due.Value(), r.FirstToken.Value()-r.Sent.Value())
		}
	}
	flattered := 0
	for _, d := range []struct {
		name                 string
		truth, got, dropping rundir.Dist
	}{{"latency", truth.Latency, got.Latency, latency.Dist()}, {"TTFT", truth.TTFT, got.TTFT, ttft.Dist()}} {
		for i, f := range d.got.Numbers() {
			const rounding = 0.999
			want, n := d.truth.Numbers()[i].Number.Value(), f.Number
			if f.Name == "std" || !n.Known() && !n.Bound() {
				continue
			}
			if n.Known() && n.Value() < want*rounding || n.Bound() && n.Value() > want/rounding {
				t.Errorf("%s %s: %v is printed, and it was %.3f s", d.name, f.Name, n, want)
			}
			if d.dropping.Numbers()[i].Number.Value() < want*0.95 {
				flattered++
			}
		}
	}
	if flattered < 4 {
		t.Errorf("dropping the unfinished flatters only %d numbers: this stage shows nothing", flattered)
	}
}
