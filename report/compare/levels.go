package compare

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// Pair is two configurations that differ in one thing, at each concurrency that both were measured at.
type Pair struct {
	From    string    `json:"from"` // the values of what differs: "2", "vLLM"
	To      string    `json:"to"`
	Setups  [2]string `json:"setups"`
	Origins [2]string `json:"origins"`
	Levels  []Level   `json:"levels"`
}

// Level is one concurrency. Each side is the lowest and the highest of its repeats.
type Level struct {
	InFlight int      `json:"in_flight"`
	Rate     [2]Range `json:"rates.completed"` // requests per second, before and after
	Output   [2]Range `json:"tokens_per_s.output"`
	Latency  [2]Range `json:"latency_s.mean"`
	Answer   [2]Range `json:"output_tokens.mean"`
	PerToken [2]Range `json:"latency_s_per_token"` // mean latency over the mean length of the answers
	// Low and High are the least and the largest relative change of the completed rate between a measurement of each
	// side.
	Low  rundir.Number `json:"low"`
	High rundir.Number `json:"high"`
	// whether all measurements of one side are above all of the other; absent without repeats
	Shown  *bool     `json:"shown,omitempty"`
	Where  [2]string `json:"where"`
	Doubts int       `json:"doubts,omitempty"` // measurements that the audit doubts
}

// Range is the lowest and the highest of N measurements.
type Range struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	N    int     `json:"n"`
}

// Mean is the middle of a range; that of the measurements where there are one or two.
func (r Range) Mean() float64 { return (r.Low + r.High) / 2 }

// Levels compares two setups at each number in flight that both kept in closed loops.
func Levels(a, b *setup.Setup) []Level {
	var all []Level
	for i := range a.Rows {
		n := inFlight(&a.Rows[i])
		if n == 0 || slices.ContainsFunc(all, func(l Level) bool { return l.InFlight == n }) {
			continue
		}
		x, y := levelStages(a, n), levelStages(b, n)
		if len(x) == 0 || len(y) == 0 {
			continue
		}
		l := Level{InFlight: n, Doubts: doubtedStages(a, x) + doubtedStages(b, y)}
		for j, side := range [][]*rundir.Stage{x, y} {
			l.Rate[j] = rangeOf(side, func(s *rundir.Stage) rundir.Number { return s.Rates.Completed })
			l.Output[j] = rangeOf(side, func(s *rundir.Stage) rundir.Number { return s.TokensPerS.Output })
			l.Latency[j] = rangeOf(side, func(s *rundir.Stage) rundir.Number { return s.Latency.Mean })
			l.Answer[j] = rangeOf(side, func(s *rundir.Stage) rundir.Number { return s.OutputTokens.Mean })
			l.PerToken[j] = rangeOf(side, func(s *rundir.Stage) rundir.Number {
				return rundir.Exactly(s.Latency.Mean.Value() / s.OutputTokens.Mean.Value())
			})
		}
		l.Where = [2]string{levelWhere(a, n), levelWhere(b, n)}
		if l.Rate[0].Low <= 0 || l.Rate[1].N == 0 {
			continue
		}
		low, high := l.Rate[1].Low/l.Rate[0].High-1, l.Rate[1].High/l.Rate[0].Low-1
		l.Low, l.High = rundir.Exactly(low), rundir.Exactly(high)
		if l.Rate[0].N > 1 || l.Rate[1].N > 1 {
			shown := low > 0 || high < 0
			l.Shown = &shown
		}
		all = append(all, l)
	}
	return all
}

// inFlight returns the number that a closed loop kept in flight; 0 for other loads.
func inFlight(r *setup.Row) int {
	if s := r.Stage; setup.ConcurrencyBound(s) || !s.Rate.Known() && s.Kind == rundir.StageConcurrent {
		return s.MaxConcurrency
	}
	return 0
}

func levelStages(s *setup.Setup, n int) []*rundir.Stage {
	var all []*rundir.Stage
	for i := range s.Rows {
		if r := &s.Rows[i]; inFlight(r) == n {
			all = append(all, r.Measurements()...)
		}
	}
	return all
}

func levelWhere(s *setup.Setup, n int) string {
	var all []string
	for i := range s.Rows {
		if inFlight(&s.Rows[i]) == n {
			all = append(all, s.Rows[i].Where)
		}
	}
	return strings.Join(all, ", ")
}

func doubtedStages(s *setup.Setup, stages []*rundir.Stage) int {
	n := 0
	for _, st := range stages {
		if slices.ContainsFunc(s.Marked, func(o setup.RowMark) bool { return o.Doubted() && s.Concerns(o, st) }) {
			n++
		}
	}
	return n
}

func rangeOf(stages []*rundir.Stage, take func(*rundir.Stage) rundir.Number) Range {
	r := Range{Low: math.Inf(1)}
	for _, s := range stages {
		if v := take(s); v.Known() {
			r.Low, r.High, r.N = min(r.Low, v.Value()), max(r.High, v.Value()), r.N+1
		}
	}
	if r.N == 0 {
		return Range{}
	}
	return r
}

// pairs compares the members of a factor at equal concurrency: those with more GPUs with those with the next fewer,
// others with the first.
func (f *Factor) pairs() []Pair {
	var all []Pair
	add := func(a, b *Member) {
		if levels := Levels(a.setup, b.setup); len(levels) > 0 {
			all = append(all, Pair{From: a.Value, To: b.Value, Setups: [2]string{a.Setup, b.Setup},
				Origins: [2]string{a.setup.Origin(), b.setup.Origin()}, Levels: levels})
		}
	}
	if f.What == ByGPUs {
		f.eachStep(add)
		return all
	}
	first := &f.Members[0]
	for i := range f.Members {
		if m := &f.Members[i]; m.Value != first.Value {
			add(m, first)
		}
	}
	return all
}

func (f *Factor) levelConclusion(l lang.Lang) string {
	var all []string
	for _, p := range f.Pairs {
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
func (f *Factor) gpuPairName(p Pair, l lang.Lang) string {
	labels := f.Members[0].config.Labels
	parts := []string{modelName(labels), labels.Engine, sayGPUPair.In(l, p.From, p.To, labels.GPU)}
	head := strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), lang.Comma.In(l))
	if slices.ContainsFunc(f.Pairs, func(o Pair) bool {
		return o.From == p.From && o.To == p.To && o.Setups != p.Setups
	}) {
		head += lang.InParens.In(l, strings.Join(p.Origins[:], lang.Comma.In(l)))
	}
	return head
}

func modelName(l rundir.Labels) string {
	if l.Quant == "" || strings.Contains(strings.ToLower(l.Model), strings.ToLower(l.Quant)) {
		return l.Model
	}
	return l.Model + "-" + l.Quant
}

// In returns the change at a level in words: "+9 to +19 % at 30 in flight (11.12-12.00 to 13.12-13.22 req/s)".
func (v Level) In(l lang.Lang) string {
	what := v.Change(l)
	switch {
	case v.Shown == nil:
		what += sayOneEach.In(l)
	case !*v.Shown:
		what = sayNoneShown.In(l, what)
	}
	s := sayLevel.In(l, what, v.InFlight, v.Rate[0].text(2), v.Rate[1].text(2))
	if v.lengthsDiffer() {
		s += sayLevelAnswers.In(l, fmt.Sprintf("%.0f", v.Answer[0].Mean()), fmt.Sprintf("%.0f", v.Answer[1].Mean()))
	}
	if v.Doubts > 0 {
		s += sayLevelDoubts.In(l, v.Doubts, v.Rate[0].N+v.Rate[1].N)
	}
	return s
}

// lengthsDiffer reports whether the answers of one side are longer, so that requests are not equal work.
func (v Level) lengthsDiffer() bool {
	return v.Answer[0].N > 0 && v.Answer[1].N > 0 && lengthsDiffer(rundir.Exactly(v.Answer[0].Mean()),
		rundir.Exactly(v.Answer[1].Mean()))
}

// Change returns the change in per cent; one number where both ends round to it.
func (v Level) Change(l lang.Lang) string {
	low, high := wholePercent(v.Low.Value()), wholePercent(v.High.Value())
	if low == high {
		return low + " %"
	}
	return sayTo.In(l, low, high) + " %"
}

func wholePercent(v float64) string {
	n := int(math.Round(v * 100))
	if n == 0 {
		return "0"
	}
	return fmt.Sprintf("%+d", n)
}

func (r Range) text(decimals int) string {
	low, high := strconv.FormatFloat(r.Low, 'f', decimals, 64), strconv.FormatFloat(r.High, 'f', decimals, 64)
	if low == high {
		return low
	}
	return low + "-" + high
}

// levelTable has a row for each pair and concurrency. Where answers of one side are longer, it has the figures per
// token too.
func (f *Factor) levelTable() table.Table {
	uneven := slices.ContainsFunc(f.Pairs, func(p Pair) bool { return slices.ContainsFunc(p.Levels, Level.lengthsDiffer) })
	t := table.Table{Columns: []table.Column{
		{Head: headFromTo.Text(), Left: true}, {Head: headInFlight.Text()},
		{Head: headCompleted.Text(), Sub: lang.Same("req/s")}, {Head: headChange.Text(), Sub: lang.Same("%")},
		{Head: lang.HeadOutput.Text(), Sub: lang.Same("tok/s")}, {Head: lang.HeadLatency.Text(), Sub: lang.Same("s")},
	}}
	if uneven {
		t.Columns = append(t.Columns, table.Column{Head: headAnswer.Text(), Sub: lang.Same("tok")},
			table.Column{Head: lang.HeadLatency.Text(), Sub: subPerToken.Text()},
			table.Column{Head: lang.HeadOutput.Text(), Sub: lang.Same("%")})
	}
	t.Columns = append(t.Columns, table.Column{Head: headMeasured.Text()},
		table.Column{Head: headRests.Text(), Left: true})
	named := func(value string) lang.Text {
		return lang.Both(func(l lang.Lang) string { return f.valueName(value, l) })
	}
	for _, p := range f.Pairs {
		for _, v := range p.Levels {
			change := table.Cell{Text: lang.Both(func(l lang.Lang) string { return strings.TrimSuffix(v.Change(l), " %") })}
			if v.Shown != nil && !*v.Shown {
				change.Text = lang.Same(markNoDifference + " ").Plus(change.Text)
			}
			row := []table.Cell{
				{Text: named(p.From).Plus(lang.Same(" -> ")).Plus(named(p.To))}, table.Literal(strconv.Itoa(v.InFlight)),
				rangeCell(v.Rate, 1, 2), change, rangeCell(v.Output, 1, 0), rangeCell(v.Latency, 1, 2),
			}
			if uneven {
				row = append(row, rangeCell(v.Answer, 1, 0), rangeCell(v.PerToken, 1e3, 1), riseCell(v.Output))
			}
			row = append(row, table.Literal(fmt.Sprintf("%d + %d", v.Rate[0].N, v.Rate[1].N)),
				table.Literal(v.Where[0]+" | "+v.Where[1]))
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// rangeCell is a cell of both sides, in units of 1 / scale.
func rangeCell(r [2]Range, scale float64, decimals int) table.Cell {
	if r[0].N == 0 || r[1].N == 0 {
		return table.None()
	}
	for i := range r {
		r[i].Low, r[i].High = scale*r[i].Low, scale*r[i].High
	}
	return table.Literal(r[0].text(decimals) + " -> " + r[1].text(decimals))
}

// riseCell is a cell of the change in per cent from the middle of one side to that of the other.
func riseCell(r [2]Range) table.Cell {
	if r[0].N == 0 || r[1].N == 0 || r[0].Mean() == 0 {
		return table.None()
	}
	return table.Literal(wholePercent(r[1].Mean()/r[0].Mean() - 1))
}
