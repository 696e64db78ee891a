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

	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/published"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// schema names the version of the JSON output.
const schema = "llmsweep.audit/v1"

// Report is the findings in some files.
type Report struct {
	Schema   string    `json:"schema"`
	File     string    `json:"file"`
	Results  int       `json:"results"`
	Rows     int       `json:"rows"`
	Unread   []string  `json:"unread,omitempty"` // lines that could not be read and so were not checked, with the reason
	Findings []Finding `json:"findings"`

	Broken bool `json:"broken,omitempty"` // more than a tenth of the figures could not be read

	// Remarks are the lines of Unread, to be written in other languages.
	Remarks []published.Remark `json:"-"`
}

// JSON writes findings as indented JSON.
func JSON(w io.Writer, all []Report) error {
	for i := range all {
		all[i].Schema = schema
		if all[i].Findings == nil {
			all[i].Findings = []Finding{}
		}
	}
	return table.WriteJSON(w, all)
}

// Text writes findings for people, a line for each, by file and result. What several tables have alike is said once,
// above all; with whole, in each.
func Text(w io.Writer, all []Report, l lang.Lang, whole bool) error {
	out := bufio.NewWriter(w)
	for i, a := range all {
		if i > 0 {
			out.WriteString("\n")
		}
		out.WriteString(sayHead.In(l, table.Clean(a.File), a.Results, a.Rows, gradeCounts(a.Findings, l)) + "\n")
		for _, r := range a.Remarks {
			out.WriteString("  " + sayUnread.In(l, sayLine.In(l, r.Line)+lang.Colon.In(l)+table.Clean(r.In(l))) + "\n")
		}
		if !whole {
			var repeated []string
			a.Findings, repeated = splitRepeated(a, l)
			for _, line := range repeated {
				out.WriteString("  " + line + "\n")
			}
		}
		writeFindings(out, a, l)
	}
	return out.Flush()
}

// splitRepeated splits off the findings that several tables have alike, and returns a line for each of their rules.
func splitRepeated(a Report, l lang.Lang) (shown []Finding, repeated []string) {
	lines := map[string][]string{}
	for _, f := range a.Findings {
		if _, ok := repeatedPhrases()[f.Rule]; ok {
			lines[f.Rule] = append(lines[f.Rule], place(f, a))
		}
	}
	for _, f := range a.Findings {
		if len(lines[f.Rule]) < 2 {
			shown = append(shown, f)
		}
	}
	for _, rule := range slices.Sorted(maps.Keys(lines)) {
		if n := len(lines[rule]); n > 1 {
			repeated = append(repeated, repeatedPhrases()[rule].In(l, n, strings.Join(lines[rule], lang.ListComma.In(l))))
		}
	}
	return shown, repeated
}

func gradeCounts(found []Finding, l lang.Lang) string {
	count := map[Grade]int{}
	for _, f := range found {
		count[f.Grade]++
	}
	var parts []string
	for _, g := range []Grade{Impossible, Doubtful, Remark} {
		if n := count[g]; n > 0 {
			parts = append(parts, g.In(l)+" "+strconv.Itoa(n))
		}
	}
	if len(parts) == 0 {
		return sayNothing.In(l)
	}
	return strings.Join(parts, lang.Comma.In(l))
}

// writeFindings writes findings under their results, aligned over the whole file.
func writeFindings(w *bufio.Writer, a Report, l lang.Lang) {
	lines, rows, rules, grades := 0, 0, 0, 0
	for _, f := range a.Findings {
		lines = max(lines, table.Width(place(f, a)))
		rows = max(rows, table.Width(lang.StageName(f.Row)))
		rules = max(rules, len(f.Rule))
		grades = max(grades, table.Width(f.Grade.In(l)))
	}
	last := ""
	for _, f := range a.Findings {
		if head := resultHead(f, l); head != last {
			w.WriteString("\n  " + head + "\n")
			last = head
		}
		row := lang.StageName(f.Row)
		row = table.Clean(row) + strings.Repeat(" ", rows-table.Width(row))
		fmt.Fprintf(w, "    %*s  %s  %s  %-*s  %s\n", lines, place(f, a), row, table.Pad(f.Grade.In(l), grades, true),
			rules, f.Rule, table.Clean(Words().Say(f.Note(), l)))
	}
}

func resultHead(f Finding, l lang.Lang) string {
	head := table.Clean(f.title.In(l))
	if f.ResultLine > 0 {
		head = strings.TrimSuffix(sayLine.In(l, f.ResultLine)+"  "+head, "  ")
	}
	return head
}

// place returns the line of a finding, with its file where that differs from the one above; empty where it has no line.
func place(f Finding, a Report) string {
	switch {
	case f.Line == 0:
		return ""
	case f.File != a.File:
		return table.Clean(filepath.Base(f.File)) + ":" + strconv.Itoa(f.Line)
	}
	return strconv.Itoa(f.Line)
}

// TextRules writes the rules with their tolerances.
func TextRules(w io.Writer, l lang.Lang) error {
	out := bufio.NewWriter(w)
	all := rules()
	longest := 0
	for _, r := range all {
		longest = max(longest, len(r.Name))
	}
	for _, r := range all {
		fmt.Fprintf(out, "%-*s  %s\n", longest, r.Name, r.Says.In(l))
	}
	return out.Flush()
}

// Cautions returns what a reader must know before trusting the table of a run: the warnings of the run, and what the
// audit found when it was read from a document.
func Cautions(run *rundir.Run, l lang.Lang) []string {
	lines := findings.Warnings(run, l)
	for i := range run.Stages {
		r := row{result: &result{run: run}, stage: &run.Stages[i]}
		for _, d := range r.stage.Doubts {
			said := sayCaution.In(l, lang.StageName(r.name()), d.Line, Grade(d.Grade).In(l), Words().Say(d.Note, l))
			lines = append(lines, said+lang.Stop.In(l))
		}
	}
	return lines
}
