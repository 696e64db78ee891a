package job

import (
	"fmt"

	"llmsweep/cmd/llmsweep/flags"
	"llmsweep/sweep/grade"
	"llmsweep/sweep/slo"
	"llmsweep/sweep/workload"
)

// workload parses the flags of the workload.
func (j *Job) workload() (*flags.WorkloadOptions, error) {
	l, err := j.Workload.Parse()
	if err == nil {
		l.Graded = j.Canaries.Grades(j.Workload) && j.oneMachine()
		err = j.checkAccuracy(l.Graded)
	}
	return l, err
}

// oneMachine reports whether no other rank takes part: answers are compared where they arrive.
func (j *Job) oneMachine() bool {
	node, err := j.Cluster.Place(j.Env)
	return err == nil && node == nil
}

// grades returns what grades the answers to a workload; nil where no row tells what is right.
func (j *Job) grades(w workload.Workload) *grade.Check {
	d, ok := w.(*workload.Dataset)
	if !ok || d.Graded() == 0 {
		return nil
	}
	return grade.New(grade.Options{Source: d.Stage, Rows: d.Rows(), Items: min(j.Canaries.Graded, d.Graded())})
}

// checkAccuracy returns why an objective for accuracy cannot be judged: no question is graded. Without it the result is nil.
func (j *Job) checkAccuracy(graded bool) error {
	if t := slo.Of(slo.Accuracy, j.Plan.SLO); t != nil && !graded {
		return fmt.Errorf("--slo '%s' is about graded answers: give a --dataset whose rows have an answer, on one machine and not with --graded 0 (llmsweep help fidelity)", t)
	}
	return nil
}

// hypotheses returns how many hypotheses on answers are tested: one for each stage, and one for all together.
func (j *Job) hypotheses() int {
	if n := j.needs().stages; n > 1 {
		return n + 1
	}
	return 1
}
