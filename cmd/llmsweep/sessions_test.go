package main

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	simserver "llmsweep/client/sim/server"
	"llmsweep/cmd/llmsweep/console"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
)

// TestSessionRate: sessions begin at the rate asked for, and the report has it beside that of turns.
func TestSessionRate(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		url, stop := w.server(w.simulated(simserver.Options{}))
		defer stop()
		args := []string{"run", url, "--session-rate", "2", "--turns", "4", "--think-time", "exp:1s", "--prompt-tokens", "16", "--output-tokens", "4", "--no-selftest", "--plain"}
		out, _ := w.must(append(args, "--duration", "100s", "--out", w.path("a"))...)
		if !strings.Contains(out, "sessions/s") {
			t.Error(out)
		}
		records, err := store.Open(w.path("a"))
		if err != nil {
			t.Fatal(err)
		}
		stage := records.Stages[len(records.Stages)-1]
		begun := 0
		for r, err := range store.Records(w.path("a")) {
			if err != nil {
				t.Fatal(err)
			}
			if r.Stage == stage.Name && r.Turn == 0 {
				begun++
			}
		}
		if turns := stage.Rates.Offered.Or(0); math.Abs(turns-8) > 0.8 || begun < 160 || begun > 260 {
			t.Errorf("%.2f turns/s, %d sessions in 100 s; want 8 and 200", turns, begun)
		}
		// Recorded sessions: one of two requests and a sub-agent, and one of a single request. 3 sessions/s are 6 requests/s.
		recorded := `{"block_size": 16, "requests": [{"t": 0, "in": 32, "out": 4, "api_time": 1}, {"t": 1, "requests": [{"t": 0.5, "in": 16, "out": 4, "api_time": 1}]}, ` +
			`{"t": 4, "in": 48, "out": 4}]}` + "\n" + `{"requests": [{"t": 0, "in": 32, "out": 4}]}` + "\n"
		if err := os.WriteFile(w.path("agents.jsonl"), []byte(recorded), 0o600); err != nil {
			t.Fatal(err)
		}
		w.must("run", url, "--session-rate", "3", "--workload", w.path("agents.jsonl"), "--duration", "100s", "--no-selftest", "--plain", "--out", w.path("b"))
		drawn, err := store.Open(w.path("b"))
		if err != nil {
			t.Fatal(err)
		}
		if turns := drawn.Stages[len(drawn.Stages)-1].Rates.Offered.Or(0); math.Abs(turns-6) > 0.6 {
			t.Errorf("3 recorded sessions/s of two requests in the mean offer %.2f requests/s", turns)
		}
		for _, more := range []string{"--rate 3", "--concurrency 2", "--arrivals ramp:1-2"} {
			if code, _, errs := w.llmsweep(append(args, strings.Fields(more)...)...); code != console.WrongUsage || !strings.Contains(errs, "a load of its own") {
				t.Errorf("%s: exit %d, %s", more, code, errs)
			}
		}
		if code, _, errs := w.llmsweep("run", url, "--session-rate", "2"); code != console.WrongUsage || !strings.Contains(errs, "needs the turns") {
			t.Errorf("exit %d, %s", code, errs)
		}
	})
}

// TestSubAgents: sub-agents begin when a turn has ended, carry what was said before or nothing, and the session's next turn waits for the slowest.
func TestSubAgents(t *testing.T) {
	const sessions, turns, agents, turnsOfAgents, think = 12, 3, 4, 2, 0.5
	virtually(t, func(t *testing.T, w *world) {
		url, stop := w.server(w.simulated(simserver.Options{}))
		defer stop()
		for _, fresh := range []string{"", ":fresh"} {
			w.must("run", url, "--concurrency", "2", "--requests", strconv.Itoa(sessions), "--turns", strconv.Itoa(turns), "--think-time", "500ms",
				"--sub-agents", fmt.Sprint(agents, ":", turnsOfAgents)+fresh, "--prompt-tokens", "64", "--output-tokens", "uniform:4-64", "--no-selftest",
				"--warmup", "0", "--plain", "--out", w.path("a"+fresh))
			run, err := store.Open(w.path("a" + fresh))
			if err != nil {
				t.Fatal(err)
			}
			all, ideal, prompts := map[[3]int]rundir.Record{}, 0.0, 0.0
			for r, err := range store.Records(w.path("a" + fresh)) {
				if err != nil {
					t.Fatal(err)
				}
				all[[3]int{r.Seq, r.Agent, r.Turn}] = *r.Clone()
				ideal, prompts = ideal+float64(r.IdealTokens), prompts+r.PromptTokens.Value()
			}
			if want := sessions * (turns + agents*turnsOfAgents); len(all) != want {
				t.Fatalf("%d requests, want %d", len(all), want)
			}
			callers := map[int]int{}
			for seq := range sessions {
				begun, ended := all[[3]int{seq, 1, 0}].Due.Value(), 0.0
				for agent := 1; agent <= agents; agent++ {
					ended = max(ended, all[[3]int{seq, agent, turnsOfAgents - 1}].End.Value())
				}
				for turn := 1; turn < turns; turn++ {
					before, r := all[[3]int{seq, 0, turn - 1}], all[[3]int{seq, 0, turn}]
					said, due := before.PromptTokens.Value()+before.OutputTokens.Value(), before.End.Value()+think
					if math.Abs(begun-before.End.Value()) < 0.01 {
						callers[turn-1]++
						due = ended + think
						first := all[[3]int{seq, 2, 0}]
						if want := int(said); fresh == "" && first.IdealTokens != want || fresh != "" && first.IdealTokens != 0 {
							t.Errorf("session %d: the sub-agent repeats %d tokens of %v, said were %d", seq, first.IdealTokens, first.PromptTokens, want)
						}
					}
					if math.Abs(r.Due.Value()-due) > 0.01 || r.IdealTokens != int(said) {
						t.Errorf("session %d, turn %d: due at %.3f with %d tokens said, want %.3f and %v", seq, turn, r.Due.Value(), r.IdealTokens, due, said)
					}
				}
			}
			if callers[0]+callers[1] != sessions || callers[0] == 0 || callers[1] == 0 {
				t.Errorf("turns that start sub-agents: %v", callers)
			}
			stage := run.Stages[len(run.Stages)-1]
			if got := stage.Hits.Ideal.Or(0); math.Abs(got-ideal/prompts) > 0.001 || stage.Sessions.Of != sessions {
				t.Errorf("ideal %.4f of %d sessions, want %.4f of %d", got, stage.Sessions.Of, ideal/prompts, sessions)
			}
		}
	})
}

// TestSubAgentsOfStayingUsers: sub-agents that the end of a stage cuts short go on in the next one, and their session goes on waiting for them.
func TestSubAgentsOfStayingUsers(t *testing.T) {
	notInShort(t)
	virtually(t, func(t *testing.T, w *world) {
		url, stop := w.server(w.simulated(simserver.Options{}))
		defer stop()
		w.must("sweep", url, "--by", "users", "--turns", "4", "--sub-agents", "3:3", "--think-time", "exp:2s", "--prompt-tokens", "64", "--output-tokens", "16",
			"--budget", "2m", "--no-selftest", "--plain", "--out", w.path("a"))
		type agent struct {
			stage      string
			seq, agent int
		}
		ends, first, resumed := map[agent]float64{}, map[agent]int{}, 0
		var own []rundir.Record
		for r, err := range store.Records(w.path("a")) {
			if err != nil {
				t.Fatal(err)
			}
			if a := (agent{r.Stage, r.Seq, r.Agent}); r.Agent == 0 {
				own = append(own, *r.Clone())
			} else {
				ends[a] = max(ends[a], r.End.Value())
				if turn, ok := first[a]; !ok || r.Turn < turn {
					first[a] = r.Turn
				}
			}
		}
		for a, turn := range first {
			if turn == 0 {
				continue
			}
			resumed++
			for _, r := range own {
				if r.Stage == a.stage && r.Seq == a.seq && r.Due.Value() < ends[a] {
					t.Errorf("%s: turn %d of session %d is due before its sub-agent %d ended", r.Stage, r.Turn, r.Seq, a.agent)
				}
			}
		}
		if resumed == 0 {
			t.Error("no sub-agent goes on from one stage to the next")
		}
	})
}
