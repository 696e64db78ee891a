package page

import (
	"strconv"

	"llmsweep/report/draw"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
)

func (v *view) Replicas() []FigureBlock {
	done := quantity{
		name:  "replica-done",
		title: titleReplicaDone.Text(),
		axis:  draw.Axis{Label: axisReplicaDone.Text(), Format: draw.Number},
	}
	ttft := quantity{
		name:    "replica-ttft",
		title:   titleReplicaTTFT.Text(),
		axis:    draw.Axis{Label: lang.Same("TTFT"), Format: draw.Seconds},
		metric:  slo.TTFT,
		logAxis: true,
	}
	for i := range v.Run.Target.Replicas {
		key, name := "mean"+strconv.Itoa(i+1), lang.Same("#"+strconv.Itoa(i+1))
		share := func(of func(*rundir.ReplicaShare) (rundir.Number, [2]float64, bool)) func(*rundir.Stage) (rundir.Number,
			[2]float64, bool, bool) {
			return func(s *rundir.Stage) (n rundir.Number, ci [2]float64, ok, supported bool) {
				if i >= len(s.Replicas) {
					return n, ci, false, true
				}
				n, ci, ok = of(&s.Replicas[i])
				return n, ci, ok, true
			}
		}
		done.lines = append(done.lines, quantityLine{
			key:    key,
			name:   name,
			colour: i % draw.Colours,
			of: share(func(r *rundir.ReplicaShare) (rundir.Number, [2]float64, bool) {
				return r.Completed, [2]float64{}, false
			}),
		})
		ttft.lines = append(ttft.lines, quantityLine{
			key:    key,
			name:   name,
			colour: i % draw.Colours,
			of: share(func(r *rundir.ReplicaShare) (rundir.Number, [2]float64, bool) {
				ci, ok := r.TTFT.CI["mean"]
				return r.TTFT.Mean, ci, ok
			}),
		})
	}
	var all []FigureBlock
	for _, q := range []quantity{done, ttft} {
		if f, ok := v.rate(q); ok {
			all = append(all, f)
		}
	}
	return all
}

func (v *runPage) replicas() []Section {
	var blocks []Block
	if figures := v.Replicas(); len(figures) > 0 {
		blocks = append(blocks, Block{Figures: figures})
	}
	for i, t := range findings.ReplicaTable(v.Run) {
		blocks = append(blocks, Block{Heading: t.Title},
			Block{Table: &Grid{Table: t, Name: "replicas-" + strconv.Itoa(i+1), Open: true}})
	}
	if len(blocks) == 0 {
		return nil
	}
	return []Section{{ID: "replicas", Title: titleReplicas.Text(), Blocks: blocks}}
}
