package saturation

import (
	"llmsweep/sweep/measure"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/slo"
)

// Reopen reads a run directory. Stages that a killed process left unfinished are summarized from their records, as far
// as they got.
func Reopen(path string) (*rundir.Run, error) {
	run, err := store.Open(path)
	if err != nil {
		return nil, err
	}
	if run.State != rundir.Running {
		run.Answer = AnswerOf(run)
		DropUnsure(run)
		return run, nil
	}
	terms, _ := slo.ParseAll(run.Plan.SLO) // none where another version knew more metrics: the rest of the run still opens
	run.State, run.Failure = rundir.Interrupted, noteKilled.New()
	if store.InUse(path) {
		run.State, run.Failure = rundir.Running, noteInProgress.New()
	}
	var killed []*rundir.Stage
	for i := range run.Stages {
		if st := &run.Stages[i]; st.State == rundir.Running {
			st.State = rundir.Interrupted
			killed = append(killed, st)
		}
	}
	if len(killed) > 0 {
		err := measure.Recover(killed, run.State == rundir.Running, run.Plan.Tolerance, run.Workload.Capped, terms,
			store.Records(path))
		if err != nil {
			return nil, err
		}
	}
	WriteAnswer(run, terms)
	DropUnsure(run)
	return run, nil
}

// Assess judges a run by SLO terms that may be new to it: the goodput of each stage, from the records of the run
// directory at path, and for a sweep the highest rate at which the terms hold. A run that was read from another tool's
// file has no records, and no goodput. The error is of reading.
func Assess(path string, run *rundir.Run, terms []slo.Term) error {
	counts, err := countGoodput(path, run, terms)
	if err != nil {
		return err
	}
	for i := range run.Stages {
		st := &run.Stages[i]
		counts[st.Name].Write(st)
	}
	run.Plan.SLO, run.SLO = slo.Strings(terms), nil
	switch run.Plan.Kind {
	case rundir.KindUsers:
		run.Answer = carriedAnswer(run, terms)
	case rundir.KindSweep:
		run.SLO = sloAnswer(run, terms)
		run.Answer = answerOf(run)
	}
	return nil
}

func countGoodput(path string, run *rundir.Run, terms []slo.Term) (map[string]*measure.Goodput, error) {
	counts := map[string]*measure.Goodput{}
	for i := range run.Stages {
		st := &run.Stages[i]
		counts[st.Name] = measure.NewGoodput(measure.WindowOf(st), terms, run.Workload.Turns() > 1)
	}
	if run.Source != nil {
		return counts, nil
	}
	for r, err := range store.Records(path) {
		if err != nil {
			return nil, err
		}
		if g := counts[r.Stage]; g != nil {
			g.Add(r)
		}
	}
	return counts, nil
}
