package slo

import (
	"testing"

	"llmsweep/sweep/rundir"
)

// A limit on right answers is decided by its exact bounds, over questions.
func TestAccuracy(t *testing.T) {
	for name, c := range map[string]struct {
		answers, right, items int
		term                  string
		want                  rundir.SLOVerdict
	}{
		"all of 13 are right":          {13, 13, 13, "accuracy>80%", rundir.Unsure},
		"all of 14 are right":          {14, 14, 14, "accuracy>80%", rundir.Met},
		"as many answers to 10":        {14, 14, 10, "accuracy>80%", rundir.Unsure},
		"half of 100 are right":        {100, 50, 100, "accuracy>80%", rundir.Missed},
		"80 of 100 are at the edge":    {100, 80, 100, "accuracy>80%", rundir.Unsure},
		"90 of 100 are above the edge": {100, 90, 100, "accuracy>=80%", rundir.Met},
		"none were graded":             {0, 0, 0, "accuracy>1%", rundir.Unsure},
	} {
		s := &rundir.Stage{Requests: rundir.Requests{OK: 2000}}
		if c.answers > 0 {
			s.Graded = &rundir.Graded{Answers: c.answers, Right: c.right, Items: c.items}
		}
		term := terms(t, c.term)[0]
		if got := term.Verdict(s); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		if again, err := Parse(term.String()); err != nil || again.Limit-term.Limit > 1e-9 || again.Metric != Accuracy {
			t.Errorf("%s is read as %v, %v", term, again, err)
		}
		if v, _ := term.Of(s); c.answers > 0 &&
			term.Amount(v.Value()) != trim(term.Amount(1-float64(c.right)/float64(c.answers))) {
			t.Errorf("%s: %s", name, term.Amount(v.Value()))
		}
	}
	for _, text := range []string{"accuracy>100%", "accuracy<80%", "accuracy>x", "accuracy:p50>80%", "accuracy>0%"} {
		if term, err := Parse(text); err == nil {
			t.Errorf("%s is read as %v", text, term)
		}
	}
}
