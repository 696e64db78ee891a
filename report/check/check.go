package check

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// Outcome is how a figure of a file relates to what passed.
type Outcome string

// The outcomes.
const (
	Agrees     Outcome = "agrees"     // the figure is what passed
	Definition Outcome = "definition" // it is right by another definition than ours
	Differs    Outcome = "differs"    // it is what passed by no definition that is known here
	Undecided  Outcome = "undecided"  // it is more than what passed, by no more than the recorder itself added
)

// Row is one figure of a file beside what passed.
type Row struct {
	Load    string        `json:"load"` // the file's name of it
	Figure  string        `json:"figure"`
	Claimed rundir.Number `json:"claimed"`
	Wire    rundir.Number `json:"wire"` // by our definition
	Outcome Outcome       `json:"outcome"`
	Why     lang.Text     `json:"-"`
	Because string        `json:"why,omitempty"` // the same in English
	unit    string
}

// Tolerances: tools print two or three decimals of milliseconds, and their clocks are read a few microseconds before and after ours.
const (
	nearly  = 0.02   // of the figure
	instant = 0.0002 // seconds
)

// latency is a figure that is a distribution of times.
type latency struct {
	name string
	of   func(*rundir.Stage) *rundir.Dist
	ways []way // ours first
}

func latencies() []latency {
	return []latency{
		{"TTFT", func(s *rundir.Stage) *rundir.Dist { return &s.TTFT }, []way{
			{sayToText, between(sent, firstToken), true}, {sayToHeaders, between(sent, headers), true},
		}},
		{"ITL", func(s *rundir.Stage) *rundir.Dist { return &s.ITL }, []way{
			{sayGaps, gaps, false}, {sayMeanGaps, meanGap, false}, {sayPerTokenAfter, perToken(firstToken, lastToken, 1), false}, {sayGapsFrom, gapsFromHeaders, false},
		}},
		{"TPOT", func(s *rundir.Stage) *rundir.Dist { return &s.TPOT }, []way{
			{sayPerTokenAfter, perToken(firstToken, lastToken, 1), false}, {sayPerTokenToEnd, perToken(firstToken, ended, 1), false}, {sayPerTokenFrom, perToken(headers, ended, 1), false},
			{sayPerTokenAll, perToken(sent, ended, 0), false}, {sayGaps, gaps, false}, {sayMeanGaps, meanGap, false},
		}},
		{"latency", func(s *rundir.Stage) *rundir.Dist { return &s.Latency }, []way{
			{sayToLast, between(sent, lastToken), true}, {sayToEnd, between(sent, ended), true},
		}},
	}
}

// Result is the comparison of a file with a recording.
type Result struct {
	Rows    []Row       `json:"figures"`
	Remarks []lang.Text `json:"-"`
	Said    []string    `json:"remarks,omitempty"` // the same in English
}

// Differs reports whether a figure is what passed by no definition.
func (r *Result) Differs() bool {
	return slices.ContainsFunc(r.Rows, func(row Row) bool { return row.Outcome == Differs })
}

// Compare compares the loads of a file, in the order in which they were measured, with a recording.
func Compare(runs []*rundir.Run, w *Wire) (*Result, error) {
	var loads []*rundir.Stage
	for _, run := range runs {
		for i := range run.Stages {
			loads = append(loads, &run.Stages[i])
		}
	}
	if len(w.Requests) == 0 {
		return nil, errors.New("the recording holds no request: let the tool measure the address that llmsweep record prints")
	}
	parts := w.split(len(loads))
	if parts == nil {
		return nil, fmt.Errorf("the recording holds %d requests without the %d pauses that would tell the %d loads of the file apart: record one load at a time",
			len(w.Requests), len(loads)-1, len(loads))
	}
	result := &Result{}
	for i, st := range loads {
		part := parts[i]
		part, left := part.without(len(part.Requests) - st.Requests.OK - st.Requests.Error - st.Requests.Incomplete)
		result.Rows = append(result.Rows, figures(st, part)...)
		for _, said := range remarks(st, part, left) {
			result.Remarks = append(result.Remarks, said)
			result.Said = append(result.Said, said.EN)
		}
	}
	return result, nil
}

// figures compares a load of a file with what passed.
func figures(st *rundir.Stage, w *Wire) (rows []Row) {
	if len(w.Requests) == 0 {
		return nil
	}
	for _, f := range latencies() {
		for _, claimed := range f.of(st).Numbers() {
			if claimed.Name == "std" || !claimed.Number.Known() {
				continue
			}
			if row, ok := w.time(f, claimed.Name, claimed.Number.Value()); ok {
				row.Load = st.Name
				rows = append(rows, row)
			}
		}
	}
	rows = append(rows, w.rates(st)...)
	for i := range rows {
		rows[i].Because = rows[i].Why.EN
	}
	return rows
}

// time compares a statistic of a distribution of times.
func (w *Wire) time(f latency, statistic string, claimed float64) (Row, bool) {
	row := Row{Figure: f.name + " " + statistic, Claimed: rundir.Exactly(claimed), Outcome: Differs, unit: "s"}
	nearest, distance := 0, math.Inf(1)
	for i, y := range f.ways {
		low, mid, high, ok := statisticOf(w.sample(y), statistic)
		if !ok {
			continue
		}
		if i == 0 {
			row.Wire = rundir.Exactly(mid)
		}
		if slack := max(nearly*mid, instant); claimed >= low-slack && claimed <= high+slack {
			if row.Outcome = Agrees; i > 0 {
				row.Outcome, row.Why = Definition, sayMeans.Text(y.name)
			}
			return row, row.Wire.Known()
		} else if _, _, late, _ := statisticOf(w.late(y), statistic); y.sent && i == 0 && claimed > high && claimed <= late+slack {
			row.Outcome = Undecided // unless another definition fits
		}
		if off := claimed - mid; math.Abs(off) < math.Abs(distance) {
			nearest, distance = i, off
		}
	}
	off := lang.Time(rundir.Exactly(math.Abs(distance)))
	if row.Outcome == Undecided {
		row.Why = sayAdded.Text(lang.Time(rundir.Exactly(claimed - row.Wire.Value())))
		return row, row.Wire.Known()
	}
	row.Why = sayLate.Text(off)
	if distance < 0 {
		row.Why = sayEarly.Text(off)
	}
	if nearest > 0 {
		row.Why = sayNearest.Text(f.ways[nearest].name, row.Why)
	}
	return row, row.Wire.Known()
}

// statisticOf returns a statistic, and the range in which tools may have it.
func statisticOf(all stats.Sorted, name string) (low, mid, high float64, ok bool) {
	n := all.Len()
	p, known := map[string]float64{"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999, "min": 0, "max": 1}[name]
	switch {
	case n == 0:
		return 0, 0, 0, false
	case name == "mean":
		mid = stats.Mean(all)
		return mid, mid, mid, true
	case !known:
		return 0, 0, 0, false
	}
	slack := rankSlack * min(p, 1-p)
	below, above := int(math.Floor((p-slack)*float64(n-1))), int(math.Ceil((p+slack)*float64(n)))
	return all.At(max(below, 0)), stats.QuantileOf(all, p), all.At(min(above, n-1)), true
}

// rankSlack is how far off a percentile may be, as a share of what lies beyond it: tools interpolate between values in different ways, and the values near a
// percentile change their order with each microsecond.
const rankSlack = 0.2

// rates compares counts and rates.
func (w *Wire) rates(st *rundir.Stage) (rows []Row) {
	first, last, end := w.span()
	good := 0
	for range w.ok() {
		good++
	}
	output, _ := w.sum(func(r *rundir.Record) rundir.Number { return r.OutputTokens })
	input, prompts := w.sum(func(r *rundir.Record) rundir.Number { return r.PromptTokens })
	add := func(figure, unit string, claimed rundir.Number, wire float64, others ...other) {
		if !claimed.Known() || !(wire > 0) {
			return
		}
		row := Row{Load: st.Name, Figure: figure, Claimed: claimed, Wire: rundir.Exactly(wire), Outcome: Differs, unit: unit}
		near := func(v float64) bool { return math.Abs(claimed.Value()-v) <= nearly*v }
		if near(wire) {
			row.Outcome = Agrees
		} else if i := slices.IndexFunc(others, func(o other) bool { return near(o.value) }); i >= 0 {
			row.Outcome, row.Why = Definition, sayMeans.Text(others[i].name)
		} else {
			row.Why = sayRatio.Text(claimed.Value() / wire)
		}
		rows = append(rows, row)
	}
	if n := st.Requests.OK; n > 0 {
		row := Row{Load: st.Name, Figure: "requests", Claimed: rundir.Exactly(float64(n)), Wire: rundir.Exactly(float64(good)), Outcome: Agrees, unit: "requests"}
		if n != good {
			row.Outcome, row.Why = Differs, sayMore.Text(good-n)
			if n > good {
				row.Why = sayFewer.Text(n - good)
			}
		}
		rows = append(rows, row)
	}
	whole, sending := end-first, last-first
	add("req/s", "/s", st.Rates.Completed, float64(good)/whole, other{saySending, float64(good) / sending})
	add("output tok/s", "/s", st.TokensPerS.Output, output/whole, other{saySending, output / sending}, other{sayWithPrompt, (output + input) / whole})
	if prompts == good { // the server counted all prompts
		add("total tok/s", "/s", st.TokensPerS.Total, (output+input)/whole)
	}
	add("output tokens", "", st.OutputTokens.Mean, output/float64(max(good, 1)), other{sayTotal, output})
	add("prompt tokens", "", st.PromptTokens.Mean, input/float64(max(prompts, 1)), other{sayTotal, input})
	return rows
}

// other is a value by another definition.
type other struct {
	name  lang.Phrase
	value float64
}

// remarks tell what is wrong with the load itself.
func remarks(st *rundir.Stage, w *Wire, left int) (all []lang.Text) {
	if left > 0 {
		all = append(all, sayTest.Text(left))
	}
	if n := w.repeated(); n > 0 {
		all = append(all, sayRepeated.Text(n, len(w.Requests)))
	}
	failed := 0
	for i := range w.Requests {
		if w.Requests[i].Failed() {
			failed++
		}
	}
	if failed != st.Requests.Error {
		all = append(all, sayFailures.Text(failed, st.Requests.Error))
	}
	if v, low, high, ok := w.spread(); ok && st.Rate.Known() && (v < low || v > high) {
		all = append(all, sayArrivals.Text(v, low, high))
	}
	return all
}

// spread returns the coefficient of variation of the times between requests, and the range in which it lies for Poisson arrivals in 99 of 100 cases: about
// 1, with a standard error of the square root of 1/n.
func (w *Wire) spread() (v, low, high float64, ok bool) {
	const fewest, normal = 30, 2.58
	var all []float64
	for i := range w.Requests[:len(w.Requests)-1] {
		all = append(all, w.Requests[i+1].Sent.Value()-w.Requests[i].Sent.Value())
	}
	mean := stats.Mean(all)
	if len(all) < fewest || mean <= 0 {
		return 0, 0, 0, false
	}
	half := normal / math.Sqrt(float64(len(all)))
	return stats.Deviation(all) / mean, 1 - half, 1 + half, true
}
