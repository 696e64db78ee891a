package plans

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"llmsweep/report/choose"
	"llmsweep/report/table"
	"llmsweep/sweep/plan"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/twin"
)

// Candidates reads twins and finds their prices. It also returns the GPUs whose price nothing used.
func Candidates(paths []string, prices choose.Prices) (all []plan.Candidate, unused []string, err error) {
	var named []rundir.Labels
	for _, path := range paths {
		t, err := twin.Open(path)
		if err != nil {
			return nil, nil, err
		}
		l := twin.PredictedLabels(t)
		named = append(named, l)
		one := plan.Candidate{Name: nameOf(path, t.Name, l), Twin: t, GPUs: l.GPUs}
		if price, ok := prices.Of(l); ok {
			one.Price = price * float64(l.GPUs)
		}
		all = append(all, one)
	}
	return all, prices.UnusedGPUs(named), nil
}

// nameOf returns a twin's name: its file, and what was measured. model is that of the twin, where its labels have none.
func nameOf(path, model string, l rundir.Labels) string {
	parts := []string{strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))}
	for _, s := range []string{cmp.Or(l.Model, model), l.GPU, l.Engine, l.Quant} {
		if s != "" && !slices.Contains(parts, s) {
			parts = append(parts, s)
		}
	}
	return table.Clean(strings.Join(parts, ", "))
}
