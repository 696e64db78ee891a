package published

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"llmsweep/client/testkit"
)

// TestYAMLToJSON: values are those of the YAML, in its lines.
func TestYAMLToJSON(t *testing.T) {
	out := testkit.Must(yamlToJSON(testkit.Must(os.ReadFile("testdata/values.yaml"))))
	testkit.CheckGolden(t, "values.json", []byte(out))
}

// TestHostileYAML: YAML that would take hours or all memory is refused in one line.
func TestHostileYAML(t *testing.T) {
	if _, err := yamlToJSON(make([]byte, 8<<20+1)); err == nil || !strings.HasPrefix(err.Error(), "larger than 8 MiB") {
		t.Error(err)
	}
	const report = "version: '0.2'\nrun: {}\nresults: {}\n"
	laughs := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := 1; i < 10; i++ {
		name, before := string(rune('a'+i)), string(rune('a'+i-1))
		laughs += name + "0: &" + name + "0 [" + strings.TrimSuffix(strings.Repeat("*"+before+"0, ", 10), ", ") + "]\n"
	}
	for name, c := range map[string]struct{ text, want string }{
		"brackets": {"x: " + strings.Repeat("[", 1e5), "line 4: not YAML that a tool writes: it is nested too deeply"},
		"dashes": {"x:\n" + strings.Repeat("- ", 1e5) + "1",
			"line 5: not YAML that a tool writes: it is nested too deeply"},
		"aliases": {laughs, "its aliases make it too large"},
		"itself":  {"x: &x [*x]", ""},
		"nothing": {"x: *nowhere", ""},
		"tabs":    {"x:\n\t- a: b", "line 5: not YAML: found character '\t' that cannot start an..."},
		"twice":   {"run: 1", "line 4: not YAML: mapping key \"run\" already defined at [2:..."},
		"cut off": {"x: {", ""},
	} {
		_, err := ParseText("doc", strings.NewReader(report+c.text))
		says := fmt.Sprint(err)
		if c.want != "" && says != "doc: "+c.want || strings.Contains(says, "\n") {
			t.Errorf("%s: %.200s", name, says)
		}
	}
}
