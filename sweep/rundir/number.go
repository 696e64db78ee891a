package rundir

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Number is a number that may be absent, or of which only a lower bound is known. The zero Number is absent: "not
// known" is never stored as 0.
type Number struct {
	v    float64
	kind numberKind
}

type numberKind uint8

const (
	absent numberKind = iota
	exact
	atLeast
)

// Exactly returns a number that is known; NaN and infinities are absent.
func Exactly(v float64) Number {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Number{}
	}
	return Number{v, exact}
}

// Over returns a number of which only a lower bound is known, because requests that count in it had not ended.
func Over(v float64) Number {
	n := Exactly(v)
	if n.kind == exact {
		n.kind = atLeast
	}
	return n
}

// Known reports whether the number is known exactly.
func (n Number) Known() bool { return n.kind == exact }

// Bound reports whether only a lower bound is known.
func (n Number) Bound() bool { return n.kind == atLeast }

// IsZero reports whether the number is absent; encoding/json's omitzero asks it.
func (n Number) IsZero() bool { return n.kind == absent }

// Value returns the number or its lower bound; NaN where it is absent.
func (n Number) Value() float64 {
	if n.kind == absent {
		return math.NaN()
	}
	return n.v
}

// Or returns the number or its lower bound; none where it is absent.
func (n Number) Or(none float64) float64 {
	if n.kind == absent {
		return none
	}
	return n.v
}

// Max returns the larger of two numbers, or the one that exists. Where either is a lower bound, so is the result: the
// number that is not known may be the larger one.
func Max(a, b Number) Number {
	switch {
	case a.kind == absent:
		return b
	case b.kind == absent:
		return a
	}
	return Number{max(a.v, b.v), max(a.kind, b.kind)}
}

// MarshalJSON writes a number, or null. A lower bound is an object, {"over": 9.8}, so that no reader takes it for the
// number itself; in a [Dist], lower bounds have a key of their own.
func (n Number) MarshalJSON() ([]byte, error) {
	switch n.kind {
	case exact:
		return strconv.AppendFloat(nil, n.v, 'g', -1, 64), nil
	case atLeast:
		return append(strconv.AppendFloat([]byte(`{"over":`), n.v, 'g', -1, 64), '}'), nil
	}
	return []byte("null"), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (n *Number) UnmarshalJSON(b []byte) error {
	if bytes.Equal(b, []byte("null")) {
		*n = Number{}
		return nil
	}
	if bytes.HasPrefix(b, []byte("{")) {
		var bound struct {
			Over *float64 `json:"over"`
		}
		if err := json.Unmarshal(b, &bound); err != nil || bound.Over == nil {
			return fmt.Errorf("%s is not a number", b)
		}
		*n = Over(*bound.Over)
		return nil
	}
	v, err := strconv.ParseFloat(string(b), 64)
	if err != nil {
		return fmt.Errorf("%s is not a number", b)
	}
	*n = Exactly(v)
	return nil
}

// Dist is the summary of a distribution: of the values of a metric.
type Dist struct {
	N    int    `json:"n"`
	Mean Number `json:"mean,omitzero"`
	Std  Number `json:"std,omitzero"` // population standard deviation
	Min  Number `json:"min,omitzero"`
	Max  Number `json:"max,omitzero"`
	P50  Number `json:"p50,omitzero"`
	P90  Number `json:"p90,omitzero"`
	P95  Number `json:"p95,omitzero"`
	P99  Number `json:"p99,omitzero"`
	P999 Number `json:"p999,omitzero"`

	// Digits is the number of significant digits of percentiles from a histogram; 0 where they are exact.
	Digits int `json:"digits,omitempty"`
	// Neff is the number of independent values that the N correlated ones are worth.
	Neff Number `json:"n_eff,omitzero"`
	// Censored counts the values of which only a lower bound is known; they are part of N.
	Censored int `json:"censored,omitempty"`
	// Unsupported names the percentiles with fewer than five independent values expected beyond them, and the mean where
	// its interval is not known or wide.
	Unsupported []string `json:"unsupported,omitempty"`
	// CI holds 95 % confidence intervals, by the name of the statistic.
	CI map[string][2]float64 `json:"ci,omitempty"`
}

// Named is one statistic of a Dist with its name.
type Named struct {
	Name   string
	Number *Number
}

// Numbers returns the statistics of d with their names, in the order of the file format.
func (d *Dist) Numbers() []Named {
	all := []Named{{"mean", &d.Mean}, {"std", &d.Std}, {"min", &d.Min}, {"max", &d.Max}}
	for _, p := range d.Percentiles() {
		all = append(all, p.Named)
	}
	return all
}

// Percentile is a percentile of a Dist, with the share of the values that are below it.
type Percentile struct {
	Named
	Share float64
}

// Percentiles returns the percentiles of d in the order of the file format.
func (d *Dist) Percentiles() []Percentile {
	return []Percentile{{Named{"p50", &d.P50}, 0.5}, {Named{"p90", &d.P90}, 0.9}, {Named{"p95", &d.P95}, 0.95},
		{Named{"p99", &d.P99}, 0.99}, {Named{"p999", &d.P999}, 0.999}}
}

// Get returns the statistic of that name, absent for an unknown name.
func (d *Dist) Get(name string) Number {
	for _, f := range d.Numbers() {
		if f.Name == name {
			return *f.Number
		}
	}
	return Number{}
}

// Supported reports whether there are enough values for the mean, or the percentile of that name.
func (d *Dist) Supported(name string) bool {
	return !slices.Contains(d.Unsupported, name)
}

// MeanPrecision is the half-width of the 95 % interval of a mean, as a share of it, up to which a mean is supported
// where no other was asked for.
const MeanPrecision = 0.25

// JudgeMean finds out whether the mean is supported: its 95 % interval is known, and no wider than the precision, a
// share of the mean, on either side. A lower bound is a mark of its own.
func (d *Dist) JudgeMean(precision float64) {
	d.Unsupported = slices.DeleteFunc(d.Unsupported, func(name string) bool { return name == "mean" })
	ci, ok := d.CI["mean"]
	if d.Mean.Known() && !(ok && (ci[1]-ci[0])/2 <= precision*d.Mean.Value()) {
		d.Unsupported = slices.Insert(d.Unsupported, 0, "mean")
	}
}

// distJSON keeps lower bounds apart from the numbers that are known.
type distJSON struct {
	*plainDist
	Over map[string]float64 `json:"over,omitempty"`
}

type plainDist Dist

// MarshalJSON writes d with lower bounds under "over".
func (d Dist) MarshalJSON() ([]byte, error) {
	out := distJSON{plainDist: (*plainDist)(&d)}
	for _, f := range d.Numbers() {
		if f.Number.Bound() {
			if out.Over == nil {
				out.Over = map[string]float64{}
			}
			out.Over[f.Name] = f.Number.Value()
			*f.Number = Number{} // d is a copy
		}
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (d *Dist) UnmarshalJSON(b []byte) error {
	*d = Dist{}
	in := distJSON{plainDist: (*plainDist)(d)}
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	for _, f := range d.Numbers() {
		if v, ok := in.Over[f.Name]; ok {
			*f.Number = Over(v)
		}
	}
	return nil
}
