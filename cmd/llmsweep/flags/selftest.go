package flags

import (
	"fmt"
	"os"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/progress"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/selftest"
)

// SelftestHelper is the hidden command of the self-test's server.
const SelftestHelper = "selftest-helper"

// HelperCommand returns the command line of the self-test's server.
func HelperCommand() ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("this program cannot find its own file to start it again: %w", err)
	}
	return []string{self, SelftestHelper}, nil
}

// Selftest holds the flag of the self-test that a measurement starts with.
type Selftest struct {
	NoSelftest bool `name:"no-selftest" help:"Skip the two-second test of this client." hidden:"" group:"Result"`
}

// RunSelftest runs the quick self-test and keeps its result in run. A self-test that fails leaves a note and does not stop the
// measurement.
func (f *Selftest) RunSelftest(c *console.Console, width int, run *rundir.Run, view *progress.View, l lang.Lang) {
	if f.NoSelftest {
		return
	}
	command, err := HelperCommand()
	var r *selftest.Result
	if err == nil {
		r, err = selftest.Run(c.Ctx, selftest.Quick(command, width))
	}
	switch {
	case c.Ctx.Err() != nil: // the measurement, which is interrupted too, reports it
	case err != nil:
		view.Note(findings.SelftestFailed(err, l))
	default:
		run.Client.Selftest = &r.Trust
		if r.Trust.Streams == 0 { // else a plan that asks for more than was shown is warned of
			view.Note(findings.SelftestVerdict(run.Client.Selftest, l))
		}
	}
}
