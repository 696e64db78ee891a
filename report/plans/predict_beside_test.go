package plans

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"llmsweep/client/sim"
	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// Beside is a prediction set beside what was measured of the same configuration.
type Beside struct {
	Setup  *setup.Setup
	Preset string        // empty where the simulator knows no such model or GPU
	ITL    PredictedPair // one request at a time, seconds
	Output PredictedPair // the most that was shown, tokens per second
	Note   string        // what the simulator takes it for, where that is not what it is
}

// PredictedPair is a metric, predicted and measured.
type PredictedPair struct {
	Predicted, Measured rundir.Number
	Where               string // the row
}

// Error returns the error of the prediction as a fraction of the measured value; absent where either is.
func (p PredictedPair) Error() rundir.Number {
	if !p.Predicted.Known() || !p.Measured.Known() {
		return rundir.Number{}
	}
	return rundir.Exactly(p.Predicted.Value()/p.Measured.Value() - 1)
}

// PredictedSet sets predictions beside setups.
func PredictedSet(setups []setup.Setup) []Beside {
	var all []Beside
	for i := range setups {
		all = append(all, beside(&setups[i]))
	}
	return all
}

func beside(s *setup.Setup) Beside {
	b := Beside{Setup: s, Output: PredictedPair{Measured: s.Plateau.Output, Where: s.Plateau.Where}}
	if p, ok := s.Alone(); ok {
		b.ITL = PredictedPair{Measured: p.At(setup.ITL).Number, Where: p.Where()}
	}
	model, gpu, quant, note := match(s.Run.Labels)
	w := s.Run.Workload
	load := sim.Workload{PromptTokens: int(math.Round(w.PromptTokens.Mean)), OutputTokens: int(math.Round(w.OutputTokens.Mean))}
	if e, ok := estimate(model, gpu, max(s.Run.Labels.GPUs, 1), quant, load); ok && model != "" && gpu != "" {
		b.Preset, b.Note = fmt.Sprintf("%s/%sx%d/%s", model, gpu, e.Count, quant), note
		b.ITL.Predicted = rundir.Exactly(e.Capacity.SyncITL.Seconds())
		b.Output.Predicted = rundir.Exactly(e.Capacity.OutputTokensPerSecond)
	}
	return b
}

// match finds the simulator's model, GPU and quantization for labels, and notes where they are only alike. Quantized
// weights are 4 or 8 bits by their name; which kernels multiplied them, no label says.
func match(l rundir.Labels) (model, gpu string, q sim.Quant, note string) {
	var notes []string
	for _, m := range sim.Models() {
		same := strings.HasPrefix(plain(l.Model), plain(m.Name)) || slices.Equal(predictedSizes(l.Model), predictedSizes(m.Name)) && len(predictedSizes(l.Model)) > 0
		if same && model == "" {
			model = m.Name
			if !strings.HasPrefix(plain(l.Model), plain(m.Name)) {
				notes = append(notes, "taken for "+m.Name)
			}
		}
	}
	for _, g := range sim.GPUs() {
		if strings.HasPrefix(plain(l.GPU), plain(g.Name)) {
			gpu = g.Name
		}
	}
	switch quant := strings.ToLower(l.Quant); {
	case quant == "":
		q = sim.FP16
	case strings.Contains(quant, "8"):
		q = sim.INT8
		notes = append(notes, "taken for W8A8")
	default:
		q = sim.INT4
	}
	return model, gpu, q, strings.Join(notes, ", ")
}

// plain leaves of a name what two people would write alike.
func plain(s string) string {
	return strings.NewReplacer(" ", "", "-", "", "_", "").Replace(strings.ToLower(s))
}

// predictedSizes are the parts of a model's name that give its size: 14B, or 57B and A14B.
func predictedSizes(name string) []string {
	var found []string
	for _, part := range strings.Split(strings.ToLower(name), "-") {
		if digits := strings.TrimSuffix(strings.TrimPrefix(part, "a"), "b"); digits != part && digits != "" && strings.Trim(digits, "0123456789.") == "" {
			found = append(found, part)
		}
	}
	return found
}

// BesideSection sets predictions beside published rows for people, with how far off each is.
func BesideSection(all []Beside) table.Section {
	t := table.Table{Columns: []table.Column{
		{Head: headSetup.Text(), Left: true}, {Head: headPreset.Text(), Left: true},
		{Head: headITL.Text(), Sub: subPredicted.Text()}, {Head: headITL.Text(), Sub: subPublished.Text()}, {Head: headError.Text()},
		{Head: headPeak.Text(), Sub: subPredicted.Text()}, {Head: headPeak.Text(), Sub: subPublished.Text()}, {Head: headError.Text()},
		{Head: headRows.Text(), Left: true},
	}}
	for _, b := range all {
		preset := b.Preset
		if b.Note != "" {
			preset += " (" + b.Note + ")"
		}
		peak := table.Number(b.Output.Measured, "", lang.Fixed(2))
		if b.Setup.Plateau.Rising {
			peak.Mark = "+"
		}
		t.Rows = append(t.Rows, []table.Cell{
			table.Literal(b.Setup.Name), table.Literal(preset), table.Seconds(b.ITL.Predicted), table.Seconds(b.ITL.Measured), errorCell(b.ITL.Error()),
			table.Number(b.Output.Predicted, "", lang.Fixed(0)), peak, errorCell(b.Output.Error()), table.Literal(b.ITL.Where + ", " + b.Output.Where),
		})
	}
	return table.Section{
		Title: titleBeside.Text(), Level: 1, Table: t,
		Lines: append([]lang.Text{sayPrediction.Text()}, verdict(all)...),
		Notes: []lang.Text{sayRising.Text(), sayFitted.Text(), sayWhyOff.Text()},
	}
}

func errorCell(f rundir.Number) table.Cell {
	if !f.Known() {
		return table.Literal("n/a")
	}
	return table.Cell{Text: lang.Same(fmt.Sprintf("%+.0f", 100*f.Value())), Unit: "%"}
}

// verdict sums the errors up: the median of their sizes and the worst, for each metric.
func verdict(all []Beside) []lang.Text {
	sum := func(say lang.Phrase, of func(Beside) PredictedPair) lang.Text {
		var off []float64
		worst, where := 0.0, ""
		for _, b := range all {
			if e := of(b).Error(); e.Known() {
				off = append(off, math.Abs(e.Value()))
				if math.Abs(e.Value()) > math.Abs(worst) {
					worst, where = e.Value(), b.Setup.Name
				}
			}
		}
		if len(off) == 0 {
			return lang.Text{}
		}
		slices.Sort(off)
		return say.Text(len(off), fmt.Sprintf("%.0f", 100*off[(len(off)-1)/2]), fmt.Sprintf("%+.0f", 100*worst), where)
	}
	lines := []lang.Text{sum(sayITLOff, func(b Beside) PredictedPair { return b.ITL }), sum(sayPeakOff, func(b Beside) PredictedPair { return b.Output })}
	return slices.DeleteFunc(lines, lang.Text.IsZero)
}
