package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Each rule that ablate takes out is where it says: a rule that was rewritten would end it after minutes.
func TestAblatedRulesExist(t *testing.T) {
	script, err := os.ReadFile("ablate")
	if err != nil {
		t.Fatal(err)
	}
	rule, variable := regexp.MustCompile(`without '([^']+)' (\S+) '([^']+)'`), regexp.MustCompile(`\b([sm])=(\S+)`)
	folders, rules := map[string]string{}, 0
	for line := range strings.Lines(string(script)) {
		for _, v := range variable.FindAllStringSubmatch(line, -1) {
			folders["$"+v[1]] = v[2]
		}
		m := rule.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		rules++
		file := m[2]
		for name, folder := range folders {
			file = strings.Replace(file, name+"/", folder+"/", 1)
		}
		code, err := os.ReadFile(filepath.Join("../..", file))
		if err != nil || !strings.Contains(string(code), m[3]) {
			t.Errorf("%s: %s has no %q (%v)", m[1], file, m[3], err)
		}
	}
	if rules < 25 {
		t.Errorf("%d rules", rules)
	}
}
