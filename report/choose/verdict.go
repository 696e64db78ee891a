package choose

import (
	"slices"

	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
)

// Conclusions returns what is chosen for each model, for programs. The value is a number of replicas.
func Conclusions(all []Choice) []rundir.Conclusion {
	conclusions := make([]rundir.Conclusion, len(all))
	for i := range all {
		conclusions[i] = all[i].conclusion()
	}
	return conclusions
}

func (c *Choice) conclusion() rundir.Conclusion {
	one := rundir.Conclusion{Schema: rundir.VerdictSchema, Claim: c.answer()[0].In(lang.English)}
	for _, r := range c.Refused {
		if code := string(r.why.kind); len(c.Ranked) == 0 && !slices.Contains(one.Because, code) {
			one.Because = append(one.Because, code)
		}
	}
	switch {
	case c.Undecided():
		one.Subject, one.Verdict, one.MayClaim = c.Model, rundir.DecisionUndecided, rundir.SupportsNothing
		return one
	case len(c.Ranked) == 0:
		one.Subject, one.Verdict, one.MayClaim = c.Model, rundir.DecisionNone, rundir.SupportsSLO
		return one
	}
	k := &c.Ranked[0]
	one.Subject, one.Verdict, one.MayClaim = k.Name, rundir.DecisionChosen, rundir.SupportsValue
	one.Metric, one.Value = "replicas", rundir.Exactly(float64(k.Replicas))
	if k.ReplicaRange != [2]int{} {
		one.MayClaim = rundir.SupportsEstimate
		one.Low, one.High = rundir.Exactly(float64(k.ReplicaRange[0])), rundir.Exactly(float64(k.ReplicaRange[1]))
	}
	if k.limit.Doubted {
		one.MayClaim = rundir.SupportsBound
	}
	return one
}
