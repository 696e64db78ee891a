package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"llmsweep/client"
	"llmsweep/client/probe"
	"llmsweep/client/sim"
	"llmsweep/sweep"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/workload"
)

// target is a server that has passed its preflight, and what requests to it are made of.
type target struct {
	client   *client.Client
	prober   *probe.Prober
	about    rundir.Target
	workload rundir.Workload
	sources  func(stage string) sweep.Source
	close    func()
}

// simScheme begins a URL that stands for the embedded server; a preset may follow.
const simScheme = "sim:"

// embedded starts the simulated server that a sim: URL names, and returns where it listens.
func embedded(ctx context.Context, url string) (string, sim.Config, func(), error) {
	preset := strings.TrimPrefix(url, simScheme)
	if preset == "" {
		preset = "demo"
	}
	config, err := sim.Preset(preset)
	if err != nil {
		return "", config, nil, usage(err)
	}
	live, err := sim.Start(config)
	if err != nil {
		return "", config, nil, err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // it outlives an interrupt, to be drained
	at, wait, err := sim.Serve(ctx, "127.0.0.1:0", sim.NewHandler(live, sim.ServerOptions{}))
	if err != nil {
		cancel()
		live.Close()
		return "", config, nil, err
	}
	return at, config, func() { cancel(); wait(); live.Close() }, nil
}

// connect asks the server about itself, and finds out what prompts cost there.
func connect(c *console, url string, flags *targetFlags, w rundir.Workload, conns int) (_ *target, err error) {
	t := &target{workload: w, close: func() {}}
	defer func() {
		if err != nil {
			t.close()
		}
	}()
	t.about.URL = url
	var config sim.Config
	if strings.HasPrefix(url, simScheme) {
		var stop func()
		if url, config, stop, err = embedded(c.ctx, url); err != nil {
			return nil, err
		}
		t.close = stop
		capacity := config.Capacity(sim.Workload{PromptTokens: int(w.PromptTokens.Mean), OutputTokens: int(w.OutputTokens.Mean)})
		t.about.Capacity = rundir.Exactly(capacity.RequestsPerSecond)
	}
	options, err := flags.options(url, conns)
	if err != nil {
		return nil, usage(err)
	}
	if t.prober, err = probe.New(options); err != nil {
		return nil, usage(err)
	}
	want := probe.Want{PromptTokens: int(w.PromptTokens.Mean), OutputTokens: int(w.OutputTokens.Mean)}
	facts, err := t.prober.Preflight(c.ctx, want)
	if err != nil {
		return nil, err
	}
	if t.client, err = client.New(t.prober.Options()); err != nil {
		return nil, err
	}
	if t.about.URL == url {
		t.about.URL = t.client.URL("")
	}
	t.about.API, t.about.Model, t.about.Engine, t.about.Version = facts.API, facts.Model, facts.Engine, facts.Version
	t.about.Notes = facts.Notes
	t.workload.Forced = facts.LengthForced
	return t, t.prepareWorkload(c.ctx)
}

// prepareWorkload finds out how long a text of so many tokens is.
func (t *target) prepareWorkload(ctx context.Context) error {
	w := &t.workload
	if w.Prompt != "" {
		t.sources = workload.Repeated{Text: w.Prompt, Output: w.OutputTokens, Seed: w.Seed}.Stage
		return nil
	}
	wanted := int(w.PromptTokens.Mean)
	costs, err := workload.Calibrate(ctx, t.count, wanted)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		costs = workload.Guess
		t.note("prompt lengths are a guess of one token a word: %v", err)
	}
	synthetic := workload.NewSynthetic(w.PromptTokens, w.OutputTokens, w.Seed, costs)
	t.sources = synthetic.Stage
	if err == nil {
		return t.checkLength(ctx, synthetic, wanted)
	}
	return nil
}

// checkLength has the server count a prompt as it will be sent.
func (t *target) checkLength(ctx context.Context, s *workload.Synthetic, wanted int) error {
	counted, _, err := t.count(ctx, s.Sample(wanted))
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		t.note("the length of prompts could not be checked: %v", err)
		return nil
	}
	t.workload.CountedPrompt = counted
	if off := float64(counted-wanted) / float64(wanted); off > 0.01 || off < -0.01 {
		t.note("asked for prompts of %d tokens; the server counts %d", wanted, counted)
	}
	return nil
}

func (t *target) note(format string, a ...any) {
	t.about.Notes = append(t.about.Notes, fmt.Sprintf(format, a...))
}

// count is a workload.Counter.
func (t *target) count(ctx context.Context, text string) (int, string, error) {
	n, err := t.prober.Count(ctx, text)
	return n, t.prober.CountSource(), err
}

// idle waits until the server says that nothing runs or waits there.
func (t *target) idle(ctx context.Context) error {
	for {
		load, err := t.prober.Load(ctx)
		if err != nil {
			return err
		}
		if load.Running.Value+load.Waiting.Value == 0 {
			return nil
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("%g requests run and %g wait there, and they are not ours", load.Running.Value, load.Waiting.Value)
		}
	}
}

// tellsLoad says whether the server can be asked if it is idle.
func (t *target) tellsLoad(ctx context.Context) bool {
	load, err := t.prober.Load(ctx)
	return err == nil && load.Running.Known
}
