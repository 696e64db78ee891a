package findings_test

import (
	"regexp"
	"testing"

	"llmsweep/report/findings"
	"llmsweep/report/lang"
)

// TestFlagsTakeWhatNotesAdvise: an argument that follows a flag is printed as the flag takes it, and not in words such
// as "8 min".
func TestFlagsTakeWhatNotesAdvise(t *testing.T) {
	inWords := regexp.MustCompile(`--[a-z-]+[ =]\{[a-z_]+:(span|time|count[^}]*|percent|rate)\}`)
	for code, p := range findings.Words() {
		for _, l := range lang.All() {
			if found := inWords.FindString(p.In(l)); found != "" {
				t.Errorf("%s in %s: %s", code, l, found)
			}
		}
	}
}
