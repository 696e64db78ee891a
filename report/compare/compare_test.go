package compare

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"llmsweep/client/testkit"
	"llmsweep/report/lang"
	"llmsweep/report/published"
	"llmsweep/report/setup"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// document returns the setups of a published document.
func document(name string) []setup.Setup {
	text := testkit.Must(os.ReadFile("../published/testdata/" + name))
	doc := published.Join(testkit.Must(published.ParseText(strings.TrimPrefix(name, "guidellm-"), bytes.NewReader(text))))
	var all []setup.Input
	for i := range doc.Runs {
		all = append(all, setup.Input{Path: doc.Name, Run: &doc.Runs[i]})
	}
	return setup.Load(all)
}

// tables are the setups of a document of many configurations, and comparedTables their comparison.
var (
	tables         = sync.OnceValue(func() []setup.Setup { return document("guidellm-tables.md") })
	comparedTables = sync.OnceValue(func() *Comparison { return compared(tables()) })
)

func compared(setups []setup.Setup) *Comparison { return testkit.Must(Of(setups, false)) }

// named is the setup of the tables with a name.
func named(name string) setup.Setup {
	return tables()[slices.IndexFunc(tables(), func(s setup.Setup) bool { return s.Name == name })]
}

// checkFormats compares sections with golden files in both languages, as Markdown and on a console.
func checkFormats(t *testing.T, name string, sections []table.Section) {
	t.Helper()
	for _, l := range lang.All() {
		for extension, format := range map[string]string{"md": "markdown", "txt": "console"} {
			got := formatted(t, format, sections, table.Style{Lang: l})
			testkit.CheckGolden(t, fmt.Sprintf("%s.%s.%s", name, l, extension), got)
		}
	}
}

func formatted(t *testing.T, format string, sections []table.Section, style table.Style) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := table.WriteSections(&b, format, sections, style); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestGolden(t *testing.T) {
	checkFormats(t, "published", comparedTables().Report(2))
	checkFormats(t, "measured", compared(twoRuns(0.05, 0.01)).Report(2))
	checkFormats(t, "bounds", compared([]setup.Setup{tables()[0], tables()[2]}).Report(2))
	for _, name := range []string{"scaling-a10.txt", "serving-blocks.txt", "stress-tables.txt"} {
		for _, l := range lang.All() {
			testkit.CheckGolden(t, fmt.Sprintf("%s.%s.txt", strings.TrimSuffix(name, ".txt"), l),
				formatted(t, "console", compared(document(name)).Sections(1), table.Style{Lang: l, All: name != "scaling-a10.txt"}))
		}
	}
}

// Two results of different models are compared with a caution, and those of one model without. Among many, only those
// of one model are compared.
func TestOtherModelsAreCautioned(t *testing.T) {
	of := func(model string) []setup.Setup {
		return slices.DeleteFunc(slices.Clone(tables()), func(s setup.Setup) bool { return setup.Model(s.Run) != model })
	}
	one := of("Qwen2-7B-Instruct")
	got := lang.In(compared([]setup.Setup{one[0], of("Qwen2-14B-Instruct")[0]}).Cautions(), lang.English)
	if len(got) != 1 || !strings.Contains(got[0], "Qwen2-7B-Instruct, Qwen2-14B-Instruct") {
		t.Errorf("%q", got)
	}
	for _, c := range []*Comparison{comparedTables(), compared(one)} { // quantized or not
		if got := c.Cautions(); len(got) > 0 {
			t.Errorf("%q", got)
		}
	}
}

// Only configurations of one workload are compared.
func TestWorkloadsAreApart(t *testing.T) {
	for name, change := range map[string]func(*rundir.Workload){
		"512/256": func(w *rundir.Workload) { w.OutputTokens.Mean = 256 },
		"8 turns, +96 tokens": func(w *rundir.Workload) {
			w.Conversation = &rundir.Conversation{Turns: rundir.Lengths{Mean: 8}, TurnTokens: rundir.Lengths{Mean: 96}, Pause: 1}
		},
		"the first 256 tokens sha": func(w *rundir.Workload) { w.Prefix = &rundir.Prefix{Tokens: 256, Groups: 1} },
	} {
		setups := twoRuns(0, 0.01)
		change(&setups[1].Run.Workload)
		if _, err := Of(setups, false); err == nil || !strings.Contains(err.Error(), "--any-workload") ||
			!strings.Contains(err.Error(), name) {
			t.Errorf("%v, want %s named", err, name)
		}
		if _, err := Of(setups, true); err != nil {
			t.Error(err)
		}
		if _, err := Of(setups[:1], false); err == nil {
			t.Error("one run was compared")
		}
	}
}
