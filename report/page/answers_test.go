package page

import (
	"strings"
	"testing"

	"llmsweep/report/choose"
	"llmsweep/report/compare"
	"llmsweep/sweep/fidelity"
	"llmsweep/sweep/rundir"
)

func agreed(same float64, n, ties, changes int, verdict rundir.FidelityVerdict) rundir.Agreed {
	return rundir.Agreed{
		Answers: n, Ties: ties, Changes: changes, Verdict: verdict,
		Same: rundir.Estimate{N: n, Mean: rundir.Exactly(same), Low: rundir.Exactly(max(0, same-0.05)), High: rundir.Exactly(min(1, same+0.05))},
	}
}

func TestStages(t *testing.T) {
	if _, ok := answerStages(&rundir.Run{}); ok {
		t.Error("a run without canaries is drawn")
	}
	differs := agreed(0.8, 50, 4, 6, rundir.FidelityDiffers)
	run := &rundir.Run{
		Fidelity: &rundir.Fidelity{Alone: agreed(1, 100, 0, 0, "")},
		Stages:   []rundir.Stage{{Name: "poisson@1.00", Fidelity: &differs}, {Name: "poisson@2.00"}},
	}
	f, ok := answerStages(run)
	if svg := string(f.Variants[0].SVG); !ok || len(f.Table.Rows) != 2 || !strings.Contains(svg, "asynchronous@1.00") || !strings.Contains(svg, "再次单独询问") || !strings.Contains(svg, "20 %") {
		t.Errorf("%+v", f)
	}
}

func TestCandidates(t *testing.T) {
	all := []compare.AnswerCandidate{{Setup: "q4 <b>", Baseline: "f16", Drift: &fidelity.Drift{
		Verdict: fidelity.DriftDiffers, Alone: agreed(0.4, 100, 20, 40, fidelity.DriftDiffers), Null: [2]rundir.Agreed{agreed(1, 100, 0, 0, ""), agreed(1, 100, 0, 0, "")},
	}}}
	f, ok := candidatePlots(all)
	if svg := string(f.Variants[0].SVG); !ok || len(f.Table.Rows) != 2 || !strings.Contains(svg, "60 %") || strings.Contains(svg, "<b>") {
		t.Errorf("%+v", f)
	}
	if _, ok := candidatePlots(nil); ok {
		t.Error("nothing is drawn")
	}
}

func TestFront(t *testing.T) {
	points := []choose.DriftPoint{
		{Name: "f16", Cost: rundir.Exactly(2), PerGPU: 100, PerUser: 20, Match: rundir.Exactly(1), Front: true},
		{Name: "q4", Cost: rundir.Exactly(1), PerGPU: 200, PerUser: 40, Match: rundir.Exactly(0.4), Front: true},
	}
	f, ok := frontPlot("drift-1", points)
	if svg := string(f.Variants[0].SVG); !ok || len(f.Table.Rows) != 2 || !strings.Contains(svg, "f16") || !strings.Contains(svg, "cost of a million tokens") {
		t.Errorf("%+v", f)
	}
	points[0].Cost = rundir.Number{}
	if f, ok := frontPlot("drift-1", points); !ok || !strings.Contains(string(f.Variants[0].SVG), "output per GPU") {
		t.Error("without a price")
	}
	if _, ok := frontPlot("drift-1", points[:1]); ok {
		t.Error("one point is drawn")
	}
}
