package simtest

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"llmsweep/client/sim"
)

// TestASimulationDoesWhatTheEngineDoes gives both the same random arrivals. Every token comes at the same instant.
func TestASimulationDoesWhatTheEngineDoes(t *testing.T) {
	demo := Preset(t, "demo")
	demo.KVTokens, demo.Jitter = 1600, 0.05
	even := Preset(t, "plain8") // requests arrive at the ends of steps
	even.MaxNumSeqs = 4
	for _, c := range []sim.MachineConfig{demo, even} {
		const requests = 200
		rng := rand.New(rand.NewPCG(1, 2))
		var at []time.Duration
		var asks []sim.Request
		now := time.Duration(0)
		for range requests {
			now += time.Duration(rng.ExpFloat64() * 2e7)
			due := now
			if c.IsPlain() {
				due = now.Round(10 * time.Millisecond)
			}
			at, asks = append(at, due), append(asks, sim.Request{PromptTokens: 1 + rng.IntN(400), OutputTokens: 1 +
				rng.IntN(60)})
		}
		var want, got [][]time.Duration
		synctest.Test(t, func(t *testing.T) {
			e, err := sim.Start(c)
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			began := time.Now()
			want = make([][]time.Duration, requests)
			for i, r := range asks {
				time.Sleep(time.Until(began.Add(at[i])))
				if _, err := e.Submit(r, func(_ int, at time.Time) { want[i] = append(want[i], at.Sub(began)) }); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(time.Hour)
		})
		s, err := NewSimulation(c)
		if err != nil {
			t.Fatal(err)
		}
		got = make([][]time.Duration, requests)
		for i, r := range asks {
			s.Add(at[i], r, func(_ *Job, _ int, at time.Duration) { got[i] = append(got[i], at) })
		}
		s.Finish()
		for i := range want {
			if len(got[i]) != asks[i].OutputTokens || len(want[i]) != len(got[i]) {
				t.Fatalf("request %d: %d tokens in the simulation, %d of the engine, want %d", i, len(got[i]), len(want[i]),
					asks[i].OutputTokens)
			}
			for k := range want[i] {
				if got[i][k] != want[i][k] {
					t.Fatalf("request %d, token %d: %v in the simulation, %v of the engine", i, k, got[i][k], want[i][k])
				}
			}
		}
	}
}

// Finish runs the server until all requests have ended.
func (s *Simulation) Finish() {
	for s.Step() {
	}
}
