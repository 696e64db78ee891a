package sweep

import (
	"errors"

	"llmsweep/client/note"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/measure"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
)

// mostSpoiled is how many rows in a row may show the client instead of the server. One or two are an accident of a busy
// machine.
const mostSpoiled = 3

// endSpoiled ends a sweep whose latest stages say more of the client than of the server: further ones would, too.
// Stages that were asked for, and are not the sweep's choice, are all measured.
func endSpoiled(x *experiment.Experiment) error {
	stages := x.Run().Stages
	if countSpoiled(stages) < mostSpoiled {
		return nil
	}
	why := noteClientLimit.New(mostSpoiled, []note.Note{stages[len(stages)-1].Invalid})
	return experiment.NewEndError(why, "the client was the limit in the latest stages")
}

// countSpoiled returns how many of the latest stages the client spoiled.
func countSpoiled(stages []rundir.Stage) (n int) {
	for i := len(stages) - 1; i >= 0 && measure.ByClient(stages[i].Invalid); i-- {
		n++
	}
	return n
}

// keepAnswer turns the end of a sweep whose client is the limit into a warning, if a stage beside the floor shows the
// server.
func (x *sweeper) keepAnswer(err error) error {
	var planned *experiment.EndError
	if !errors.As(err, &planned) || !planned.Why.Is(noteClientLimit) {
		return err
	}
	stages := x.Run().Stages
	for i := range stages {
		if stages[i].Role != rundir.Synchronous && saturation.Usable(&stages[i]) {
			x.Warn(planned.Why)
			return nil
		}
	}
	return err
}
