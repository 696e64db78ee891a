package saturation

import (
	"math"
	"testing"

	"llmsweep/sweep/rundir"
)

// Where prompts are long, the time per token grows steeply with the rate, and arrivals are random: a control measurement that was offered less
// than its row is compared with what the rows show at that rate. A change beyond that is one of the server.
func TestTheRateOfferedIsNoChangeOfTheServer(t *testing.T) {
	at := func(rate, offered, itl float64) rundir.Stage {
		st := row(rate, offered, rundir.Stable)
		st.Kind, st.Rates.Offered, st.InterToken = "poisson", rundir.Exactly(offered), rundir.Exactly(itl)
		st.TPOT = rundir.Dist{N: 400, Mean: rundir.Exactly(itl), Std: rundir.Exactly(itl / 10)}
		return st
	}
	floor := rundir.Stage{
		Name: "synchronous", Kind: "synchronous", Role: rundir.Floor, State: rundir.Complete, Verdict: rundir.Closed, MaxConcurrency: 1,
		Requests: rundir.Requests{OK: 100}, InterToken: rundir.Exactly(0.012),
	}
	control := func(offered, itl float64) rundir.Stage {
		st := at(6.76, offered, itl)
		st.Name, st.Role = "control@6.76", rundir.Control
		return st
	}
	for name, c := range map[string]struct {
		again   rundir.Stage
		changed bool
	}{
		"as at the rate that arrived":           {control(5.31, 0.0244), false},
		"as alone, with hardly any arrivals":    {control(0.5, 0.0125), false},
		"faster than any row at such a rate":    {control(7.6, 0.0185), true},
		"faster, and beyond all rows":           {control(9, 0.0185), true},
		"slower than at the rate that arrived":  {control(5.31, 0.0450), true},
		"slower than at a rate near the lowest": {control(4.7, 0.0450), true},
	} {
		notes := controlChanges([]rundir.Stage{floor, at(4.77, 4.62, 0.0251), at(5.43, 5.45, 0.0257), at(6.76, 7.70, 0.0370), c.again})
		if changed := len(notes) > 0; changed != c.changed {
			t.Errorf("%s: %v", name, notes)
		}
	}
}

// A change that only the last measurement shows may not have ended: the interval reaches as far again. Where an earlier stage had shown as much, it had.
func TestAChangeMayGoOn(t *testing.T) {
	control := row(0, 12, rundir.Closed)
	control.Role, control.Rate, control.MaxConcurrency, control.Progress.Batches = rundir.Control, rundir.Number{}, 8, 4
	for _, c := range []struct {
		what      string
		completed []float64 // beyond saturation, in the order of the stages; the last is the control's
		low, high float64
	}{
		{"faster at last alone", []float64{10, 10.2, 12}, 10, 14.4},
		{"faster for some time", []float64{10, 11.9, 12}, 10, 12},
		{"slower at last alone", []float64{10, 9.9, 8}, 6.4, 10},
		{"slower for some time", []float64{10, 8.1, 8}, 8, 10},
	} {
		run := &rundir.Run{}
		f := &finder{run: run, changed: true}
		for i, completed := range c.completed[:2] {
			st := row(13+float64(i), completed, rundir.Saturated)
			run.Stages = append(run.Stages, st)
		}
		last := control
		last.Progress.Rate = rundir.Exactly(c.completed[2])
		run.Stages = append(run.Stages, last)
		f.open = []*rundir.Stage{&run.Stages[0], &run.Stages[1]}
		s := &rundir.Saturation{Rate: rundir.Exactly(10), Low: rundir.Exactly(10), High: rundir.Exactly(10)}
		f.widen(s, &bracket{})
		if low, high := s.Low.Value(), s.High.Value(); math.Abs(low-c.low) > 0.01 || math.Abs(high-c.high) > 0.01 {
			t.Errorf("%s: %.2f to %.2f, want %.2f to %.2f", c.what, low, high, c.low, c.high)
		}
	}
}

// What is completed in a part of one wave is no speed: all its requests do the same at once. The server of a control measurement so short has changed where the latency
// says so, too.
func TestOneWaveIsNoSpeed(t *testing.T) {
	loop := func(role rundir.Role, rate, latency float64, batches int) rundir.Stage {
		st := row(0, rate, rundir.Closed)
		st.Name, st.Kind, st.Role, st.Rate, st.MaxConcurrency, st.Window = "throughput", "throughput", role, rundir.Number{}, 256, 23
		st.Progress, st.Latency.Mean = rundir.Progress{Rate: rundir.Exactly(rate), Batches: batches}, rundir.Exactly(latency)
		if batches > 1 {
			st.Progress.Low, st.Progress.High = rundir.Exactly(0.95*rate), rundir.Exactly(1.05*rate)
		}
		return st
	}
	for _, c := range []struct {
		what          string
		rate, latency float64
		batches       int
		changed       bool
	}{
		{"a part of a wave, latency of a first wave", 37, 2.7, 0, false},
		{"a part of a wave, the same latency", 37, 3.7, 0, false},
		{"a wave of a server that is twice as fast", 120, 1.9, 0, true},
		{"a wave of a server that is half as fast", 40, 7.4, 1, true},
		{"several waves", 37, 2.7, 6, true},
		{"without a latency", 37, 0, 0, false},
	} {
		control := loop(rundir.Control, c.rate, c.latency, c.batches)
		if notes := controlChanges([]rundir.Stage{loop(rundir.Ceiling, 69, 3.7, 8), control}); len(notes) > 0 != c.changed {
			t.Errorf("%s: %v", c.what, notes)
		}
	}
}
