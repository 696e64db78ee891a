package report

import (
	"encoding/json"
	"os"
	"path/filepath"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

// fixture returns what a file below testdata holds.
func fixture[T any](file string) (v T) {
	b, err := os.ReadFile(filepath.Join("testdata", file))
	if err == nil {
		err = json.Unmarshal(b, &v)
	}
	if err != nil {
		panic(err)
	}
	return v
}

// sweptRun is a whole sweep, saturated at the end, its two highest rates censored. blankRun has only just begun. The
// server of failedRun answered each request with an error. interruptedRun was stopped in its fourth stage, with things
// to warn of. singleRun is two stages without labels, and judgedRun three: they keep an SLO, miss it, and have too few
// requests to tell. ladderRun is closed loops, each measured whole.
func sweptRun() rundir.Run       { return fixture[rundir.Run]("swept.json") }
func blankRun() rundir.Run       { return fixture[rundir.Run]("runs/blank.json") }
func failedRun() rundir.Run      { return fixture[rundir.Run]("runs/failed.json") }
func interruptedRun() rundir.Run { return fixture[rundir.Run]("runs/interrupted.json") }
func singleRun() rundir.Run      { return fixture[rundir.Run]("runs/single.json") }
func judgedRun() rundir.Run      { return fixture[rundir.Run]("runs/judged.json") }
func ladderRun() rundir.Run      { return fixture[rundir.Run]("runs/ladder.json") }

// promisedRun is a sweep of which something was promised: kept at low rates, not judged at one, broken from then on.
func promisedRun() rundir.Run {
	run := sweptRun()
	run.Plan.SLO = []string{"ttft:p99<200ms", "itl:p95<90ms"}
	verdicts := []rundir.SLOVerdict{"unknown", "broken", "kept", "kept", "kept", "unknown", "kept", "broken", "broken",
		"broken", "broken", "broken", "broken"}
	for i := range run.Stages {
		s := &run.Stages[i]
		s.Goodput = &rundir.Goodput{
			Rate: rundir.Exactly(s.Rates.Completed.Value() * 0.9), Share: rundir.Exactly(0.9), Verdict: verdicts[i],
			Terms: []rundir.TermResult{
				{Term: "ttft:p99<200ms", Verdict: verdicts[i], Value: s.TTFT.P99}, {Term: "itl:p95<90ms", Verdict: "kept",
					Value: s.ITL.P95},
			},
		}
		if verdicts[i] == "unknown" {
			s.Goodput.Terms[0].Needs = 340
		}
	}
	run.Stages[9].Goodput.Share, run.Stages[9].Goodput.Unknown = rundir.Over(0.1), 12
	run.SLO = &rundir.SLO{
		Terms: run.Plan.SLO, Rate: rundir.Exactly(5.93), Low: rundir.Exactly(5.71), High: rundir.Exactly(6.2),
		Goodput:   rundir.Exactly(5.34),
		KeptStage: "asynchronous@5.80", BrokenStage: "asynchronous@6.86", Limiting: "ttft:p99<200ms",
		Reason: note.Text.New("poisson@5.80 kept all terms; beyond, ttft:p99<200ms ends it"),
	}
	return run
}

// simulatedRun is a sweep of the simulator, whose capacity can be computed.
func simulatedRun() rundir.Run {
	run := sweptRun()
	run.Target = rundir.Target{URL: "sim:", API: "chat", Model: "qwen2-7b", Engine: "sim", Capacity: rundir.Exactly(7.27)}
	return run
}
