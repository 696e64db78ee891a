// Command program embeds a sweep: it sweeps a simulated server over HTTP, in real time, and prints what it found. For a
// real server, put its URL in place of the simulated one's.
package main

import (
	"context"
	"fmt"
	"log"
	"time"

	"llmsweep/client"
	simserver "llmsweep/client/sim/server"
	"llmsweep/sweep"
)

func main() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	url, err := simserver.Start(ctx, "demo")
	if err != nil {
		log.Fatal(err)
	}
	server, err := client.New(client.Options{URL: url, MaxConns: 64})
	if err != nil {
		log.Fatal(err)
	}
	run, err := sweep.Server(ctx, server, func(c *sweep.Config) {
		c.Sources = sweep.Words(64, 16, c.Seed)
		c.Points, c.StageTime, c.StageMax, c.MaxConcurrency = 4, time.Second, 2*time.Second, 64
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range run.Stages {
		if !s.Rates.Completed.Known() { // no request ended in its window
			continue
		}
		fmt.Printf("%-16s %6.2f req/s  TTFT %5.1f ms  %s\n", s.Name, s.Rates.Completed.Value(), 1e3*s.TTFT.Mean.Value(),
			s.Verdict)
	}
	if a := run.Saturation; a != nil {
		fmt.Printf("It sustains %.2f requests per second (95 %%: %.2f to %.2f).\n", a.Rate.Value(), a.Low.Value(),
			a.High.Value())
	}
}
