package table

import (
	"strconv"

	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
)

// Number returns a cell with a number in a fixed unit.
func Number(f rundir.Number, unit string, p lang.Printer) Cell {
	if f.IsZero() {
		return Cell{Text: lang.Absent, Tone: Faint}
	}
	return Cell{Text: lang.Number(f, p), Unit: unit}
}

// Seconds returns a cell with a duration in ms or s.
func Seconds(f rundir.Number) Cell {
	digits, unit := lang.TimeUnit(f)
	if unit == "" {
		return Cell{Text: digits, Tone: Faint}
	}
	return Cell{Text: digits, Unit: unit}
}

// Count returns a cell with a count.
func Count(n int) Cell { return Cell{Text: strconv.Itoa(n)} }

// Percent returns a cell with a share from 0 to 1 in per cent.
func Percent(f rundir.Number) Cell { return Number(lang.Scale(f, 100), "%", lang.Rate) }
