package published

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// TestYAMLToJSON: values are those of the YAML, in its lines.
func TestYAMLToJSON(t *testing.T) {
	const text = `# comment
version: '0.2'
text: "a\nb"
folded: >-
  one
  two
numbers: [1, 2.5, 1.0e-05, 0x10, .inf, .nan, ~, 007]
base: &base
  units: s
  mean: 1
taken:
  <<: *base
  mean: 2
same: *base
1: true
tagged: !!str 5
list:
- a: 1
  b:
  - c
`
	out, err := yamlToJSON([]byte(text))
	if err != nil || !gjson.Valid(out) {
		t.Fatalf("%v: %s", err, out)
	}
	for path, want := range map[string]string{
		"version": `"0.2"`, "text": `"a\nb"`, "folded": `"one two"`, "taken.mean": "2", "taken.units": `"s"`,
		"numbers": "[1,2.5,1.0e-05,16,null,null,null,7]", "same.mean": "1", "1": "true", "tagged": `"5"`,
		"list.0.a": "1", "list.0.b.0": `"c"`,
	} {
		if got := gjson.Get(out, path).Raw; got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	f := &jsonFile{lines: lineStarts(out)}
	lines := strings.Split(text, "\n")
	for path, with := range map[string]string{
		"version": "version", "numbers.1": "numbers", "base.mean": "mean: 1", "taken.mean": "mean: 2", "list.0.b.0": "- c",
	} {
		if line := f.line(gjson.Get(out, path)); !strings.Contains(lines[line-1], with) {
			t.Errorf("%s: line %d", path, line)
		}
	}
}

// TestHostileYAML: YAML that would take hours or all memory is refused in one line.
func TestHostileYAML(t *testing.T) {
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
		"bytes":   {strings.Repeat("#", 8<<20), "larger than 8 MiB, which no Benchmark Report is"},
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
