// Command program shows the packages at work: it sweeps the simulator's engine without HTTP, in real time, and prints the
// table. For a real server, put a *client.Client in place of the virtual.Doer.
package main

import (
	"context"
	"log"
	"os"
	"time"

	"llmsweep/client/sim"
	"llmsweep/report"
	"llmsweep/sweep"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/simtest"
)

// short asks for the same small answer each time.
type short struct{}

func (short) Next() (load.Session, bool) {
	return load.Session{Turns: []load.Turn{{User: "hello", PromptTokens: 64, OutputTokens: 16}}}, true
}

func main() {
	server, err := sim.Preset("demo")
	if err != nil {
		log.Fatal(err)
	}
	live, err := sim.Start(server)
	if err != nil {
		log.Fatal(err)
	}
	defer live.Close()

	plan := sweep.Defaults()
	plan.Doer = simtest.VirtualDoer{Live: live}
	plan.Sources = func(string) load.Source { return short{} }
	plan.Log = &store.Memory{}
	plan.Points, plan.StageTime, plan.StageMax, plan.MaxConcurrency = 4, time.Second, 2*time.Second, 64

	var run rundir.Run
	if err := sweep.Sweep(context.Background(), plan, &run); err != nil {
		log.Fatal(err)
	}
	if err := report.Console(os.Stdout, []rundir.Run{run}, report.Options{}); err != nil {
		log.Fatal(err)
	}
}
