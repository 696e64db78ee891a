// Package audit finds rows that cannot be right: numbers that contradict each other, their row, the rows next to them, or
// arithmetic. It checks results of other tools and runs of llmsweep in the same way. It does not compute the right number and does
// not judge the server. Each rule has a tolerance with its reason, so that differences which rounding or chance explain are no findings.
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
	Impossible Grade = "impossible" // the numbers contradict each other: at least one cannot be right; comparisons leave the row out
	Doubtful   Grade = "doubtful"   // they can be right only under conditions that are not stated; comparisons mark the row
	Remark     Grade = "remark"     // they can be right; a reader should know how they were made
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
	// Code and Args are the finding as a note; see [Notes].
	Code string         `json:"code"`
	Args map[string]any `json:"args,omitempty"`
	// Figures are the numbers that nothing may rest on.
	Figures []Figure `json:"figures,omitempty"`
}

// Figure is a number that nothing may rest on.
type Figure struct {
	Line     int           `json:"line,omitempty"`
	Key      string        `json:"key"` // in run.json, or a group of keys: "latency_s"
	Printed  string        `json:"printed,omitempty"`
	Probably rundir.Number `json:"probably,omitzero"` // in run.json's unit, where the cause implies it
}

// Note returns the finding as a note, for [Words].
func (f *Finding) Note() note.Note { return note.Note{Code: f.Code, Args: f.Args} }

// newFinding returns f with its text.
func newFinding(f Finding, n note.Note) Finding {
	f.Code, f.Args, f.Text = n.Code, n.Args, Words().Say(n, lang.English)
	return f
}

// rule is one kind of contradiction.
type rule struct {
	Name      string
	Says      lang.Phrase // what a finding means
	Tolerance lang.Phrase // what is not reported, and why
	check     func(all []*result) []hit
}

// hit is a finding in its row. Key is the key of the number that it is about.
type hit struct {
	row   *row
	key   string
	note  note.Note
	grade Grade
	blame []blamed      // the figures that nothing may rest on
	also  map[*row]bool // the rows that it explains, where there are several
}

// Subject is a run and its file. A run that was read from a document has the file in its source.
type Subject struct {
	File string
	Run  *rundir.Run
}

// Runs returns the findings of runs, which are in the order in which they were printed or measured. Runs are also compared with each other.
func Runs(subjects []Subject) []Finding {
	all := rowsOf(subjects)
	var found []Finding
	for _, h := range hits(all) {
		found = append(found, h.finding(h.rule))
	}
	found = append(found, kept(all, found)...)
	sortFindings(found)
	return found
}

// ruled is a hit with the name of its rule.
type ruled struct {
	rule string
	hit
}

// hits returns what the rules find, in the order of the rules, each mistake once.
func hits(all []*result) []ruled {
	var found []ruled
	for _, r := range rules() {
		for _, h := range r.check(all) {
			found = append(found, ruled{r.Name, h})
		}
	}
	return settle(found)
}

// sortFindings sorts findings by file and line, and those of one line in the order of the rules.
func sortFindings(found []Finding) {
	slices.SortStableFunc(found, func(a, b Finding) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.ResultLine, b.ResultLine), cmp.Compare(a.Line, b.Line))
	})
}

func (h hit) finding(rule string) Finding {
	t := h.row.result
	return newFinding(Finding{
		File: t.file, Result: t.title, ResultLine: t.line, Line: h.row.line(h.key), Row: h.row.name(), Rule: rule,
		Grade: cmp.Or(h.grade, Impossible), Figures: h.figures(),
	}, h.note)
}

// each returns a check of all rows from a check of one row. The check returns the key of the number that the finding is about, and
// the note; the zero note where there is no finding.
func each(check func(*row) (key string, n note.Note)) func([]*result) []hit {
	return func(all []*result) []hit {
		var hits []hit
		for _, t := range all {
			for _, r := range t.rows {
				if key, n := check(r); !n.IsZero() {
					hits = append(hits, hit{row: r, key: key, note: n})
				}
			}
		}
		return hits
	}
}

// perTable returns a check of all tables from a check of one table.
func perTable(check func(*result) []hit) func([]*result) []hit {
	return func(all []*result) []hit {
		var hits []hit
		for _, t := range all {
			hits = append(hits, check(t)...)
		}
		return hits
	}
}

// graded returns a check whose findings have a grade other than [Impossible].
func graded(grade Grade, check func([]*result) []hit) func([]*result) []hit {
	return func(all []*result) []hit {
		hits := check(all)
		for i := range hits {
			hits[i].grade = grade
		}
		return hits
	}
}

// eachGraded is each for a check that grades its findings itself.
func eachGraded(check func(*row) (key string, n note.Note, grade Grade)) func([]*result) []hit {
	return func(all []*result) []hit {
		var hits []hit
		for _, t := range all {
			for _, r := range t.rows {
				if key, n, grade := check(r); !n.IsZero() {
					hits = append(hits, hit{row: r, key: key, note: n, grade: grade})
				}
			}
		}
		return hits
	}
}
