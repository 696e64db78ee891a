package page

import (
	"strconv"

	"llmsweep/report/draw"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
)

func (v *view) replicaFigures() []FigureBlock {
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
		line := func(of func(*rundir.ReplicaShare) lineValue) quantityLine {
			return quantityLine{key: key, name: name, colour: i % draw.Colours, of: func(s *rundir.Stage) lineValue {
				if i >= len(s.Replicas) {
					return lineValue{}
				}
				return of(&s.Replicas[i])
			}}
		}
		done.lines = append(done.lines,
			line(func(r *rundir.ReplicaShare) lineValue { return lineValue{Number: r.Completed} }))
		ttft.lines = append(ttft.lines, line(func(r *rundir.ReplicaShare) lineValue {
			ci, ok := r.TTFT.CI["mean"]
			return lineValue{Number: r.TTFT.Mean, ci: ci, hasCI: ok}
		}))
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
	if figures := v.replicaFigures(); len(figures) > 0 {
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
