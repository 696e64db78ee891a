package audit

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/mattn/go-runewidth"
)

// Audited is what was looked at, and what was found in it.
type Audited struct {
	File     string    `json:"file"`
	Results  int       `json:"results"`
	Rows     int       `json:"rows"`
	Unread   []string  `json:"unread,omitempty"` // lines that could not be read, with why: nobody looked at them
	Findings []Finding `json:"findings"`
}

// JSON writes what was found, indented.
func JSON(w io.Writer, all []Audited) error {
	for i := range all {
		if all[i].Findings == nil {
			all[i].Findings = []Finding{}
		}
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(all)
}

// Text writes what was found for people: by file and result, each finding in a line of its own with its line in the
// file, its row and the rule.
func Text(w io.Writer, all []Audited) error {
	out := bufio.NewWriter(w)
	for i, a := range all {
		if i > 0 {
			out.WriteString("\n")
		}
		fmt.Fprintf(out, "%s: %s, %s: %s\n", printable(a.File), plural(a.Results, "result"), plural(a.Rows, "row"), verdict(a.Findings))
		for _, u := range a.Unread {
			fmt.Fprintf(out, "  not read: %s\n", printable(u))
		}
		writeFindings(out, a)
	}
	return out.Flush()
}

// verdict counts findings.
func verdict(found []Finding) string {
	doubts := 0
	for _, f := range found {
		if f.Grade == Doubtful {
			doubts++
		}
	}
	switch wrong := len(found) - doubts; {
	case len(found) == 0:
		return "nothing found"
	case doubts == 0:
		return plural(wrong, "finding")
	case wrong == 0:
		return plural(doubts, "doubt")
	default:
		return plural(wrong, "finding") + ", " + plural(doubts, "doubt")
	}
}

// writeFindings writes them under the result they belong to, set alike in the whole file.
func writeFindings(w *bufio.Writer, a Audited) {
	lines, rows, rules := 0, 0, 0
	for _, f := range a.Findings {
		lines, rows, rules = max(lines, width(place(f, a))), max(rows, width(f.Row)), max(rules, len(ruleName(f)))
	}
	last := ""
	for _, f := range a.Findings {
		if head := resultHead(f); head != last {
			w.WriteString("\n  " + head + "\n")
			last = head
		}
		fmt.Fprintf(w, "    %*s  %s  %-*s  %s\n", lines, place(f, a),
			printable(f.Row)+strings.Repeat(" ", rows-width(f.Row)), rules, ruleName(f), printable(f.Text))
	}
}

// resultHead names a result and where it begins.
func resultHead(f Finding) string {
	head := printable(f.Result)
	if f.ResultLine > 0 {
		head = strings.TrimSuffix("line "+strconv.Itoa(f.ResultLine)+"  "+head, "  ")
	}
	return head
}

// place is the line of a finding, with its file where that is not the one above; empty where it has no line.
func place(f Finding, a Audited) string {
	switch {
	case f.Line == 0:
		return ""
	case f.File != a.File:
		return printable(filepath.Base(f.File)) + ":" + strconv.Itoa(f.Line)
	}
	return strconv.Itoa(f.Line)
}

// ruleName marks the rules whose findings are doubts.
func ruleName(f Finding) string {
	if f.Grade == Doubtful {
		return f.Rule + "?"
	}
	return f.Rule
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// width counts columns the same on every machine.
func width(s string) int {
	return (&runewidth.Condition{StrictEmojiNeutral: true}).StringWidth(printable(s))
}

// printable keeps text from a file from driving the terminal or breaking the line.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r >= '\u2028' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069' {
			return ' '
		}
		return r
	}, s)
}

// TextRules lists the rules, with what each tolerates and why.
func TextRules(w io.Writer) error {
	out := bufio.NewWriter(w)
	all := append(Rules(), recordRules()...)
	longest := 0
	for _, r := range all {
		longest = max(longest, len(r.Name))
	}
	for _, r := range all {
		fmt.Fprintf(out, "%-*s  %s\n%*s  Tolerates %s\n", longest, r.Name, r.Says, longest, "", r.Tolerance)
	}
	return out.Flush()
}
