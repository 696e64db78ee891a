package audit

import (
	"slices"
	"strconv"
	"strings"

	"llmsweep/sweep/rundir"
)

// DropDoubted returns a stage without the figures that its doubts name: nothing may rest on them. A doubted rate stays:
// only the order of rows rests on what was offered. It is the stage itself where nothing is doubted.
func DropDoubted(s *rundir.Stage) *rundir.Stage {
	if !slices.ContainsFunc(s.Doubts, func(d rundir.Doubt) bool { return len(d.Figures) > 0 }) {
		return s
	}
	out := *s
	for _, d := range s.Doubts {
		for _, key := range d.Figures {
			group, name, single := strings.Cut(key, ".")
			for _, n := range numbersOf(&out, group) {
				if key != keyRate && (!single || n.Name == name) {
					*n.Number = rundir.Number{}
				}
			}
		}
	}
	return &out
}

// LikelyRate returns what a stage with a doubted rate was offered, for the order of rows: its rate on the grid, or else
// what was completed, which is less.
func LikelyRate(s *rundir.Stage) (rate float64, ok bool) {
	for _, d := range s.Doubts {
		if !slices.Contains(d.Figures, keyRate) {
			continue
		}
		if text, found := d.Note.Args["grid_rate"].(string); found {
			if v, err := strconv.ParseFloat(text, 64); err == nil {
				return v, true
			}
		}
		return s.Rates.Completed.Value(), s.Rates.Completed.Known()
	}
	return 0, false
}

// RejectingDoubt returns the doubt of what a stage completed, for which nothing of it may be used; nil where there is
// none.
func RejectingDoubt(s *rundir.Stage) *rundir.Doubt {
	i := slices.IndexFunc(s.Doubts, func(d rundir.Doubt) bool {
		return slices.Contains(d.Figures, "rates") || slices.Contains(d.Figures, keyCompleted)
	})
	if i < 0 {
		return nil
	}
	return &s.Doubts[i]
}
