package page

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

func slowest(id string, row findings.StageRow, t *traceStage) *Slowest {
	s := row.Stage
	if len(t.Slowest) == 0 {
		return nil
	}
	out := &Slowest{Note: noteSlowest.Text(len(t.Slowest), s.Requests.Due)}
	for _, m := range traceMetrics() { // as many limits as leave out different rows
		d, _ := metricDist(m, s)
		rows := len(t.Slowest)
		for _, p := range []string{"p50", "p90", "p95", "p99"} {
			n := d.Get(p)
			if n.IsZero() || t.countAbove(m, n.Value()) >= rows || t.countAbove(m, n.Value()) == 0 {
				continue
			}
			rows = t.countAbove(m, n.Value())
			out.Choices = append(out.Choices, RowChoice{
				Metric: m,
				Text:   lang.Same(strings.ToUpper(m) + " " + p).Plus(lang.Same(" · " + lang.Time(n))),
				Value:  n.Value(),
			})
		}
	}
	for i := range out.Choices {
		if c := &out.Choices[i]; c.Metric == traceLatency {
			c.Text = lang.Text{
				EN: strings.Replace(c.Text.EN, "LATENCY", "latency", 1),
				ZH: strings.Replace(c.Text.ZH, "LATENCY", "总时延", 1),
			}
		}
	}
	grid := &Grid{Name: "t-" + id + "-slowest", Open: true, Table: table.Table{Title: titleSlowest.Text()}}
	for _, h := range []lang.Text{headRequest.Text(), headDueS.Text(), headQueued.Text(), lang.Same("TTFT"),
		lang.HeadLatency.Text(), headTokens.Text(), headLongest.Text()} {
		grid.Columns = append(grid.Columns, table.Column{Head: h})
	}
	grid.Columns = append(grid.Columns, table.Column{Head: headStrip.Text(), Left: true},
		table.Column{Head: headStatus.Text(), Left: true})
	all := slices.Clone(t.Slowest)
	slices.SortStableFunc(all, func(a, b traceRequest) int { return compareNumbers(b.TTFT.Value(), a.TTFT.Value()) })
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
		cells := []table.Cell{
			table.Literal(requestName(r.TracePoint)),
			table.Number(rundir.Exactly(r.Due), "", lang.Fixed(2)),
			table.Seconds(rundir.Exactly(r.Queued)),
			table.Seconds(r.TTFT),
			table.Seconds(r.Latency),
			table.Number(r.Tokens, "", lang.WholeOr(0)),
			table.Seconds(gap),
			{Bars: r.Gaps},
			table.Literal(statusText(r.TracePoint)),
		}
		grid.Add(cells...)
	}
	out.Table = grid
	return out
}

func (t *traceStage) countAbove(metric string, value float64) (n int) {
	for i := range t.Slowest {
		r := &t.Slowest[i]
		v := map[string]float64{traceTTFT: r.TTFT.Value(), traceITL: r.LongestGap, traceLatency: r.Latency.Value()}[metric]
		if v >= value {
			n++
		}
	}
	return n
}

// compareNumbers puts absent numbers first.
func compareNumbers(a, b float64) int {
	switch {
	case math.IsNaN(a) && math.IsNaN(b):
		return 0
	case math.IsNaN(a) || a < b:
		return -1
	case math.IsNaN(b) || a > b:
		return 1
	}
	return 0
}

func attrNumber(n rundir.Number) string {
	if n.IsZero() {
		return "-1"
	}
	return fmt.Sprintf("%.4g", n.Value())
}
