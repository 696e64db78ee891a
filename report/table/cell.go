package table

import (
	"strconv"

	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
)

// Literal returns a cell with a text that is the same in both languages.
func Literal(s string) Cell { return Cell{Text: lang.Same(s)} }

// Absent returns a cell for what was not measured.
func Absent() Cell { return Cell{Text: lang.Same(lang.Absent), Tone: Faint} }

// None returns a cell for what there is none of.
func None() Cell { return Cell{Text: lang.Same("-"), Tone: Faint} }

// Number returns a cell with a number in a fixed unit.
func Number(f rundir.Number, unit string, p lang.Printer) Cell {
	if f.IsZero() {
		return Absent()
	}
	return Cell{Text: lang.Same(lang.Number(f, p)), Unit: unit, Bound: f.Bound()}
}

// Seconds returns a cell with a duration in ms or s.
func Seconds(f rundir.Number) Cell {
	digits, unit := lang.TimeUnit(f)
	if unit == "" {
		return Absent()
	}
	return Cell{Text: lang.Same(digits), Unit: unit, Bound: f.Bound()}
}

// Count returns a cell with a count.
func Count(n int) Cell { return Literal(strconv.Itoa(n)) }

// Percent returns a cell with a share from 0 to 1 in per cent.
func Percent(f rundir.Number) Cell { return Number(lang.Scale(f, 100), "%", lang.Rate) }

// Statistic returns a cell with a mean or a percentile of durations, marked where too few samples support it.
func Statistic(d *rundir.Dist, name string) Cell { return statistic(d.Get(name), d, name) }

// InterToken returns a cell with the mean time between tokens, marked as that of their distribution is.
func InterToken(mean rundir.Number, d *rundir.Dist) Cell { return statistic(mean, d, "mean") }

func statistic(n rundir.Number, d *rundir.Dist, name string) Cell {
	c := Seconds(n)
	if !n.IsZero() && !d.Supported(name) {
		c.Mark = MarkUnsupported
	}
	return c
}
