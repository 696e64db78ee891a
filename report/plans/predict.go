// Lists what the simulator's roofline model predicts for hardware that has not been measured, and compares it
// with published rows to show its error. Predictions are always named as such. Nothing here is fitted to those rows; what was
// fitted in the simulator itself is stated.

package plans

import (
	"fmt"
	"strings"

	"llmsweep/client/sim"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// Estimate is the roofline model's estimate of one configuration.
type Estimate struct {
	Model, GPU string
	Count      int
	Quant      sim.Quant
	Capacity   sim.Capacity
}

// counts are the numbers of GPUs that are listed: tensor parallelism comes in powers of two.
func counts() []int { return []int{1, 2, 4, 8} }

// quants are the quantizations, from the largest weights to the smallest.
func quants() []sim.Quant { return []sim.Quant{sim.FP16, sim.INT8, sim.INT4} }

// predictedList estimates all counts and quantizations of a model on a GPU that it fits in.
func predictedList(m sim.Model, g sim.GPU, load sim.Workload) []Estimate {
	var all []Estimate
	for _, n := range counts() {
		for _, q := range quants() {
			if e, ok := estimate(m.Name, g.Name, n, q, load); ok {
				all = append(all, e)
			}
		}
	}
	return all
}

// OnlyPairs estimates the models and GPUs that text names: MODEL, MODEL/GPU, or nothing for all.
func OnlyPairs(text string, load sim.Workload) ([]Estimate, error) {
	models, gpus := sim.Models(), sim.GPUs()
	if text != "" {
		model, gpu, both := strings.Cut(text, "/")
		m, err := sim.LookupModel(model)
		if err != nil {
			return nil, fmt.Errorf("--only: %w", err)
		}
		models = []sim.Model{m}
		if both {
			g, err := sim.LookupGPU(gpu)
			if err != nil {
				return nil, fmt.Errorf("--only: %w", err)
			}
			gpus = []sim.GPU{g}
		}
	}
	var all []Estimate
	for _, m := range models {
		for _, g := range gpus {
			all = append(all, predictedList(m, g, load)...)
		}
	}
	return all, nil
}

// estimate is one estimate; ok is false where the model does not fit, or GPUs cannot share it evenly.
func estimate(model, gpu string, n int, q sim.Quant, load sim.Workload) (Estimate, bool) {
	c, err := sim.Preset(fmt.Sprintf("%s/%sx%d/%s", model, gpu, n, q))
	if err != nil {
		return Estimate{}, false
	}
	e := Estimate{model, gpu, n, q, sim.CapacityOf(c, load)}
	return e, e.Capacity.OutputTokensPerSecond > 0
}

// PredictedSection lists estimates for people.
func PredictedSection(all []Estimate, load sim.Workload) table.Section {
	t := table.Table{Columns: []table.Column{
		{Head: headModel.Text(), Left: true}, {Head: headGPU.Text(), Left: true}, {Head: headCount.Text()}, {Head: headQuant.Text(), Left: true},
		{Head: lang.Same("TTFT"), Sub: subAlone.Text()}, {Head: lang.Same("ITL"), Sub: subAlone.Text()}, {Head: headLatency.Text(), Sub: subAlone.Text()},
		{Head: headCapacity.Text(), Sub: lang.Same("req/s")}, {Head: headOutput.Text(), Sub: lang.Same("tok/s")}, {Head: headPerGPU.Text(), Sub: lang.Same("tok/s")},
	}}
	for _, e := range all {
		c := e.Capacity
		t.Rows = append(t.Rows, []table.Cell{
			table.Literal(e.Model), table.Literal(e.GPU), table.Literal(fmt.Sprint(e.Count)), table.Literal(string(e.Quant)),
			table.Seconds(rundir.Exactly(c.SyncTTFT.Seconds())), table.Seconds(rundir.Exactly(c.SyncITL.Seconds())),
			table.Seconds(rundir.Exactly(c.SyncLatency.Seconds())), table.Number(rundir.Exactly(c.RequestsPerSecond), "", lang.Short),
			table.Number(rundir.Exactly(c.OutputTokensPerSecond), "", lang.Short), table.Number(rundir.Exactly(c.OutputTokensPerSecond/float64(e.Count)), "", lang.Short),
		})
	}
	s := table.Section{Title: titlePrediction.Text(load.PromptTokens, load.OutputTokens), Level: 1, Lines: []lang.Text{sayPrediction.Text()}, Table: t, Notes: []lang.Text{sayHow.Text()}}
	if len(all) == 0 {
		s.Table, s.Notes = table.Table{}, []lang.Text{sayNothingFits.Text()}
	}
	return s
}
