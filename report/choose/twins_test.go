package choose

import (
	"regexp"
	"strings"
	"testing"

	"llmsweep/client/testkit"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/twin"
)

// example is a fit with everything that can be in one.
func example() TwinFit {
	p := twin.Metrics{Requests: 3.1, Output: 410.2, TTFT50: 88.123, TTFT99: 1234.5, Gap50: 21.3, Gap99: 40, GapMean: 22}
	m := twin.Metrics{Requests: 3, Output: 400, TTFT50: 80, TTFT99: 1500, Gap50: 21, GapMean: 22}
	low := twin.Metrics{Requests: 2.9, Output: 390, TTFT50: 71, TTFT99: 800, Gap50: 20.1, GapMean: 20.5}
	high := twin.Metrics{Requests: 3.3, Output: 420, TTFT50: 95, TTFT99: 1700, Gap50: 23, GapMean: 23.5}
	return TwinFit{
		Twin: &twin.Twin{Version: twin.Version, Refined: true, Name: "m", From: []string{"a"}, Step: twin.Step{Read: twin.Read{FixedMS: 9.8765}}, Slots: 8, StepTokens: 512,
			Seen: twin.Seen{Prompt: [2]int{32, 512}, Output: [2]int{8, 128}, Batch: 8, Steps: 4321}, StageError: 0.127, Stages: 7, Unlike: []twin.Unlike{{Stage: "concurrent@16", Off: 0.31}, {Stage: "poisson@2", Off: -0.12}}, Intervals: map[string][2]float64{"step.read.fixed_ms": {9.5, 10.2}},
			Unknown: []string{"kv_tokens", "step_tokens"}, Check: &twin.Check{Error: 0.034, Passed: true, Rows: []twin.CheckRow{{Stage: "concurrent@16", Full: true, Predicted: p, Measured: m}}}},
		Answers: []twin.Answer{{Prompt: 512, Output: 32, Rate: 3.4567, Low: 3, High: 4, Latencies: &twin.Latencies{Rate: 2.4, Predicted: p, Low: low, High: high}}, {Name: "t.jsonl", Prompt: 600, Output: 64, Rate: 2, Low: 1, High: 3, Extrapolated: true}, {Prompt: 9000, Output: 1, Refused: twin.RefusedFar}},
	}
}

// comparison is a run with stages of all kinds.
func comparison() *twin.Comparison {
	row, l := example().Twin.Check.Rows[0], example().Answers[0].Latencies
	return &twin.Comparison{Schema: twin.ComparisonSchema, Twin: "m", Failed: true,
		Saturation: &twin.ComparedSaturation{Use: twin.RoleNew, Measured: 3, Between: [2]float64{2.9, 3.1}, Predicted: 3.2, Interval: [2]float64{2.8, 3.6}},
		Rows: []twin.ComparisonRow{
			{Stage: "concurrent@16", Width: 16, Use: twin.RoleHeldOut, Predicted: row.Predicted, Measured: row.Measured},
			{Stage: "poisson@2", Rate: 2, Use: twin.RoleFitted, Predicted: row.Predicted, Measured: row.Measured},
			{Stage: "poisson@2.5", Rate: 2.5, Use: twin.RoleNew, Predicted: row.Predicted, Low: l.Low, High: l.High, Measured: row.Measured},
			{Stage: "=poisson@3", Rate: 3, Use: twin.RoleNew, Measured: row.Measured, Refused: twin.RefusedLength},
		}}
}

// TestTwinsInBothLanguages compares all that is printed with testdata.
func TestTwinsInBothLanguages(t *testing.T) {
	for _, l := range lang.All() {
		for name, sections := range map[string][]table.Section{"fit": example().Sections(), "beside": TwinBeside(comparison())} {
			for _, format := range []string{"console", "markdown"} {
				var b strings.Builder
				if err := table.WriteSections(&b, format, sections, table.Style{Lang: l}); err != nil {
					t.Fatal(err)
				}
				testkit.CheckGolden(t, name+"."+string(l)+"."+format, []byte(b.String()))
			}
		}
	}
	var csv, json strings.Builder
	if err := TwinBesideCSV(&csv, comparison()); err != nil {
		t.Fatal(err)
	}
	if err := TwinBesideJSON(&json, comparison()); err != nil {
		t.Fatal(err)
	}
	var fitted strings.Builder
	if err := TwinJSON(&fitted, example()); err != nil {
		t.Fatal(err)
	}
	testkit.CheckGolden(t, "fit.json", []byte(fitted.String()))
	if key := regexp.MustCompile(`"[^"]*[A-Z][^"]*":`).FindString(fitted.String()); key != "" {
		t.Errorf("a key is no snake_case: %s", key)
	}
	testkit.CheckGolden(t, "beside.csv", []byte(csv.String()))
	testkit.CheckGolden(t, "beside.json", []byte(json.String()))
}

// TestFailedPartsAreNamed has a check that failed by one part alone: it is named with its stages and its limit, and the others are not.
func TestFailedPartsAreNamed(t *testing.T) {
	m := twin.Metrics{Output: 400, TTFT50: 100, GapMean: 22}
	off := func(ttft, output float64) twin.Metrics {
		return twin.Metrics{Output: 400 * output, TTFT50: 100 * ttft, GapMean: 22}
	}
	c := &twin.Check{Error: 0.076, Rows: []twin.CheckRow{
		{Stage: "poisson@2", Measured: m, Predicted: off(0.52, 1.05)}, {Stage: "poisson@4", Measured: m, Predicted: off(1.1, 1)}, {Stage: "concurrent@8", Measured: m, Predicted: off(0.44, 1.09)}}}
	if got, want := verdict(c, lang.English), "The check FAILED: TTFT p50 ms is off in poisson@2 -48 %, concurrent@8 -56 % (limit 30 %). Output rates and mean gaps together are off by 7.6 % (root mean square). Do not plan with this twin."; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got := verdict(c, lang.Chinese); !strings.Contains(got, "TTFT p50 ms") || strings.Contains(got, "tok/s") {
		t.Error(got)
	}
}

// TestUselessFit has a fit to stages that the client limited, from which no cost could be told.
func TestUselessFit(t *testing.T) {
	f := example()
	f.Stages, f.Invalid = 8, 6
	f.Twin.Step = twin.Step{Read: twin.Read{FixedMS: 1}}
	f.Twin.Seen.Batch, f.Twin.Slots = 10, 256
	f.Twin.Unknown = []string{"slots", "step.read.fixed_ms"}
	for _, l := range lang.All() {
		s := f.head()
		if s.Lines[0] != sayInvalidStages.Text(6, 8) {
			t.Error(s.Lines)
		}
		if want := saySlots.In(l, 10, 256); !strings.HasSuffix(s.Notes[0].In(l), want) {
			t.Error(s.Notes[0])
		}
		if !strings.HasSuffix(s.Notes[1].In(l), sayNoCost.In(l)) {
			t.Error(s.Notes[1])
		}
	}
}

// TestNoExponents writes very small numbers.
func TestNoExponents(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 4.03e-7: "< 0.000001", 0.0000123: "0.000012", 0.00123: "0.00123", 27625896: "27625896"} {
		if got := short(v); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
}
