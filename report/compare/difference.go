package compare

import (
	"slices"
	"strings"

	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// Difference is the change of a metric, for a drawing.
type Difference struct {
	Name  lang.Text
	Text  string        // with its interval; ~ where none is shown
	Ratio rundir.Number // new to old, minus 1; of errors the difference of the shares
	Low   rundir.Number // 95 % interval; absent where there is none
	High  rundir.Number
	Shown bool
	Bound bool // one side is a lower bound, so the difference is one too, without an interval
	// Better reports whether a rise is good: more output is, a higher latency is not.
	Better bool
}

// HigherIsBetter reports whether more of a metric is better, by its key.
func HigherIsBetter(key string) bool {
	longer := strings.HasPrefix(key, "ttf") || strings.HasPrefix(key, "itl") || strings.HasPrefix(key, "latency")
	return !longer && key != KeyErrors && key != keyStalls
}

// MetricFormat returns the name of a metric by its key, and how it is printed with its unit.
func MetricFormat(key string) (name lang.Text, cell func(rundir.Number) table.Cell) {
	i := slices.IndexFunc(columns(), func(c column) bool { return c.key == key })
	if i < 0 {
		return lang.Same(key), fixed(2)
	}
	c := columns()[i]
	return c.Heading(), func(n rundir.Number) table.Cell {
		cell := c.cell(n)
		if cell.Unit == "" {
			cell.Unit = c.unit
		}
		return cell
	}
}

// Differences returns those of one setup from another, which it names, in the order of the tables.
func (c *Comparison) Differences(setup string) (from string, all []Difference) {
	for _, key := range Keys() {
		i := slices.IndexFunc(c.Changes, func(ch Change) bool { return ch.Setup == setup && ch.Key == key })
		if i < 0 {
			continue
		}
		name, _ := MetricFormat(key)
		ch := c.Changes[i]
		from = ch.From
		if ch.Bound != "" { // Low and High are the ends of what rows show, and no interval
			ch.Low, ch.High = rundir.Number{}, rundir.Number{}
		}
		all = append(all, Difference{Name: name, Text: ch.String(), Ratio: ch.Ratio, Low: ch.Low, High: ch.High,
			Shown: ch.Shown != nil && *ch.Shown, Bound: ch.Bound != "", Better: HigherIsBetter(key)})
	}
	return from, all
}
