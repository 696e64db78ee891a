package page

import (
	"slices"

	"llmsweep/report/draw"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
)

type quantity struct {
	name    string // of the figure
	title   lang.Text
	axis    draw.Axis
	metric  string // of the terms of the SLO
	lines   []quantityLine
	logAxis bool // it can be drawn on a logarithmic axis
}

type quantityLine struct {
	key    string
	name   lang.Text
	colour int
	of     func(*rundir.Stage) lineValue
}

type lineValue struct {
	rundir.Number
	ci    [2]float64
	hasCI bool
	faint bool // too few requests support it
}

// quantities draws means where a run has no percentiles, as published tables often have none: alone without runs, or
// where no run has percentiles.
func quantities(runs ...*rundir.Run) []quantity {
	output := quantityLine{key: "output", colour: draw.Output, of: func(s *rundir.Stage) (v lineValue) {
		v.Number, v.ci, v.hasCI = setup.Output(s)
		return v
	}}
	hits := quantityLine{key: "hits", of: func(s *rundir.Stage) (v lineValue) {
		if s.Sessions != nil {
			v.Number = lang.Scale(s.Sessions.Hits, 100)
		}
		return v
	}}
	return []quantity{
		{
			name:  "output",
			title: titleOutput.Text(),
			axis:  draw.Axis{Label: axisOutput.Text(), Format: draw.Number},
			lines: []quantityLine{output},
		},
		timeQuantity(slo.TTFT, titleTTFT.Text(), lang.Same("TTFT"), findings.TTFT, runs),
		timeQuantity(slo.ITL, titleITL.Text(), lang.Same("ITL"), findings.ITL, runs),
		timeQuantity(slo.Latency, titleLatency.Text(), axisLatency.Text(), findings.Latency, runs),
		{
			name:  "hits",
			title: titleHits.Text(),
			axis:  draw.Axis{Label: axisHits.Text(), Format: draw.Number},
			lines: []quantityLine{hits},
		},
	}
}

func timeQuantity(metric string, title, axis lang.Text, of func(*rundir.Stage) *rundir.Dist,
	runs []*rundir.Run) quantity {
	q := quantity{
		name:    metric,
		title:   title,
		axis:    draw.Axis{Label: axis, Format: draw.Seconds},
		metric:  metric,
		logAxis: true,
	}
	for i, p := range []string{"p50", "p90", "p99"} {
		q.lines = append(q.lines, quantityLine{
			key:    p,
			name:   lang.Same(p),
			colour: []int{draw.Median, draw.P90, draw.P99}[i],
			of: func(s *rundir.Stage) lineValue {
				d := of(s)
				ci, ok := d.CI[p]
				return lineValue{d.Get(p), ci, ok, !d.Supported(p)}
			},
		})
	}
	mean := quantityLine{
		key:  "mean",
		name: lang.SubMean.Text(),
		of: func(s *rundir.Stage) lineValue {
			d := of(s)
			if metric == slo.ITL && d.Mean.IsZero() {
				return lineValue{Number: s.InterToken}
			}
			ci, ok := d.CI["mean"]
			return lineValue{d.Mean, ci, ok, !d.Supported("mean")}
		},
	}
	has := func(r *rundir.Run) bool {
		return slices.ContainsFunc(r.Stages, func(s rundir.Stage) bool { return !of(&s).P50.IsZero() })
	}
	switch {
	case !slices.ContainsFunc(runs, has):
		q.lines = []quantityLine{mean}
	case slices.ContainsFunc(runs, func(r *rundir.Run) bool { return !has(r) }): // it lacks all but the means
		q.lines = append([]quantityLine{mean}, q.lines...)
	}
	return q
}
