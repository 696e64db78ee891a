// Puts what a twin predicts of the stages of a run beside what was measured.

package twin

import (
	"cmp"
	"slices"

	"llmsweep/sweep/rundir"
)

// ComparisonSchema names the JSON form of a Comparison.
const ComparisonSchema = "llmsweep.predicted/v1"

// How the fit used a stage.
const (
	RoleHeldOut = "held-out" // it was left out, and predicted from the others
	RoleFitted  = "fitted"   // the twin was fitted to it
	RoleNew     = "new"      // the fit never saw it
)

// Comparison is a run and what a twin predicts of it.
type Comparison struct {
	Schema     string              `json:"schema"`
	Twin       string              `json:"twin,omitempty"` // its name
	Failed     bool                `json:"check_failed,omitempty"`
	Saturation *ComparedSaturation `json:"saturation,omitempty"` // absent where the run has none
	Rows       []ComparisonRow     `json:"rows"`
}

// ComparedSaturation is the saturation rate of the run, in requests per second; of a closed loop in output tokens per second, since long answers that end
// together make requests per second of a short stage anything.
type ComparedSaturation struct {
	Use       string     `json:"use"`
	Stage     string     `json:"stage,omitempty"` // of a closed loop that keeps the server full; empty where the run searched for the rate
	Measured  float64    `json:"measured"`
	Between   [2]float64 `json:"measured_interval,omitzero"` // 95 %
	Predicted float64    `json:"predicted,omitempty"`
	Interval  [2]float64 `json:"predicted_interval,omitzero"` // 95 %
	Refused   string     `json:"refused,omitempty"`           // why there is no prediction: a code of package twin
}

// ComparisonRow is a stage.
type ComparisonRow struct {
	Stage     string  `json:"stage"`
	Rate      float64 `json:"rate,omitempty"`  // of arrivals
	Width     int     `json:"width,omitempty"` // of a closed loop
	Use       string  `json:"use"`
	Predicted Metrics `json:"predicted,omitzero"`
	Low       Metrics `json:"low,omitzero"` // ends of the 95 % intervals of what is predicted of a new stage
	High      Metrics `json:"high,omitzero"`
	Measured  Metrics `json:"measured"`
	Refused   string  `json:"refused,omitempty"`
}

// Compare compares a run with a twin. Stages that the twin was not fitted to have the predictions that the fit's check made of them.
func Compare(t *Twin, dir string) (*Comparison, error) {
	all, run, err := stagesOf(dir)
	if err != nil {
		return nil, err
	}
	c := &Comparison{Schema: ComparisonSchema, Twin: t.Name, Failed: !t.Passed()}
	var lengths Mixed
	var full *LoadedStages // the widest closed loop that kept all slots busy
	for i := range all {
		d := loadStages(all[i])
		if len(d.Requests) == 0 {
			continue
		}
		c.Rows = append(c.Rows, comparisonRow(t, run, &d))
		lengths.Lengths = append(lengths.Lengths, d.lengths().Lengths...)
		if d.Width >= t.Slots && (full == nil || d.Width > full.Width) {
			full = &d
		}
	}
	c.saturation(t, run, lengths, full)
	return c, nil
}

// lengths returns the lengths of the requests that ended well.
func (d *LoadedStages) lengths() (m Mixed) {
	for _, q := range d.Requests {
		if q.Whole {
			m.Lengths = append(m.Lengths, [2]int{q.Prompt, q.Output})
		}
	}
	return m
}

// comparisonRow compares one stage.
func comparisonRow(t *Twin, run *rundir.Run, d *LoadedStages) ComparisonRow {
	r := ComparisonRow{Stage: d.Name, Rate: d.Rate, Width: d.Width, Measured: d.Measured(), Use: RoleNew}
	if t.FittedTo(run.Started) {
		r.Use = RoleFitted
		if t.Check != nil {
			if i := slices.IndexFunc(t.Check.Rows, func(k CheckRow) bool { return k.Stage == d.Name }); i >= 0 {
				r.Use, r.Predicted = RoleHeldOut, t.Check.Rows[i].Predicted
				return r
			}
		}
	}
	for _, q := range d.Requests {
		if r.Refused = cmp.Or(r.Refused, t.Refuses(q.Prompt, q.Output)); r.Refused != "" {
			return r
		}
	}
	if r.Predicted = d.Predicted(t); r.Use == RoleNew {
		r.Low, r.High = t.between(d, r.Predicted)
	}
	return r
}

// saturation compares the saturation rate: what the run searched for, or else the rate of a closed loop that kept all slots busy.
func (c *Comparison) saturation(t *Twin, run *rundir.Run, lengths Mixed, full *LoadedStages) {
	s, of := &ComparedSaturation{Use: RoleNew}, 1.0
	if t.FittedTo(run.Started) {
		s.Use = RoleFitted
	}
	switch found := run.Saturation; {
	case found != nil && found.Rate.Known():
		s.Measured = found.Rate.Value()
		if found.Low.Known() && found.High.Known() {
			s.Between = [2]float64{found.Low.Value(), found.High.Value()}
		}
	case full != nil && full.Measured().Output > 0:
		lengths = full.lengths()
		s.Stage, s.Measured, of = full.Name, full.Measured().Output, lengths.meanOutput()
	default:
		return
	}
	a := t.Ask(lengths)
	s.Predicted, s.Interval, s.Refused = of*a.Rate, [2]float64{of * a.Low, of * a.High}, a.Refused
	c.Saturation = s
}
