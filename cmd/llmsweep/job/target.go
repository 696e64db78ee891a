// Connects to the server of a command line: it runs the preflight, makes the client and the workload, and starts the
// embedded simulator for sim: URLs.

package job

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"llmsweep/client"
	"llmsweep/client/note"
	"llmsweep/client/probe"
	"llmsweep/client/sim"
	simserver "llmsweep/client/sim/server"
	"llmsweep/cmd/llmsweep/console"
	"llmsweep/cmd/llmsweep/flags"
	"llmsweep/report/lang"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/workload"
)

// Target is a server that has passed the preflight, with the workload to measure it with.
type Target struct {
	Client   *client.Client
	prober   *probe.Prober
	About    rundir.Target
	Workload workload.Workload
	Counted  int                    // tokens that the server counted for a prompt of the wanted length; 0 where it did not
	forced   bool                   // answers have the length that is asked for
	Longest  int                    // tokens of a prompt and its answer that the server takes; 0 where it does not tell
	costs    workload.Calibration   // of made-up texts; zero where there are none
	Caps     *load.Caps             // of --max-rps and --max-tpm, which the preflight keeps to as well; nil for none
	spending *client.SpendLimiter   // nil where spending is neither counted nor limited
	tokenize workload.TokenizerFunc // of --tokenizer; nil where it was not given
	empties  bool                   // its prefix cache is emptied before each stage
	Lang     lang.Lang              // of error messages
	Close    func()
	files    int       // how many connections this machine lets the process have; 0 for no limit
	others   []*Target // further servers of the same model, which requests are shared out over
}

// embedded starts the simulated server that a sim: URL names, and returns its base URL.
func embedded(c *console.Console, url string) (string, sim.MachineConfig, func(), error) {
	preset := strings.TrimPrefix(url, sim.Scheme)
	if preset == "" {
		preset = "demo"
	}
	config, err := sim.Preset(preset)
	if err != nil {
		return "", config, nil, console.Usage(err)
	}
	live, err := sim.Start(config)
	if err != nil {
		return "", config, nil, err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(c.Ctx)) // it outlives an interrupt, to be drained
	at, wait, err := c.World().Serve(ctx, "127.0.0.1:0", simserver.New(live, simserver.Options{}))
	if err != nil {
		cancel()
		live.Close()
		return "", config, nil, err
	}
	return at, config, func() { cancel(); wait(); live.Close() }, nil
}

// connectTarget runs the preflight of a server, and makes the workload.
func connectTarget(c *console.Console, url string, flags *flags.Target, l *flags.WorkloadOptions, r *workload.Replay,
	conns int) (*Target, error) {
	spec := l.Spec(r)
	t, err := preflight(c, url, flags, l, r != nil, conns, spec.Texts()...)
	if err != nil {
		return nil, err
	}
	if err := t.open(c.Ctx, spec, nil); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// expectedAnswer returns the mean length of the embedded simulator's answers.
func expectedAnswer(l *flags.WorkloadOptions) int {
	if l.AnswerLimit > 0 {
		return int(math.Round(simserver.NaturalLength{}.Mean(l.AnswerLimit, 0)))
	}
	return int(l.OutputLengths.Mean)
}

// preflight makes the client of a server and asks the server what it is, and meanwhile how long texts are. It sets no
// workload.
func preflight(
	c *console.Console, url string, flags *flags.Target, l *flags.WorkloadOptions, replayed bool, conns int,
	texts ...string,
) (_ *Target, err error) {
	t := &Target{Close: func() {}, tokenize: l.Tokenize, empties: flags.ResetCache, Lang: c.Lang}
	t.files = c.World().Limits().Most(1)
	defer func() {
		if err != nil {
			t.Close()
		}
	}()
	t.About.URL = url
	if strings.HasPrefix(url, sim.Scheme) {
		var config sim.MachineConfig
		var stop func()
		if url, config, stop, err = embedded(c, url); err != nil {
			return nil, err
		}
		t.Close, t.files = stop, c.World().Limits().Most(2) // the embedded server has the other ends
		if l.Plain() && !replayed {
			capacity := sim.CapacityOf(config, sim.Workload{PromptTokens: int(l.PromptLengths.Mean),
				OutputTokens: expectedAnswer(l)})
			t.About.Capacity = rundir.Exactly(capacity.RequestsPerSecond)
		}
	}
	options, err := flags.Options(url, conns)
	if err != nil {
		return nil, console.Usage(err)
	}
	options.Params.Natural = l.AnswerLimit > 0
	if pasted := flags.Speaks(url); pasted != flags.API {
		options.API = pasted
		fmt.Fprintln(c.Err, sayPasted.In(c.Lang, pasted))
	}
	options.Dial, options.Proxy, t.spending = c.World().Dial, c.World().Proxy, flags.Spending
	if t.prober, err = probe.New(options); err != nil {
		return nil, console.Usage(err)
	}
	if t.Caps = flags.Caps(); t.Caps != nil {
		t.prober.Pace = t.Caps.Wait
	}
	t.onClose(t.prober.Close)
	facts, err := t.prober.Preflight(c.Ctx, probe.Workload{
		PromptTokens: int(l.PromptLengths.Mean), OutputTokens: int(l.OutputLengths.Mean), Texts: texts,
	})
	if err != nil {
		if proxy := c.ProxyFor(url); proxy != "" {
			err = fmt.Errorf("%w (connections go through the proxy %s, set by HTTP_PROXY or HTTPS_PROXY; NO_PROXY excepts a "+
				"host)", err, proxy)
		}
		return nil, err
	}
	if t.Client, err = client.New(t.prober.Options()); err != nil {
		return nil, err
	}
	t.onClose(t.Client.CloseIdle)
	t.note(url, &facts)
	return t, nil
}

// note notes what the preflight found at a URL. Texts of the server lose secrets.
func (t *Target) note(url string, facts *probe.Facts) {
	if t.About.URL == url {
		t.About.URL = t.Client.URL("")
	}
	t.About.API, t.About.Model, t.About.Engine, t.About.Version = facts.API, t.Client.HideSecrets(facts.Model),
		facts.Engine, t.Client.CleanText(facts.Version)
	t.About.Notes = facts.Notes
	for _, n := range t.About.Notes { // they name models
		for name, v := range n.Args {
			if s, ok := v.(string); ok {
				n.Args[name] = t.Client.HideSecrets(s)
			}
		}
	}
	t.Longest, t.forced = facts.MaxModelLen, facts.LengthForced
}

// SpendLimiter returns what counts and limits the spending; nil where it is neither counted nor limited.
func (t *Target) SpendLimiter() *client.SpendLimiter { return t.spending }

// Spent returns what reads the spending so far, for run.json; nil where it is not counted.
func (t *Target) Spent() func() *rundir.Spent {
	if t.spending == nil {
		return nil
	}
	return func() *rundir.Spent {
		s, l := t.spending.Spent(), t.spending.Limits()
		told := &rundir.Spent{
			Requests: s.Requests, PromptTokens: s.Prompt, OutputTokens: s.Output, UnsureTokens: s.UnsurePrompt + s.UnsureOutput,
			Ended: s.Refused,
		}
		if l.PriceIn > 0 || l.PriceOut > 0 {
			told.Cost, told.PriceIn, told.PriceOut = rundir.Exactly(s.Cost), rundir.Exactly(l.PriceIn),
				rundir.Exactly(l.PriceOut)
		}
		if l.Cost > 0 {
			told.MaxCost = rundir.Exactly(l.Cost)
		}
		return told
	}
}

// onClose adds to what close does, before the rest.
func (t *Target) onClose(f func()) {
	rest := t.Close
	t.Close = func() { f(); rest() }
}

// asked returns the workload as run.json has it.
func (t *Target) asked() rundir.Workload {
	asked, params := t.Workload.Describe(), t.prober.Options().Params
	asked.Think, asked.Capped = params.Think, params.Natural
	if params.Temperature != nil {
		asked.Temperature = rundir.Exactly(*params.Temperature)
	}
	asked.Forced, asked.CountedPrompt = t.forced && asked.Graded == 0, t.Counted
	return asked
}

// AddNotes adds notes on the server to what run.json has.
func (t *Target) AddNotes(notes ...note.Note) { t.About.Notes = append(t.About.Notes, notes...) }

// count is a workload.Counter. It asks the server first: a tokenizer does not know the server's chat template.
func (t *Target) count(ctx context.Context, texts ...string) ([]int, string, error) {
	counts, err := t.prober.Count(ctx, texts...)
	if err == nil || t.tokenize == nil || ctx.Err() != nil {
		return counts, t.prober.CountSource(), err
	}
	for _, text := range texts {
		n, err := t.tokenize(ctx, text)
		if err != nil {
			return nil, "", err
		}
		counts = append(counts, n)
	}
	return counts, "tokenizer", nil
}

// Retokenize returns what counts the tokens of answers again: the tokenizer of --tokenizer, or the server where wanted
// and possible; nil where neither can.
func (t *Target) Retokenize(ctx context.Context, wanted bool) workload.TokenizerFunc {
	if t.tokenize != nil || !wanted {
		return t.tokenize
	}
	if _, err := t.prober.Tokenize(ctx, "a few words"); err != nil {
		return nil
	}
	return t.prober.Tokenize
}

// idle waits until the server reports that no request runs or waits.
func (t *Target) idle(ctx context.Context) error {
	for {
		load, err := t.prober.Load(ctx)
		if err != nil {
			return err
		}
		running, waiting := orZero(load.Running), orZero(load.Waiting)
		if running+waiting == 0 {
			return nil
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("%g requests run and %g wait on the server, sent by other clients", running, waiting)
		}
	}
}

// orZero returns a gauge, and 0 for one that the server does not have.
func orZero(gauge float64) float64 {
	if math.IsNaN(gauge) {
		return 0
	}
	return gauge
}

// speculates reports whether the server tells of speculative decoding. SGLang has its gauges also without it: then they
// are 0.
func (t *Target) speculates(ctx context.Context) bool {
	load, err := t.prober.Load(ctx)
	return err == nil && (!math.IsNaN(load.Drafts) || load.AcceptLength > 0)
}

// tellsLoad reports whether all servers have a gauge of running requests.
func (t *Target) tellsLoad(ctx context.Context) bool {
	for _, one := range t.all() {
		if load, err := one.prober.Load(ctx); err != nil || math.IsNaN(load.Running) {
			return false
		}
	}
	return true
}
