package main

import (
	"context"
	"fmt"
	"llmsweep/report/lang"
	"llmsweep/sweep/load"
	"math"
	"strings"
	"time"

	"llmsweep/client"
	"llmsweep/client/note"
	"llmsweep/client/probe"
	"llmsweep/client/sim"
	simserver "llmsweep/client/sim/server"
	"llmsweep/client/spend"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/workload"
)

// target is a server that has passed the preflight, with the workload to measure it with.
type target struct {
	client   *client.Client
	prober   *probe.Prober
	about    rundir.Target
	workload workload.Workload
	asked    rundir.Workload      // the workload as run.json has it
	counted  int                  // tokens that the server counted for a prompt of the wanted length; 0 where it did not
	longest  int                  // tokens of a prompt and its answer that the server takes; 0 where it does not tell
	costs    workload.Calibration // of made-up texts; zero where there are none
	caps     *load.Caps           // of --max-rps and --max-tpm, which the preflight keeps to as well; nil for none
	spending *spend.Purse         // nil where spending is neither counted nor limited
	tokenize tokenize             // of --tokenizer; nil where it was not given
	lang     lang.Lang            // of error messages
	close    func()
}

// simScheme begins a URL that stands for the embedded server; a preset may follow.
const simScheme = "sim:"

// embedded starts the simulated server that a sim: URL names, and returns its base URL.
func embedded(c *console, url string) (string, sim.Config, func(), error) {
	preset := strings.TrimPrefix(url, simScheme)
	if preset == "" {
		preset = "demo"
	}
	config, err := simulated(c, preset)
	if err != nil {
		return "", config, nil, usage(err)
	}
	live, err := sim.Start(config)
	if err != nil {
		return "", config, nil, err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(c.ctx)) // it outlives an interrupt, to be drained
	at, wait, err := c.serve(ctx, c.simulates(), simserver.New(live, simserver.Options{}))
	if err != nil {
		cancel()
		live.Close()
		return "", config, nil, err
	}
	return at, config, func() { cancel(); wait(); live.Close() }, nil
}

// connect runs the preflight, and makes the workload.
func connect(c *console, url string, flags *targetFlags, l *workloadOptions, r *replay, conns int) (*target, error) {
	t, err := reach(c, url, flags, l, r != nil, conns)
	if err != nil {
		return nil, err
	}
	w, err := t.open(c.ctx, l, r)
	if err != nil {
		t.close()
		return nil, err
	}
	t.ask(w)
	return t, nil
}

// reach runs the preflight.
func reach(c *console, url string, flags *targetFlags, l *workloadOptions, replayed bool, conns int) (_ *target, err error) {
	t := &target{close: func() {}, tokenize: l.tokenize, lang: c.lang}
	defer func() {
		if err != nil {
			t.close()
		}
	}()
	t.about.URL = url
	if strings.HasPrefix(url, simScheme) {
		var config sim.Config
		var stop func()
		if url, config, stop, err = embedded(c, url); err != nil {
			return nil, err
		}
		t.close = stop
		if l.plain() && !replayed {
			capacity := config.Capacity(sim.Workload{PromptTokens: int(l.prompt.Mean), OutputTokens: int(l.output.Mean)})
			t.about.Capacity = rundir.Exactly(capacity.RequestsPerSecond)
		}
	}
	options, err := flags.options(url, conns)
	if err != nil {
		return nil, usage(err)
	}
	options.Dial, options.Proxy, t.spending = c.dial, c.proxy, flags.spending
	if t.prober, err = probe.New(options); err != nil {
		return nil, usage(err)
	}
	if t.caps = flags.caps(); t.caps != nil {
		t.prober.Pace = t.caps.Wait
	}
	t.closes(t.prober.Close)
	facts, err := t.prober.Preflight(c.ctx, probe.Want{PromptTokens: int(l.prompt.Mean), OutputTokens: int(l.output.Mean)})
	if err != nil {
		if proxy := c.proxyFor(url); proxy != "" {
			err = fmt.Errorf("%w (connections go through the proxy %s, set by HTTP_PROXY or HTTPS_PROXY; NO_PROXY excepts a host)", err, proxy)
		}
		return nil, err
	}
	if t.client, err = client.New(t.prober.Options()); err != nil {
		return nil, err
	}
	t.closes(t.client.CloseIdle)
	if t.about.URL == url {
		t.about.URL = t.client.URL("")
	}
	t.about.API, t.about.Model, t.about.Engine, t.about.Version = facts.API, t.client.WithoutSecrets(facts.Model), facts.Engine, t.client.Shown(facts.Version)
	t.about.Notes = facts.Notes
	for _, n := range t.about.Notes { // they name models
		for name, v := range n.Args {
			if s, ok := v.(string); ok {
				n.Args[name] = t.client.WithoutSecrets(s)
			}
		}
	}
	t.longest = facts.MaxModelLen
	t.asked.Think = options.Params.Think
	if options.Params.Temperature != nil {
		t.asked.Temperature = rundir.Exactly(*options.Params.Temperature)
	}
	t.asked.Forced = facts.LengthForced
	return t, nil
}

// spent returns what reads the spending so far, for run.json; nil where it is not counted.
func (t *target) spent() func() *rundir.Spent {
	if t.spending == nil {
		return nil
	}
	return func() *rundir.Spent {
		s, l := t.spending.Spent(), t.spending.Limits()
		told := &rundir.Spent{
			Requests: s.Requests, PromptTokens: s.Prompt, OutputTokens: s.Output, UnsureTokens: s.UnsurePrompt + s.UnsureOutput,
			MaxTokens: l.Tokens, Ended: s.Refused,
		}
		if l.PriceIn > 0 || l.PriceOut > 0 {
			told.Cost, told.PriceIn, told.PriceOut = rundir.Exactly(s.Cost), rundir.Exactly(l.PriceIn), rundir.Exactly(l.PriceOut)
		}
		if l.Cost > 0 {
			told.MaxCost = rundir.Exactly(l.Cost)
		}
		return told
	}
}

// closes adds to what close does, before the rest.
func (t *target) closes(f func()) {
	rest := t.close
	t.close = func() { f(); rest() }
}

// ask sets the workload, and describes it for run.json.
func (t *target) ask(w workload.Workload) {
	params := t.asked
	t.workload, t.asked = w, w.Describe()
	t.asked.Think, t.asked.Temperature, t.asked.Forced, t.asked.CountedPrompt = params.Think, params.Temperature, params.Forced, t.counted
}

func (t *target) note(notes ...note.Note) { t.about.Notes = append(t.about.Notes, notes...) }

// count is a workload.Counter. It asks the server first: a tokenizer does not know the server's chat template.
func (t *target) count(ctx context.Context, text string) (int, string, error) {
	n, err := t.prober.Count(ctx, text)
	if err != nil && t.tokenize != nil && ctx.Err() == nil {
		n, err = t.tokenize(ctx, text)
		return n, "tokenizer", err
	}
	return n, t.prober.CountSource(), err
}

// retokenize returns what counts the tokens of answers again: the tokenizer of --tokenizer, or the server where wanted and
// possible; nil where neither can.
func (t *target) retokenize(ctx context.Context, wanted bool) tokenize {
	if t.tokenize != nil || !wanted {
		return t.tokenize
	}
	if _, err := t.prober.Tokenize(ctx, "a few words"); err != nil {
		return nil
	}
	return t.prober.Tokenize
}

// idle waits until the server reports that no request runs or waits.
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
			return fmt.Errorf("%g requests run and %g wait on the server, sent by other clients", load.Running.Value, load.Waiting.Value)
		}
	}
}

// gauges returns the server's own gauges; one that it does not report is NaN.
func (t *target) gauges(ctx context.Context) (load.Gauges, error) {
	told, err := t.prober.Load(ctx)
	value := func(g probe.Gauge) float64 {
		if g.Known {
			return g.Value
		}
		return math.NaN()
	}
	return load.Gauges{
		Running: value(told.Running), Waiting: value(told.Waiting), KVUsage: value(told.KVUsage),
		Preemptions: value(told.Preemptions), PrefixQueries: value(told.PrefixQueries), PrefixHits: value(told.PrefixHits),
	}, err
}

// tellsLoad reports whether the server has a gauge of running requests.
func (t *target) tellsLoad(ctx context.Context) bool {
	load, err := t.prober.Load(ctx)
	return err == nil && load.Running.Known
}
