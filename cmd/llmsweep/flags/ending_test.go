package flags

import "testing"

func TestFormatFor(t *testing.T) {
	all := []string{"markdown", "json", FormatHTML}
	for _, c := range []struct{ format, file, want string }{
		{"console", "choice.md", "markdown"}, {"console", "a/Choice.MD", "markdown"}, {"console", "c.html", FormatHTML},
		{"console", "c.json", "json"},
		{"console", "c.txt", "console"}, {"console", "c.csv", "console"}, {"console", "", "console"},
		{"json", "c.md", "json"},
	} {
		if got, _ := FormatFor(c.format, c.file, all); got != c.want {
			t.Errorf("--format %s -o %s: %s, want %s", c.format, c.file, got, c.want)
		}
	}
}
