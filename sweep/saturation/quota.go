package saturation

import "llmsweep/sweep/rundir"

// Limits of a quota that is named.
const (
	quotaNamed  = 0.9 // of the refusals name a limit on the rate
	quotaAgrees = 0.1 // its rate is in the interval of the saturation rate, or no further away than this share
)

// quotaOf returns the limit on the rate that a run shows: that of the stage with the most periods, where its rate is
// what the holds found, or one without a period where almost all refusals of the hold that failed name one; nil for
// none.
func quotaOf(run *rundir.Run, s *rundir.Saturation) *rundir.Quota {
	if s == nil || !s.High.Known() {
		return nil
	}
	var most *rundir.Quota
	for i := range run.Stages {
		st := &run.Stages[i]
		q := &st.Traits.Quota
		if !Usable(st) || st.Role == rundir.Synchronous || q.Periods == 0 || most != nil && q.Periods <= most.Periods {
			continue
		}
		rate := q.Requests.Value() / q.Period.Value()
		if rate >= s.Low.Or(0)*(1-quotaAgrees) && rate <= s.High.Value()*(1+quotaAgrees) {
			most = q
		}
	}
	if most != nil {
		return most
	}
	for i := range run.Stages {
		if st := &run.Stages[i]; st.Name == s.FailedStage && st.Verdict == rundir.Shedding &&
			st.Traits.Quota.Named.Or(0) >= quotaNamed {
			return &st.Traits.Quota
		}
	}
	return nil
}
