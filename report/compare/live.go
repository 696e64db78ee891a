package compare

import (
	"io"
	"slices"
	"strings"
	"time"

	"llmsweep/client/note"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/pair"
	"llmsweep/sweep/rundir"
)

// liveSchema names the version of a PairComparison's JSON.
const liveSchema = "llmsweep.compare-live/v1"

// PairComparison is two servers that were measured under the same load, in turns: A is the baseline, B the candidate.
type PairComparison struct {
	Schema   string       `json:"schema"`
	State    rundir.State `json:"state"`
	Failure  note.Note    `json:"failure,omitzero"`
	Servers  [2]string    `json:"servers"`
	Blocks   int          `json:"blocks"` // that are whole
	Rows     []pair.Row   `json:"rows"`
	Says     string       `json:"conclusion"`
	Warnings []string     `json:"warnings,omitempty"` // in English
	Changes  []Difference `json:"-"`                  // of the rows with an interval, and of shares of all requests

	invalid  []note.Note // the warnings
	stages   int         // that were looked at for them
	run      *rundir.Run
	requests [2]rundir.Requests // in the stages that are compared
	answers  [2]rundir.Number   // mean length
}

// noteInvalid is a stage of a server in which the client was the limit; why holds one note.
var noteInvalid = note.Kind{Code: "pair.invalid", Args: []string{"side", "stage", "why"}}

// OfPair compares two servers over the whole blocks of what was measured.
func OfPair(p *rundir.Pair, a, b *rundir.Run) *PairComparison {
	v := &PairComparison{
		Schema: liveSchema, State: p.State, Failure: p.Failure, Servers: [2]string{a.Target.URL, b.Target.URL},
		Blocks: p.Blocks(), Rows: pair.Rows(p, a, b), run: a,
	}
	for i := range v.Rows {
		if d := rowDifference(&v.Rows[i]); d.Shown != nil {
			v.Changes = append(v.Changes, d)
		}
	}
	v.countRequests(p, [2]*rundir.Run{a, b})
	v.Says = strings.Join(v.conclusion(lang.English), " ")
	return v
}

// countRequests counts the requests of the compared stages, and compares the shares of failed requests and right
// answers.
func (v *PairComparison) countRequests(p *rundir.Pair, runs [2]*rundir.Run) {
	var shares [2]Configuration
	for side, run := range runs {
		var tokens, answers float64
		for _, st := range pairedStages(p, run) {
			v.stages++
			q := &v.requests[side]
			q.OK, q.Error, q.Incomplete = q.OK+st.Requests.OK, q.Error+st.Requests.Error, q.Incomplete+st.Requests.Incomplete
			if n := float64(st.OutputTokens.N); n > 0 {
				tokens, answers = tokens+n*st.OutputTokens.Mean.Value(), answers+n
			}
			if !st.Invalid.IsZero() {
				n := noteInvalid.New(rundir.SideName(side), st.Name, []note.Note{st.Invalid})
				v.invalid = append(v.invalid, n)
				v.Warnings = append(v.Warnings, findings.Phrase(n, lang.English))
			}
		}
		v.answers[side] = rundir.Exactly(tokens / answers)
		shares[side].addAccuracy(run, run.Target.URL)
		ended := v.requests[side].OK + v.requests[side].Error
		shares[side].addShare(KeyErrors, v.requests[side].Error, ended, float64(ended), run.Target.URL)
	}
	for _, key := range []string{KeyAccuracy, KeyErrors} {
		if d := differenceOf(shares[0].figure(key), shares[1].figure(key)); !d.IsZero() {
			d.Setup, d.From = "B", "A"
			v.Changes = append(v.Changes, d)
		}
	}
}

// pairedStages returns the stages of a run in whole blocks.
func pairedStages(p *rundir.Pair, run *rundir.Run) []*rundir.Stage {
	names := map[string]bool{}
	for i := range p.Loads {
		for round := range 2 * p.Blocks() {
			names[p.Loads[i].StageName(round+1)] = true
		}
	}
	var all []*rundir.Stage
	for i := range run.Stages {
		if names[run.Stages[i].Name] {
			all = append(all, &run.Stages[i])
		}
	}
	return all
}

// Keys returns the keys of all metrics.
func (v *PairComparison) Keys() []string {
	var keys []string
	for i := range v.Rows {
		keys = append(keys, v.Rows[i].Key)
	}
	return append(keys, KeyAccuracy, KeyErrors)
}

// JSON writes the comparison, indented.
func (v *PairComparison) JSON(w io.Writer) error {
	return table.WriteJSON(w, v)
}

// Sections returns the comparison as sections of a report. Level is the level of its heading in Markdown.
func (v *PairComparison) Sections(level int) []table.Section {
	title := titleLive.Text(lang.Both(func(l lang.Lang) string { return Workload(v.run, l) }))
	s := table.Section{Title: title, Level: level, Table: v.table(), Notes: v.legend()}
	s.Lines = append(lang.Sentences(v.conclusion), lang.Same("A = "+v.Servers[0]), lang.Same("B = "+v.Servers[1]))
	switch v.State {
	case rundir.Failed:
		why := lang.Both(func(l lang.Lang) string { return findings.Phrase(v.Failure, l) })
		s.Lines = append(s.Lines, liveFailed.Text(why.Plus(lang.Stop.Text())))
	case rundir.Interrupted:
		s.Lines = append(s.Lines, liveInterrupted.Text())
	}
	return []table.Section{s}
}

func (v *PairComparison) table() table.Table {
	t := table.Table{Columns: []table.Column{
		{Head: headLoad.Text(), Left: true}, {Head: headFigure.Text(), Left: true}, {Head: lang.Same("A")},
		{Head: lang.Same("B")},
		{Head: headDifference.Text(), Left: true},
	}}
	var before lang.Text
	for i := range v.Rows {
		r := &v.Rows[i]
		load, cell := lang.Both(func(l lang.Lang) string { return loadName(r.Load, l) }), table.Seconds
		if load == before {
			load = lang.Text{}
		} else {
			before = load
		}
		if r.Metric == pair.MetricOutput {
			cell = fixed(2)
		}
		metric := table.Cell{Text: lang.Both(func(l lang.Lang) string { return metricName(r.Metric, l) })}
		t.Rows = append(t.Rows, []table.Cell{{Text: load}, metric, cell(r.A), cell(r.B), rowDifference(r).cell()})
	}
	return t
}

// rowDifference is the difference of a row, judged by its own interval.
func rowDifference(r *pair.Row) Difference {
	d := Difference{Setup: "B", From: "A", Key: r.Key, Ratio: r.Ratio, Low: r.Low, High: r.High}
	if d.Low.Known() {
		d.judge()
	}
	return d
}

func loadName(p *rundir.PairLoad, l lang.Lang) string {
	_, rate, _ := strings.Cut(p.Name, "@")
	switch p.Key {
	case pair.LoadSync:
		return subAlone.In(l)
	case pair.LoadHalf, pair.LoadHigh:
		return liveShare.In(l, p.Key, rate)
	case pair.LoadCeiling:
		return liveCeiling.In(l, p.MaxConcurrency)
	}
	if p.Rate.Known() {
		return rate + " req/s"
	}
	return liveWidth.In(l, p.MaxConcurrency)
}

func metricName(metric string, l lang.Lang) string {
	switch metric {
	case pair.MetricOutput:
		return lang.HeadOutput.In(l) + " tok/s"
	case pair.MetricLatency:
		return lang.HeadLatency.In(l)
	}
	return strings.ToUpper(metric)
}

func (v *PairComparison) legend() []lang.Text {
	var notes []lang.Text
	if v.Blocks > 0 {
		notes = append(notes, legendLiveTilde.Text())
	}
	if a, b := v.requests[0], v.requests[1]; a.Error+b.Error > 0 {
		notes = append(notes, liveErrors.Text(a.Error, a.OK+a.Error, b.Error, b.OK+b.Error))
	}
	for _, d := range v.Changes {
		if a, b := d.before.Value.Value(), d.after.Value.Value(); d.Key == KeyAccuracy {
			notes = append(notes, liveAccuracy.Text(lang.Percent(a), lang.Percent(b), d.String()))
		}
	}
	if v.Blocks > 0 && slices.ContainsFunc(v.Rows, func(r pair.Row) bool { return r.Ratio.IsZero() && r.Spoiled == 0 }) {
		notes = append(notes, liveUnknown.Text())
	}
	if low, high := v.answers[0], v.answers[1]; low.Known() && high.Known() {
		if low.Value() > high.Value() {
			low, high = high, low
		}
		if lengthsDiffer(low, high) {
			notes = append(notes, sayUneven.Text(lang.Number(low, lang.Fixed(1)), lang.Number(high, lang.Fixed(1))))
		}
	}
	if n := len(v.invalid); n > 0 {
		notes = append(notes, liveClient.Text(n, v.stages,
			lang.Both(func(l lang.Lang) string { return findings.Phrase(v.invalid[0], l) })))
	}
	return notes
}

// conclusion returns the differences that are shown when all rows are tested together.
func (v *PairComparison) conclusion(l lang.Lang) []string {
	var shown []string
	for i := range v.Rows {
		if r := &v.Rows[i]; r.Shown {
			shown = append(shown, metricName(r.Metric, l)+lang.InParens.In(l, loadName(r.Load, l))+" "+rowDifference(r).String())
		}
	}
	switch {
	case len(shown) > 0:
		return []string{liveDiffers.In(l, strings.Join(shown, lang.Comma.In(l)))}
	case slices.ContainsFunc(v.Rows, func(r pair.Row) bool { return r.Low.Known() }):
		return []string{liveSame.In(l)}
	}
	return []string{liveTooFew.In(l)}
}

// PairForecast returns how many blocks there will be, and how long one takes.
func PairForecast(blocks int, block time.Duration, l lang.Lang) string {
	return sayBlocks.In(l, blocks, lang.Time(rundir.Exactly(block.Round(time.Second).Seconds())))
}

// SameServer returns how prompts are made where both servers are the same.
func SameServer(l lang.Lang) string { return pairedSaySame.In(l) }
