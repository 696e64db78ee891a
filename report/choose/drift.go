package choose

import (
	"fmt"

	"llmsweep/report/compare"
	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/report/table"
	"llmsweep/sweep/fidelity"
	"llmsweep/sweep/rundir"
)

// Answers say how near the answers of a configuration must be to those of a baseline.
type Answers struct {
	Conditions []fidelity.Condition
	Baseline   string // its directory
	compared   map[*rundir.Run]compared
}

// compared is how far the answers of a run are from the baseline's, or why that is not known.
type compared struct {
	*compare.AnswerCandidate
	err error
}

// Compare compares the answers of all setups with those of the baseline in a directory.
func (a *Answers) Compare(baseline *rundir.Run, setups []setup.Setup) error {
	from, err := fidelity.ReadDrift(a.Baseline, baseline)
	if err != nil {
		return err
	}
	a.compared = map[*rundir.Run]compared{}
	for i := range setups {
		s := &setups[i]
		c := compared{AnswerCandidate: &compare.AnswerCandidate{Setup: s.Name, Baseline: a.Baseline}}
		if s.Run.Source != nil {
			c.err = fmt.Errorf("%s holds published results, which have no answers to compare", s.Path)
		} else if r, err := fidelity.ReadDrift(s.Path, s.Run); err != nil {
			c.err = err
		} else {
			c.Drift, c.err = fidelity.CompareDrift(from, r)
		}
		a.compared[s.Run] = c
	}
	return nil
}

// Refuse returns why the answers of a setup are not near enough; nil where they are, or where nothing is asked of them.
func (a *Answers) Refuse(s *setup.Setup) *Refused {
	if len(a.Conditions) == 0 {
		return nil
	}
	c := a.compared[s.Run]
	no := func(r reason) *Refused {
		out := refuse(s, r)
		return &out
	}
	if c.err != nil {
		return no(reason{kind: noAnswers, text: c.err.Error()})
	}
	for _, k := range a.Conditions {
		switch k.Of(c.Drift) {
		case fidelity.DriftBroken:
			return no(reason{kind: farAnswers, text: k.String(), measured: c.Text(k.Key)})
		case fidelity.DriftUnsure:
			return no(reason{kind: unsureAnswers, text: k.String(), measured: c.Text(k.Key)})
		}
	}
	return nil
}

// strings returns the conditions as they are written.
func (a *Answers) strings() (all []string) {
	for _, k := range a.Conditions {
		all = append(all, k.String())
	}
	return all
}

// inAnswers is a reason that has to do with answers, in words.
func (r reason) inAnswers(l lang.Lang) string {
	switch r.kind {
	case farAnswers:
		return whyFar.In(l, r.text, r.measured)
	case unsureAnswers:
		return whyUnsureAnswers.In(l, r.text, r.measured)
	}
	return r.text
}

// DriftPoint is a configuration that keeps the SLO: what it costs, how fast it is for a user, and how far its answers are from the baseline's.
type DriftPoint struct {
	Name    string        `json:"name"`
	Cost    rundir.Number `json:"cost_per_million_at_slo,omitzero"` // absent without a price
	PerGPU  float64       `json:"tokens_per_s_per_gpu"`             // at the SLO's limit
	PerUser float64       `json:"tokens_per_s_per_user"`            // there: 1 / mean gap between tokens
	Match   rundir.Number `json:"match"`                            // share of equal answers
	KL      rundir.Number `json:"kl,omitzero"`
	Front   bool          `json:"on_front"` // no other is as good in all three and better in one
	match   string
	kl      string
}

// Equal returns the share of equal answers with its interval, as text.
func (p *DriftPoint) Equal() string { return p.match }

// driftPoints returns the configurations that keep the SLO, whether or not their answers are near enough.
func (a *Answers) driftPoints(all []Candidate) []DriftPoint {
	var points []DriftPoint
	for i := range all {
		k := &all[i]
		c, ok := a.compared[k.setup.Run]
		if !ok || c.err != nil || !k.ITL.Known() || k.ITL.Value() <= 0 || !k.Output.Known() || k.Labels.GPUs == 0 {
			continue
		}
		points = append(points, DriftPoint{
			Name: k.Name, Cost: k.MillionSLO, PerGPU: k.Output.Value() / float64(k.Labels.GPUs), PerUser: 1 / k.ITL.Value(),
			Match: c.Metric(fidelity.KeyMatch).Mean, KL: c.Metric(fidelity.KeyKL).Mean, match: c.Text(fidelity.KeyMatch), kl: c.Text(fidelity.KeyKL),
		})
	}
	for i := range points {
		points[i].Front = true
		for j := range points {
			points[i].Front = points[i].Front && !points[j].beats(&points[i])
		}
	}
	return points
}

// beats reports whether a point is as good as another in cost, speed and drift, and better in one. Without prices, more from a GPU costs less.
func (p *DriftPoint) beats(q *DriftPoint) bool {
	cost := func(p *DriftPoint) float64 {
		if p.Cost.Known() && q.Cost.Known() {
			return p.Cost.Value()
		}
		return -p.PerGPU
	}
	a := [3]float64{cost(p), -p.PerUser, -p.Match.Value()}
	b := [3]float64{-q.PerGPU, -q.PerUser, -q.Match.Value()}
	if p.Cost.Known() && q.Cost.Known() {
		b[0] = q.Cost.Value()
	}
	better := false
	for i := range a {
		if a[i] > b[i] {
			return false
		}
		better = better || a[i] < b[i]
	}
	return better
}

// drifts lists the configurations by what they cost, how fast they are and how near their answers are.
func (c *Choice) drifts(level int) table.Section {
	t := table.Table{Columns: []table.Column{
		{Head: headSetup.Text(), Left: true}, {Head: headMillion.Text(), Sub: subSLO.Text()}, {Head: headPerGPU.Text(), Sub: lang.Same("tok/s")}, {Head: headPerUser.Text(), Sub: lang.Same("tok/s")},
		{Head: headMatch.Text()}, {Head: lang.Same("KL")}, {Head: headOnFront.Text(), Left: true},
	}}
	for _, p := range c.FrontDrift {
		front := table.None()
		if p.Front {
			front = table.Cell{Text: wordOnFront.Text(), Tone: table.Good}
		}
		t.Rows = append(t.Rows, []table.Cell{
			table.Literal(p.Name), table.Number(p.Cost, "", lang.Fixed(3)), table.Literal(fmt.Sprintf("%.1f", p.PerGPU)), table.Literal(fmt.Sprintf("%.1f", p.PerUser)), table.Literal(p.match), table.Literal(p.kl), front,
		})
	}
	return table.Section{Title: titleDrift.Text(), Level: level, Lines: []lang.Text{sayDrift.Text(c.Baseline)}, Table: t}
}

// wanted are the conditions on answers, in words; empty for none.
func (c *Choice) wanted() lang.Text {
	if len(c.Answers) == 0 {
		return lang.Text{}
	}
	return sayAnswersWanted.Text(table.Clean(c.Baseline), comma.Join(c.Answers))
}
