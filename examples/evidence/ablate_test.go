package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// Each constant that ablate takes out is where it says: one that is gone would end it after hours. And none of the
// constants of the search is forgotten.
func TestAblatedConstantsExist(t *testing.T) {
	found, err := exec.Command("bash", "ablate", "-").CombinedOutput()
	if rows := strings.Count(string(found), "\n"); err != nil || rows < 30 {
		t.Fatalf("%v, %d lines:\n%s", err, rows, found)
	}
	search, err := os.ReadFile("../../sweep/saturation/thresholds.go")
	_, block, _ := strings.Cut(string(search), "// The search for the bracket")
	block, _, _ = strings.Cut(block, "\n)")
	for _, m := range regexp.MustCompile(`(?m)^\t(\w+) +=`).FindAllStringSubmatch(block, -1) {
		if err != nil || !strings.Contains("\n"+string(found), "\n"+m[1]+"\n") {
			t.Errorf("no row takes out %s (%v)", m[1], err)
		}
	}
}
