package choose

import (
	"fmt"
	"slices"
	"strings"

	"llmsweep/report/setup"
)

// FilterSetups returns the setups that have all of these labels, each written as key=value.
func FilterSetups(setups []setup.Setup, labels []string) ([]setup.Setup, error) {
	for _, text := range labels {
		o, err := ParseLabelFilter(text)
		if err != nil {
			return nil, err
		}
		setups = slices.DeleteFunc(setups, func(s setup.Setup) bool { return !o.Matches(setup.Labels(s.Run)) })
	}
	if len(setups) == 0 {
		return nil, fmt.Errorf("--only %s: no result has these labels; llmsweep compare lists the results",
			strings.Join(labels, ","))
	}
	return setups, nil
}
