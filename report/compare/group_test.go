package compare

import (
	"os"
	"slices"
	"strings"
	"testing"

	"llmsweep/report/lang"
	"llmsweep/report/published"
	"llmsweep/report/setup"
	"llmsweep/sweep/rundir"
)

// read returns the setups of a published document, by the file's name.
func read(t *testing.T, name string) []setup.Setup {
	t.Helper()
	f, err := os.Open("../published/testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	doc, err := published.ParseText(name, f)
	if err != nil {
		t.Fatal(err)
	}
	doc = published.Join(doc)
	var all []setup.Input
	for i := range doc.Runs {
		all = append(all, setup.Input{Path: name, Run: &doc.Runs[i]})
	}
	return setup.Load(all)
}

// says returns the conclusions on what differs.
func says(c *Comparison, what string) (all []string) {
	for _, f := range c.Factors {
		if f.What == what {
			all = append(all, f.Says)
		}
	}
	return all
}

// A document of several workloads is compared workload by workload, engines without a GPU's name, and modes of thinking
// with each other.
func TestWorkloadsAreGrouped(t *testing.T) {
	c := compared(t, read(t, "stress-tables.txt"))
	var titles []string
	for _, s := range c.Sections(1) {
		titles = append(titles, s.Title.In(lang.English))
	}
	for _, want := range []string{"Comparison, answers of at most 3096 tokens",
		"Comparison, answers of at most 512 tokens", "Comparison, answers of at most 1024 tokens"} {
		if !slices.Contains(titles, want) {
			t.Errorf("no section %q among %q", want, titles)
		}
	}
	for what, want := range map[string]string{
		byEngine: "vLLM against SGLang: +12 to +23 % at 10 in flight",
		byThink:  "SGLang, answers of at most 3096 tokens, thinking against no thinking: -39 to -33 % at 10 in flight",
	} {
		if got := says(c, what); !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, want) }) {
			t.Errorf("%s: %q not in %q", what, want, got)
		}
	}
	for _, ch := range c.Changes {
		if tokens := func(s string) bool { return strings.Contains(s, "3096") }; tokens(ch.Setup) != tokens(ch.From) {
			t.Errorf("%s is compared with %s", ch.Setup, ch.From)
		}
	}
}

// The blocks of one document have one workload, whether or not a log stands above each, and are named by their
// headings.
func TestHeadingsAreNames(t *testing.T) {
	setups := read(t, "serving-blocks.txt")
	c := compared(t, setups)
	if names := []string{setups[0].Name, setups[1].Name, setups[2].Name}; !slices.Equal(names,
		[]string{"SGLang", "SGLang, Rust", "SGLang, golang"}) {
		t.Errorf("names %q", names)
	}
	if want := "505.61/258.83 tokens, data set ShareGPT_V3_unfiltered_cleaned_split.json"; c.Workload != want {
		t.Errorf("workload %q, want %q", c.Workload, want)
	}
	if got := says(c, byHeading); len(got) != 1 || !strings.Contains(got[0], "Rust against golang: -9 %") {
		t.Errorf("conclusions %q", got)
	}
	for _, m := range c.Setups {
		if rate, _ := m.Get(keyRate); !rate.AtLeast {
			t.Errorf("%s: 20 in flight of 20 req/s asked for are taken for its saturation", m.Name)
		}
	}
}

// A label that the user made up is one that may differ.
func TestFreeLabels(t *testing.T) {
	setups := twoRuns(0.2, 0.01)
	setups[0].Run.Labels.Free, setups[1].Run.Labels.Free = map[string]string{"router": "golang"},
		map[string]string{"router": "Rust"}
	setups[1].Run.Labels.Engine = setups[0].Run.Labels.Engine
	c := compared(t, setups)
	if got := says(c, "router"); len(got) != 1 || !strings.Contains(got[0], "Rust") || len(c.Factors) != 1 {
		t.Errorf("%q of %d factors", got, len(c.Factors))
	}
}

// Conversations and prompts that share a beginning are other workloads than prompts of the same first lengths.
func TestConversationsAreNotComparedWithSingleRequests(t *testing.T) {
	for name, w := range map[string]rundir.Workload{
		"8 turns, +96 tokens": {Conversation: &rundir.Conversation{Turns: rundir.Lengths{Mean: 8},
			TurnTokens: rundir.Lengths{Mean: 96}, Pause: 1}},
		"the first 256 tokens sha": {Prefix: &rundir.Prefix{Tokens: 256, Groups: 1}},
	} {
		setups := twoRuns(0.1, 0.01)
		one := &setups[1].Run.Workload
		one.Conversation, one.Prefix = w.Conversation, w.Prefix
		if _, err := Of(setups, false); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want %s named", err, name)
		}
	}
}
