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
				t := Tail{Metric: time.metric, Load: load, Setup: m.Name, Statistics: map[string]Range{}, name: time.name}
				for _, statistic := range tailStatistics {
					repeats := m.setup.Rows[at].Measurements()
					r := rangeOf(repeats, func(s *rundir.Stage) rundir.Number { return time.of(s).Get(statistic) })
					if r.N > 0 {
						t.Statistics[statistic] = r
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
			if r, ok := t.Statistics[name]; ok {
				cell = table.Cell{Text: r.text(table.Seconds)}
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
