package findings

import (
	"strconv"
	"strings"

	"llmsweep/client/note"
	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
)

// State returns how far a run got: the stages that are complete, ended early, and never began. It is one line for a complete run.
func State(run *rundir.Run, l lang.Lang) []string {
	var done, cut []string
	probes := 0
	for i := range run.Stages {
		s := &run.Stages[i]
		if WholeStages(s) {
			done = append(done, lang.Row(s.Name))
		} else {
			cut = append(cut, lang.Row(s.Name))
		}
		if s.Role == rundir.Probe || s.Role == rundir.Hold {
			probes++
		}
	}
	if run.State == rundir.Complete && len(cut) == 0 {
		if len(done) == 1 {
			return []string{stateCompleteOne.In(l)}
		}
		return []string{stateComplete.In(l, strconv.Itoa(len(done)))}
	}
	lines := []string{ended(run, l)}
	if !run.Failure.IsZero() && run.Failure.Code != inProgress {
		lines = append(lines, stateBecause.In(l, Phrase(run.Failure, l))+lang.Stop.In(l))
	}
	if len(done) > 0 {
		lines = append(lines, stateWhole.In(l, strings.Join(done, lang.ListComma.In(l))))
	} else {
		lines = append(lines, stateNone.In(l))
	}
	if len(cut) > 0 {
		lines = append(lines, stateCut.In(l, strings.Join(cut, lang.ListComma.In(l))))
	}
	planned := run.Plan.Points*max(1, run.Plan.Repeats) + 2 // the floor and the ceiling
	if missing := planned - (len(run.Stages) - probes); run.Plan.Points > 0 && missing > 0 {
		lines = append(lines, stateMissing.In(l, strconv.Itoa(missing), strconv.Itoa(planned)))
	}
	return lines
}

// inProgress is the code of the note on a run that another process is measuring.
const inProgress = "run.in-progress"

// ended returns how a run ended, and after how long.
func ended(run *rundir.Run, l lang.Lang) string {
	how := stateEnded
	switch run.State {
	case rundir.Interrupted:
		how = stateInterrupted
	case rundir.Failed:
		how = stateFailed
	case rundir.Running:
		how = stateRunning
		if run.Failure.Code == inProgress {
			how = stateInProgress
		}
	}
	s := how.In(l)
	if t := Lasted(run); t > 0 {
		s += stateAfter.In(l, lang.Clock(t))
	}
	return s + lang.Stop.In(l)
}

// Lasted returns the length of a run in seconds: to its end where it is recorded, else to the end of its last stage.
func Lasted(run *rundir.Run) float64 {
	if !run.Ended.IsZero() {
		return run.Ended.Sub(run.Started).Seconds()
	}
	last := 0.0
	for i := range run.Stages {
		last = max(last, run.Stages[i].Started+run.Stages[i].Elapsed)
	}
	return last
}

// Interrupted returns the error message of a measurement that was interrupted, whose results are in the directory dir.
func Interrupted(dir string, l lang.Lang) string { return stateKept.In(l, dir) }

// PairInterrupted returns that of a comparison of two servers.
func PairInterrupted(dir string, l lang.Lang) string { return statePairKept.In(l, dir) }

// Failed returns the error message of a measurement that failed, whose results are in the directory dir. The kind is that of
// [rundir.Plan], or empty for a comparison of two servers.
func Failed(kind string, why note.Note, dir string, l lang.Lang) string {
	say := statePairFailed
	switch kind {
	case rundir.KindSweep, rundir.KindUsers:
		say = stateSweepFailed
	case rundir.KindRun:
		say = stateRunFailed
	}
	return say.In(l, Phrase(why, l), dir)
}
