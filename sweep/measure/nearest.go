package measure

import (
	"iter"
	"slices"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
)

// Nearest makes p90, p95 and p99 of the latency of stages values that were measured, as stress testers print them: of n
// in ascending order, the one that has n·p before it. A stage keeps its percentiles where requests have no end.
func Nearest(stages []rundir.Stage, records iter.Seq2[*rundir.Record, error]) error {
	values, open := map[string][]float64{}, map[string]bool{}
	windows := map[string]Window{}
	for i := range stages {
		windows[stages[i].Name] = WindowOf(&stages[i])
	}
	for r, err := range records {
		if err != nil {
			return err
		}
		if w, ok := windows[r.Stage]; !ok || !w.Holds(r.Due.Value()) {
			continue
		}
		switch v := SLOValue(slo.Latency, r); {
		case v.Known():
			values[r.Stage] = append(values[r.Stage], v.Value())
		case v.Bound():
			open[r.Stage] = true
		}
	}
	for i := range stages {
		st := &stages[i]
		all := values[st.Name]
		if len(all) == 0 || open[st.Name] {
			continue
		}
		slices.Sort(all)
		for _, q := range []struct {
			percent int
			to      *rundir.Number
		}{{90, &st.Latency.P90}, {95, &st.Latency.P95}, {99, &st.Latency.P99}} {
			*q.to = rundir.Exactly(all[len(all)*q.percent/100])
		}
	}
	return nil
}
