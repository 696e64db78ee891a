package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
)

func slowest(id string, row findings.StageRow, t *traceStage) *Slowest {
	if len(t.Slowest) == 0 {
		return nil
	}
	grid := &Grid{Name: "t-" + id + "-slowest", Open: true, Table: table.Table{Title: titleSlowest.Text()}}
	for _, h := range []lang.Text{headRequest.Text(), headDueS.Text(), headQueued.Text(), lang.Same("TTFT"),
		lang.HeadLatency.Text(), headTokens.Text(), headLongest.Text()} {
		grid.Columns = append(grid.Columns, table.Column{Head: h})
	}
	grid.Columns = append(grid.Columns, table.Column{Head: headStrip.Text(), Left: true},
		table.Column{Head: headStatus.Text(), Left: true})
	all := slices.Clone(t.Slowest)
	slices.SortStableFunc(all, func(a, b traceRequest) int { return cmp.Compare(b.TTFT.Value(), a.TTFT.Value()) })
	for _, r := range all {
		gap := rundir.Exactly(r.LongestGap)
		if len(r.Gaps) == 0 {
			gap = rundir.Number{}
		}
		grid.Attrs = append(grid.Attrs, []Attr{
			{Name: "data-ttft", Value: attrNumber(r.TTFT)},
			{Name: "data-itl", Value: attrNumber(gap)},
			{Name: "data-latency", Value: attrNumber(r.Latency)},
		})
		grid.Add(table.Literal(requestName(r.tracePoint)), table.Number(rundir.Exactly(r.Due), "", lang.Fixed(2)),
			table.Seconds(rundir.Exactly(r.Queued)), table.Seconds(r.TTFT), table.Seconds(r.Latency),
			table.Number(r.Tokens, "", lang.WholeOr(0)), table.Seconds(gap), table.Cell{Bars: r.Gaps},
			table.Literal(statusText(r.tracePoint)))
	}
	return &Slowest{
		Choices: t.choices(row.Stage),
		Table:   grid,
		Note:    noteSlowest.Text(len(t.Slowest), row.Stage.Requests.Due),
	}
}

// choices are as many percentiles of each metric as leave out different rows.
func (t *traceStage) choices(s *rundir.Stage) (all []RowChoice) {
	for _, m := range traceMetrics() {
		name := lang.Same(strings.ToUpper(m))
		if m == slo.Latency {
			name = lang.HeadLatency.Text()
		}
		d, _ := metricDist(m, s)
		rows := len(t.Slowest)
		for _, p := range []string{"p50", "p90", "p95", "p99"} {
			n := d.Get(p)
			above := t.countAbove(m, n.Value())
			if n.IsZero() || above >= rows || above == 0 {
				continue
			}
			rows = above
			text := name.Plus(lang.Same(" " + p + " · " + lang.Time(n)))
			all = append(all, RowChoice{Metric: m, Text: text, Value: n.Value()})
		}
	}
	return all
}

func (t *traceStage) countAbove(metric string, value float64) (n int) {
	for i := range t.Slowest {
		r := &t.Slowest[i]
		v := map[string]float64{slo.TTFT: r.TTFT.Value(), slo.ITL: r.LongestGap, slo.Latency: r.Latency.Value()}[metric]
		if v >= value {
			n++
		}
	}
	return n
}

func attrNumber(n rundir.Number) string {
	if n.IsZero() {
		return "-1"
	}
	return fmt.Sprintf("%.4g", n.Value())
}
