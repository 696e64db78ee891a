package findings

import (
	"slices"
	"strings"
	"testing"

	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
)

// Every column is one alone, can be picked, and is either for people, for files, or for both.
func TestColumns(t *testing.T) {
	row := StageRow{Run: &rundir.Run{}, Stage: &rundir.Stage{Name: "synchronous", Role: rundir.Synchronous}}
	seen := map[string]bool{}
	for _, c := range Columns() {
		if seen[c.ID] || Pick(c.ID)[0].ID != c.ID || c.Cell == nil && c.Number == nil && c.Word == nil {
			t.Errorf("%s is the ID of two columns, or has neither a cell nor a value for files", c.ID)
		}
		seen[c.ID] = true
		if !c.Head.IsZero() && (c.Cell == nil || c.Cell(row).Text.IsZero()) || c.Number != nil && Field(&c, row) != "" {
			t.Errorf("%s has a heading and no cell, or a number of a stage without metrics", c.ID)
		}
	}
}

// People see the same columns in every run, and choose the percentiles.
func TestMainColumns(t *testing.T) {
	heads := func(percentiles []string) (all []string) {
		for _, c := range MainColumns(percentiles) {
			all = append(all, c.Head.EN)
		}
		return all
	}
	want := []string{"load", "offered", "done", "TTFT", "p90", "p99", "ITL", "latency", "tok/s", "in flight", ""}
	names, err := ParsePercentiles([]string{"50", " p95"})
	chosen := heads(names)[4:6]
	if got := heads(nil); !slices.Equal(got, want) || err != nil || !slices.Equal(chosen, []string{"p50", "p95"}) {
		t.Errorf("%q; %q, %v", got, chosen, err)
	}
	for _, wrong := range []string{"101", "", "mean", "p"} {
		if _, err := ParsePercentiles([]string{wrong}); err == nil || !strings.Contains(err.Error(), "p90") {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}

// TPOT weighs requests alike and stands beside ITL, which weighs tokens alike; a run without it has no column of it.
func TestTPOTColumns(t *testing.T) {
	s := &rundir.Stage{InterToken: exactly(0.019)}
	s.TPOT.Mean, s.TPOT.P50, s.TPOT.P95 = exactly(0.055), exactly(0.054), exactly(0.095)
	var tpot []string
	for _, c := range PercentileColumns([]string{"p50", "p95"}) {
		if c.Head.EN == "TPOT" {
			tpot = append(tpot, c.Sub.EN, c.Cell(StageRow{&rundir.Run{}, s}).In(lang.English))
		}
	}
	if want := []string{"mean", "55.0 ms", "p95", "95.0 ms"}; !slices.Equal(tpot, want) {
		t.Errorf("%q, want %q", tpot, want)
	}
	for _, with := range []bool{true, false} {
		runs := []rundir.Run{{Stages: []rundir.Stage{*s}}}
		if got := len(SelectColumns(runs, Pick("tpot_s_mean", "tpot_s_p99"))); got > 0 != with {
			t.Errorf("%d columns; TPOT is known: %v", got, with)
		}
		s.TPOT = rundir.Dist{}
	}
}

// Where requests pile up, their times depend on how long that lasted.
func TestHideGrowing(t *testing.T) {
	run := &rundir.Run{}
	s := &rundir.Stage{State: rundir.Complete, Rate: exactly(9), Verdict: rundir.Saturated, InterToken: exactly(0.1)}
	s.TTFT.Mean, s.TTFT.P90, s.Latency.Mean = exactly(1), exactly(2), exactly(3)
	row := func() string {
		var texts []string
		for _, c := range MainColumns([]string{"p90"}) {
			texts = append(texts, c.Cell(StageRow{run, s}).In(lang.English))
		}
		return strings.Join(texts[3:], " | ")
	}
	if got := row(); got != "grows | - | 100 ms | - | n/a | n/a | piled up" {
		t.Errorf("%q", got)
	}
	s.Role, run.Saturation = rundir.Grid, &rundir.Saturation{HighestStable: exactly(10)}
	if got := row(); got != "1.00 s | 2.00 s | 100 ms | 3.00 s | n/a | n/a | too short" {
		t.Errorf("below a rate that was held: %q", got)
	}
}
