package compare

import (
	"math"

	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// Figure is a metric of a configuration, or of one of its loads, with what is known of it.
type Figure struct {
	Key   string        `json:"key"`
	Value rundir.Number `json:"value"`              // of several measurements the lowest
	Most  rundir.Number `json:"most,omitzero"`      // the highest of them; absent where all agree
	Low   rundir.Number `json:"low,omitzero"`       // 95 % interval
	High  rundir.Number `json:"high,omitzero"`      //
	Open  bool          `json:"at_least,omitempty"` // the rows end before the plateau: it may be higher
	// Repeated says that Value and Most are those of repeats; else rows disagree.
	Repeated bool `json:"repeats,omitempty"`
	// Burst is what the row throughput of a document printed, which sends all requests at once.
	Burst   rundir.Number `json:"throughput_row,omitzero"`
	Terms   string        `json:"terms,omitempty"` // of the SLO within which it holds, or that it is about
	Where   string        `json:"where,omitempty"` // the rows it rests on
	Doubted bool          `json:"doubted,omitempty"`
	Steep   bool          `json:"rows_apart,omitempty"` // read between rows that are too far apart for an interval
	se      float64       // standard error, NaN where there is none
}

func (f Figure) known() bool { return !f.Value.IsZero() }

// disagrees reports whether rows contradict each other, so that it lies between two of them.
func (f Figure) disagrees() bool { return f.Most.Known() && !f.Repeated }

// top is the highest that the figure may be.
func (f Figure) top() float64 {
	if f.Open {
		return math.Inf(1)
	}
	return f.Most.Or(f.Value.Value())
}

// of returns this figure times a factor, as that of another metric.
func (f Figure) of(key string, times float64) Figure {
	f.Key, f.se = key, f.se*times
	for _, n := range []*rundir.Number{&f.Value, &f.Most, &f.Low, &f.High} {
		*n = lang.Scale(*n, times)
	}
	return f
}

// cell is the figure, or the lowest and the highest of several measurements, with its marks.
func (f Figure) cell(print func(rundir.Number) table.Cell) table.Cell {
	cell := print(f.Value)
	if f.Most.Known() {
		cell = table.Cell{Text: rangeText(f.Value, f.Most, print)}
	}
	switch {
	case f.Open:
		cell.Mark = markRising
	case f.disagrees():
		cell.Mark = markDisagreement
	}
	if f.Doubted {
		cell.Mark += MarkDoubted
	}
	return cell
}

// Range is the lowest and the highest of N measurements.
type Range struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	N    int     `json:"n"`
}

func rangeOf(stages []*rundir.Stage, of func(*rundir.Stage) rundir.Number) (r Range) {
	for _, s := range stages {
		n := of(s)
		switch v := n.Value(); {
		case n.Known() && r.N == 0:
			r = Range{v, v, 1}
		case n.Known():
			r = Range{min(r.Low, v), max(r.High, v), r.N + 1}
		}
	}
	return r
}

// middle is the mean of one or two measurements.
func (r Range) middle() float64 { return (r.Low + r.High) / 2 }

func (r Range) text(print func(rundir.Number) table.Cell) lang.Text {
	return rangeText(rundir.Exactly(r.Low), rundir.Exactly(r.High), print)
}

// rangeText is two numbers with one unit where they share it, or one where they look alike.
func rangeText(low, high rundir.Number, print func(rundir.Number) table.Cell) lang.Text {
	a, b := print(low), print(high)
	switch {
	case a.Whole() == b.Whole():
		return a.Whole()
	case a.Unit == b.Unit:
		a.Unit = ""
	}
	return a.Whole().Plus(lang.Same("-")).Plus(b.Whole())
}
