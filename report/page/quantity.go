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
	of     func(*rundir.Stage) (v rundir.Number, ci [2]float64, ok, supported bool)
}

// quantities draws means where a run has no percentiles, as published tables often have none: alone without runs, or
// where no run has percentiles.
func quantities(runs ...*rundir.Run) []quantity {
	output := quantityLine{
		key:    "output",
		colour: draw.Output,
		of: func(s *rundir.Stage) (rundir.Number, [2]float64, bool, bool) {
			v, ci, ok := setup.Output(s)
			return v, ci, ok, true
		},
	}
	all := []quantity{
		{
			name:  "output",
			title: titleOutput.Text(),
			axis:  draw.Axis{Label: axisOutput.Text(), Format: draw.Number},
			lines: []quantityLine{output},
		},
	}
	for _, m := range []struct {
		name, metric string
		title, axis  lang.Text
		of           func(*rundir.Stage) *rundir.Dist
	}{
		{"ttft", slo.TTFT, titleTTFT.Text(), lang.Same("TTFT"), findings.TTFT},
		{"itl", slo.ITL, titleITL.Text(), lang.Same("ITL"), findings.ITL},
		{"latency", slo.Latency, titleLatency.Text(), axisLatency.Text(), findings.Latency},
	} {
		q := quantity{
			name:    m.name,
			title:   m.title,
			axis:    draw.Axis{Label: m.axis, Format: draw.Seconds},
			metric:  m.metric,
			logAxis: true,
		}
		for i, p := range []string{"p50", "p90", "p99"} {
			q.lines = append(q.lines, quantityLine{
				key:    p,
				name:   lang.Same(p),
				colour: []int{draw.Median, draw.P90, draw.P99}[i],
				of: func(s *rundir.Stage) (rundir.Number, [2]float64, bool, bool) {
					d := m.of(s)
					ci, ok := d.CI[p]
					return d.Get(p), ci, ok, d.Supported(p)
				},
			})
		}
		mean := quantityLine{
			key:  "mean",
			name: lang.SubMean.Text(),
			of: func(s *rundir.Stage) (rundir.Number, [2]float64, bool, bool) {
				d := m.of(s)
				ci, ok := d.CI["mean"]
				if m.metric == slo.ITL && d.Mean.IsZero() {
					return s.InterToken, ci, false, true
				}
				return d.Mean, ci, ok, true
			},
		}
		has := func(r *rundir.Run) bool {
			return slices.ContainsFunc(r.Stages, func(s rundir.Stage) bool { return !m.of(&s).P50.IsZero() })
		}
		switch {
		case !slices.ContainsFunc(runs, has):
			q.lines = []quantityLine{mean}
		case slices.ContainsFunc(runs, func(r *rundir.Run) bool { return !has(r) }): // it is in no drawing of percentiles
			q.lines = append([]quantityLine{mean}, q.lines...)
		}
		all = append(all, q)
	}
	return append(all, hitsQuantity())
}

// hitsQuantity is drawn of conversations alone.
func hitsQuantity() quantity {
	return quantity{
		name:  "hits",
		title: titleHits.Text(),
		axis:  draw.Axis{Label: axisHits.Text(), Format: draw.Number},
		lines: []quantityLine{
			{key: "hits", of: func(s *rundir.Stage) (rundir.Number, [2]float64, bool, bool) {
				if s.Sessions == nil {
					return rundir.Number{}, [2]float64{}, false, true
				}
				return lang.Scale(s.Sessions.Hits, 100), [2]float64{}, false, true
			}},
		},
	}
}
