// Measures whether a server that collapses under overload becomes quick again while load goes on, and how long that takes.
// Load holds an overload and then a rate that the server sustains otherwise; Find reads the requests' records.

package sweep

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"llmsweep/sweep/arrival"
	"llmsweep/sweep/rundir"
)

// ReboundLoad is Poisson arrivals whose rate falls once. Its name and its mean rate are those of the rate to which it falls.
type ReboundLoad struct {
	arrival.Poisson               // after the fall
	Overload        float64       // requests per second before
	Falls           time.Duration // since the stage's start
}

// ReboundPrefix begins the name of the stage that holds a Load.
const ReboundPrefix = "rebound@"

// Name returns "rebound@4.00".
func (l ReboundLoad) Name() string { return ReboundPrefix + arrival.RateName(l.Rate) }

// Schedule returns the arrivals of a stage.
func (l ReboundLoad) Schedule(runSeed uint64, stage string) arrival.Schedule {
	return &falling{
		before: arrival.Poisson{Rate: l.Overload}.Schedule(runSeed, stage+" overload"), after: l.Poisson.Schedule(runSeed, stage), at: l.Falls,
	}
}

// falling is a schedule that another follows.
type falling struct {
	before, after arrival.Schedule
	at            time.Duration
	fallen        bool
}

// Next returns when the next request is due.
func (f *falling) Next() (due time.Duration, ok bool) {
	if !f.fallen {
		if due, ok = f.before.Next(); ok && due < f.at {
			return due, true
		}
		f.fallen = true
	}
	due, ok = f.after.Next()
	return f.at + due, ok
}

// How slow and quick requests decide.
const (
	mostSlow = 0.1 // of the requests from then on, where the server is quick again
	tested   = 20  // requests in a row of which no more may be slow either
	late     = 2. / 3
	fewest   = 5 // requests in a phase: fewer say little
)

// ReboundOutcome is what the requests of a Load show.
type ReboundOutcome struct {
	Collapsed bool          // most requests of the overload's last third were slow
	Back      bool          // the server was quick again
	Took      time.Duration // until then, from the fall
}

// FindRebound returns what records show. falls is when the rate fell, ends when what was due counts no more, both since the stage's start; quick is
// the latency in seconds up to which a request counts as quick. One that was not answered does not. An error is of reading.
func FindRebound(records iter.Seq2[*rundir.Record, error], falls, ends time.Duration, quick float64) (o ReboundOutcome, err error) {
	type request struct {
		due  float64
		slow int
	}
	var before, after []request
	for r, err := range records {
		if err != nil {
			return o, err
		}
		q := request{due: r.Due.Value(), slow: 1}
		if r.OK() && r.End.Known() && r.End.Value()-q.due <= quick {
			q.slow = 0
		}
		switch {
		case q.due >= ends.Seconds():
		case q.due >= falls.Seconds():
			after = append(after, q)
		case q.due >= late*falls.Seconds():
			before = append(before, q)
		}
	}
	if len(before) < fewest || len(after) < fewest {
		return o, nil
	}
	slow := func(all []request) float64 {
		n := 0
		for _, q := range all {
			n += q.slow
		}
		return float64(n) / float64(len(all))
	}
	o.Collapsed = slow(before) > 0.5
	slices.SortFunc(after, func(a, b request) int { return cmp.Compare(a.due, b.due) })
	for i, q := range after {
		rest := after[i:]
		if len(rest) < fewest {
			break
		}
		if q.slow == 0 && slow(rest) <= mostSlow && slow(rest[:min(tested, len(rest))]) <= mostSlow {
			o.Back, o.Took = true, time.Duration((q.due-falls.Seconds())*1e9)
			break
		}
	}
	return o, nil
}
