// Package history finds what has changed from run to run: it makes a series of each metric of each configuration, with
// its steps and drifts. The statistics are in package stats.
package history

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"llmsweep/report/compare"
	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

const schema = "llmsweep.history/v1"

// DefaultAlarms is the expected number of false alarms per round of runs, over all series together.
const DefaultAlarms = 0.01

// History is the runs of configurations over time.
type History struct {
	Schema string `json:"schema"`
	Runs   int    `json:"runs"`
	// Alarms is the expected number of false alarms after each round of runs, over all series together.
	Alarms float64  `json:"false_alarms"`
	Series []Series `json:"series"`
}

// Series is one metric of one configuration.
type Series struct {
	Configuration string   `json:"configuration"`
	Key           string   `json:"key"`
	Points        []Point  `json:"points"`
	Changes       []Change `json:"changes,omitempty"`
	// Spread is the standard deviation between runs without a change, relative to the value; absent of fewer than
	// [minSpreadRuns] runs.
	Spread rundir.Number `json:"spread,omitzero"`
	// Needed is the number of runs on either side that a test at the 5 % level shows 5 % with in four of five cases;
	// absent where Spread is.
	Needed int `json:"runs_for_5_percent,omitempty"`

	title     lang.Text
	runSpread stats.Spread
}

// Point is the value of a run.
type Point struct {
	Run    string        `json:"run"` // its directory
	At     time.Time     `json:"at"`
	Commit string        `json:"commit,omitempty"`
	Value  rundir.Number `json:"value"`
}

// Change is a step or a drift.
type Change struct {
	Drift  bool          `json:"drift,omitempty"`
	Before int           `json:"before"` // the last point before it
	From   int           `json:"from"`   // the first point after a step, or of a drift
	To     int           `json:"to"`     // the last point of a drift; of a step From
	Found  int           `json:"found"`  // the point with which it was found
	Ratio  rundir.Number `json:"ratio"`  // new to old, minus 1
	Low    rundir.Number `json:"low"`    // 95 % interval
	High   rundir.Number `json:"high"`
	Better bool          `json:"better"`

	key string
}

// minSpreadRuns is the fewest runs that give a spread.
const minSpreadRuns = 4

// Analyze returns the history of runs. Alarms is the rate of false alarms over all series together.
func Analyze(setups []setup.Setup, alarms float64) (*History, error) {
	ordered := make([]*setup.Setup, len(setups))
	for i := range setups {
		ordered[i] = &setups[i]
	}
	slices.SortStableFunc(ordered, func(a, b *setup.Setup) int {
		return cmp.Or(a.Run.Started.Compare(b.Run.Started), strings.Compare(a.Path, b.Path))
	})
	h := &History{Schema: schema, Runs: len(ordered), Alarms: alarms}
	if len(ordered) < 2 {
		return nil, errors.New("a history needs two runs or more: give their directories, or the directory that holds them")
	}
	for _, s := range ordered {
		h.addRun(s)
	}
	h.Series = slices.DeleteFunc(h.Series, func(s Series) bool { return len(s.Points) < 2 })
	if len(h.Series) == 0 {
		return nil, fmt.Errorf("no two of the %d runs have the same configuration and workload: runs of one configuration "+
			"have the same labels but for %s", len(ordered), strings.Join(compare.RunLabels(), ", "))
	}
	for i := range h.Series {
		h.Series[i].findChanges(alarms / float64(len(h.Series)))
	}
	return h, nil
}

// Spread returns the spread between runs of a setup's configuration in a metric, of logarithms; one without degrees of
// freedom where it is not known.
func (h *History) Spread(s *setup.Setup, key string) stats.Spread {
	title := compare.ConfigurationName(s.Run)
	i := slices.IndexFunc(h.Series, func(o Series) bool { return o.Key == key && o.title == title })
	if i < 0 {
		return stats.Spread{}
	}
	return h.Series[i].runSpread
}

func (h *History) addRun(s *setup.Setup) {
	title := compare.ConfigurationName(s.Run)
	for _, m := range seriesMetrics(s) {
		i := slices.IndexFunc(h.Series, func(o Series) bool { return o.Key == m.Key && o.Configuration == title.EN })
		if i < 0 {
			i = len(h.Series)
			h.Series = append(h.Series, Series{Configuration: title.EN, Key: m.Key, title: title})
		}
		h.Series[i].Points = append(h.Series[i].Points, Point{Run: s.Path, At: s.Run.Started,
			Commit: s.Run.Labels.Free["commit"], Value: m.Value})
	}
}

// seriesMetrics returns the metrics of a run that make series: those of a comparison for a sweep, else those of each of
// its stages. A value that is a bound, or not above 0, is none.
func seriesMetrics(s *setup.Setup) (all []compare.Figure) {
	if s.Run.Plan.Kind == rundir.KindSweep {
		m := compare.Measure(s)
		for _, key := range compare.Keys() {
			if f, ok := m.Get(key); ok && key != compare.KeyErrors && key != compare.KeyPerGPU &&
				!slices.Contains(compare.TermKeys(), key) && !f.Most.Known() && !f.Open {
				all = append(all, f)
			}
		}
	} else {
		for _, r := range s.Rows {
			at := "@" + r.Name()
			all = append(all,
				compare.Figure{Key: "tokens_per_s" + at, Value: r.Stage.TokensPerS.Output},
				compare.Figure{Key: "ttft" + at, Value: r.Stage.TTFT.Mean},
				compare.Figure{Key: "itl" + at, Value: r.Stage.InterToken})
		}
	}
	return slices.DeleteFunc(all, func(m compare.Figure) bool { return !m.Value.Known() || m.Value.Value() <= 0 })
}

func (s *Series) findChanges(level float64) {
	y := make([]float64, len(s.Points)) // logarithms: differences are ratios
	for i, p := range s.Points {
		y[i] = math.Log(p.Value.Value())
	}
	changes, spread := stats.Changes(y, level)
	ratio := func(v float64) rundir.Number { return rundir.Exactly(math.Expm1(v)) }
	for _, c := range changes {
		s.Changes = append(s.Changes, Change{
			Drift: c.Drift, Before: c.At - 1, From: c.At, To: c.Last, Found: c.Found,
			Ratio: ratio(c.Size), Low: ratio(c.Low), High: ratio(c.High),
			Better: (c.Size > 0) == compare.HigherIsBetter(s.Key), key: s.Key,
		})
	}
	if len(y) < minSpreadRuns {
		return
	}
	const detected, level95, power = 0.05, 0.05, 0.8
	s.Spread, s.runSpread = ratio(spread.Deviation), spread
	difference := stats.Spread{Deviation: math.Sqrt2 * spread.Deviation, DF: spread.DF} // of the difference of two runs
	s.Needed = max(1, int(math.Ceil(difference.Needed(math.Log1p(detected), level95, power))))
}

// latest returns the last change: a step back ends an earlier one.
func (s *Series) latest() (Change, bool) {
	if len(s.Changes) == 0 {
		return Change{}, false
	}
	return s.Changes[len(s.Changes)-1], true
}

// Regressions returns in English what has become worse: the last change of each series; with onlyNew where the latest
// run has shown it.
func (h *History) Regressions(onlyNew bool) (all []string) {
	for i := range h.Series {
		s := &h.Series[i]
		if c, ok := s.latest(); ok && !c.Better && (!onlyNew || c.Found == len(s.Points)-1) {
			all = append(all, s.changeSentence(c, lang.English))
		}
	}
	return all
}

// JSON writes the history, indented.
func (h *History) JSON(w io.Writer) error { return table.WriteJSON(w, h) }
