package published

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"llmsweep/client/testkit"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// kindsOf tells what each line of a document was taken for.
func kindsOf(doc *Document) string {
	var b strings.Builder
	for kinds := range slices.Chunk(doc.lineKinds, 80) {
		b.WriteString("  " + strings.Map(func(k rune) rune { return rune(".pcfnU"[k]) }, string(kinds)) + "\n")
	}
	return b.String()
}

// describe tells all results of a document and its remarks; in brief without the lines that things are from.
func describe(doc *Document, brief bool) string {
	var b strings.Builder
	put := func(indent int, format string, args ...any) {
		text := strings.Repeat(" ", indent) + fmt.Sprintf(format, args...)
		b.WriteString(table.Wrap(text, 120, indent+2) + "\n")
	}
	at := func(line int) string {
		if brief {
			return ""
		}
		return fmt.Sprintf("line %d ", line)
	}
	for i := range doc.Runs {
		run := &doc.Runs[i]
		put(2, "%s%s %s", at(run.Source.Line), run.Source.Format,
			flat(run, nil, "schema", "stages", "source", "client", "warnings", "state"))
		if head := flat(run.Source, nil, "file", "line", "format", "labels", "figures"); head != "" {
			put(4, "%s", head)
		}
		for _, key := range slices.Sorted(maps.Keys(run.Source.Labels)) {
			if l := run.Source.Labels[key]; !brief || l.Inferred {
				put(4, "%s, line %d%s: %s", key, l.Line, map[bool]string{true: ", inferred"}[l.Inferred], l.Text)
			}
		}
		for _, n := range run.Warnings[1:] { // all have the first
			put(4, "note: %s", Words().Say(n, "en"))
		}
		for j := range run.Stages {
			s := &run.Stages[j]
			from := s.Source.Printed
			if brief {
				from = nil
			}
			put(4, "%s%s: %s", at(s.Source.Line), s.Name, flat(s, from, "name", "source", "state", "warnings"))
			for _, n := range s.Warnings {
				put(6, "%s", Words().Say(n, "en"))
			}
		}
	}
	for _, r := range doc.Remarks {
		put(2, "%s, line %d: %s", map[bool]string{true: "unread", false: "remark"}[r.Unread], r.Line, r.Text)
	}
	if doc.Broken() {
		put(2, "broken: %d of %d lost", doc.Lost, doc.Figures+doc.Lost)
	}
	return b.String()
}

// flat returns the values of v by their keys in JSON, with the lines and units that they are from. Zeros that are not
// printed, and some keys, are left out.
func flat(v any, printed map[string]rundir.Printed, without ...string) string {
	b := testkit.Must(json.Marshal(v))
	var all []string
	var walk func(prefix string, v gjson.Result)
	walk = func(prefix string, v gjson.Result) {
		v.ForEach(func(k, child gjson.Result) bool {
			key := prefix + k.String()
			switch {
			case slices.Contains(without, key):
			case child.IsObject():
				walk(key+".", child)
			case printed[key].Line > 0:
				unit := strings.TrimLeft(printed[key].Text, "0123456789.,-+e> ")
				all = append(all, fmt.Sprintf("%s=%s@%d%s", key, child, printed[key].Line, unit))
			case key == "workload.think" ||
				!slices.Contains([]string{"", "0", "false", "0001-01-01T00:00:00Z"}, child.String()):
				all = append(all, fmt.Sprintf("%s=%s", key, child))
			}
			return true
		})
	}
	walk("", gjson.ParseBytes(b))
	return strings.Join(all, " ")
}
