package published

import (
	"strings"
	"testing"

	"llmsweep/client/testkit"
)

// TestCases: what people and tools change in what they publish is read as it is meant, or refused with a reason.
func TestCases(t *testing.T) {
	plain := ""
	testkit.CheckCases(t, "cases/*.txt", func(t *testing.T, text string, first bool) string {
		doc, err := ParseText("doc", strings.NewReader(text))
		if err != nil {
			return "  " + err.Error() + "\n"
		}
		checkDocument(t, doc)
		read := describe(doc, true)
		switch {
		case first:
			plain, read = read, describe(doc, false)
		case read == plain:
			read = "  as the first\n"
		}
		return kindsOf(doc) + read
	})
}
