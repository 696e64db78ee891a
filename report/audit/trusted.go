package audit

import (
	"slices"
	"strings"

	"llmsweep/sweep/rundir"
)

// Trusted returns a stage without the figures that its doubts name: nothing may rest on them. A doubted rate stays:
// only the order of rows rests on what was offered. It is the stage itself where nothing is doubted.
func Trusted(s *rundir.Stage) *rundir.Stage {
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

// Condemned returns the doubt for which nothing of a stage may be used, because what it completed is not known; nil where there is none.
func Condemned(s *rundir.Stage) *rundir.Doubt {
	i := slices.IndexFunc(s.Doubts, func(d rundir.Doubt) bool {
		return slices.Contains(d.Figures, "rates") || slices.Contains(d.Figures, keyDone)
	})
	if i < 0 {
		return nil
	}
	return &s.Doubts[i]
}
