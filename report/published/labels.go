package published

import (
	"slices"
	"strconv"
	"strings"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

// setLabel records the line that a label of a run is from.
func setLabel(run *rundir.Run, key string, l rundir.Label) {
	if run.Source.Labels == nil {
		run.Source.Labels = map[string]rundir.Label{}
	}
	run.Source.Labels[key] = l
}

// Override replaces labels of a result by those that the user gives, and notes where the document says otherwise.
func Override(run *rundir.Run, flags rundir.Labels) {
	l := &run.Labels
	set := func(key, given, found string, put func()) {
		if given == "" {
			return
		}
		if found != "" && !strings.EqualFold(found, given) {
			run.Warnings = append(run.Warnings, noteFlagWins.New(key, given, found, run.Source.Labels[key].Line))
		}
		setLabel(run, key, rundir.Label{Text: "--label " + key + "=" + given})
		put()
	}
	set("model", flags.Model, l.Model, func() { l.Model = flags.Model })
	set("gpu", flags.GPU, l.GPU, func() { l.GPU = flags.GPU })
	set("gpus", countText(flags.GPUs), countText(l.GPUs), func() { l.GPUs = flags.GPUs })
	set("engine", flags.Engine, l.Engine, func() { l.Engine = flags.Engine })
	set("quant", flags.Quant, l.Quant, func() { l.Quant = flags.Quant })
	if flags.Price > 0 {
		l.Price = flags.Price
	}
}

// ImportNotes returns the contradictions that an import found, and how it made a run of tables.
func ImportNotes(run *rundir.Run) []note.Note {
	return slices.DeleteFunc(slices.Clone(run.Warnings), func(n note.Note) bool {
		return !slices.ContainsFunc([]note.Kind{noteContradiction, noteFlagWins, noteJoined, noteOutOfOrder,
			noteHardwareLater}, func(k note.Kind) bool { return k.Code == n.Code })
	})
}

// countText is empty for 0, as a label is.
func countText(n int) string {
	if n <= 0 {
		return ""
	}
	return strconv.Itoa(n)
}
