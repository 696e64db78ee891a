package published

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"llmsweep/client/testkit"
)

// TestCases: what people and tools change in what they publish is read as it is meant, or refused with a reason. Each
// file of cases says what its lines mean.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/cases/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var told []string
		pieces, original, first := []string{`\r`, "\r", `\n`, "\n"}, "", ""
		full := func(text string) string { return strings.NewReplacer(pieces...).Replace(text) }
		for block := range strings.SplitSeq(strings.TrimSpace(string(b)), "\n\n") {
			var input, text string
			var changes []string
			for line := range strings.Lines(block + "\n") {
				plain := strings.TrimSuffix(line, "\n")
				if strings.HasPrefix(line, "  ") {
					continue // what was told before
				}
				input += line
				if after, ok := strings.CutPrefix(plain, ">"); ok {
					text += full(strings.TrimPrefix(after, " ")) + "\n"
				} else if name, piece, ok := strings.Cut(plain, "} = "); ok {
					pieces = append(pieces, name+"}", full(piece))
				} else if from, to, ok := strings.Cut(plain, " => "); ok {
					changes = append(changes, full(from), full(to))
				}
			}
			if text+strings.Join(changes, "") != "" {
				original = cmp.Or(original, text)
				doc, err := ParseText("doc", strings.NewReader(strings.NewReplacer(changes...).Replace(cmp.Or(text, original))))
				if err != nil {
					told = append(told, input+"  "+err.Error())
					continue
				}
				checkDocument(t, doc)
				read := describe(t, doc, true)
				switch {
				case first == "":
					first, read = read, describe(t, doc, false)
				case read == first:
					read = "  as the first\n"
				}
				input += kindsOf(doc) + read
			}
			told = append(told, strings.TrimSuffix(input, "\n"))
		}
		testkit.CheckGolden(t, "cases/"+filepath.Base(file), []byte(strings.Join(told, "\n\n")+"\n"))
	}
}
