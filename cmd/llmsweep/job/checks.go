package job

import (
	"errors"
	"fmt"

	"llmsweep/cmd/llmsweep/flags"
	"llmsweep/sweep/grade"
	"llmsweep/sweep/slo"
)

func (j *Job) workload() (*flags.WorkloadOptions, error) {
	l, err := j.Workload.Parse()
	if err != nil {
		return nil, err
	}
	l.Graded = j.Workload.Grades()
	return l, errors.Join(j.checkAccuracy(l.Graded), j.checkSessions())
}

// grader returns what grades the answers to a workload; nil where no row tells what is right.
func (one *side) grader() *grade.Grader {
	if one.Workload.Describe().Graded == 0 {
		return nil
	}
	return &grade.Grader{Clean: one.Client.HideSecrets}
}

// checkAccuracy refuses an objective for accuracy where no answer is graded.
func (j *Job) checkAccuracy(graded bool) error {
	if t := slo.Of(slo.Accuracy, j.Plan.SLO); t != nil && !graded {
		return fmt.Errorf("--slo '%s' is about graded answers: give a --dataset whose rows have an answer "+
			"(llmsweep help loads)", t)
	}
	return nil
}

// checkSessions refuses an objective for sessions where each request is one of its own.
func (j *Job) checkSessions() error {
	if t := slo.Of(slo.Sessions, j.Plan.SLO); t != nil && j.Workload.Turns == "" && !j.Workload.MultiTurn &&
		j.Replay == nil {
		return fmt.Errorf("--slo '%s' is about conversations: give --turns, or --dataset with --multi-turn", t)
	}
	return nil
}
