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
	N     int           `json:"n,omitempty"`        // measurements, where Value and Most are their range
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

// middle is the mean of one or two measurements.
func (f Figure) middle() float64 { return (f.Value.Value() + f.Most.Or(f.Value.Value())) / 2 }

// of is the figure of another metric that is so many times this one.
func (f Figure) of(key string, times float64) Figure {
	f.Key, f.se = key, f.se*times
	for _, n := range []*rundir.Number{&f.Value, &f.Most, &f.Low, &f.High} {
		*n = lang.Scale(*n, times)
	}
	return f
}

// rangeOf is the range of a number in several stages. It has no standard error.
func rangeOf(stages []*rundir.Stage, of func(*rundir.Stage) rundir.Number) (f Figure) {
	low, high := math.Inf(1), math.Inf(-1)
	f.se, f.Repeated = math.NaN(), true
	for _, s := range stages {
		if v := of(s); v.Known() {
			low, high, f.N = min(low, v.Value()), max(high, v.Value()), f.N+1
		}
	}
	if f.Value = rundir.Exactly(low); high > low {
		f.Most = rundir.Exactly(high)
	}
	return f
}

// text is the figure, or the lowest and the highest of several measurements, with one unit where they share it.
func (f Figure) text(print func(rundir.Number) table.Cell) lang.Text {
	low, high := print(f.Value), print(f.Most)
	switch {
	case f.Most.IsZero() || low.Whole() == high.Whole():
		return low.Whole()
	case low.Unit == high.Unit:
		low.Unit = ""
	}
	return low.Whole().Plus(lang.Same("-")).Plus(high.Whole())
}

func (f Figure) cell(print func(rundir.Number) table.Cell) table.Cell {
	cell := print(f.Value)
	if f.Most.Known() {
		cell = table.Cell{Text: f.text(print)}
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
