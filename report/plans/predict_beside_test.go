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

// Words of the table of predictions beside published rows.
var (
	titleBeside  = lang.Say("Predictions beside published rows", "预测值与公开数据对照")
	headSetup    = lang.Say("Configuration", "配置")
	headPreset   = lang.Say("Simulated as", "模拟配置")
	headITL      = lang.Say("ITL alone", "单请求 ITL")
	headPeak     = lang.Say("peak tok/s", "峰值 tok/s")
	headError    = lang.Say("off by", "误差")
	headRows     = lang.Say("Rows", "行")
	subPredicted = lang.Say("predicted", "预测")
	subPublished = lang.Say("published", "公开")
	sayITLOff    = lang.Say("Inter-token latency alone on the server, %d configurations: half of the predictions are within %s %%; the worst is off by %s %% (%s).", "单请求 token 间时延，共 %d 个配置：一半预测误差在 %s %% 以内；最差为 %s %%（%s）。")
	sayPeakOff   = lang.Say("Peak output, %d configurations: half of the predictions are within %s %%; the worst is off by %s %% (%s).", "峰值输出，共 %d 个配置：一半预测误差在 %s %% 以内；最差为 %s %%（%s）。")
	sayRising    = lang.Say("+ the output still rises at the last published row, so the true peak is higher by an unknown amount.", "+ 公开数据到最后一行仍在上升，真实峰值更高，高多少未知。")
	sayFitted    = lang.Say("The simulator's fixed step time was fitted to rows of vLLM with one request at a time, and its shares of bandwidth and peak to Qwen2-7B on one L20: for vLLM, the latencies here are not an independent test. No row under load was used.", "模拟器的固定步时参照了 vLLM 单请求数据，带宽与算力利用率参照了单个 L20 上 Qwen2-7B 的单请求数据：因此对 vLLM 而言，此处的时延不构成独立检验。有负载的各行均未使用。")
	sayWhyOff    = lang.Say("The model has one scheduler and does not distinguish engines: on the same cards, engines differ by a factor of three here, and so does the error. Peaks are predicted for 256 sequences at once and answers of exactly the requested length; many published answers are shorter, and the number of sequences that their servers ran is unknown.", "模型只含一种调度器，不区分引擎：同样的 GPU 上各引擎相差可达三倍，误差也是如此。峰值按 256 个并发序列、回答长度与要求完全一致计算；公开数据中许多回答更短，其服务的并发上限也未知。")
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
