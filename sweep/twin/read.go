// What a client saw of the stages of a run, request by request, and runs a twin through the same stages: predicted beside
// measured.

package twin

import (
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
)

// stagesOf reads the stages of a run directory.
func stagesOf(dir string) ([]Stage, *rundir.Run, error) {
	run, err := store.Open(dir)
	if err != nil {
		return nil, nil, err
	}
	byName := map[string]*Stage{}
	var order []string
	for i := range run.Stages {
		st := &run.Stages[i]
		s := stagesFrom(st)
		byName[st.Name] = &s
		order = append(order, st.Name)
	}
	for r, err := range store.Records(dir) {
		if err != nil {
			return nil, nil, err
		}
		if s := byName[r.Stage]; s != nil {
			s.Records = append(s.Records, r)
		}
	}
	var all []Stage
	for _, name := range order {
		all = append(all, *byName[name])
	}
	return all, run, nil
}

// stagesFrom returns a stage of a run without its records.
func stagesFrom(st *rundir.Stage) Stage {
	s := Stage{Name: st.Name, From: st.WindowFrom, Window: st.Window}
	if st.Rate.Known() {
		s.Rate = st.Rate.Value()
	} else {
		s.Width = st.MaxConcurrency
	}
	return s
}
