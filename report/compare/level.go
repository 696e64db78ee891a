package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// Level is one concurrency at which two configurations were measured in closed loops. Ranges are those of the repeats
// before and after.
type Level struct {
	InFlight int      `json:"in_flight"`
	Rate     [2]Range `json:"rates.completed"` // requests per second
	Output   [2]Range `json:"tokens_per_s.output"`
	Latency  [2]Range `json:"latency_s.mean"`
	Answer   [2]Range `json:"output_tokens.mean"`
	PerToken [2]Range `json:"latency_s_per_token"` // mean latency over the mean length of the answers
	// Difference is that of the rate: between any two measurements, and shown where repeats tell.
	Difference
	Where  [2]string `json:"where"`
	Doubts int       `json:"doubts,omitempty"` // measurements that the audit doubts
}

// levels compares two setups at each number in flight that both kept in closed loops.
func levels(a, b *Configuration) (all []Level) {
	for i := range a.setup.Rows {
		n := inFlight(&a.setup.Rows[i])
		if n == 0 || slices.ContainsFunc(all, func(v Level) bool { return v.InFlight == n }) {
			continue
		}
		v := Level{InFlight: n}
		v.measure(0, a.setup)
		v.measure(1, b.setup)
		x, y := v.Rate[0], v.Rate[1]
		if x.Low <= 0 || y.N == 0 {
			continue
		}
		v.Difference = Difference{Key: keyRate}.between(y.Low/x.High, y.High/x.Low)
		if x.N > 1 || y.N > 1 {
			v.judge()
		}
		all = append(all, v)
	}
	return all
}

// measure sets the ranges of a side.
func (v *Level) measure(side int, s *setup.Setup) {
	var stages []*rundir.Stage
	var where []string
	for i := range s.Rows {
		if r := &s.Rows[i]; inFlight(r) == v.InFlight {
			stages, where = append(stages, r.Measurements()...), append(where, r.Where)
		}
	}
	v.Rate[side] = rangeOf(stages, func(s *rundir.Stage) rundir.Number { return s.Rates.Completed })
	v.Output[side] = rangeOf(stages, func(s *rundir.Stage) rundir.Number { return s.TokensPerS.Output })
	v.Latency[side] = rangeOf(stages, func(s *rundir.Stage) rundir.Number { return s.Latency.Mean })
	v.Answer[side] = rangeOf(stages, func(s *rundir.Stage) rundir.Number { return s.OutputTokens.Mean })
	v.PerToken[side] = rangeOf(stages, func(s *rundir.Stage) rundir.Number {
		return rundir.Exactly(s.Latency.Mean.Value() / s.OutputTokens.Mean.Value())
	})
	v.Where[side] = strings.Join(where, ", ")
	for _, st := range stages {
		if slices.ContainsFunc(s.Marked, func(o setup.RowMark) bool { return o.Doubted() && s.Concerns(o, st) }) {
			v.Doubts++
		}
	}
}

// inFlight returns the number that a closed loop kept in flight; 0 for other loads.
func inFlight(r *setup.Row) int {
	if s := r.Stage; setup.ConcurrencyBound(s) || !s.Rate.Known() && s.Kind == rundir.StageConcurrent {
		return s.MaxConcurrency
	}
	return 0
}

// uneven reports whether the answers of one side are longer, so that requests are not equal work.
func (v Level) uneven() bool {
	return lengthsDiffer(rundir.Exactly(v.Answer[0].middle()), rundir.Exactly(v.Answer[1].middle()))
}

// percents is the change in per cent; one number where both ends round to it.
func (v Level) percents(l lang.Lang) string {
	low, high := wholePercent(v.Low.Value()), wholePercent(v.High.Value())
	if low == high {
		return low
	}
	return sayTo.In(l, low, high)
}

func wholePercent(v float64) string {
	n := int(math.Round(v * 100))
	if n == 0 {
		return "0"
	}
	return fmt.Sprintf("%+d", n)
}

// In returns the change at a level in words: "+9 to +19 % at 30 in flight (11.12-12.00 to 13.12-13.22 req/s)".
func (v Level) In(l lang.Lang) string {
	what := v.percents(l) + " %"
	switch {
	case v.Shown == nil:
		what += sayOneEach.In(l)
	case v.hidden():
		what = sayNoneShown.In(l, what)
	}
	s := sayLevel.In(l, what, v.InFlight, v.Rate[0].text(fixed(2)).In(l), v.Rate[1].text(fixed(2)).In(l))
	if v.uneven() {
		s += sayLevelAnswers.In(l, fmt.Sprintf("%.0f", v.Answer[0].middle()), fmt.Sprintf("%.0f", v.Answer[1].middle()))
	}
	if v.Doubts > 0 {
		s += sayLevelDoubts.In(l, v.Doubts, v.Rate[0].N+v.Rate[1].N)
	}
	return s
}

func (f *Factor) levelConclusion(l lang.Lang) string {
	var all []string
	for i := range f.Pairs {
		p := &f.Pairs[i]
		if len(p.Levels) == 0 {
			continue
		}
		var parts []string
		for _, v := range p.Levels {
			parts = append(parts, v.In(l))
		}
		head := sayPair.In(l, f.equal.In(l), f.valueName(p.From, l), f.valueName(p.To, l))
		if f.What == ByGPUs {
			head = f.gpuPairName(p, l)
		}
		all = append(all, head+lang.Colon.In(l)+strings.Join(parts, lang.Semicolon.In(l))+lang.Stop.In(l))
	}
	return strings.Join(all, space.In(l))
}

// gpuPairName returns the name of a pair, such as "Qwen7B-awq, SGLang, 2 to 4 x A10".
func (f *Factor) gpuPairName(p *Pair, l lang.Lang) string {
	labels := f.Members[0].Labels
	model := labels.Model
	if labels.Quant != "" && !strings.Contains(strings.ToLower(model), strings.ToLower(labels.Quant)) {
		model += "-" + labels.Quant
	}
	parts := []string{model, labels.Engine, sayGPUPair.In(l, p.From, p.To, labels.GPU)}
	head := strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), lang.Comma.In(l))
	if slices.ContainsFunc(f.Pairs, func(o Pair) bool {
		return o.From == p.From && o.To == p.To && o.Setups != p.Setups && len(o.Levels) > 0
	}) {
		head += lang.InParens.In(l, p.a.Origin+lang.Comma.In(l)+p.b.Origin)
	}
	return head
}

// levelTable has a row for each pair and concurrency. Where answers of one side are longer, it has the figures per
// token too.
func (f *Factor) levelTable() table.Table {
	type column struct {
		table.Column
		cell func(v *Level) table.Cell
	}
	both := func(of func(v *Level) [2]Range, print func(rundir.Number) table.Cell) func(*Level) table.Cell {
		return func(v *Level) table.Cell {
			sides := of(v)
			if sides[0].N == 0 || sides[1].N == 0 {
				return table.None()
			}
			return table.Cell{Text: arrow(sides[0].text(print), sides[1].text(print))}
		}
	}
	milli := func(n rundir.Number) table.Cell { return fixed(1)(lang.Scale(n, 1e3)) }
	columns := []column{
		{table.Column{Head: headCompleted.Text(), Sub: lang.Same("req/s")},
			both(func(v *Level) [2]Range { return v.Rate }, fixed(2))},
		{table.Column{Head: headChange.Text(), Sub: lang.Same("%")}, func(v *Level) table.Cell {
			text := lang.Both(v.percents)
			if v.hidden() {
				text = lang.Same(markNoDifference + " ").Plus(text)
			}
			return table.Cell{Text: text}
		}},
		{table.Column{Head: lang.HeadOutput.Text(), Sub: lang.Same("tok/s")},
			both(func(v *Level) [2]Range { return v.Output }, fixed(0))},
		{table.Column{Head: lang.HeadLatency.Text(), Sub: lang.Same("s")},
			both(func(v *Level) [2]Range { return v.Latency }, fixed(2))},
	}
	if slices.ContainsFunc(f.Pairs, func(p Pair) bool { return slices.ContainsFunc(p.Levels, Level.uneven) }) {
		columns = append(columns,
			column{table.Column{Head: headAnswer.Text(), Sub: lang.Same("tok")},
				both(func(v *Level) [2]Range { return v.Answer }, fixed(0))},
			column{table.Column{Head: lang.HeadLatency.Text(), Sub: subPerToken.Text()},
				both(func(v *Level) [2]Range { return v.PerToken }, milli)},
			column{table.Column{Head: lang.HeadOutput.Text(), Sub: lang.Same("%")}, func(v *Level) table.Cell {
				rise := v.Output[1].middle()/v.Output[0].middle() - 1
				if math.IsNaN(rise) {
					return table.None()
				}
				return table.Literal(wholePercent(rise))
			}})
	}
	columns = append(columns,
		column{table.Column{Head: headMeasured.Text()}, func(v *Level) table.Cell {
			return table.Literal(fmt.Sprintf("%d + %d", v.Rate[0].N, v.Rate[1].N))
		}},
		column{table.Column{Head: headRests.Text(), Left: true}, func(v *Level) table.Cell {
			return table.Literal(v.Where[0] + " | " + v.Where[1])
		}})
	t := table.Table{Columns: []table.Column{{Head: headFromTo.Text(), Left: true}, {Head: headInFlight.Text()}}}
	for _, c := range columns {
		t.Columns = append(t.Columns, c.Column)
	}
	for _, p := range f.Pairs {
		name := func(value string) lang.Text {
			return lang.Both(func(l lang.Lang) string { return f.valueName(value, l) })
		}
		for i := range p.Levels {
			v := &p.Levels[i]
			row := []table.Cell{{Text: arrow(name(p.From), name(p.To))}, table.Count(v.InFlight)}
			for _, c := range columns {
				row = append(row, c.cell(v))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}
