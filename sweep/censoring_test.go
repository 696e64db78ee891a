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
	rate := 1.3 * w.Capacity(server).RequestsPerSecond
	stageWith := func(patience time.Duration) (st rundir.Stage, records []*rundir.Record) {
		simtest.Beside(t, server, func(t *testing.T, d load.Doer) {
			c := experimentWith(d, w)
			c.StageTime = time.Minute
			c.Drain = patience
			st = oneStage(t, c, func(x *experiment.Experiment) experiment.Stage {
				s := x.Poisson(rate, rundir.Probe)
				s.MaxTime, s.Tail = s.MinTime, patience
				return s
			})
			for r, err := range c.Log.Records(st.Name) {
				if err != nil {
					t.Fatal(err)
				}
				records = append(records, r)
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
			want, without := *d.truth.Numbers()[i].Number, *d.dropping.Numbers()[i].Number
			if f.Name == "std" || !f.Number.Known() && !f.Number.Bound() {
				continue
			}
			sign := ""
			if f.Number.Bound() {
				sign = ">"
			}
			t.Logf("%-7s %-4s truth %6.2f s, printed %s%.2f s, dropping the unfinished %.2f s", d.name, f.Name, want.Value(),
				sign, f.Number.Value(), without.Value())
			const rounding = 0.999
			if f.Number.Known() && f.Number.Value() < want.Value()*rounding {
				t.Errorf("%s %s: %.3f s is printed bare, and it was %.3f s", d.name, f.Name, f.Number.Value(), want.Value())
			}
			if f.Number.Bound() && f.Number.Value() > want.Value()/rounding {
				t.Errorf("%s %s: more than %.3f s is printed, and it was %.3f s", d.name, f.Name, f.Number.Value(), want.Value())
			}
			if without.Value() < want.Value()*0.95 {
				flattered++
			}
		}
	}
	if flattered < 4 {
		t.Errorf("dropping the unfinished flatters only %d numbers: this stage shows nothing", flattered)
	}
}
