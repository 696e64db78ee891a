package twin

import (
	"math"
	"slices"
)

// leftOut chooses the stages that the check leaves out: every second one of those with arrivals at a rate, and the second widest closed
// loop. What is left must still show the server alone and full.
func leftOut(data []stageData) []int {
	var out, loops []int
	open := 0
	for i, d := range data {
		if d.Rate > 0 {
			if open++; open%2 == 1 {
				out = append(out, i)
			}
			continue
		}
		loops = append(loops, i)
	}
	slices.SortStableFunc(loops, func(a, b int) int { return data[b].Width - data[a].Width })
	const enough = 4
	if len(loops) >= enough {
		for _, i := range loops[1:] {
			if data[i].Width < data[loops[0]].Width {
				out = append(out, i)
				break
			}
		}
	}
	return out
}

// check fits a twin to a part of the stages, refines it if asked to, and predicts the rest. It is nil where there are too few.
func check(data []stageData, refined bool) *Check {
	const least = 3
	out := leftOut(data)
	var rest []stageData
	for i, d := range data {
		if !slices.Contains(out, i) {
			rest = append(rest, d)
		}
	}
	if len(rest) < least || len(out) == 0 {
		return nil
	}
	t, err := fit(rest)
	if err != nil {
		return nil
	}
	if refined {
		refine(t, rest)
	}
	c := &Check{}
	var errs []float64
	for _, i := range out {
		row := CheckRow{Stage: data[i].Name, Full: data[i].Width >= t.Slots, Measured: data[i].Measured(), Predicted: data[i].Predicted(t)}
		p, m := row.Predicted, row.Measured
		if m.Output > 0 && m.GapMean > 0 {
			errs = append(errs, p.Output/m.Output-1, p.GapMean/m.GapMean-1)
		}
		c.Rows = append(c.Rows, row)
	}
	sum := 0.0
	for _, e := range errs {
		sum += e * e
	}
	c.Error = round(math.Sqrt(sum / math.Max(1, float64(len(errs)))))
	c.Passed = len(c.Misses()) == 0
	return c
}
