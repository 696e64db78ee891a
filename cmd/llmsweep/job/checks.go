package job

import (
	"errors"
	"fmt"

	"llmsweep/cmd/llmsweep/flags"
	"llmsweep/sweep/grade"
	"llmsweep/sweep/slo"
)

// workload parses the flags of the workload.
func (j *Job) workload() (*flags.WorkloadOptions, error) {
	l, err := j.Workload.Parse(j.Target.Speaks(j.Urls[0]))
	if err == nil {
		l.Graded = j.Workload.Grades() && j.oneMachine()
		err = errors.Join(j.checkAccuracy(l.Graded), j.checkSessions())
	}
	return l, err
}

// oneMachine reports whether no other rank takes part: answers are graded where they arrive.
func (j *Job) oneMachine() bool {
	node, err := j.Cluster.Place(j.World().Env)
	return err == nil && node == nil
}

// grader returns what grades the answers to a workload; nil where no row tells what is right.
func (one *side) grader() *grade.Grader {
	if one.Workload.Describe().Graded == 0 {
		return nil
	}
	return &grade.Grader{Clean: one.Client.HideSecrets}
}

// checkAccuracy returns why an objective for accuracy cannot be judged: no question is graded. Without it the result is
// nil.
func (j *Job) checkAccuracy(graded bool) error {
	if t := slo.Of(slo.Accuracy, j.Plan.SLO); t != nil && !graded {
		return fmt.Errorf("--slo '%s' is about graded answers: give a --dataset whose rows have an answer, on one machine "+
			"(llmsweep help loads)", t)
	}
	return nil
}

// checkSessions returns why an objective for sessions cannot be judged: each request stands alone. Without it the
// result is nil.
func (j *Job) checkSessions() error {
	if t := slo.Of(slo.Sessions, j.Plan.SLO); t != nil && j.Workload.Turns == "" && !j.Workload.MultiTurn &&
		j.Replay == nil {
		return fmt.Errorf("--slo '%s' is about conversations: give --turns, or --dataset with --multi-turn", t)
	}
	return nil
}
