package rundir

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// Number is a number that may not exist, or of which only a lower bound is known. The zero Number does not exist:
// n/a is never 0.
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

// Exactly is a figure that is known. NaN and infinities are figures that do not exist.
func Exactly(v float64) Number {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Number{}
	}
	return Number{v, exact}
}

// Over is a figure of which only a lower bound is known, because requests that count in it had not ended.
func Over(v float64) Number {
	f := Exactly(v)
	if f.kind == exact {
		f.kind = atLeast
	}
	return f
}

// Known reports whether the figure is a bare number.
func (f Number) Known() bool { return f.kind == exact }

// Bound reports whether the figure is at least Value, and no more is known.
func (f Number) Bound() bool { return f.kind == atLeast }

// IsZero reports whether the figure does not exist; encoding/json's omitzero asks it.
func (f Number) IsZero() bool { return f.kind == absent }

// Value is the number, or its lower bound; NaN where the figure does not exist.
func (f Number) Value() float64 {
	if f.kind == absent {
		return math.NaN()
	}
	return f.v
}

// MarshalJSON writes a bare number, or null. A lower bound is an object, {"over": 9.8}, lest somebody take it for the
// figure; in a [Dist] the bounds stand under a key of their own.
func (f Number) MarshalJSON() ([]byte, error) {
	switch f.kind {
	case exact:
		return strconv.AppendFloat(nil, f.v, 'g', -1, 64), nil
	case atLeast:
		return append(strconv.AppendFloat([]byte(`{"over":`), f.v, 'g', -1, 64), '}'), nil
	}
	return []byte("null"), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (f *Number) UnmarshalJSON(b []byte) error {
	if bytes.Equal(b, []byte("null")) {
		*f = Number{}
		return nil
	}
	if bytes.HasPrefix(b, []byte("{")) {
		var bound struct {
			Over *float64 `json:"over"`
		}
		if err := json.Unmarshal(b, &bound); err != nil || bound.Over == nil {
			return fmt.Errorf("%s is no figure", b)
		}
		*f = Over(*bound.Over)
		return nil
	}
	v, err := strconv.ParseFloat(string(b), 64)
	if err != nil {
		return fmt.Errorf("%s is not a number", b)
	}
	*f = Exactly(v)
	return nil
}

// Dist sums up a distribution. Which figures are supported by enough samples is listed, and so is what is only
// known to be larger than some value.
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

	// Digits is how many significant digits the percentiles have that were counted in a histogram; 0 where they are exact.
	Digits int `json:"digits,omitempty"`
	// Neff is the number of independent samples that N correlated ones are worth.
	Neff Number `json:"n_eff,omitzero"`
	// Censored counts the samples of which only a lower bound is known; they are part of N.
	Censored int `json:"censored,omitempty"`
	// Unsupported names the percentiles that rest on fewer than five effective samples beyond them.
	Unsupported []string `json:"unsupported,omitempty"`
	// CI holds 95 % confidence intervals, by figure name.
	CI map[string][2]float64 `json:"ci,omitempty"`
}

// Named is one figure of a Dist with its name.
type Named struct {
	Name   string
	Number *Number
}

// Numbers lists the statistics of d by name, in the order of the file format.
func (d *Dist) Numbers() []Named {
	return []Named{
		{"mean", &d.Mean}, {"std", &d.Std}, {"min", &d.Min}, {"max", &d.Max},
		{"p50", &d.P50}, {"p90", &d.P90}, {"p95", &d.P95}, {"p99", &d.P99}, {"p999", &d.P999},
	}
}

// Get returns the figure of that name, absent where there is none.
func (d *Dist) Get(name string) Number {
	for _, f := range d.Numbers() {
		if f.Name == name {
			return *f.Number
		}
	}
	return Number{}
}

// Supported says whether the sample is large enough for that percentile.
func (d *Dist) Supported(name string) bool {
	for _, u := range d.Unsupported {
		if u == name {
			return false
		}
	}
	return true
}

// distJSON is Dist without its methods, and with the lower bounds that bare figures cannot say.
type distJSON struct {
	*plainDist
	Over map[string]float64 `json:"over,omitempty"`
}

type plainDist Dist

// MarshalJSON writes d, with figures that are lower bounds under "over".
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
