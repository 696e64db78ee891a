package report_test

import (
	"flag"
	"os"
	"testing"

	"llmsweep/sweep/simtest"
)

// TestMain draws fewer random runs in everyday tests, unless -rapid.checks says how many: each is rendered in all forms
// and both languages.
func TestMain(m *testing.M) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "rapid.checks" })
	if !given && !simtest.Full() {
		const few = "25"
		if err := flag.Set("rapid.checks", few); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
