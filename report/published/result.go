package published

import (
	"fmt"
	"math"
	"time"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// Result is one result while it is read: a run, and the stage of it that is being read.
type Result struct {
	Doc   *Document
	Run   rundir.Run
	Stage rundir.Stage
	names map[string]int // of stages, and how many asked for each
}

// Begin opens a result of a format at a line (from 1).
func (d *Document) Begin(format string, line int) *Result {
	return &Result{Doc: d, Run: rundir.Run{
		Schema: rundir.Schema, State: rundir.Complete,
		// How exact the other tool's client was is unknown; without this, reports would say that the client was too
		// slow.
		Client:   rundir.Client{Valid: true},
		Source:   &rundir.Source{File: d.Name, Line: line, Format: format, Printed: map[string]rundir.Printed{}},
		Warnings: []note.Note{noteReadFrom.New(d.Name, line)},
	}}
}

// BeginStage opens a row, or the only stage of a block.
func (r *Result) BeginStage(line int) {
	r.Stage = rundir.Stage{
		State: rundir.Complete,
		Source: &rundir.Source{
			File: r.Doc.Name, Line: line, Format: r.Run.Source.Format, Printed: map[string]rundir.Printed{},
		},
	}
}

// EndStage adds the stage to the run, under a name that no other stage of the run has.
func (r *Result) EndStage() {
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

// Keep adds the run to the document.
func (r *Result) Keep() { r.Doc.Runs = append(r.Doc.Runs, r.Run) }

// Label records where a label of the run is from.
func (r *Result) Label(key string, l rundir.Label) {
	setLabel(&r.Run, key, l)
}

// Contradiction notes that two lines give a label two values, and which of them is taken.
func (r *Result) Contradiction(label, taken string, line int, other string, otherLine, at int) {
	n := noteContradiction.New(label, taken, line, other, otherLine)
	r.Run.Warnings = append(r.Run.Warnings, n)
	r.Doc.Note(at, false, n)
}

// setEnd sets when the run ended, and from the length of the test when it began.
func (r *Result) setEnd(at time.Time, seconds float64) {
	if at.IsZero() {
		return
	}
	r.Run.Ended = at
	r.Run.Started = at.Add(-time.Duration(seconds * float64(time.Second)))
}

// setCount sets of how many samples a distribution is, and which of its percentiles so few samples do not support.
func setCount(d *rundir.Dist, n int) {
	d.N = n
	for _, p := range d.Percentiles() {
		if n > 0 && !p.Number.IsZero() && !stats.Supported(float64(n), p.Share) {
			d.Unsupported = append(d.Unsupported, p.Name)
		}
	}
}

// perRequest sets of how many requests a total of tokens is, and the mean of each.
func perRequest(t *rundir.TokenStats, n int) {
	if n > 0 && t.Total.Known() {
		t.N, t.Mean = n, rundir.Exactly(t.Total.Value()/float64(n))
	}
}

// Statistic returns the number of a distribution that has that name, such as p99.
func Statistic(d *rundir.Dist, name string) *rundir.Number {
	for _, f := range d.Numbers() {
		if f.Name == name {
			return f.Number
		}
	}
	return new(rundir.Number) // no caller asks for another
}

// storeCount stores a count, and fails where f is none. An unknown count stays 0.
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

// Times is a distribution of times of a stage, and its key in run.json.
type Times struct {
	Key string
	*rundir.Dist
}

// TimesOf returns the distributions of times that others print.
func TimesOf(s *rundir.Stage) []Times {
	return []Times{{"latency_s", &s.Latency}, {"ttft_s", &s.TTFT}, {"tpot_s", &s.TPOT}, {"itl_s", &s.ITL}}
}

// TimesAt returns the distribution with a key in run.json; nil where that is none of [TimesOf].
func TimesAt(s *rundir.Stage, key string) *rundir.Dist {
	for _, d := range TimesOf(s) {
		if d.Key == key {
			return d.Dist
		}
	}
	return nil
}
