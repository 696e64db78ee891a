package sweep

import (
	"math"
	"slices"
	"testing"
	"time"

	"llmsweep/client/note"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/rundir"
)

// lastRatesNotes keeps the notes on rates for which a budget may have no time.
type lastRatesNotes struct {
	experiment.Observer
	notes []note.Note
	early bool // the first note came before any arrival rate was measured
}

func (o *lastRatesNotes) Note(n note.Note) {
	if n.Is(noteDeferredRates) {
		o.notes = append(o.notes, n)
	}
	o.Observer.Note(n)
}

func (o *lastRatesNotes) StageBegins(s *rundir.Stage, planned time.Duration) {
	if s.Rate.Known() && len(o.notes) == 0 {
		o.early = true
	}
	o.Observer.StageBegins(s, planned)
}

// The rows of the grid are evenly spaced, as many as were asked for. A budget that has no time for some says which may
// be left out, before the first of them is measured, and which were.
func TestTheGridIsTheOneAskedFor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		budget time.Duration
		whole  bool
	}{{0, true}, {90 * time.Second, false}, {4 * time.Minute, true}, {20 * time.Minute, true}} {
		for _, seed := range wideSeeds(3, 3) {
			const points = 7
			k, seen := drawWide(seed), &lastRatesNotes{Observer: experiment.NoObserver{}}
			run := k.sweep(t, func(config *Config) { config.Budget, config.Points, config.Observer = c.budget, points, seen })
			low, high, alone := 0.0, 0.0, 0.0
			var rates []float64
			for i := range run.Stages {
				switch st := &run.Stages[i]; st.Role {
				case rundir.Synchronous:
					low, alone = st.Progress.Rate.Value(), st.Latency.Mean.Value()
				case rundir.Throughput:
					high = st.Progress.Rate.Value()
				case rundir.Grid:
					rates = append(rates, st.Rate.Value())
				}
			}
			slices.Sort(rates)
			for _, rate := range rates {
				step := (rate - low) / (high - low) * points
				if math.Abs(step-math.Round(step)) > 1e-6 || step < 0.5 || step > points+0.5 {
					t.Errorf("%v, %s: %.3f req/s is not on the grid of %.3f to %.3f", c.budget, k.about, rate, low, high)
				}
			}
			if len(slices.Compact(slices.Clone(rates))) != len(rates) || c.whole && len(rates) != points {
				t.Errorf("%v, %s: rows %v", c.budget, k.about, rates)
			}
			for i := range run.Stages { // A stage in which no request can end twice over tells nothing.
				if st := &run.Stages[i]; st.Rate.Known() && st.Elapsed < 2*alone {
					t.Errorf("%v, %s: %s lasted %.1f s, and a request alone takes %.1f s", c.budget, k.about, st.Name, st.Elapsed,
						alone)
				}
			}
			count := 0.0
			for _, n := range run.Warnings {
				if n.Is(noteOmittedRates) {
					count, _ = n.Number("count")
				}
			}
			left := int(count)
			if left != points-len(rates) {
				t.Errorf("%v, %s: %d rates of %d, and the run says that %d are left out", c.budget, k.about, len(rates), points,
					left)
			}
			if left > 0 && seen.early {
				t.Errorf("%v, %s: %d are left out, and nothing was said before the first rate", c.budget, k.about, left)
			}
		}
	}
}
