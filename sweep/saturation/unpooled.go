package saturation

import (
	"slices"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

// Notes on rows that are not comparable, because the server changed between them.
var (
	noteLatestAlone = note.Kind{Code: "saturation.latest-alone", Args: []string{"stage"}}
	noteNotPooled   = note.Kind{Code: "repeats.not-pooled"}

	// Exceeded marks a ceiling that a later row exceeded. It stands in the warnings of the stage that measured the ceiling.
	Exceeded = note.Kind{Code: "ceiling.exceeded", Args: []string{"completed", "later", "more"}}
)

// exceeds is how much more a later row must complete than the ceiling, besides that their intervals are apart: less is within what stages of
// one server differ by (rhythm).
const exceeds = 1.05

// unpooled returns the latest of the rows alone where the server changed during the sweep: a mean of rows before and after would describe
// neither.
func (f *finder) unpooled(rows []*rundir.Stage) []*rundir.Stage {
	if !f.changed || len(rows) < 2 {
		return rows
	}
	latest := slices.MaxFunc(rows, func(a, b *rundir.Stage) int { return int(a.Started) - int(b.Started) })
	f.note(noteLatestAlone.New(latest.Name))
	return []*rundir.Stage{latest}
}

// MarkCeiling adds a note to the stage that measured the ceiling where a later one completed more.
func MarkCeiling(stages []rundir.Stage) {
	ceiling := ceilingOf(stages)
	if ceiling == nil || !ceiling.Progress.High.Known() {
		return
	}
	var most *rundir.Stage
	for i := range stages {
		st := &stages[i]
		p := st.Progress
		if st.Started <= ceiling.Started || !Usable(st) || !p.Low.Known() || p.Low.Value() <= ceiling.Progress.High.Value() ||
			p.Rate.Value() < exceeds*ceiling.Progress.Rate.Value() {
			continue
		}
		if most == nil || p.Rate.Value() > most.Progress.Rate.Value() {
			most = st
		}
	}
	ceiling.Warnings = slices.DeleteFunc(ceiling.Warnings, func(n note.Note) bool { return n.Is(Exceeded) })
	if most != nil {
		ceiling.Warnings = append(ceiling.Warnings, Exceeded.New(ceiling.Progress.Rate.Value(), most.Name, most.Progress.Rate.Value()))
	}
}

// repeated returns a note where a changed server was measured several times at one load.
func repeated(run *rundir.Run) (n note.Note) {
	if len(changes(run)) > 0 && slices.ContainsFunc(run.Stages, func(st rundir.Stage) bool { return st.Repeat > 1 }) {
		return noteNotPooled.New()
	}
	return n
}

// Unlike reports whether the repetitions of a run are not comparable, because the server changed between them.
func Unlike(run *rundir.Run) bool {
	return slices.ContainsFunc(run.Warnings, func(n note.Note) bool { return n.Is(noteNotPooled) })
}
