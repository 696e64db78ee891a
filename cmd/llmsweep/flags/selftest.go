package flags

import (
	"context"
	"fmt"
	"os"

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

// Selftest holds the flag of the self-test that belongs to a measurement.
type Selftest struct {
	NoSelftest bool `name:"no-selftest" help:"Skip the two-second test of this client." hidden:"" group:"Result"`
}

// RunSelftest runs the quick self-test for up to a number of streams. It is nil where it was not wanted or failed: that
// leaves a note and does not stop the measurement.
func (f *Selftest) RunSelftest(ctx context.Context, width int, view *progress.View, l lang.Lang) *rundir.Selftest {
	if f.NoSelftest {
		return nil
	}
	command, err := HelperCommand()
	var r *selftest.Result
	if err == nil {
		r, err = selftest.Run(ctx, selftest.Quick(command, width))
	}
	if ctx.Err() != nil { // the measurement, which is interrupted too, reports it
		return nil
	}
	if err != nil {
		view.Note(findings.SelftestFailed(err, l))
		return nil
	}
	if r.Trust.Streams == 0 { // else a plan that asks for more than was shown is warned of
		view.Note(findings.SelftestVerdict(&r.Trust, l))
	}
	return &r.Trust
}
