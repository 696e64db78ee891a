// Compares the answers of two runs to the same canaries: how far the answers of a candidate are from those of a baseline, such as
// the same model without quantization.
//
// The answers that both gave alone, the first time, are compared token for token. Each server's own second time is the null: what it differs from
// itself. The candidate differs where more answers differ than either server's null explains: the test is that of package fidelity, once
// against each null, and the larger p-value counts. Answers under load are compared with the baseline's first time in the same way.

package fidelity

import (
	"fmt"
	"math"

	"llmsweep/client/api"
	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/stats"
)

// DriftRun is the answers of a run to its canaries.
type DriftRun struct {
	Name string // in errors
	*rundir.Run
	alone, again map[int]*Answer
	load         []answered
}

// answered is an answer under load.
type answered struct {
	canary int
	*Answer
}

// ReadDrift reads the answers in a run directory.
func ReadDrift(path string, run *rundir.Run) (*DriftRun, error) {
	r := &DriftRun{Name: path, Run: run, alone: map[int]*Answer{}, again: map[int]*Answer{}}
	if run.Fidelity == nil {
		return nil, fmt.Errorf("%s has no canaries: measure it with --fidelity", path)
	}
	for line, err := range store.Canaries(path) {
		if err != nil {
			return nil, err
		}
		r.add(line)
	}
	if len(r.alone) == 0 {
		return nil, fmt.Errorf("%s has no answers to its canaries: measure it again with --fidelity", path)
	}
	return r, nil
}

// add takes in a line. Answers that equal the first are not in the file again.
func (r *DriftRun) add(line *rundir.CanaryAnswer) {
	switch {
	case line.Failed != "":
		return
	case line.Stage == Alone:
		r.alone[line.Canary] = written(line)
		return
	}
	a := written(line)
	if line.Same {
		first := r.alone[line.Canary]
		if first == nil {
			return
		}
		a = &Answer{Text: first.Text, Tokens: bare(first.Tokens), Output: first.Output}
	}
	if line.Stage == Again {
		r.again[line.Canary] = a
	} else {
		r.load = append(r.load, answered{line.Canary, a})
	}
}

// bare returns tokens without log-probabilities: those of an answer that was not kept.
func bare(tokens []api.LogProbToken) []api.LogProbToken {
	all := make([]api.LogProbToken, len(tokens))
	for i := range tokens {
		all[i] = api.LogProbToken{Text: tokens[i].Text, LogP: math.NaN()}
	}
	return all
}

// Verdicts on a candidate, beside [rundir.FidelityUndecided].
const (
	DriftSame    = rundir.FidelitySame
	DriftTies    = rundir.FidelityTies
	DriftDiffers = rundir.FidelityChanged
)

// Drift is how far a candidate's answers are from a baseline's.
type Drift struct {
	Canaries int              `json:"canaries"` // that both answered
	LogProbs bool             `json:"logprobs"` // tokens were compared; else texts
	Alone    rundir.Agreed    `json:"alone"`    // the candidate's first answers
	Load     rundir.Agreed    `json:"load"`     // its answers under load
	Null     [2]rundir.Agreed `json:"null"`     // how far the baseline and the candidate differ from themselves alone
	// NullLoad is how far the baseline's answers under load are from its first ones.
	NullLoad rundir.Agreed          `json:"null_load"`
	Verdict  rundir.FidelityVerdict `json:"verdict"` // on the answers alone
	Notes    []note.Note            `json:"notes,omitempty"`
}

// CompareDrift compares a candidate with a baseline. The error has the reason why they cannot be compared.
func CompareDrift(baseline, candidate *DriftRun) (*Drift, error) {
	if err := comparable(baseline, candidate); err != nil {
		return nil, err
	}
	c := &comparison{a: baseline, b: candidate}
	c.chooseUnit()
	null, mirror := c.against(baseline, baseline.again), c.against(candidate, candidate.again)
	first, second := c.against(baseline, candidate.alone), c.against(candidate, baseline.alone)
	if len(first) == 0 {
		return nil, fmt.Errorf("%s and %s answered none of the same canaries: measure one of them again", baseline.Name, candidate.Name)
	}
	nullLoad, mirrorLoad := c.under(baseline, baseline), c.under(candidate, candidate)
	load, secondLoad := c.under(baseline, candidate), c.under(candidate, baseline)
	d := &Drift{Canaries: len(first), LogProbs: !c.texts, Notes: c.notes}
	d.Null[0], d.Null[1], d.NullLoad = sum(null), sum(mirror), sum(nullLoad)
	if !c.texts {
		for i, r := range []*DriftRun{baseline, candidate} { // the file has only the answers that differ
			d.Null[i].Shift, d.Null[i].KL = r.Fidelity.Alone.Shift, r.Fidelity.Alone.KL
		}
	}
	d.Alone = judged(null, first, mirror, second)
	d.Load = judged(nullLoad, load, mirrorLoad, secondLoad)
	decideDrift(&d.Alone, &d.Load)
	d.Verdict = d.Alone.Verdict
	return d, nil
}

// sum returns what comparisons add up to.
func sum(all []asked) rundir.Agreed { return judge(all, 0, nil).Alone }

// judged compares answers with both nulls. Of both p-values and bounds, the larger counts.
func judged(null, asked, mirror, mirrored []asked) rundir.Agreed {
	const name = "answers"
	a := judge(null, 0, []Stage{{Name: name, Asked: asked}}).Stages[name]
	b := judge(mirror, 0, []Stage{{Name: name, Asked: mirrored}}).Stages[name]
	larger := func(x, y rundir.Number) rundir.Number { return rundir.Exactly(max(x.Value(), y.Value())) }
	a.P, a.PChanges, a.More = larger(a.P, b.P), larger(a.PChanges, b.PChanges), larger(a.More, b.More)
	return a
}

// decideDrift tests the answers alone and under load together.
func decideDrift(all ...*rundir.Agreed) {
	var p, weights []float64
	for _, a := range all {
		p, weights = append(p, a.P.Value(), a.PChanges.Value()), append(weights, 1, 1)
	}
	rejected := stats.Holm(p, weights, Level)
	for i, a := range all {
		switch {
		case a.Answers == 0:
			a.Verdict = ""
		case rejected[2*i+1]:
			a.Verdict = DriftDiffers
		case rejected[2*i]:
			a.Verdict = DriftTies
		case a.More.Value() < margin:
			a.Verdict = DriftSame
		default:
			a.Verdict = rundir.FidelityUndecided
		}
	}
}

// comparison is a comparison of two runs.
type comparison struct {
	a, b  *DriftRun
	texts bool // texts are compared, not tokens
	notes []note.Note
}

// against compares answers with the first ones of a run.
func (c *comparison) against(reference *DriftRun, answers map[int]*Answer) (all []asked) {
	for i := range reference.Fidelity.Canaries {
		if a := answers[i]; a != nil && c.both(i) {
			all = append(all, c.asked(reference, i, a))
		}
	}
	return all
}

// under compares a run's answers under load with the first ones of a run.
func (c *comparison) under(reference, run *DriftRun) (all []asked) {
	for _, a := range run.load {
		if c.both(a.canary) {
			all = append(all, c.asked(reference, a.canary, a.Answer))
		}
	}
	return all
}

// both reports whether both runs answered a canary alone.
func (c *comparison) both(canary int) bool {
	return c.a.alone[canary] != nil && c.b.alone[canary] != nil
}

func (c *comparison) asked(reference *DriftRun, canary int, a *Answer) asked {
	first := reference.alone[canary]
	asked := asked{Canary: canary, Malformed: malformed(a)}
	if c.texts {
		asked.Difference = compare(textOf(first), textOf(a))
	} else {
		asked.Difference = compare(first, a)
	}
	return asked
}

// textOf returns an answer without its tokens.
func textOf(a *Answer) *Answer {
	return &Answer{Text: a.Text, Output: a.Output}
}
