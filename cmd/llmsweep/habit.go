package main

import (
	"cmp"
	"errors"
	"time"

	"llmsweep/client/sim"
)

// fixedTimes are the flags of a server whose times do not depend on its load.
type fixedTimes struct {
	FirstToken time.Duration `name:"first-token" placeholder:"TIME" help:"Fixed time to the first token, in a slot, instead of the preset's GPU and model; a multiple of a fifth of --per-token, which must be set too."`
	PerToken   time.Duration `name:"per-token" placeholder:"TIME" help:"Fixed time for each further token."`
}

// apply turns a configuration into one of fixed times, where the flags ask for it.
func (f fixedTimes) apply(c *sim.MachineConfig) error {
	if f == (fixedTimes{}) {
		return nil
	}
	first, each := cmp.Or(f.FirstToken, c.Plain.FirstToken), cmp.Or(f.PerToken, c.Plain.PerToken)
	if first == 0 || each == 0 {
		return errors.New("--first-token and --per-token belong together, such as --first-token 100ms --per-token 10ms")
	}
	*c = sim.MachineConfig{
		Plain: sim.Plain{FirstToken: first, PerToken: each}, Model: c.Model, MaxNumSeqs: c.MaxNumSeqs, MaxModelLen: c.MaxModelLen,
	}
	return nil
}
