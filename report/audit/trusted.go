package audit

import (
	"slices"
	"strings"

	"llmsweep/sweep/rundir"
)

// Trusted returns a stage without the figures that its doubts name: nothing may rest on them. With repaired, those of which the cause of the mistake
// implies the value have that value. It is the stage itself where nothing is doubted.
func Trusted(s *rundir.Stage, repaired bool) *rundir.Stage {
	if !slices.ContainsFunc(s.Doubts, func(d rundir.Doubt) bool { return len(d.Figures) > 0 }) {
		return s
	}
	out := *s
	for _, d := range s.Doubts {
		for _, key := range d.Figures {
			v, implied := d.Probably[key]
			switch {
			case key == keyRate: // only the order of rows rests on what was offered
				if implied {
					out.Rate = rundir.Exactly(v)
				} else if done := s.Rates.Completed; done.Known() {
					out.Rate = done
				}
			case implied && repaired:
				set(&out, key, rundir.Exactly(v))
			default:
				set(&out, key, rundir.Number{})
			}
		}
	}
	return &out
}

// set sets the numbers of a key, or of a group of keys.
func set(s *rundir.Stage, key string, v rundir.Number) {
	group, name, single := strings.Cut(key, ".")
	if d := distOf(s, strings.TrimSuffix(group, "_s")); d != nil {
		for _, n := range d.Numbers() {
			if !single || n.Name == name {
				*n.Number = v
			}
		}
		return
	}
	switch group {
	case "rates":
		s.Rates.Completed = v
	case "tokens_per_s":
		if !single || name == "output" {
			s.TokensPerS.Output = v
		}
		if !single || name == "input" {
			s.TokensPerS.Input = v
		}
		if !single || name == "total" {
			s.TokensPerS.Total = v
		}
	case "output_tokens":
		s.OutputTokens = rundir.TokenStats{}
	case keyGap:
		s.InterToken = v
	}
}

// Condemned returns the doubt for which nothing of a stage may be used, because what it completed is not known; nil where there is none.
func Condemned(s *rundir.Stage, repaired bool) *rundir.Doubt {
	for i := range s.Doubts {
		d := &s.Doubts[i]
		_, implied := d.Probably[keyDone]
		if (slices.Contains(d.Figures, "rates") || slices.Contains(d.Figures, keyDone)) && !(implied && repaired) {
			return d
		}
	}
	return nil
}

// Repairable reports whether the causes of a stage's doubts imply what a figure should be.
func Repairable(s *rundir.Stage) bool {
	return slices.ContainsFunc(s.Doubts, func(d rundir.Doubt) bool { return len(d.Probably) > 0 })
}
