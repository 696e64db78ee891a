package job

import (
	"errors"
	"fmt"

	"llmsweep/sweep/experiment"
	"llmsweep/sweep/fidelity"
	"llmsweep/sweep/slo"
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
	if node, err := j.Cluster.Place(j.Env); err == nil && node != nil {
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
