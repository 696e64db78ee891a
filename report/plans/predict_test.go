package plans

import (
	"bytes"
	"fmt"
	"llmsweep/client/testkit"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"llmsweep/client/sim"
	"llmsweep/report/lang"
	"llmsweep/report/published"
	"llmsweep/report/setup"
	"llmsweep/report/table"
)

func tables(t *testing.T) []setup.Setup {
	t.Helper()
	const name = "../published/testdata/guidellm-tables.md"
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	doc, err := published.ParseText(filepath.Base(name), f)
	if err != nil {
		t.Fatal(err)
	}
	var all []setup.Input
	for i := range doc.Runs {
		all = append(all, setup.Input{Path: filepath.Base(name), Run: &doc.Runs[i]})
	}
	return setup.Load(all)
}

// The page in examples is what the code says today.
func TestPage(t *testing.T) {
	all := PredictedSet(tables(t))
	for l, name := range map[lang.Lang]string{lang.English: "predictions.md", lang.Chinese: "predictions.zh.md"} {
		var b bytes.Buffer
		if err := table.WriteSections(&b, "markdown", []table.Section{BesideSection(all)}, table.Style{Lang: l}); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("../../examples", name)
		got := strings.TrimPrefix(b.String(), "\n")
		if *testkit.Update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (-want +got), go test ./report/predict -update writes it:\n%s", name, diff)
		}
	}
}

// Every configuration of the published document has its prediction, and each error is that of the metrics beside it.
func TestEveryConfigurationIsSetBeside(t *testing.T) {
	setups := tables(t)
	all := PredictedSet(setups)
	if len(all) != len(setups) {
		t.Fatalf("%d of %d configurations", len(all), len(setups))
	}
	for _, b := range all {
		if b.Preset == "" {
			t.Errorf("%s has no prediction", b.Setup.Name)
		}
		for _, p := range []PredictedPair{b.ITL, b.Output} {
			if e := p.Error(); !e.Known() || math.Abs(p.Measured.Value()*(1+e.Value())-p.Predicted.Value()) > 1e-9*p.Predicted.Value() {
				t.Errorf("%s: %v predicted, %v published, error %v", b.Setup.Name, p.Predicted, p.Measured, e)
			}
		}
		c, err := sim.Preset(b.Preset)
		if err != nil {
			t.Fatal(err)
		}
		if got := sim.CapacityOf(c, sim.Workload{PromptTokens: 512, OutputTokens: 128}).SyncITL.Seconds(); got != b.ITL.Predicted.Value() {
			t.Errorf("%s: %s gives %v, not %v", b.Setup.Name, b.Preset, got, b.ITL.Predicted.Value())
		}
	}
}

func TestWhatDoesNotFitIsLeftOut(t *testing.T) {
	m, err := sim.LookupModel("Qwen2-72B")
	if err != nil {
		t.Fatal(err)
	}
	g, err := sim.LookupGPU("L20")
	if err != nil {
		t.Fatal(err)
	}
	listed := ""
	for _, e := range predictedList(m, g, sim.Workload{PromptTokens: 512, OutputTokens: 128}) {
		listed += fmt.Sprintf(" %d/%s", e.Count, e.Quant)
	}
	// 72.7e9 weights of 2 bytes are 145 GB, and two L20 have 96.
	if strings.Contains(listed, " 2/fp16") || !strings.Contains(listed, " 4/fp16") {
		t.Errorf("listed:%s", listed)
	}
	var b bytes.Buffer
	section := PredictedSection(predictedList(m, g, sim.Workload{PromptTokens: 512, OutputTokens: 128}), sim.Workload{PromptTokens: 512, OutputTokens: 128})
	if err := table.WriteSections(&b, "console", []table.Section{section}, table.Style{}); err != nil || !strings.Contains(b.String(), "PREDICTION") {
		t.Errorf("not called a prediction:\n%s (%v)", b.String(), err)
	}
}
