package choose

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"llmsweep/report/inputs"
	"llmsweep/report/setup"
	"llmsweep/sweep/fidelity"
	"llmsweep/sweep/saturation"
)

// AnswerFilter compares the answers of all setups with those of the run directory baseline. conditions say how near they must be.
func AnswerFilter(setups []setup.Setup, conditions []string, baseline string) (a Answers, err error) {
	for _, text := range conditions {
		k, err := fidelity.ParseCondition(text)
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
	run, err := saturation.Reopen(baseline)
	if err != nil {
		return a, err
	}
	return a, a.Compare(run, setups)
}

// OnlySetups returns the setups that have all of these labels, each written as key=value.
func OnlySetups(setups []setup.Setup, labels []string) ([]setup.Setup, error) {
	for _, text := range labels {
		o, err := ParseOnly(text)
		if err != nil {
			return nil, err
		}
		setups = slices.DeleteFunc(setups, func(s setup.Setup) bool { return !o.Takes(inputs.Named(s.Run)) })
	}
	if len(setups) == 0 {
		return nil, fmt.Errorf("--only %s: no result has these labels; llmsweep compare lists the results", strings.Join(labels, ","))
	}
	return setups, nil
}
