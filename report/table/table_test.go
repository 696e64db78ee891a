package table

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"llmsweep/report/lang"
)

// anyText is what people and servers put into labels and messages.
func anyText() *rapid.Generator[string] {
	return rapid.StringOf(rapid.SampledFrom([]rune("ab1 |`*_[]<>&\\~#\"',\n\r\t\x1b\u2028\u202e通义千问（，é\u0301👍👨\u200d👩～…")))
}

// TestColumnsAlign: whatever the cells hold, what stands right of them stands in one column.
func TestColumnsAlign(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shown := Table{}
		n := rapid.IntRange(1, 5).Draw(t, "columns")
		for range n {
			head := strings.ReplaceAll(anyText().Draw(t, "head"), "|", "")
			shown.Columns = append(shown.Columns, Column{Head: lang.Same(head), Left: rapid.Bool().Draw(t, "left")},
				Column{Head: lang.Same("|"), Left: true})
		}
		for range rapid.IntRange(1, 5).Draw(t, "rows") {
			var cells []Cell
			for range n {
				text := func(name string) string { return strings.ReplaceAll(anyText().Draw(t, name), "|", "") }
				cells = append(cells, Cell{Text: lang.Same(text("text")), Unit: text("unit"), Mark: "?"},
					Cell{Text: lang.Same("|")})
			}
			shown.Rows = append(shown.Rows, cells)
		}
		var b strings.Builder
		writeTable(&b, &shown, Style{})
		var first []int
		for i, line := range strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n") {
			var at []int
			for part := range strings.SplitSeq(line, "|") {
				at = append(at, Width(part))
			}
			if first == nil {
				first = at
			}
			if diff := cmp.Diff(first, at); diff != "" {
				t.Fatalf("line %d of\n%s%s", i, b.String(), diff)
			}
		}
	})
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"one two three", 0, "one two three"},
		{"  one two three", 9, "  one two\n  three"},
		{"  饱和点为七，输出", 10, "  饱和点为\n  七，输出"},
		{"  饱和点为，输出", 10, "  饱和点\n  为，输出"},
		{"  unbreakable", 5, "  unbreakable"},
	} {
		if got := Wrap(c.text, c.width, 2); got != c.want {
			t.Errorf("%q in %d: %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

// TestSpareRows checks that a document has all rows, and that a console without --all says that there are more.
func TestSpareRows(t *testing.T) {
	s := Section{Spare: []int{1}, Table: Table{
		Columns: []Column{{Head: lang.Same("h"), Left: true}},
		Rows:    [][]Cell{{Literal("first")}, {Literal("second")}, {Literal("third")}},
	}}
	for _, c := range []struct {
		format string
		all    bool
		want   string
	}{
		{"console", false, "  h\n  first\n  third\n\nWith --all: all rows.\n"},
		{"console", true, "  h\n  first\n  second\n  third\n"},
		{"markdown", false, "| h |\n| :--- |\n| first |\n| second |\n| third |\n"},
	} {
		var b bytes.Buffer
		if err := WriteSections(&b, c.format, []Section{s}, Style{All: c.all}); err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimLeft(b.String(), "\n"); got != c.want {
			t.Errorf("%s, all %v: %q, want %q", c.format, c.all, got, c.want)
		}
	}
}
