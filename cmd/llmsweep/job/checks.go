package job

import (
	"errors"
	"fmt"

	"llmsweep/cmd/llmsweep/flags"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/fidelity"
	"llmsweep/sweep/grade"
	"llmsweep/sweep/slo"
	"llmsweep/sweep/workload"
)

// check returns what asks the canaries; nil for none.
func (j *Job) check() (*fidelity.Check, error) {
	if j.Canaries == nil {
		return nil, nil
	}
	check, err := j.Canaries.Check(j.Plan.Seed)
	if t := slo.Of(slo.Fidelity, j.Plan.SLO); t != nil && check == nil && err == nil {
		return nil, fmt.Errorf("--slo '%s' is about the answers to canaries: add --fidelity", t)
	}
	if check == nil || err != nil {
		return nil, err
	}
	if node, err := j.Cluster.Place(j.World().Env); err == nil && node != nil {
		return nil, errOneMachine
	}
	return check, nil
}

var errOneMachine = errors.New("--fidelity works on one machine: several ranks cannot share canaries yet; leave it out")

// planned returns how many requests the canaries take before the first stage, and their tokens.
func planned(c *fidelity.Check, count func(string) int) (requests int, t experiment.SpendTokens) {
	if c == nil {
		return 0, t
	}
	passes := len(c.Passes())
	for _, canary := range c.Set {
		requests += passes
		t.Prompt += int64(passes * count(canary.Prompt))
		t.Output += int64(passes * canary.Tokens)
	}
	return requests, t
}

// workload parses the flags of the workload.
func (j *Job) workload() (*flags.WorkloadOptions, error) {
	l, err := j.Workload.Parse(j.Target.Speaks(j.Urls[0]))
	if err == nil {
		l.Graded = j.Canaries.Grades(j.Workload) && j.oneMachine()
		err = errors.Join(j.checkAccuracy(l.Graded), j.checkSessions())
	}
	return l, err
}

// oneMachine reports whether no other rank takes part: answers are compared where they arrive.
func (j *Job) oneMachine() bool {
	node, err := j.Cluster.Place(j.World().Env)
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

// checkSessions returns why an objective for sessions cannot be judged: each request stands alone. Without it the result is nil.
func (j *Job) checkSessions() error {
	if t := slo.Of(slo.Sessions, j.Plan.SLO); t != nil && j.Workload.Turns == "" && !j.Workload.MultiTurn && j.Replay == nil {
		return fmt.Errorf("--slo '%s' is about conversations: give --turns, or --dataset with --multi-turn", t)
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
