package grade

import (
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
)

// Run is the outcomes of a run: those got alone, and those under load.
type Run struct{ Alone, Load *Tally }

// Read reads the outcomes in a run directory. They are empty where it has none.
func Read(path string) (*Run, error) {
	r := &Run{newTally(""), newTally("")}
	for line, err := range store.Grades(path) {
		if err != nil {
			return nil, err
		}
		t := r.Load
		if line.Stage == Alone {
			t = r.Alone
		}
		t.Add(line.Item, TaskOutcome(line.Outcome), line.Failed)
	}
	return r, nil
}

// Paired compares the accuracy of two runs on the same questions.
type Paired struct {
	Items    int             `json:"items"`    // that both were asked alone
	Baseline rundir.Graded   `json:"baseline"` // alone, all of its questions
	Alone    rundir.Graded   `json:"alone"`    // of the candidate against the baseline, both alone
	Load     rundir.Graded   `json:"load"`     // of both under load
	Needs    []rundir.Needed `json:"needs,omitempty"`
	Detects  rundir.Number   `json:"detects,omitzero"`
}

// Compare compares a candidate with a baseline. It is nil where they have no question in common.
func Compare(baseline, candidate *Run) *Paired {
	alone, load := candidate.Alone.against(baseline.Alone), candidate.Load.against(baseline.Load)
	p := &Paired{Items: alone.Pairs, Baseline: baseline.Alone.sum()}
	if alone.Pairs == 0 {
		return nil
	}
	hypotheses := decide([]*rundir.Graded{&alone.Graded, &load.Graded})
	p.Alone, p.Load = alone.Graded, load.Graded
	p.Needs, p.Detects = Needs(alone.noise, hypotheses), rundir.Exactly(Detects(alone.Pairs, alone.noise, hypotheses))
	return p
}
