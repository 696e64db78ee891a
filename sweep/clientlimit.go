package sweep

import (
	"errors"
	"slices"
	"strings"
	"time"

	"llmsweep/client/note"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/measure"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
)

// A stage in which the client was late is measured once more, and the plan goes by the second measurement. If the
// client was late again, the sweep goes on without that stage.

// late reports whether a stage or step is to be repeated. A quick hold needs the full server of the stage before.
func late(name string, invalid note.Note) bool {
	return measure.ByClient(invalid) && !isAgain(name) && !strings.HasPrefix(name, rundir.QuickPrefix)
}

func isAgain(name string) bool { return strings.HasSuffix(name, experiment.AgainSuffix) }

func lateStage(st rundir.Stage) bool { return late(st.Name, st.Invalid) }

func lateStep(step rundir.SearchStep) bool { return late(step.Name, step.Invalid) }

// repeat returns a run in which repetitions stand in the places of what they repeat, and the next repetition, if one is
// to be measured.
func (c *Config) repeat(run *rundir.Run, left time.Duration) (seen *rundir.Run, s experiment.Stage, ok bool) {
	if !slices.ContainsFunc(run.Stages, lateStage) && !slices.ContainsFunc(run.Search, lateStep) {
		return run, s, false
	}
	all := *run
	all.Stages = inPlace(run.Stages, func(st *rundir.Stage) string { return st.Name })
	all.Search = inPlace(run.Search, func(st *rundir.SearchStep) string { return st.Name })
	before, name, rate := all, "", rundir.Number{}
	stage, step := slices.IndexFunc(all.Stages, lateStage), slices.IndexFunc(all.Search, lateStep)
	switch {
	case stage == 0:
		before.Stages, before.Search, name = nil, nil, all.Stages[0].Name
	case step >= 0:
		before.Stages, before.Search, name = all.Stages[:1], all.Search[:step], all.Search[step].Name
	case stage > 0:
		before.Stages, name, rate = all.Stages[:stage], all.Stages[stage].Name, all.Stages[stage].Rate
	default:
		return &all, s, false
	}
	s, ok = c.next(&before, left)
	if ok && s.Name != name { // since then the plan has learned more
		if ok = rate.Known() && s.Load.MeanRate() > 0; ok {
			s.Load = arrival.Poisson{Rate: rate.Value()}
		}
	}
	s.Name, s.Fresh = name+experiment.AgainSuffix, true
	return &all, s, ok
}

// inPlace moves repetitions to the places of what they repeat.
func inPlace[T any](all []T, name func(*T) string) (kept []T) {
	for i := range all {
		first, again := strings.CutSuffix(name(&all[i]), experiment.AgainSuffix)
		if k := slices.IndexFunc(kept, func(o T) bool { return name(&o) == first }); again && k >= 0 {
			kept[k] = all[i]
		} else {
			kept = append(kept, all[i])
		}
	}
	return kept
}

// mostClientLimited is how many loads in a row may show the client instead of the server, each measured twice.
const mostClientLimited = 3

// endAtClientLimit ends a sweep whose latest loads show the client: further ones would, too. Stages that were asked for
// are all measured.
func endAtClientLimit(x *experiment.Experiment) error {
	loads := slices.DeleteFunc(slices.Clone(x.Run().Stages), lateStage)
	latest := loads[max(0, len(loads)-mostClientLimited):]
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
