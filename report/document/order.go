package document

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"llmsweep/report/choose"
	"llmsweep/report/lang"
	"llmsweep/report/setup"
)

// settings are the JSON in the summary's marker: the options of a document that are not the defaults.
type settings struct {
	Order  []string `json:"order,omitempty"`
	Source string   `json:"source,omitempty"`
}

func storedSettings(pieces []piece) (s settings) {
	for _, p := range pieces {
		if p.name == partSummary && json.Unmarshal([]byte(p.note), &s) == nil {
			// People edit documents.
			s.Order = slices.DeleteFunc(s.Order, func(key string) bool { return !slices.Contains(OrderKeys(), key) })
			return s
		}
	}
	return settings{}
}

var headingLine = regexp.MustCompile(`(?m)^#`)

// sortRuns sorts the runs of a document. What people wrote behind a run moves with it, up to the next heading of
// theirs.
func (w *writer) sortRuns(pieces []piece) []piece {
	type block struct {
		setup  *setup.Setup // nil: it stays where it is
		pieces []piece
	}
	var blocks, runs []block
	for _, p := range pieces {
		at := slices.IndexFunc(w.setups, func(s setup.Setup) bool { return p.name == partRun && w.runNote(&s) == p.note })
		last := len(blocks) - 1
		switch {
		case at >= 0:
			blocks = append(blocks, block{&w.setups[at], []piece{p}})
		case p.name == "" && last >= 0 && blocks[last].setup != nil && strings.TrimSpace(p.text) != "":
			end := len(p.text)
			if m := headingLine.FindStringIndex(p.text); m != nil {
				end = m[0]
			}
			blocks[last].pieces = append(blocks[last].pieces, piece{text: p.text[:end]})
			blocks = append(blocks, block{nil, []piece{{text: p.text[end:]}}})
		default:
			blocks = append(blocks, block{nil, []piece{p}})
		}
	}
	for _, b := range blocks {
		if b.setup != nil {
			runs = append(runs, b)
		}
	}
	order := w.comparator()
	slices.SortStableFunc(runs, func(a, b block) int { return order(a.setup, b.setup) })
	var all []piece
	for _, b := range blocks {
		if b.setup != nil {
			b, runs = runs[0], runs[1:]
		}
		all = append(all, b.pieces...)
	}
	return all
}

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
