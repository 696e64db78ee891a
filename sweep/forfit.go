package sweep

import (
	"context"
	"math"
	"math/rand/v2"
	"time"

	"llmsweep/sweep/arrival"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
)

// Draw draws the lengths of a request in tokens.
type Draw func(rng *rand.Rand) (prompt, output int)

// FitDesign is a sweep from which a server can be fitted: prompts and answers whose lengths vary, so that the costs of each can be told
// apart.
type FitDesign struct {
	Prompt, Output float64 // usual lengths, around which they vary
	Longest        int     // tokens of a prompt and its answer that the server takes; 0 for no limit
	// Source returns a source of sessions with lengths that are drawn.
	Source func(stage string, d Draw) load.Source
}

// How far the lengths vary: prompts from a quarter to four times the usual length, answers from a quarter to twice.
const (
	shortestPrompt, longestPrompt = 0.25, 4
	shortestAnswer, longestAnswer = 0.25, 2
)

// FitTime is the longest time of a sweep for a fit, unless told otherwise.
const FitTime = 10 * time.Minute

// between draws evenly in the logarithm.
func between(rng *rand.Rand, mean, low, high float64) int {
	return max(1, int(math.Round(mean*low*math.Pow(high/low, rng.Float64()))))
}

// drawn returns prompts between two multiples of the usual length, and answers.
func (d *FitDesign) drawn(from, to, least, most float64) Draw {
	return func(rng *rand.Rand) (int, int) {
		p, o := between(rng, d.Prompt, from, to), between(rng, d.Output, least, most)
		if d.Longest > 0 {
			o = min(o, max(1, d.Longest/2))
			p = min(p, max(1, d.Longest-o-fitMargin))
		}
		return p, o
	}
}

// longPrompts is the name of the stage whose prompts are all long.
const longPrompts = "long prompts"

// shortAnswers is the name of the stage whose answers are all short: what a request costs however short it is shows there.
const shortAnswers = "short answers"

// Stage returns the sessions of a stage of the design, by its name.
func (d *FitDesign) Stage(name string) load.Source {
	switch name {
	case longPrompts:
		return d.Source(name, d.drawn(longestPrompt/2, longestPrompt, shortestAnswer, 1))
	case shortAnswers:
		return d.Source(name, d.drawn(shortestPrompt, 1, shortestAnswer, shortestAnswer))
	}
	return d.Source(name, d.drawn(shortestPrompt, longestPrompt, shortestAnswer, longestAnswer))
}

// fitMargin is how many tokens a server may add to a prompt: a chat template.
const fitMargin = 64

// widths returns the numbers in flight that are held: each four times the one before.
func (d *FitDesign) widths(most int) []int {
	var all []int
	for n := 1; n < min(most, 256); n *= 4 {
		all = append(all, n)
	}
	return append(all, min(most, 256))
}

// fitShares are the arrival rates, as shares of the best rate of the closed loops.
func fitShares() []float64 { return []float64{0.5, 0.8} }

// ForFit measures a server so that it can be fitted: closed loops from one request to more than it has slots for, long prompts, short answers, and arrivals
// at two rates. It takes at most the budget.
func ForFit(ctx context.Context, c Config, d FitDesign, run *rundir.Run) error {
	if c.Budget == 0 {
		c.Budget = FitTime
	}
	c.Drain, c.IdleWait = min(c.Drain, fitDrain), min(c.Drain, fitDrain)
	x, err := begin(c, run, rundir.Plan{Kind: rundir.KindFit, MaxConcurrency: c.MaxConcurrency})
	if err != nil {
		return err
	}
	ctx, stop := x.Watch(ctx)
	defer stop()
	return x.conclude(x.forFit(ctx, &d))
}

// fitDrain is how long a backlog may take to end: what is cancelled is known as well.
const fitDrain = 5 * time.Second

func (x *sweeper) forFit(ctx context.Context, d *FitDesign) error {
	widths := d.widths(x.config.MaxConcurrency)
	left := len(widths) + 2 + len(fitShares())
	if err := x.WarmUp(ctx); err != nil {
		return err
	}
	measure := func(l arrival.Load, role rundir.Role, name string) (rundir.Stage, error) {
		each := rundir.Duration(x.TimeLeft().Seconds() / float64(left))
		left--
		s := experiment.NewStage(l, 0, max(time.Second, each-fitDrain))
		if name != "" {
			s.Name = name
		}
		s.Role, s.Tail, s.From = role, 0, time.Millisecond
		s.Source = d.Stage(s.Name)
		return x.Measure(ctx, s)
	}
	best := 0.0
	for _, n := range widths {
		role := rundir.Grid
		if n == 1 {
			role = rundir.Floor
		}
		st, err := measure(arrival.Closed{Concurrency: n}, role, "")
		if err != nil {
			return err
		}
		if r := st.Progress.Rate; r.Known() {
			best = max(best, r.Value())
		}
	}
	if _, err := measure(arrival.Closed{Concurrency: widths[len(widths)-1]}, rundir.Ceiling, longPrompts); err != nil {
		return err
	}
	if _, err := measure(arrival.Closed{Concurrency: widths[len(widths)-1]}, rundir.Grid, shortAnswers); err != nil {
		return err
	}
	if best == 0 {
		return noRates()
	}
	for _, share := range fitShares() {
		if _, err := measure(arrival.Poisson{Rate: share * best}, rundir.Grid, ""); err != nil {
			return err
		}
	}
	return nil
}
