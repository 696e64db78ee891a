package audit

import (
	"iter"
	"math"
	"slices"
	"strings"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

// instantSlack is the allowed difference between two clocks of one machine, rounding included.
const instantSlack = 1e-3

// tally holds the findings of one kind in the records of one stage.
type tally struct {
	rule    string
	n, line int
	first   note.Note
}

// Records returns the findings in the records of the requests of a stage. File is the name of the records.
func Records(run *rundir.Run, file string, records iter.Seq2[*rundir.Record, error]) ([]Finding, error) {
	found := map[[2]string]*tally{} // by stage and kind of note
	succeeded := map[string]int{}
	line := 0
	for r, err := range records {
		if err != nil {
			return nil, err
		}
		line++
		if r.OK() {
			succeeded[r.Stage]++
		}
		for _, c := range []struct {
			rule  string
			check func(*rundir.Record) note.Note
		}{{"latency", checkInstants}, {"latency", checkGaps}, {"tokens", checkStop}, {"tokens", checkEmpty}} {
			n := c.check(r)
			if n.IsZero() {
				continue
			}
			key := [2]string{r.Stage, n.Code}
			t := found[key]
			if t == nil {
				t = &tally{rule: c.rule, line: line, first: n}
				found[key] = t
			}
			t.n++
		}
	}
	return tallyFindings(run, file, found, succeeded), nil
}

func tallyFindings(run *rundir.Run, file string, found map[[2]string]*tally, succeeded map[string]int) []Finding {
	var out []Finding
	for key, t := range found {
		stage := key[0]
		if key[1] == noteStopped.Code && 10*t.n < succeeded[stage] {
			continue
		}
		n := t.first
		if t.n > 1 {
			n = noteSeveral.New(t.n, []note.Note{t.first})
		}
		name := title(run)
		f := Finding{File: file, title: name, Result: name.EN, Line: t.line, Row: stage, Rule: t.rule, Grade: Impossible}
		out = append(out, newFinding(f, n))
	}
	slices.SortFunc(out, func(a, b Finding) int { return strings.Compare(a.Row+"\x00"+a.Rule, b.Row+"\x00"+b.Rule) })
	sortFindings(out)
	return out
}

func checkInstants(r *rundir.Record) note.Note {
	last, lastName := rundir.Number{}, ""
	for _, at := range []struct {
		name string
		f    rundir.Number
	}{{"due", r.Due}, {"sent", r.Sent}, {"headers", r.Headers}, {"first_token", r.FirstToken},
		{"last_token", r.LastToken}, {"end", r.End}} {
		if !at.f.Known() {
			continue
		}
		if last.Known() && at.f.Value() < last.Value()-instantSlack {
			return noteInstants.New(at.name, seconds(at.f.Value()), lastName, seconds(last.Value()))
		}
		last, lastName = at.f, at.name
	}
	return note.Note{}
}

func checkGaps(r *rundir.Record) note.Note {
	if len(r.GapsUS) == 0 || !known(r.FirstToken, r.LastToken) {
		return note.Note{}
	}
	sum := int64(0)
	for _, g := range r.GapsUS {
		sum += g
	}
	passed := r.LastToken.Value() - r.FirstToken.Value()
	if math.Abs(passed-float64(sum)/1e6) <= instantSlack {
		return note.Note{}
	}
	return noteGaps.New(len(r.GapsUS), seconds(float64(sum)/1e6), seconds(passed))
}

// checkStop finds an answer that ended at another limit than the one that was asked for.
func checkStop(r *rundir.Record) note.Note {
	if r.Finish != "length" || r.AskedTokens == 0 || !r.OutputTokens.Known() ||
		r.OutputTokens.Value() >= float64(r.AskedTokens)*(1-tokensAbove)-1 {
		return note.Note{}
	}
	return noteStopped.New(r.OutputTokens.Value(), r.AskedTokens)
}

func checkEmpty(r *rundir.Record) note.Note {
	if !r.OK() || !r.OutputTokens.Known() || r.OutputTokens.Value() > 0 {
		return note.Note{}
	}
	return noteEmpty.New()
}
