package main

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"llmsweep/sweep/measure"
)

// TestMap: what the package comment names for each kind of change is where it says.
func TestMap(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "main.go", nil, parser.ParseComments|parser.PackageClauseOnly)
	noError(t, err)
	_, places, found := strings.Cut(strings.Join(strings.Fields(file.Doc.Text()), " "), "Where a change goes:")
	entries := regexp.MustCompile(`(\w+) in ([\w/]+\.go)`).FindAllStringSubmatch(places, -1)
	if !found || len(entries) < 12 {
		t.Fatalf("the map has %d entries", len(entries))
	}
	for _, e := range entries {
		declares := regexp.MustCompile(`(?m)^(func (\(.*?\) )?|type |var |const |\t)` + e[1] + `\b`)
		if !declares.MatchString(contentOf(t, filepath.Join("..", "..", e[2]))) {
			t.Errorf("there is no %s in %s", e[1], e[2])
		}
	}
}

// TestToleranceInManual: the manual names the tolerance of verdicts as it is.
func TestToleranceInManual(t *testing.T) {
	percent := "than " + strconv.FormatFloat(100*measure.DefaultTolerance, 'g', 3, 64) + " % "
	if n := strings.Count(contentOf(t, "manual/topics/verdicts.md"), percent); n != 3 {
		t.Errorf("verdicts.md names the tolerance, %q, %d times", percent, n)
	}
}
