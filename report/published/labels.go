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
func Override(run *rundir.Run, by rundir.Labels) {
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
	set("model", by.Model, l.Model, func() { l.Model = by.Model })
	set("gpu", by.GPU, l.GPU, func() { l.GPU = by.GPU })
	set("gpus", countText(by.GPUs), countText(l.GPUs), func() { l.GPUs = by.GPUs })
	set("engine", by.Engine, l.Engine, func() { l.Engine = by.Engine })
	set("quant", by.Quant, l.Quant, func() { l.Quant = by.Quant })
	if by.Price > 0 {
		l.Price = by.Price
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
