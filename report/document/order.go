package document

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"

	"llmsweep/report/choose"
	"llmsweep/report/lang"
	"llmsweep/report/setup"
)

// compareSetups groups configurations by hardware, engine, model size and quantization.
func compareSetups(a, b *setup.Setup) int {
	x, y := setup.Labels(a.Run), setup.Labels(b.Run)
	return cmp.Or(
		strings.Compare(x.GPU, y.GPU),
		strings.Compare(setup.Engine(a.Run), setup.Engine(b.Run)),
		cmp.Compare(modelSize(setup.Model(a.Run)), modelSize(setup.Model(b.Run))),
		strings.Compare(setup.Model(a.Run), setup.Model(b.Run)),
		cmp.Compare(x.GPUs, y.GPUs),
		strings.Compare(x.Quant, y.Quant),
	)
}

var sizeText = regexp.MustCompile(`(?i)(?:^|[^a-z0-9.])(\d+(?:\.\d+)?)b(?:$|[^a-z0-9])`)

// modelSize is a model's size in billions, as its name has it; 0 where it does not.
func modelSize(model string) float64 {
	m := sizeText.FindStringSubmatch(model)
	if m == nil {
		return 0
	}
	v, _ := strconv.ParseFloat(m[1], 64) // the expression takes only numbers
	return v
}

// OrderKeys are what [Options].Order may name.
func OrderKeys() []string { return []string{"model", "gpu", "gpus", "engine", "quant"} }

// comparator sorts by the keys of Order, each in the order in which its values occur among the setups, then by
// compareSetups.
func (w *writer) comparator() func(a, b *setup.Setup) int {
	places := map[string]map[string]int{}
	for _, key := range w.Order {
		places[key] = map[string]int{}
		for i := range w.setups {
			if v := labelOf(&w.setups[i], key); places[key][v] == 0 {
				places[key][v] = len(places[key]) + 1
			}
		}
	}
	return func(a, b *setup.Setup) int {
		for _, key := range w.Order {
			if c := cmp.Compare(places[key][labelOf(a, key)], places[key][labelOf(b, key)]); c != 0 {
				return c
			}
		}
		return compareSetups(a, b)
	}
}

func labelOf(s *setup.Setup, key string) string {
	switch key {
	case "model":
		return setup.Model(s.Run)
	case "gpu":
		return s.Run.Labels.GPU
	case "gpus":
		return strconv.Itoa(s.Run.Labels.GPUs)
	case "engine":
		return setup.Engine(s.Run)
	}
	return setup.Labels(s.Run).Quant
}

// heading has the values of the first two keys of the order.
func (w *writer) heading(s *setup.Setup) string {
	keys := w.Order
	if len(keys) == 0 {
		keys = []string{"gpu", "engine"}
	}
	unnamed := map[string]lang.Phrase{"model": docNoModel, "gpu": docNoGPU, "engine": docNoEngine, "quant": docNoQuant}
	var parts []string
	for _, key := range keys[:min(2, len(keys))] {
		v := labelOf(s, key)
		switch {
		case v == "":
			v = unnamed[key].In(w.Lang)
		case key == "gpus":
			v = choose.GPUs(s.Run.Labels.GPUs).In(w.Lang)
		}
		parts = append(parts, v)
	}
	return strings.Join(parts, lang.Comma.In(w.Lang))
}
