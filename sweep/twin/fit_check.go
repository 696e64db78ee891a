package twin

import (
	"cmp"
	"math"
	"slices"
)

// leftOut chooses the stages that the check leaves out: every second one of those with arrivals at a rate, the second widest closed loop, and the one with the
// shortest answers, if they are far shorter than those of the others: a twin that was fitted to one length may be wrong of another. What is left must still show the
// server alone and full.
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
	if i := shortest(data, loops); i >= 0 {
		out = append(out, i)
		loops = slices.DeleteFunc(loops, func(k int) bool { return k == i })
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

// shortest returns which of some stages has far shorter answers than the others; -1 for none.
func shortest(data []stageData, of []int) int {
	const far = 0.5 // of the next shortest
	length := func(i int) float64 {
		tokens := 0
		for k := range data[i].Requests {
			tokens += data[i].Requests[k].Output
		}
		return float64(tokens) / float64(max(1, len(data[i].Requests)))
	}
	of = slices.SortedFunc(slices.Values(of), func(a, b int) int { return cmp.Compare(length(a), length(b)) })
	if len(of) < 2 || length(of[0]) > far*length(of[1]) {
		return -1
	}
	return of[0]
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
