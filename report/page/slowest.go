package page

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
)

func sprint(v float64) string { return fmt.Sprintf("%.4g", v) }

// slowest lists the slowest requests of a stage.
func slowest(id string, s *rundir.Stage, t *TraceStage) *Slowest {
	if len(t.Slowest) == 0 {
		return nil
	}
	out := &Slowest{Note: noteSlowest.Text(len(t.Slowest), s.Requests.Due)}
	for _, m := range TraceMetrics() {
		d, _ := distOf(m, s)
		for _, p := range []string{"p50", "p90", "p95", "p99"} {
			if n := d.Get(p); !n.IsZero() {
				out.Choices = append(out.Choices, RowChoice{Metric: m, Text: lang.Same(strings.ToUpper(m) + " " + p).Plus(lang.Same(" · " + lang.Time(n))), Value: n.Value()})
			}
		}
	}
	for i := range out.Choices {
		if c := &out.Choices[i]; c.Metric == traceLatency {
			c.Text = lang.Text{EN: strings.Replace(c.Text.EN, "LATENCY", "latency", 1), ZH: strings.Replace(c.Text.ZH, "LATENCY", "总时延", 1)}
		}
	}
	shown := &Table{Name: "t-" + id + "-slowest", Title: titleSlowest.Text(), Open: true}
	for _, h := range []lang.Text{headRequest.Text(), headDueS.Text(), headQueued.Text(), lang.Same("TTFT"), lang.HeadLatency.Text(), headTokens.Text(), headLongest.Text()} {
		shown.Columns = append(shown.Columns, Column{Head: h})
	}
	shown.Columns = append(shown.Columns, Column{Head: headStrip.Text(), Left: true}, Column{Head: headStatus.Text(), Left: true})
	all := slices.Clone(t.Slowest)
	slices.SortStableFunc(all, func(a, b TraceRequest) int { return larger(b.TTFT.Value(), a.TTFT.Value()) })
	for _, r := range all {
		gap := rundir.Exactly(r.LongestGap)
		if len(r.Gaps) == 0 {
			gap = rundir.Number{}
		}
		shown.Rows = append(shown.Rows, Row{
			Cells: []Cell{
				Plain(requestName(r.TracePoint)), Number(rundir.Exactly(r.Due), lang.Fixed(2)), Duration(rundir.Exactly(r.Queued)), Duration(r.TTFT), Duration(r.Latency),
				Number(r.Tokens, lang.WholeOr(0)), Duration(gap), {Raw: strip(r)}, Plain(status(r.TracePoint)),
			},
			Attrs: []Attr{{Name: "data-ttft", Value: attr(r.TTFT)}, {Name: "data-itl", Value: attr(gap)}, {Name: "data-latency", Value: attr(r.Latency)}},
		})
	}
	out.Table = shown
	return out
}

// larger orders numbers, those that are absent last.
func larger(a, b float64) int {
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

func attr(n rundir.Number) string {
	if n.IsZero() {
		return "-1"
	}
	return sprint(n.Value())
}

// stripCells is the most bars of a strip: more cannot be told apart at its width.
const stripCells = 32

// strip draws the gaps of an answer, one bar a gap, as high as the gap is long beside the longest of the answer. Where there are more gaps than
// bars, a bar is the longest of its gaps.
func strip(r TraceRequest) template.HTML {
	const width, height = 144, 30
	longest := r.LongestGap
	if len(r.Gaps) == 0 || longest <= 0 {
		return ""
	}
	var b strings.Builder
	n := min(len(r.Gaps), stripCells)
	fmt.Fprintf(&b, "M0 %d", height)
	for i := range n {
		worst := slices.Max(r.Gaps[i*len(r.Gaps)/n : (i+1)*len(r.Gaps)/n])
		fmt.Fprintf(&b, "V%dH%d", min(height-1, height-int(math.Round(worst/longest*height))), (i+1)*width/n)
	}
	return Markup(fmt.Sprintf(`<svg class="strip" viewBox="0 0 %d %d" preserveAspectRatio="none" aria-hidden="true"><path d="%sV%dz"/></svg>`, width, height, b.String(), height))
}
