package sweep

import (
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
)

// Assess judges what was measured before by terms that nobody may have thought of then: the goodput of each stage, from the
// records of the run directory at path, and for a sweep the highest rate at which the terms hold, by its rows. Of a run that
// was read elsewhere there are no records, and no goodput. The error is of reading.
func Assess(path string, run *rundir.Run, terms []slo.Term) error {
	counts := map[string]*goodput{}
	for i := range run.Stages {
		st := &run.Stages[i]
		counts[st.Name] = newGoodput(st, terms)
	}
	if run.Source == nil {
		if err := each(rundir.Records(path), func(r *rundir.Record) {
			if g := counts[r.Stage]; g != nil {
				g.add(r)
			}
		}); err != nil {
			return err
		}
	}
	for i := range run.Stages {
		st := &run.Stages[i]
		st.Goodput = counts[st.Name].result(st)
	}
	run.Plan.SLO, run.SLO = slo.Strings(terms), nil
	if run.Plan.Kind == KindSweep {
		run.SLO = promised(run, terms, run.Saturation)
	}
	return nil
}
