package findings

import (
	"strconv"

	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
)

// State returns how far a run got, in one line for a run that is whole.
func State(run *rundir.Run, l lang.Lang) []string {
	if lines := Unfinished(run, l); lines != nil {
		return lines
	}
	if n := len(run.Stages); n != 1 {
		return []string{stateComplete.In(l, strconv.Itoa(n))}
	}
	return []string{stateCompleteOne.In(l)}
}

// Unfinished returns how a run ended that is not whole, and what it did not measure; nil for a whole run. Tables say
// which stages were cut short.
func Unfinished(run *rundir.Run, l lang.Lang) []string {
	whole, narrowing := 0, 0
	for i := range run.Stages {
		s := &run.Stages[i]
		if isComplete(s) {
			whole++
		}
		if narrowsAnswer(s) {
			narrowing++
		}
	}
	if run.State == rundir.Complete && whole == len(run.Stages) {
		return nil
	}
	lines := []string{endSentence(run, l)}
	if whole == 0 {
		lines = append(lines, stateNone.In(l))
	}
	planned := run.Plan.Points*max(1, run.Plan.Repeats) + 2 // synchronous and throughput
	if missing := planned - (len(run.Stages) - narrowing); run.Plan.Points > 0 && missing > 0 {
		lines = append(lines, stateMissing.In(l, strconv.Itoa(missing), strconv.Itoa(planned)))
	}
	return lines
}

const inProgress = "run.in-progress" // the note on a run that another process is measuring

func endSentence(run *rundir.Run, l lang.Lang) string {
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
	if t := RunSeconds(run); t > 0 {
		s += stateAfter.In(l, lang.Clock(t))
	}
	if !run.Failure.IsZero() && run.Failure.Code != inProgress {
		s += lang.Colon.In(l) + Phrase(run.Failure, l)
	}
	return s + lang.Stop.In(l)
}

// RunSeconds returns the length of a run in seconds: to its end where it is recorded, else to the end of its last
// stage.
func RunSeconds(run *rundir.Run) float64 {
	if !run.Ended.IsZero() {
		return run.Ended.Sub(run.Started).Seconds()
	}
	last := 0.0
	for i := range run.Stages {
		last = max(last, run.Stages[i].Started+run.Stages[i].Elapsed)
	}
	return last
}
