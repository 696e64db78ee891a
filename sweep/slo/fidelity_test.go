package slo

import (
	"testing"

	"llmsweep/sweep/rundir"
)

// A limit on equal answers is decided by its exact bounds, over canaries.
func TestFidelity(t *testing.T) {
	for name, c := range map[string]struct {
		answers, changes, canaries int
		term                       string
		want                       rundir.Promised
		needs                      bool
	}{
		"none of 298 differs":       {298, 0, 298, "fidelity>99%", rundir.Unsure, true},
		"none of 299 differs":       {299, 0, 299, "fidelity>99%", rundir.Kept, false},
		"as many answers to 50":     {299, 0, 50, "fidelity>99%", rundir.Unsure, false},
		"20 of 100 differ":          {100, 20, 100, "fidelity>90%", rundir.Broken, false},
		"10 of 100 are at the edge": {100, 10, 100, "fidelity>90%", rundir.Unsure, false},
		"no canaries":               {0, 0, 0, "fidelity>50%", rundir.Unsure, false},
	} {
		s := &rundir.Stage{Requests: rundir.Requests{OK: 2000}}
		if c.answers > 0 {
			s.Fidelity = &rundir.Agreed{Answers: c.answers, Changes: c.changes, Canaries: c.canaries}
		}
		term, err := Parse(c.term)
		if err != nil {
			t.Fatal(err)
		}
		if got := term.Holds(s); got != c.want || (term.Needs(s) > 0) != c.needs {
			t.Errorf("%s: %v, want %v; needs %d", name, got, c.want, term.Needs(s))
		}
	}
	term, _ := Parse("fidelity>90%")
	if got := term.Amount(0.125) + " " + term.String(); got != "87.5% fidelity>90%" {
		t.Error(got)
	}
}

// TestNeedsCanaries asks how many different canaries decide a limit, whatever the number of answers to those that there were.
func TestNeedsCanaries(t *testing.T) {
	for name, c := range map[string]struct {
		answers, changes, canaries int
		term                       string
		want                       int
	}{
		"40 canaries, none differs":  {300, 0, 40, "fidelity>99%", 299},
		"5 canaries, none differs":   {20, 0, 5, "fidelity>90%", 29},
		"decided":                    {299, 0, 299, "fidelity>99%", 0},
		"at the limit":               {100, 10, 50, "fidelity>90%", 0},
		"no answers":                 {0, 0, 0, "fidelity>90%", 0},
		"another metric has no such": {100, 10, 50, "errors<1%", 0},
	} {
		s := &rundir.Stage{Requests: rundir.Requests{OK: 100}}
		if c.answers > 0 {
			s.Fidelity = &rundir.Agreed{Answers: c.answers, Changes: c.changes, Canaries: c.canaries}
		}
		term, err := Parse(c.term)
		if err != nil {
			t.Fatal(err)
		}
		if got := term.NeedsCanaries(s); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
