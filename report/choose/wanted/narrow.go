package wanted

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"llmsweep/report/choose"
	"llmsweep/report/curve"
	"llmsweep/report/inputs"
	"llmsweep/sweep/answer"
	"llmsweep/sweep/fidelity/drift"
)

// Answers compares the answers of all setups with those of the run directory baseline. conditions say how near they must be.
func Answers(setups []curve.Setup, conditions []string, baseline string) (a choose.Answers, err error) {
	for _, text := range conditions {
		k, err := drift.ParseCondition(text)
		if err != nil {
			return a, fmt.Errorf("--fidelity %w", err)
		}
		a.Conditions = append(a.Conditions, k)
	}
	switch {
	case baseline == "" && len(a.Conditions) == 0:
		return a, nil
	case baseline == "":
		return a, errors.New("--fidelity compares answers with those of a reference: name its run directory with --baseline DIR")
	}
	a.Baseline = baseline
	run, err := answer.Reopen(baseline)
	if err != nil {
		return a, err
	}
	return a, a.Compare(run, setups)
}

// Only returns the setups that have all of these labels, each written as key=value.
func Only(setups []curve.Setup, labels []string) ([]curve.Setup, error) {
	for _, text := range labels {
		o, err := choose.ParseOnly(text)
		if err != nil {
			return nil, err
		}
		setups = slices.DeleteFunc(setups, func(s curve.Setup) bool { return !o.Takes(inputs.Named(s.Run)) })
	}
	if len(setups) == 0 {
		return nil, fmt.Errorf("--only %s: no result has these labels; llmsweep compare lists the results", strings.Join(labels, ","))
	}
	return setups, nil
}
