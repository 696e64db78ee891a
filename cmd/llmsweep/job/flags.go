package job

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/cmd/llmsweep/flags"
	"llmsweep/report/inputs"
	"llmsweep/sweep"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/pair"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
)

// Flags say how two servers are compared.
type Flags struct {
	Live           bool          `help:"Compare two running servers, in turns." group:"Live"`
	Rate           []string      `placeholder:"R" help:"Arrival rates in req/s (50 and 80 % of saturation)." group:"Live"`
	Concurrency    []int         `placeholder:"N" help:"Numbers of requests in flight." group:"Live"`
	Budget         time.Duration `default:"30m" placeholder:"TIME" help:"Time; longer finds smaller differences (${default})." group:"Live"`
	Out            string        `type:"path" placeholder:"DIR" help:"Directory (llmsweep-pair, or the next free number)." group:"Live"`
	Label          []string      `sep:"," placeholder:"K=V" help:"Labels of both servers; --label-b: of the second." group:"Live"`
	LabelB         []string      `name:"label-b" sep:"," placeholder:"K=V" help:"Labels that differ for the second server." hidden:"" group:"Live"`
	StageTime      time.Duration `name:"stage-time" default:"10s" placeholder:"TIME" help:"Shortest time of a row (${default})." hidden:"" group:"Live"`
	MaxConcurrency int           `name:"max-concurrency" default:"512" placeholder:"N" help:"Most requests in flight in the search for the throughput (${default})." hidden:"" group:"Live"`
	Warmup         string        `default:"auto" placeholder:"W" help:"Warm-up: auto (until requests agree), a number of requests, or a time (${default})." hidden:"" group:"Live"`
	APIKeyB        string        `name:"api-key-b" env:"LLMSWEEP_API_KEY_B" placeholder:"KEY" help:"API key of the second server ($$LLMSWEEP_API_KEY_B; else that of the first goes to both)." hidden:"" group:"Live"`
	ModelB         string        `name:"model-b" placeholder:"NAME" help:"Model to ask the second server for (--model)." hidden:"" group:"Live"`
	flags.Target
	flags.Workload
	flags.Selftest
}

func (f *Flags) config() (c sweep.Config, both pair.Config, err error) {
	c = sweep.Defaults()
	c.StageTime, c.MaxConcurrency, c.Seed = f.StageTime, f.MaxConcurrency, f.Seed
	if c.Warmup, err = experiment.ParseWarmup(f.Warmup); err != nil {
		return c, both, fmt.Errorf("--warmup: %w", err)
	}
	switch {
	case f.StageTime < 100*time.Millisecond:
		return c, both, errors.New("--stage-time must be at least 100ms")
	case f.Budget <= 0:
		return c, both, errors.New("--budget must be above 0")
	case f.MaxConcurrency < 1 || f.MaxConcurrency > flags.MostInFlight:
		return c, both, errors.New("--max-concurrency must be between 1 and 100000")
	}
	both.Budget = f.Budget
	for _, text := range f.Rate {
		rate, err := strconv.ParseFloat(text, 64)
		if err != nil || !(rate > 0) || rate > flags.MostRate {
			return c, both, fmt.Errorf("--rate %s: it must be a number above 0 and at most "+flags.MostRateText, text)
		}
		both.Rates = append(both.Rates, rate)
	}
	for _, n := range f.Concurrency {
		if n < 1 || n > flags.MostInFlight {
			return c, both, errors.New("--concurrency must be between 1 and 100000")
		}
	}
	both.Widths = f.Concurrency
	return c, both, nil
}

func (f *Flags) labels() (both [2]rundir.Labels, err error) {
	if both[0], err = store.ParseLabels(f.Label); err == nil {
		both[1], err = store.ParseLabels(slices.Concat(f.Label, f.LabelB))
	}
	return both, err
}

func (f *Flags) side(side int) *flags.Target {
	flags := f.Target
	if side == 1 {
		flags.APIKey, flags.Model = cmp.Or(f.APIKeyB, flags.APIKey), cmp.Or(f.ModelB, flags.Model)
	}
	return &flags
}

func (f *Flags) dirs(c *console.Console, force bool) (out string, both [2]*store.Dir, err error) {
	if out = f.Out; out == "" {
		out = store.FreePair(filepath.Join(c.Dir, "llmsweep-pair"))
	}
	if _, ok, err := store.OpenPair(out); ok || err != nil {
		return out, both, fmt.Errorf("%s already holds a comparison; name another directory with --out, or remove it", out)
	}
	if err := inputs.CheckOutput(filepath.Join(out, rundir.ReportFile), force); err != nil {
		return out, both, err
	}
	for i, name := range rundir.Sides() {
		if both[i], err = store.Create(filepath.Join(out, name)); err != nil {
			return out, both, err
		}
	}
	return out, both, nil
}
