package testkit

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// CheckCases calls render with each text of the files of testdata that match pattern, and compares what it returns with
// the indented lines below the text; with -update it writes them. A block of such a file is a name, a text behind ">",
// changes of it as "old => new", and indented what render returned. A block without a text has that of the first one.
// Lines "{piece} = text" name parts of texts.
func CheckCases(t *testing.T, pattern string, render func(t *testing.T, text string, first bool) string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", pattern))
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var blocks []string
		pieces, original := []string{`\r`, "\r", `\n`, "\n"}, ""
		full := func(text string) string { return strings.NewReplacer(pieces...).Replace(text) }
		for block := range strings.SplitSeq(strings.TrimSpace(string(b)), "\n\n") {
			var out, text string
			var changes []string
			for line := range strings.SplitSeq(block, "\n") {
				if strings.HasPrefix(line, "  ") {
					continue // the earlier result
				}
				out += line + "\n"
				if after, ok := strings.CutPrefix(line, ">"); ok {
					text += full(strings.TrimPrefix(after, " ")) + "\n"
				} else if name, piece, ok := strings.Cut(line, "} = "); ok {
					pieces = append(pieces, name+"}", full(piece))
				} else if from, to, ok := strings.Cut(line, " => "); ok {
					changes = append(changes, full(from), full(to))
				}
			}
			if text+strings.Join(changes, "") != "" {
				first := original == ""
				original = cmp.Or(original, text)
				out += render(t, strings.NewReplacer(changes...).Replace(cmp.Or(text, original)), first)
			}
			blocks = append(blocks, strings.TrimSuffix(out, "\n"))
		}
		name, err := filepath.Rel("testdata", file)
		if err != nil {
			t.Fatal(err)
		}
		CheckGolden(t, name, []byte(strings.Join(blocks, "\n\n")+"\n"))
	}
}
