package sweep

import (
	"errors"
	"slices"

	"llmsweep/client/note"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/measure"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
)

// mostClientLimited is how many stages in a row may show the client instead of the server. One or two are an accident
// of a busy machine.
const mostClientLimited = 3

// endAtClientLimit ends a sweep whose latest stages show the client: further ones would, too. Stages that were asked
// for are all measured.
func endAtClientLimit(x *experiment.Experiment) error {
	stages := x.Run().Stages
	latest := stages[max(0, len(stages)-mostClientLimited):]
	showsServer := func(st rundir.Stage) bool { return !measure.ByClient(st.Invalid) }
	if len(latest) < mostClientLimited || slices.ContainsFunc(latest, showsServer) {
		return nil
	}
	why := noteClientLimit.New(mostClientLimited, []note.Note{latest[mostClientLimited-1].Invalid})
	return experiment.NewEndError(why, "the client was the limit in the latest stages")
}

// keepAnswer turns the end of a sweep whose client is the limit into a warning, if a stage beside the floor shows the
// server.
func (x *sweeper) keepAnswer(err error) error {
	var end *experiment.EndError
	if !errors.As(err, &end) || !end.Why.Is(noteClientLimit) {
		return err
	}
	answered := func(st rundir.Stage) bool { return st.Role != rundir.Synchronous && saturation.Usable(&st) }
	if !slices.ContainsFunc(x.Run().Stages, answered) {
		return err
	}
	x.Warn(end.Why)
	return nil
}
