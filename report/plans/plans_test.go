package plans

import (
	"strings"
	"testing"

	"llmsweep/client/testkit"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/plan"
	"llmsweep/sweep/twin"
)

// example is a result with everything that can be in one.
func example() *plan.CapacityResult {
	off, bad := 0.034, 0.31
	hour, month, lost := plan.RateRange{Value: 4.8, Low: 4.8, High: 6}, plan.RateRange{Value: 3504, Low: 3504, High: 4380}, plan.RateRange{Value: 0.991, Low: 0.991, High: 0.991}
	first := plan.CapacityPlan{
		Name: "l20, L20, vLLM", Check: &off, Extrapolated: true, Replicas: plan.RateRange{Value: 4, Low: 4, High: 5}, Mean: 4, GPUs: 4, Hour: &hour, Month: &month,
		Held: plan.RateRange{Value: 0.9993, Low: 0.98, High: 1}, HeldLost: &lost, LostAnswers: 12, RefusedShare: 0.002, ScaleAt: 17.3,
		First: plan.Break{Times: 1.41, Term: "ttft:p99<1s", Cause: plan.CauseCache},
		Sizes: []plan.Size{{Replicas: 3, Held: 0.41, Hour: 3.6}, {Replicas: 4, Held: 0.9993, Enough: true, Hour: 4.8}},
		Over:  []plan.CapacitySpan{{From: 0, Rate: 3.5, Mean: 2, Least: 1, Most: 3, InFlight: 12.25, Held: 1}, {From: 43200, Rate: 21, Mean: 4, Least: 4, Most: 4, InFlight: 80, Held: 0.9993}},
		WhatIfs: []plan.WhatIf{{Change: "prompts=2x", Replicas: 7, Hour: 8.4}, {Change: "bandwidth=2x", Replicas: 3, Hour: 3.6, Extrapolated: true},
			{Change: "prompts=9x", Refused: twin.RefusedFar}, {Change: "requests=99x", Refused: plan.RefusedMost}},
	}
	second := first
	second.Name, second.Check, second.Failed, second.First, second.HeldLost, second.WhatIfs = "a100", &bad, true, plan.Break{}, nil, nil
	return &plan.CapacityResult{
		Schema: plan.Schema, SLO: []string{"ttft:p99<1s", "itl:p99<100ms"}, Router: plan.LeastLoaded, Headroom: 0.2, Lost: 1, Minutes: 0.99, Draws: 10,
		Demand:       plan.Demand{Requests: 1728000, Seconds: 86400, Rate: 20, Peak: 41.2, Prompt: plan.DemandLengths{Mean: 512.4, Min: 8, P99: 2000, Max: 4000}, Output: plan.DemandLengths{Mean: 128, Min: 1, P99: 400, Max: 900}},
		Ranked:       []plan.CapacityPlan{first, second},
		PricesUnused: []string{"H100"},
		Refused:      []plan.RefusedTwin{{Name: "x", Why: plan.RefusedCheck}, {Name: "y", Why: plan.RefusedPrice}, {Name: "z", Why: twin.RefusedLength}, {Name: "w", Why: plan.RefusedMost}},
	}
}

// TestPlansInBothLanguages compares all that is printed with testdata.
func TestPlansInBothLanguages(t *testing.T) {
	for _, l := range lang.All() {
		for _, format := range []string{"console", "markdown"} {
			var b strings.Builder
			if err := table.WriteSections(&b, format, Sections(example()), table.Style{Lang: l}); err != nil {
				t.Fatal(err)
			}
			testkit.CheckGolden(t, "plan."+string(l)+"."+format, []byte(b.String()))
		}
	}
	var b strings.Builder
	if err := JSON(&b, example()); err != nil {
		t.Fatal(err)
	}
	testkit.CheckGolden(t, "plan.json", []byte(b.String()))
	if line := Progress("l20", "whole time", 3, 20, lang.Chinese); line != "规划  l20  第 3 步，共 20 步  全部时间" {
		t.Error(line)
	}
}

// TestNoRangesWithoutDraws plans without other servers: there is nothing to take a range from.
func TestNoRangesWithoutDraws(t *testing.T) {
	r := example()
	r.Draws = 0
	for _, l := range lang.All() {
		s := ranking(r)
		text := strings.Join(lang.In(append(s.Lines, s.Notes...), l), "\n")
		if strings.Contains(text, noteRange.In(l)) || !strings.Contains(text, noteNoRange.In(l)) || strings.Contains(text, "4 - 5") {
			t.Error(text)
		}
		for _, c := range s.Table.Columns {
			if c.Sub == subRange.Text() {
				t.Errorf("column %+v", c)
			}
		}
		if n := len(s.Table.Columns); len(s.Table.Rows[0]) != n {
			t.Errorf("%d cells under %d columns", len(s.Table.Rows[0]), n)
		}
	}
}

// TestFailedTwinIsCautionedFirst has a twin that failed its check in the first place, with a draw for which no number of replicas was enough.
func TestFailedTwinIsCautionedFirst(t *testing.T) {
	r := example()
	r.Ranked = r.Ranked[1:]
	r.Ranked[0].Unbounded = true
	for _, l := range lang.All() {
		s := ranking(r)
		if !strings.HasPrefix(s.Lines[0].In(l), sayUnreliable.In(l)) || !strings.Contains(s.Lines[0].In(l), "4 - > 5") {
			t.Error(s.Lines)
		}
	}
}
