package job

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"llmsweep/client"
	"llmsweep/client/api"
	"llmsweep/client/input"
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
	Client     *client.Client
	prober     *probe.Prober
	About      rundir.Target
	Workload   workload.Workload
	Counted    int                    // tokens that the server counted for a prompt of the wanted length; 0 where it did not
	forced     bool                   // answers have the length that is asked for
	Longest    int                    // tokens of a prompt and its answer that the server takes; 0 where it does not tell
	Caps       *load.Caps             // of --max-rps and --max-tpm, which the preflight keeps to as well; nil for none
	spending   *client.SpendLimiter   // nil where spending is neither counted nor limited
	tokenize   workload.TokenizerFunc // of --tokenizer; nil where it was not given
	resetCache bool                   // its prefix cache is emptied before each stage
	Lang       lang.Lang              // of error messages
	Close      func()
	maxConns   int       // how many connections this machine lets the process have; 0 for no limit
	others     []*Target // further servers of the same model, which requests are shared out over
}

// embed starts the simulated server that a sim: URL names, and returns its base URL. Its capacity is known where all
// requests draw their lengths from the same distributions, and the KV cache is large enough.
func (t *Target) embed(c *console.Console, url string, l *flags.WorkloadOptions, replayed bool) (string, error) {
	config, err := sim.Preset(cmp.Or(strings.TrimPrefix(url, sim.Scheme), "demo"))
	if err != nil {
		return "", console.Usage(err)
	}
	live, err := sim.Start(config)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(c.Ctx)) // it outlives an interrupt, to be drained
	base, wait, err := c.World().Serve(ctx, "127.0.0.1:0", simserver.New(live, simserver.Options{}))
	if err != nil {
		cancel()
		live.Close()
		return "", err
	}
	t.onClose(func() { cancel(); wait(); live.Close() })
	t.maxConns = c.World().Limits().Most(2) // the embedded server has the other ends
	if l.Plain() && !replayed {
		answer := int(l.OutputLengths.Mean)
		if l.AnswerLimit > 0 {
			answer = int(math.Round(simserver.NaturalLength{}.Mean(l.AnswerLimit, 0)))
		}
		capacity := sim.CapacityOf(config, sim.Workload{PromptTokens: int(l.PromptLengths.Mean), OutputTokens: answer})
		if !capacity.Preempts {
			t.About.Capacity = rundir.Exactly(capacity.RequestsPerSecond)
		}
	}
	return base, nil
}

func connectTarget(c *console.Console, url string, flags *flags.Target, l *flags.WorkloadOptions, r *workload.Replay,
	conns int) (*Target, error) {
	spec := l.Spec(r)
	t, err := preflight(c, url, flags, l, r != nil, conns, spec.Texts()...)
	if err != nil {
		return nil, err
	}
	if err := t.open(c.Ctx, spec); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// preflight makes the client of a server, and asks the server what it is, and meanwhile how long texts are. It sets no
// workload.
func preflight(
	c *console.Console, url string, flags *flags.Target, l *flags.WorkloadOptions, replayed bool, conns int,
	texts ...string,
) (_ *Target, err error) {
	t := &Target{Close: func() {}, tokenize: l.Tokenize, resetCache: flags.ResetCache, Lang: c.Lang}
	t.maxConns = c.World().Limits().Most(1)
	defer func() {
		if err != nil {
			t.Close()
		}
	}()
	t.About.URL = url
	if strings.HasPrefix(url, sim.Scheme) {
		if url, err = t.embed(c, url, l, replayed); err != nil {
			return nil, err
		}
	}
	options, err := flags.Options(url, conns)
	if err != nil {
		return nil, console.Usage(err)
	}
	options.Params.Natural = l.AnswerLimit > 0
	if pasted := input.PastedAPI(url); pasted != "" && flags.API == api.Auto {
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
	t.setFacts(url, &facts)
	return t, nil
}

// setFacts sets what the preflight found at a URL. Texts of the server lose secrets.
func (t *Target) setFacts(url string, facts *probe.Facts) {
	if t.About.URL == url {
		t.About.URL = t.Client.URL("")
	}
	t.About.API, t.About.Model = facts.API, t.Client.HideSecrets(facts.Model)
	t.About.Engine, t.About.Version = facts.Engine, t.Client.CleanText(facts.Version)
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

// readSpent returns what reads the spending so far, for run.json; nil where it is not counted.
func (t *Target) readSpent() func() *rundir.Spent {
	if t.spending == nil {
		return nil
	}
	return func() *rundir.Spent {
		s, l := t.spending.Spent(), t.spending.Limits()
		spent := &rundir.Spent{
			Requests: s.Requests, PromptTokens: s.Prompt, OutputTokens: s.Output, UnsureTokens: s.UnsurePrompt + s.UnsureOutput,
			Ended: s.Refused,
		}
		if l.PriceIn > 0 || l.PriceOut > 0 {
			spent.Cost = rundir.Exactly(s.Cost)
			spent.PriceIn, spent.PriceOut = rundir.Exactly(l.PriceIn), rundir.Exactly(l.PriceOut)
		}
		if l.Cost > 0 {
			spent.MaxCost = rundir.Exactly(l.Cost)
		}
		return spent
	}
}

// onClose adds to what Close does, before the rest.
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

func (t *Target) addNotes(notes ...note.Note) { t.About.Notes = append(t.About.Notes, notes...) }

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

// retokenizer returns what counts the tokens of answers again: the tokenizer of --tokenizer, or the server where wanted
// and possible; nil where neither can.
func (t *Target) retokenizer(ctx context.Context, wanted bool) workload.TokenizerFunc {
	if t.tokenize != nil || !wanted {
		return t.tokenize
	}
	if _, err := t.prober.Tokenize(ctx, "a few words"); err != nil {
		return nil
	}
	return t.prober.Tokenize
}

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

// orZero returns a gauge; 0 for one that the server does not have.
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

func (t *Target) tellsLoad(ctx context.Context) bool {
	for _, one := range t.all() {
		if load, err := one.prober.Load(ctx); err != nil || math.IsNaN(load.Running) {
			return false
		}
	}
	return true
}
