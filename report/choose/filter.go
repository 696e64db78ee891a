package choose

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"llmsweep/report/setup"
	"llmsweep/sweep/rundir"
)

// matches reports whether a name is the other, or the beginning of it in whole words: L4 is no L40.
func matches(whole, name string) bool {
	words := func(s string) []string {
		return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return r == ' ' || r == '-' || r == '_' })
	}
	w, n := words(whole), words(name)
	return len(n) > 0 && len(n) <= len(w) && slices.Equal(w[:len(n)], n)
}

// LabelFilter is a filter of configurations: gpu=L20.
type LabelFilter struct{ Key, Value string }

// ParseLabelFilter reads a filter written as key=value.
func ParseLabelFilter(text string) (LabelFilter, error) {
	key, value, ok := strings.Cut(text, "=")
	o := LabelFilter{strings.TrimSpace(key), strings.TrimSpace(value)}
	if !ok || o.Key == "" {
		return o, fmt.Errorf("--only %q: write model, gpu, gpus, engine, quant or a label of your own, an equals sign and "+
			"a value, such as gpu=L20", text)
	}
	return o, nil
}

// Matches reports whether a configuration is wanted. Names may be beginnings in whole words: model=Qwen2-7B takes
// Qwen2-7B-Instruct; quant= takes what is not quantized.
func (o LabelFilter) Matches(l rundir.Labels) bool {
	switch o.Key {
	case "model":
		return matches(l.Model, o.Value)
	case "gpu":
		return matches(l.GPU, o.Value)
	case "gpus":
		return strconv.Itoa(l.GPUs) == o.Value
	case "engine":
		return strings.EqualFold(l.Engine, o.Value)
	case "quant":
		return o.Value == "" && l.Quant == "" || matches(l.Quant, o.Value)
	}
	return strings.EqualFold(l.Free[o.Key], o.Value)
}

// FilterSetups returns the setups that have all of these labels, each written as key=value.
func FilterSetups(setups []setup.Setup, labels []string) ([]setup.Setup, error) {
	for _, text := range labels {
		o, err := ParseLabelFilter(text)
		if err != nil {
			return nil, err
		}
		setups = slices.DeleteFunc(setups, func(s setup.Setup) bool { return !o.Matches(setup.Labels(s.Run)) })
	}
	if len(setups) == 0 {
		return nil, fmt.Errorf("--only %s: no result has these labels; llmsweep compare lists the results",
			strings.Join(labels, ","))
	}
	return setups, nil
}
