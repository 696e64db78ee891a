package sweep

import (
	"context"
	"errors"

	"llmsweep/client/note"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/measure"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
)

// mostSpoiled is how many rows in a row may show the client instead of the server. One or two are an accident of a busy machine.
const mostSpoiled = 3

// Measure measures a stage as [experiment.Experiment.Measure] does. It ends the sweep where the latest stages say more of the client than of the
// server: further ones would, too.
func (x *sweeper) Measure(ctx context.Context, s experiment.Stage) (rundir.Stage, error) {
	st, err := x.Experiment.Measure(ctx, s)
	if err == nil && x.plansSweep() && spoiledLast(x.Run().Stages) >= mostSpoiled {
		err = experiment.NewEndError(noteClientLimit.New(mostSpoiled, []note.Note{st.Invalid}), "the client was the limit in the latest stages")
	}
	return st, err
}

// plansSweep reports whether the stages are the sweep's choice. Those that were asked for are all measured.
func (x *sweeper) plansSweep() bool { return x.Run().Plan.Kind == rundir.KindSweep }

// spoiledLast returns how many of the latest stages the client spoiled.
func spoiledLast(stages []rundir.Stage) (n int) {
	for i := len(stages) - 1; i >= 0 && measure.ByClient(stages[i].Invalid); i-- {
		n++
	}
	return n
}

// keepAnswer turns the end of a sweep whose client is the limit into a warning, if a stage beside the floor shows the server.
func (x *sweeper) keepAnswer(err error) error {
	var planned *experiment.EndError
	if !errors.As(err, &planned) || !planned.Why.Is(noteClientLimit) {
		return err
	}
	stages := x.Run().Stages
	for i := range stages {
		if stages[i].Role != rundir.Floor && saturation.Usable(&stages[i]) {
			x.Warn(planned.Why)
			return nil
		}
	}
	return err
}
