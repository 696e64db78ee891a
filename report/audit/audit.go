// Package audit finds figures that cannot be right: they contradict each other, other rows, or arithmetic. It treats
// results of other tools and runs of llmsweep alike, neither computes the right figure nor judges the server, and
// allows for rounding and chance. A figure with a finding is left out of conclusions. rules.go lists the rules, and
// [Runs] applies them.
package audit

import (
	"cmp"
	"slices"
	"strings"

	"llmsweep/client/note"
	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
)

// Grade is how certain a finding is.
type Grade string

// The grades.
const (
	Impossible Grade = "impossible" // at least one number is wrong; comparisons leave the row out
	Doubtful   Grade = "doubtful"   // right only under unstated conditions; comparisons mark the row
	Remark     Grade = "remark"     // maybe right; a reader should know how it was made
)

// UnmarshalText reads a grade. Older files have "wrong" for "impossible".
func (g *Grade) UnmarshalText(text []byte) error {
	if *g = Grade(text); *g == "wrong" {
		*g = Impossible
	}
	return nil
}

// Finding is one contradiction.
type Finding struct {
	File       string `json:"file"`
	Result     string `json:"result"`                // what the result is of
	ResultLine int    `json:"result_line,omitempty"` // where it begins
	Line       int    `json:"line,omitempty"`        // of the number, from 1; 0 in run.json
	Row        string `json:"row"`
	Rule       string `json:"rule"`
	Grade      Grade  `json:"grade"`
	Text       string `json:"text"` // in English
	// Code and Args are the finding as a note; see [Finding.Note].
	Code string         `json:"code"`
	Args map[string]any `json:"args,omitempty"`
	// Figures are the numbers that nothing may rest on.
	Figures []Figure `json:"figures,omitempty"`

	title lang.Text // Result, in both languages
}

// Figure is a number that nothing may rest on.
type Figure struct {
	Line    int    `json:"line,omitempty"`
	Key     string `json:"key"` // in run.json, or a group of keys: "latency_s"
	Printed string `json:"printed,omitempty"`
}

// Note returns the finding as a note, for [Words].
func (f *Finding) Note() note.Note { return note.Note{Code: f.Code, Args: f.Args} }

func newFinding(f Finding, n note.Note) Finding {
	f.Code, f.Args, f.Text = n.Code, n.Args, Words().Say(n, lang.English)
	return f
}

type rule struct {
	Name   string
	Says   lang.Phrase // what a finding means, with its tolerance
	checks []check
}

type check func(all []*result) []hit

// hit is a finding in its row. The zero hit is no finding.
type hit struct {
	row     *row
	key     string // of the number that it is about
	note    note.Note
	grade   Grade    // empty: Impossible
	figures []string // the keys of the figures that nothing may rest on
	rule    string
}

// Subject is a run and its file. A run that was read from a document has the file in its source.
type Subject struct {
	File string
	Run  *rundir.Run
}

// Runs returns the findings of runs, which are in the order in which they were printed or measured. Runs are also
// compared with each other.
func Runs(subjects []Subject) []Finding {
	all := rowsOf(subjects)
	var found []Finding
	for _, h := range applyRules(all) {
		found = append(found, h.row.finding(h.doubt()))
	}
	found = append(found, importedFindings(all, found)...)
	sortFindings(found)
	return found
}

// applyRules returns what the rules find, in the order of the rules. A figure that one check doubts is not read by the
// checks after it, so that one mistake is one finding.
func applyRules(all []*result) []hit {
	var found []hit
	for _, r := range rules() {
		for _, find := range r.checks {
			hits := find(all)
			for i := range hits {
				h := &hits[i]
				h.rule, h.grade = r.Name, cmp.Or(h.grade, Impossible)
				h.row.doubted = append(h.row.doubted, h.figures...)
			}
			found = append(found, hits...)
		}
	}
	return found
}

// sortFindings sorts findings by file and line, and those of one line in the order of the rules.
func sortFindings(found []Finding) {
	slices.SortStableFunc(found, func(a, b Finding) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.ResultLine, b.ResultLine), cmp.Compare(a.Line, b.Line))
	})
}

func (h hit) doubt() rundir.Doubt {
	return rundir.Doubt{Rule: h.rule, Grade: string(h.grade), Line: h.row.line(h.key), Note: h.note, Figures: h.figures}
}

func (r *row) finding(d rundir.Doubt) Finding {
	t := r.result
	return newFinding(Finding{
		File: t.file, title: t.title, Result: t.title.EN, ResultLine: t.line, Line: d.Line,
		Row: r.name(), Rule: d.Rule, Grade: Grade(d.Grade), Figures: r.figures(d.Figures),
	}, d.Note)
}

func perRow(find func(*row) hit) check {
	return perTable(func(t *result) []hit {
		var hits []hit
		for _, r := range t.rows {
			if h := find(r); !h.note.IsZero() {
				h.row = r
				hits = append(hits, h)
			}
		}
		return hits
	})
}

func perTable(find func(*result) []hit) check {
	return func(all []*result) []hit {
		var hits []hit
		for _, t := range all {
			hits = append(hits, find(t)...)
		}
		return hits
	}
}

// Mark keeps in the stages of runs that were read from documents what the audit finds in them, so that every later
// command knows it. Runs are compared with each other, so all results of a document must be marked together. Marks of
// an earlier reading stay.
func Mark(subjects []Subject) {
	for _, h := range applyRules(rowsOf(subjects)) {
		if h.row.stage.Source == nil {
			continue
		}
		d := h.doubt()
		same := func(o rundir.Doubt) bool {
			return o.Rule == d.Rule && o.Line == d.Line && slices.Equal(o.Figures, d.Figures)
		}
		if !slices.ContainsFunc(h.row.stage.Doubts, same) {
			h.row.stage.Doubts = append(h.row.stage.Doubts, d)
		}
	}
}

// importedFindings returns the findings that runs were imported with and that they do not show by themselves, because
// they rest on other results of the document.
func importedFindings(all []*result, found []Finding) []Finding {
	type place struct {
		file, rule string
		line       int
	}
	seen := map[place]bool{}
	for _, f := range found {
		seen[place{f.File, f.Rule, f.Line}] = true
	}
	var more []Finding
	for _, t := range all {
		for _, r := range t.rows {
			for _, d := range r.stage.Doubts {
				at := place{t.file, d.Rule, d.Line}
				if seen[at] {
					continue
				}
				seen[at] = true
				more = append(more, r.finding(d))
			}
		}
	}
	return more
}
