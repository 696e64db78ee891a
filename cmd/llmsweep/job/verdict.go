package job

import (
	"errors"
	"strings"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/report/compare"
)

// Verdict returns an error that names the gates that differences fail, with exit code [console.Missed]; or else those
// that cannot be judged, with [console.Undecided].
func Verdict(all []compare.Difference, gates []compare.Gate) error {
	failed, unjudged := compare.Judge(all, gates)
	switch {
	case len(failed) > 0:
		return console.Exit(console.Missed, errors.New(strings.Join(append(failed, unjudged...), "; ")))
	case len(unjudged) > 0:
		return console.Exit(console.Undecided, errors.New(strings.Join(unjudged, "; ")))
	}
	return nil
}
