package audit

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"llmsweep/report/lang"
	"llmsweep/report/published"
	"llmsweep/report/table"
)

// schema names the version of the JSON output.
const schema = "llmsweep.audit/v1"

// Audited is the findings in some files.
type Audited struct {
	Schema   string    `json:"schema"`
	File     string    `json:"file"`
	Results  int       `json:"results"`
	Rows     int       `json:"rows"`
	Unread   []string  `json:"unread,omitempty"` // lines that could not be read and so were not checked, with the reason
	Findings []Finding `json:"findings"`

	// Remarks are the lines of Unread, to be written in other languages.
	Remarks []published.Remark `json:"-"`
}

// JSON writes findings as indented JSON.
func JSON(w io.Writer, all []Audited) error {
	for i := range all {
		all[i].Schema = schema
		if all[i].Findings == nil {
			all[i].Findings = []Finding{}
		}
	}
	return table.WriteJSON(w, all)
}

// Text writes findings for people, by file and result. Each finding is a line with its line in the
// file, its row and the rule.
//
// Remarks of one rule differ in numbers alone: without whole, the first is written, and the lines of the others.
func Text(w io.Writer, all []Audited, l lang.Lang, whole bool) error {
	out := bufio.NewWriter(w)
	for i, a := range all {
		if i > 0 {
			out.WriteString("\n")
		}
		out.WriteString(table.Clean(a.File) + lang.Colon.In(l) + counted(a.Results, sayResult, sayResults, l) + lang.Comma.In(l) +
			counted(a.Rows, sayRow, sayRows, l) + lang.Colon.In(l) + verdict(a.Findings, l) + "\n")
		for _, r := range a.Remarks {
			out.WriteString("  " + sayUnread.In(l, sayLine.In(l, r.Line)+lang.Colon.In(l)+table.Clean(r.In(l))) + "\n")
		}
		alike := map[string][]string{}
		if !whole {
			a.Findings, alike = once(a)
		}
		writeFindings(out, a, l)
		for _, rule := range slices.Sorted(maps.Keys(alike)) {
			out.WriteString("\n  " + sayAlike.In(l, rule, strings.Join(alike[rule], lang.ListComma.In(l))) + "\n")
		}
	}
	return out.Flush()
}

// once returns the findings of a file without remarks of a rule that remarked before, and the places of those by their rule.
func once(a Audited) (shown []Finding, alike map[string][]string) {
	alike = map[string][]string{}
	seen := map[string]bool{}
	for _, f := range a.Findings {
		if f.Grade == Remark && f.Line > 0 && seen[f.Rule] {
			alike[f.Rule] = append(alike[f.Rule], place(f, a))
			continue
		}
		seen[f.Rule] = seen[f.Rule] || f.Grade == Remark
		shown = append(shown, f)
	}
	return shown, alike
}

// verdict returns the number of findings in words.
func verdict(found []Finding, l lang.Lang) string {
	count := map[Grade]int{}
	for _, f := range found {
		count[f.Grade]++
	}
	if len(found) == 0 {
		return sayNothing.In(l)
	}
	var parts []string
	for _, g := range []struct {
		grade     Grade
		one, many lang.Phrase
	}{{Impossible, sayImpossible, sayImpossible}, {Doubtful, sayDoubtful, sayDoubtful}, {Remark, sayRemark, sayRemarks}} {
		if n := count[g.grade]; n > 0 {
			parts = append(parts, counted(n, g.one, g.many, l))
		}
	}
	return strings.Join(parts, lang.Comma.In(l))
}

// writeFindings writes findings under their results, aligned over the whole file.
func writeFindings(w *bufio.Writer, a Audited, l lang.Lang) {
	lines, rows, rules, grades := 0, 0, 0, 0
	for _, f := range a.Findings {
		lines, rows, rules = max(lines, table.Width(place(f, a))), max(rows, table.Width(lang.Row(f.Row))), max(rules, len(f.Rule))
		grades = max(grades, table.Width(f.Grade.In(l)))
	}
	last := ""
	for _, f := range a.Findings {
		if head := resultHead(f, l); head != last {
			w.WriteString("\n  " + head + "\n")
			last = head
		}
		fmt.Fprintf(w, "    %*s  %s  %s  %-*s  %s\n", lines, place(f, a),
			table.Clean(lang.Row(f.Row))+strings.Repeat(" ", rows-table.Width(lang.Row(f.Row))),
			f.Grade.In(l)+strings.Repeat(" ", grades-table.Width(f.Grade.In(l))), rules, f.Rule, table.Clean(Words().Say(f.Note(), l)))
	}
}

// resultHead returns the title of a result and the line where it begins.
func resultHead(f Finding, l lang.Lang) string {
	head := table.Clean(f.Result)
	if f.ResultLine > 0 {
		head = strings.TrimSuffix(sayLine.In(l, f.ResultLine)+"  "+head, "  ")
	}
	return head
}

// place returns the line of a finding, with its file where that differs from the one above; empty where it has no line.
func place(f Finding, a Audited) string {
	switch {
	case f.Line == 0:
		return ""
	case f.File != a.File:
		return table.Clean(filepath.Base(f.File)) + ":" + strconv.Itoa(f.Line)
	}
	return strconv.Itoa(f.Line)
}

// counted returns a number and its noun.
func counted(n int, one, many lang.Phrase, l lang.Lang) string {
	if n == 1 {
		return one.In(l, n)
	}
	return many.In(l, n)
}

// TextRules writes the rules with their tolerances and reasons.
func TextRules(w io.Writer, l lang.Lang) error {
	out := bufio.NewWriter(w)
	all := append(rules(), recordRules()...)
	longest := 0
	for _, r := range all {
		longest = max(longest, len(r.Name))
	}
	for _, r := range all {
		fmt.Fprintf(out, "%-*s  %s\n%*s  %s\n", longest, r.Name, r.Says.In(l), longest, "", sayTolerates.In(l, r.Tolerance.In(l)))
	}
	return out.Flush()
}
