package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Each constant that ablate takes out is where it says: one that is gone would end it after minutes. And none of the
// constants of judgement is forgotten.
func TestAblatedConstantsExist(t *testing.T) {
	script, err := os.ReadFile("ablate")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, m := range regexp.MustCompile(`\b([mspho])=(\S+)`).FindAllStringSubmatch(string(script), -1) {
		files[m[1]] = m[2]
	}
	rows := 0
	for _, m := range regexp.MustCompile(`(?m)^without \$f \$([mspho]) (\w+) `).FindAllStringSubmatch(string(script), -1) {
		rows++
		code, err := os.ReadFile(filepath.Join("../..", files[m[1]]))
		if err != nil {
			t.Fatal(err)
		}
		if !regexp.MustCompile(`(?m)^(\tconst |const |var |\t)` + m[2] + ` +(float64 +)?= `).Match(code) {
			t.Errorf("%s has no constant %s", files[m[1]], m[2])
		}
	}
	if rows < 30 {
		t.Errorf("%d constants", rows)
	}
	for file, begins := range map[string]string{
		"../../sweep/saturation/thresholds.go": "// The search for the bracket",
		"../../sweep/plan.go":                  "// How the time is shared out",
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, block, _ := strings.Cut(string(text), begins)
		block, _, _ = strings.Cut(block, "\n)")
		for _, m := range regexp.MustCompile(`(?m)^\t(\w+) +=`).FindAllStringSubmatch(block, -1) {
			if !strings.Contains(string(script), " "+m[1]+" ") && !unswept[m[1]] {
				t.Errorf("no row takes out %s", m[1])
			}
		}
	}
}

// unswept are constants of sweeps that no table is of: by users, and to a precision.
var unswept = map[string]bool{"usersShare": true, "preciseTime": true}
