package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// Level is one concurrency at which two configurations were measured in closed loops. The figures of a side are those
// of its repeats.
type Level struct {
	InFlight int               `json:"in_flight"`
	Figures  map[string]Figure `json:"before"`
	After    map[string]Figure `json:"after"`
	Change   Change            `json:"change"` // of the completed rate: between any two measurements. Shown where repeats tell
	Where    [2]string         `json:"where"`
	Doubts   int               `json:"doubts,omitempty"` // measurements that the audit doubts
}

var levelFigures = []struct {
	key string
	of  func(*rundir.Stage) rundir.Number
}{
	{keyRate, func(s *rundir.Stage) rundir.Number { return s.Rates.Completed }},
	{keyOutput, func(s *rundir.Stage) rundir.Number { return s.TokensPerS.Output }},
	{"latency", func(s *rundir.Stage) rundir.Number { return s.Latency.Mean }},
	{keyAnswer, func(s *rundir.Stage) rundir.Number { return s.OutputTokens.Mean }},
	{"latency_per_token", func(s *rundir.Stage) rundir.Number {
		return rundir.Exactly(s.Latency.Mean.Value() / s.OutputTokens.Mean.Value())
	}},
}

// levels compares two setups at each number in flight that both kept in closed loops.
func levels(a, b *Configuration) (all []Level) {
	for i := range a.setup.Rows {
		n := inFlight(&a.setup.Rows[i])
		if n == 0 || slices.ContainsFunc(all, func(l Level) bool { return l.InFlight == n }) {
			continue
		}
		v := Level{InFlight: n, Figures: map[string]Figure{}, After: map[string]Figure{}}
		for side, m := range []*Configuration{a, b} {
			figures := []map[string]Figure{v.Figures, v.After}[side]
			var stages []*rundir.Stage
			var where []string
			for j := range m.setup.Rows {
				if r := &m.setup.Rows[j]; inFlight(r) == n {
					stages, where = append(stages, r.Measurements()...), append(where, r.Where)
				}
			}
			for _, f := range levelFigures {
				figures[f.key] = rangeOf(stages, f.of)
			}
			v.Where[side] = strings.Join(where, ", ")
			for _, st := range stages {
				if slices.ContainsFunc(m.setup.Marked, func(o setup.RowMark) bool { return o.Doubted() && m.setup.Concerns(o, st) }) {
					v.Doubts++
				}
			}
		}
		x, y := v.Figures[keyRate], v.After[keyRate]
		if !(x.Value.Or(0) > 0) || !y.known() {
			continue
		}
		v.Change = Change{Key: keyRate, Bound: true, Low: rundir.Exactly(y.Value.Value()/x.top() - 1),
			High: rundir.Exactly(y.top()/x.Value.Value() - 1)}
		if x.N > 1 || y.N > 1 {
			v.Change.judge()
		}
		all = append(all, v)
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

// In returns the change at a level in words: "+9 to +19 % at 30 in flight (11.12-12.00 to 13.12-13.22 req/s)".
func (v Level) In(l lang.Lang) string {
	what := v.percents(l) + " %"
	switch {
	case v.Change.Shown == nil:
		what += sayOneEach.In(l)
	case v.Change.hidden():
		what = sayNoneShown.In(l, what)
	}
	before, after := v.Figures[keyRate], v.After[keyRate]
	s := sayLevel.In(l, what, v.InFlight, before.text(fixed(2)).In(l), after.text(fixed(2)).In(l))
	if v.uneven() {
		s += sayLevelAnswers.In(l, fmt.Sprintf("%.0f", v.Figures[keyAnswer].middle()), fmt.Sprintf("%.0f", v.After[keyAnswer].middle()))
	}
	if v.Doubts > 0 {
		s += sayLevelDoubts.In(l, v.Doubts, before.N+after.N)
	}
	return s
}

// uneven reports whether the answers of one side are longer, so that requests are not equal work.
func (v Level) uneven() bool {
	return lengthsDiffer(rundir.Exactly(v.Figures[keyAnswer].middle()), rundir.Exactly(v.After[keyAnswer].middle()))
}

// percents is the change in per cent; one number where both ends round to it.
func (v Level) percents(l lang.Lang) string {
	low, high := wholePercent(v.Change.Low.Value()), wholePercent(v.Change.High.Value())
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

// levelTable has a row for each pair and concurrency. Where answers of one side are longer, it has the figures per
// token too.
func (f *Factor) levelTable() table.Table {
	type column struct {
		table.Column
		cell func(v *Level) table.Cell
	}
	both := func(key string, scale float64, decimals int) func(*Level) table.Cell {
		return func(v *Level) table.Cell {
			a, b := v.Figures[key], v.After[key]
			if a.N == 0 || b.N == 0 {
				return table.None()
			}
			print := func(f Figure) lang.Text { return f.of(key, scale).text(fixed(decimals)) }
			return table.Cell{Text: print(a).Plus(lang.Same(" -> ")).Plus(print(b))}
		}
	}
	columns := []column{
		{table.Column{Head: headCompleted.Text(), Sub: lang.Same("req/s")}, both(keyRate, 1, 2)},
		{table.Column{Head: headChange.Text(), Sub: lang.Same("%")}, func(v *Level) table.Cell {
			text := lang.Both(v.percents)
			if v.Change.hidden() {
				text = lang.Same(markNoDifference + " ").Plus(text)
			}
			return table.Cell{Text: text}
		}},
		{table.Column{Head: lang.HeadOutput.Text(), Sub: lang.Same("tok/s")}, both(keyOutput, 1, 0)},
		{table.Column{Head: lang.HeadLatency.Text(), Sub: lang.Same("s")}, both("latency", 1, 2)},
	}
	if slices.ContainsFunc(f.Pairs, func(p Pair) bool { return slices.ContainsFunc(p.Levels, Level.uneven) }) {
		columns = append(columns,
			column{table.Column{Head: headAnswer.Text(), Sub: lang.Same("tok")}, both(keyAnswer, 1, 0)},
			column{table.Column{Head: lang.HeadLatency.Text(), Sub: subPerToken.Text()}, both("latency_per_token", 1e3, 1)},
			column{table.Column{Head: lang.HeadOutput.Text(), Sub: lang.Same("%")}, func(v *Level) table.Cell {
				rise := v.After[keyOutput].middle()/v.Figures[keyOutput].middle() - 1
				if math.IsNaN(rise) {
					return table.None()
				}
				return table.Literal(wholePercent(rise))
			}})
	}
	columns = append(columns,
		column{table.Column{Head: headMeasured.Text()}, func(v *Level) table.Cell {
			return table.Literal(fmt.Sprintf("%d + %d", v.Figures[keyRate].N, v.After[keyRate].N))
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
			row := []table.Cell{{Text: name(p.From).Plus(lang.Same(" -> ")).Plus(name(p.To))}, table.Count(v.InFlight)}
			for _, c := range columns {
				row = append(row, c.cell(v))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// Tail is the distribution of a time of a setup at a load that others were measured at too. Each statistic has the
// least and the largest of the repeats.
type Tail struct {
	Metric     string            `json:"metric"`
	Load       string            `json:"load"`
	Setup      string            `json:"setup"`
	Statistics map[string]Figure `json:"statistics"`

	name        lang.Text // of the metric
	unsupported []string  // the statistics that too few requests support
}

var tailStatistics = []string{"mean", "p50", "p90", "p95", "p99", "max"}

// tailTimes are the times with a tail.
var tailTimes = []struct {
	metric string
	name   lang.Text
	of     func(*rundir.Stage) *rundir.Dist
}{
	{"ttft_s", lang.Same("TTFT"), func(s *rundir.Stage) *rundir.Dist { return &s.TTFT }},
	{"itl_s", lang.Same("ITL"), func(s *rundir.Stage) *rundir.Dist { return &s.ITL }},
	{"tpot_s", lang.Same("TPOT"), func(s *rundir.Stage) *rundir.Dist { return &s.TPOT }},
	{"latency_s", lang.HeadLatency.Text(), func(s *rundir.Stage) *rundir.Dist { return &s.Latency }},
}

// tails returns the distributions of the times that at least two setups of a group have percentiles of at one load, in
// the order of the loads, where one of the setups was read elsewhere: own runs have intervals instead.
func (c *Comparison) tails(g group) (all []Tail) {
	if !slices.ContainsFunc(g.members, func(i int) bool { return c.Setups[i].Imported }) {
		return nil
	}
	var stages []*rundir.Stage
	for _, i := range g.members {
		for _, r := range c.Setups[i].setup.Rows {
			stages = append(stages, r.Stage)
		}
	}
	slices.SortStableFunc(stages, func(a, b *rundir.Stage) int {
		return cmp.Or(cmp.Compare(a.Rate.Or(0), b.Rate.Or(0)), cmp.Compare(a.MaxConcurrency, b.MaxConcurrency))
	})
	var loads []string
	for _, s := range stages {
		if name := lang.StageName(s.Name); !slices.Contains(loads, name) {
			loads = append(loads, name)
		}
	}
	for _, load := range loads {
		for _, time := range tailTimes {
			var these []Tail
			for _, i := range g.members {
				m := &c.Setups[i]
				at := slices.IndexFunc(m.setup.Rows, func(r setup.Row) bool { return lang.StageName(r.Stage.Name) == load })
				if at < 0 {
					continue
				}
				t := Tail{Metric: time.metric, Load: load, Setup: m.Name, Statistics: map[string]Figure{}, name: time.name}
				for _, statistic := range tailStatistics {
					repeats := m.setup.Rows[at].Measurements()
					f := rangeOf(repeats, func(s *rundir.Stage) rundir.Number { return time.of(s).Get(statistic) })
					if f.known() {
						t.Statistics[statistic] = f
					}
					if slices.ContainsFunc(repeats, func(s *rundir.Stage) bool { return !time.of(s).Supported(statistic) }) {
						t.unsupported = append(t.unsupported, statistic)
					}
				}
				if _, mean := t.Statistics["mean"]; len(t.Statistics) > 1 || len(t.Statistics) == 1 && !mean {
					these = append(these, t)
				}
			}
			if len(these) > 1 {
				all = append(all, these...)
			}
		}
	}
	return all
}

// tailSection shows the tails of a group side by side: the statistics that two of them have. It has no rows where there
// are none.
func (c *Comparison) tailSection(g group, level int) table.Section {
	all := slices.DeleteFunc(slices.Clone(c.Tails), func(t Tail) bool {
		return !slices.ContainsFunc(g.members, func(i int) bool { return c.Setups[i].Name == t.Setup })
	})
	have := map[string]int{}
	for _, t := range all {
		for name := range t.Statistics {
			have[name]++
		}
	}
	names := slices.DeleteFunc(slices.Clone(tailStatistics), func(name string) bool { return have[name] < 2 })
	several := slices.ContainsFunc(all, func(t Tail) bool { return t.Load != all[0].Load })
	s := table.Section{Title: titleTails.Text(), Level: level}
	s.Table.Columns = []table.Column{{Head: headTime.Text(), Left: true}, {Head: headLoad.Text(), Left: true},
		{Head: headSetup.Text(), Left: true}}
	for _, name := range names {
		s.Table.Columns = append(s.Table.Columns, table.Column{Head: lang.Same(name)})
	}
	for _, t := range all {
		row := []table.Cell{{Text: t.name}, table.Literal(t.Load), table.Literal(t.Setup)}
		for _, name := range names {
			cell := table.Absent()
			if f, ok := t.Statistics[name]; ok {
				cell = table.Cell{Text: f.text(table.Seconds)}
				if slices.Contains(t.unsupported, name) {
					cell.Mark = table.MarkUnsupported
				}
			}
			row = append(row, cell)
		}
		s.Table.Rows = append(s.Table.Rows, row)
	}
	if !several && len(all) > 0 {
		s.Title = titleTailsAt.Text(all[0].Load)
		s.Table.Columns = slices.Delete(s.Table.Columns, 1, 2)
		for i, row := range s.Table.Rows {
			s.Table.Rows[i] = slices.Delete(row, 1, 2)
		}
	}
	if table.Marks(s.Table) != "" {
		s.Notes = append(s.Notes, legendFewEnded.Text())
	}
	return s
}
