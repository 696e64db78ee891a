package document

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"llmsweep/report/choose"
	"llmsweep/report/lang"
	"llmsweep/report/setup"
)

// OrderKeys are what documents are sorted by, in that order unless [Options].Order names some to come first.
func OrderKeys() []string { return []string{"gpu", "engine", "model", "gpus", "quant"} }

// order returns the keys to sort by. The first two are in the headings.
func (w *writer) order() []string {
	named := func(key string) bool { return slices.Contains(w.Order, key) }
	return slices.Concat(w.Order, slices.DeleteFunc(OrderKeys(), named))
}

func (w *writer) compareSetups(a, b *setup.Setup) int {
	for _, key := range w.order() {
		c := strings.Compare(labelOf(a, key), labelOf(b, key))
		switch key {
		case "model": // the larger later
			c = cmp.Or(cmp.Compare(modelSize(labelOf(a, key)), modelSize(labelOf(b, key))), c)
		case "gpus":
			c = cmp.Compare(a.Run.Labels.GPUs, b.Run.Labels.GPUs)
		}
		if c != 0 {
			return c
		}
	}
	return 0
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

func (w *writer) heading(s *setup.Setup) string {
	unnamed := map[string]lang.Phrase{"model": docNoModel, "gpu": docNoGPU, "engine": docNoEngine, "quant": docNoQuant}
	var parts []string
	for _, key := range w.order()[:2] {
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
