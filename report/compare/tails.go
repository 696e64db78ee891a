package compare

import (
	"cmp"
	"slices"

	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// Tail is the distribution of a time of a setup at a load that others were measured at too. Each statistic has the
// least and the largest of the repeats.
type Tail struct {
	Metric     string           `json:"metric"`
	Load       string           `json:"load"`
	Setup      string           `json:"setup"`
	Statistics map[string]Range `json:"statistics"`

	name        lang.Text // of the metric
	unsupported []string  // the statistics that too few requests support
}

// tailStatistics are the statistics of a tail, in the order of the table.
func tailStatistics() []string { return []string{"mean", "p50", "p90", "p95", "p99", "max"} }

type tailTime struct {
	metric string
	name   lang.Text
	of     func(*rundir.Stage) *rundir.Dist
}

func tailTimes() []tailTime {
	return []tailTime{
		{"ttft_s", lang.Same("TTFT"), func(s *rundir.Stage) *rundir.Dist { return &s.TTFT }},
		{"itl_s", lang.Same("ITL"), func(s *rundir.Stage) *rundir.Dist { return &s.ITL }},
		{"tpot_s", lang.Same("TPOT"), func(s *rundir.Stage) *rundir.Dist { return &s.TPOT }},
		{"latency_s", lang.HeadLatency.Text(), func(s *rundir.Stage) *rundir.Dist { return &s.Latency }},
	}
}

// tails returns the distributions of the times that at least two setups of a group have percentiles of at one load, in
// the order of the loads, where one of the setups was read elsewhere: own runs have intervals instead.
func tails(setups []setup.Setup, g group) (all []Tail) {
	if !slices.ContainsFunc(g.members, func(i int) bool { return setups[i].Run.Source != nil }) {
		return nil
	}
	var stages []*rundir.Stage
	for _, i := range g.members {
		for _, r := range setups[i].Rows {
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
		for _, time := range tailTimes() {
			var these []Tail
			for _, i := range g.members {
				at := slices.IndexFunc(setups[i].Rows, func(r setup.Row) bool { return lang.StageName(r.Stage.Name) == load })
				if at < 0 {
					continue
				}
				t := tailOf(setups[i].Rows[at].Measurements(), time.of)
				t.Metric, t.name, t.Load, t.Setup = time.metric, time.name, load, setups[i].Name
				if t.hasPercentile() {
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

func tailOf(repeats []*rundir.Stage, of func(*rundir.Stage) *rundir.Dist) Tail {
	t := Tail{Statistics: map[string]Range{}}
	for _, name := range tailStatistics() {
		if r := rangeOf(repeats, func(s *rundir.Stage) rundir.Number { return of(s).Get(name) }); r.N > 0 {
			t.Statistics[name] = r
		}
		if slices.ContainsFunc(repeats, func(s *rundir.Stage) bool { return !of(s).Supported(name) }) {
			t.unsupported = append(t.unsupported, name)
		}
	}
	return t
}

func (t *Tail) hasPercentile() bool {
	_, mean := t.Statistics["mean"]
	return len(t.Statistics) > 1 || len(t.Statistics) == 1 && !mean
}

// tailSection shows the tails of a group side by side: the statistics that two of them have. It has no rows where there
// are none.
func (c *Comparison) tailSection(g group, level int) table.Section {
	all := slices.DeleteFunc(slices.Clone(c.Tails), func(t Tail) bool {
		return !slices.ContainsFunc(g.members, func(i int) bool { return c.Setups[i].Name == t.Setup })
	})
	have := func(name string) (n int) {
		for i := range all {
			if _, ok := all[i].Statistics[name]; ok {
				n++
			}
		}
		return n
	}
	names := slices.DeleteFunc(tailStatistics(), func(name string) bool { return have(name) < 2 })
	several := slices.ContainsFunc(all, func(t Tail) bool { return t.Load != all[0].Load })
	s := table.Section{Title: titleTails.Text(), Level: level}
	s.Table.Columns = []table.Column{{Head: headTime.Text(), Left: true}}
	if several {
		s.Table.Columns = append(s.Table.Columns, table.Column{Head: headLoad.Text(), Left: true})
	} else if len(all) > 0 {
		s.Title = titleTailsAt.Text(all[0].Load)
	}
	s.Table.Columns = append(s.Table.Columns, table.Column{Head: headSetup.Text(), Left: true})
	for _, name := range names {
		s.Table.Columns = append(s.Table.Columns, table.Column{Head: lang.Same(name)})
	}
	for i := range all {
		row := []table.Cell{{Text: all[i].name}}
		if several {
			row = append(row, table.Literal(all[i].Load))
		}
		row = append(row, table.Literal(all[i].Setup))
		for _, name := range names {
			cell := table.Absent()
			if r, ok := all[i].Statistics[name]; ok {
				cell = table.Literal(r.timeText())
				if slices.Contains(all[i].unsupported, name) {
					cell.Mark = table.MarkUnsupported
				}
			}
			row = append(row, cell)
		}
		s.Table.Rows = append(s.Table.Rows, row)
	}
	if table.Marks(s.Table) != "" {
		s.Notes = append(s.Notes, legendFewEnded.Text())
	}
	return s
}

func (r Range) timeText() string {
	low, high := lang.Time(rundir.Exactly(r.Low)), lang.Time(rundir.Exactly(r.High))
	if low == high {
		return low
	}
	digits, unit := lang.TimeUnit(rundir.Exactly(r.Low))
	if _, other := lang.TimeUnit(rundir.Exactly(r.High)); other == unit {
		low = digits
	}
	return low + "-" + high
}
