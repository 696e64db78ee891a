package table

import (
	"strconv"

	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
)

// Number is a cell with a figure in a fixed unit.
func Number(f rundir.Number, unit string, p lang.Printer) Cell {
	if f.IsZero() {
		return Cell{Text: lang.Absent, Tone: Faint}
	}
	return Cell{Text: lang.Number(f, p), Unit: unit}
}

// Seconds is a cell with a duration in the unit that reads best.
func Seconds(f rundir.Number) Cell {
	digits, unit := lang.TimeUnit(f)
	if unit == "" {
		return Cell{Text: digits, Tone: Faint}
	}
	return Cell{Text: digits, Unit: unit}
}

func Count(n int) Cell { return Cell{Text: strconv.Itoa(n)} }

func Percent(f rundir.Number) Cell { return Number(lang.Scale(f, 100), "%", lang.Rate) }
