package published

import (
	"fmt"
	"math"
	"time"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// result is a run that is being read, with the stage that is being read of it.
type result struct {
	Doc   *Document
	Run   rundir.Run
	Stage rundir.Stage
	names map[string]int // of stages, with how often each was wanted
}

// begin opens a result of a format at a line (from 1).
func (d *Document) begin(format string, line int) *result {
	return &result{Doc: d, Run: rundir.Run{
		Schema: rundir.Schema, State: rundir.Complete,
		// How exact the other tool's client was is unknown; without this, reports would say that the client was too
		// slow.
		Client:   rundir.Client{Valid: true},
		Source:   &rundir.Source{File: d.Name, Line: line, Format: format, Printed: map[string]rundir.Printed{}},
		Warnings: []note.Note{noteReadFrom.New(d.Name, line)},
	}}
}

func (r *result) beginStage(line int) {
	r.Stage = rundir.Stage{
		State: rundir.Complete,
		Source: &rundir.Source{
			File: r.Doc.Name, Line: line, Format: r.Run.Source.Format, Printed: map[string]rundir.Printed{},
		},
	}
}

// endStage adds the stage to the run, under a name that no other stage of the run has.
func (r *result) endStage() {
	if r.names == nil {
		r.names = map[string]int{}
	}
	name := r.Stage.Name
	for r.names[r.Stage.Name] > 0 {
		r.names[name]++
		r.Stage.Name = fmt.Sprintf("%s-%d", name, r.names[name])
	}
	r.names[r.Stage.Name]++
	r.Run.Stages = append(r.Run.Stages, r.Stage)
}

func (r *result) keep() { r.Doc.Runs = append(r.Doc.Runs, r.Run) }

func (r *result) setLabel(key string, l rundir.Label) { setLabel(&r.Run, key, l) }

// addContradiction notes that two lines give a label two values, and which of them is taken.
func (r *result) addContradiction(label, taken string, line int, other string, otherLine, at int) {
	n := noteContradiction.New(label, taken, line, other, otherLine)
	r.Run.Warnings = append(r.Run.Warnings, n)
	r.Doc.remark(at, false, n)
}

func (r *result) setEnd(at time.Time, seconds float64) {
	if at.IsZero() {
		return
	}
	r.Run.Ended = at
	r.Run.Started = at.Add(-time.Duration(seconds * float64(time.Second)))
}

// setCount sets the number of samples, and which percentiles so few samples do not support.
func setCount(d *rundir.Dist, n int) {
	d.N = n
	for _, p := range d.Percentiles() {
		if n > 0 && !p.Number.IsZero() && !stats.Supported(float64(n), p.Share) {
			d.Unsupported = append(d.Unsupported, p.Name)
		}
	}
}

// perRequest sets the number of requests that a total of tokens is of, and so their mean.
func perRequest(t *rundir.TokenStats, n int) {
	if n > 0 && t.Total.Known() {
		t.N, t.Mean = n, rundir.Exactly(t.Total.Value()/float64(n))
	}
}

// distNumber returns the number of a distribution by name, such as p99.
func distNumber(d *rundir.Dist, name string) *rundir.Number {
	for _, f := range d.Numbers() {
		if f.Name == name {
			return f.Number
		}
	}
	return new(rundir.Number) // no caller asks for another
}

// An unknown count stays 0.
func storeCount(f rundir.Number, to *int) error {
	if f.IsZero() {
		return nil
	}
	if v := f.Value(); f.Bound() || v < 0 || v != math.Trunc(v) || v > 1e12 {
		return parseFault{faultNoCount.New()}
	}
	*to = int(f.Value())
	return nil
}

// keyedDist is a distribution of a stage, with its key in run.json.
type keyedDist struct {
	Key string
	*rundir.Dist
}

func timesOf(s *rundir.Stage) []keyedDist {
	return []keyedDist{{"latency_s", &s.Latency}, {"ttft_s", &s.TTFT}, {"tpot_s", &s.TPOT}, {"itl_s", &s.ITL}}
}

// TimesAt returns the distribution with a key in run.json; nil where that is none of [timesOf].
func TimesAt(s *rundir.Stage, key string) *rundir.Dist {
	for _, d := range timesOf(s) {
		if d.Key == key {
			return d.Dist
		}
	}
	return nil
}
