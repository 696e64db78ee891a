package job

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/cmd/llmsweep/flags"
	"llmsweep/report/compare"
	"llmsweep/report/inputs"
	"llmsweep/sweep"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/pair"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
)

// Flags say how two servers are compared.
type Flags struct {
	Live           bool          `help:"Compare two running servers, stage by stage in turns." group:"Live"`
	Rate           []string      `placeholder:"R" help:"Arrival rates to compare at, in requests per second. Default: one request at a time, 50 % and 80 % of the slower server's capacity, and the maximum throughput." group:"Live"`
	Concurrency    []int         `placeholder:"N" help:"Numbers of requests in flight to compare at." group:"Live"`
	Repeats        int           `placeholder:"N" positive:"" help:"Compare by N whole sweeps of each server, in the order A B B A: the spread between sweeps is the interval. They share --budget." group:"Live"`
	Difference     string        `default:"3%" placeholder:"P" help:"Smallest difference to detect, with a power of 80 % (${default})." group:"Live"`
	Budget         time.Duration `default:"1h" placeholder:"TIME" help:"Start nothing that does not fit into this time (${default}). 0: take as long as the difference needs." group:"Live"`
	StageTime      time.Duration `name:"stage-time" default:"10s" placeholder:"TIME" help:"Shortest time of a stage (${default})." group:"Live"`
	MaxConcurrency int           `name:"max-concurrency" default:"512" placeholder:"N" help:"Most requests in flight while the maximum throughput is searched for (${default})." group:"Live"`
	Warmup         string        `default:"auto" placeholder:"W" help:"Warm-up: auto (until requests agree), a number of requests, or a time (${default})." hidden:"" group:"Live"`
	Drain          time.Duration `default:"1m" placeholder:"TIME" help:"Longest wait for unfinished requests after a stage; then they are cancelled (${default})." hidden:"" group:"Live"`
	MaxErrorRate   float64       `name:"max-error-rate" default:"0.5" placeholder:"SHARE" help:"Stop when more than this share of a stage's requests fails (${default})." hidden:"" group:"Live"`
	Out            string        `type:"path" placeholder:"DIR" help:"Directory for both runs. Default: llmsweep-pair, or the next free llmsweep-pair-N." group:"Live"`
	Label          []string      `sep:"," placeholder:"K=V" help:"Labels of both servers: model=..,gpu=..,gpus=..,engine=..,quant=..,price=.." group:"Live"`
	LabelB         []string      `name:"label-b" sep:"," placeholder:"K=V" help:"Labels that differ for the second server." group:"Live"`
	flags.ServingPair
	APIKeyB string `name:"api-key-b" env:"LLMSWEEP_API_KEY_B" placeholder:"KEY" help:"API key of the second server. Default: the key of the first, which then goes to both." group:"Live"`
	ModelB  string `name:"model-b" placeholder:"NAME" help:"Model to ask the second server for. Default: --model." group:"Live"`
	flags.Target
	flags.Workload
	flags.Selftest
}

// config returns the configuration of both sides, and of the comparison.
func (f *Flags) config() (c sweep.Config, both pair.Config, err error) {
	c = sweep.Defaults()
	c.StageTime, c.MaxConcurrency, c.Drain, c.MaxErrorRate, c.Seed = f.StageTime, f.MaxConcurrency, f.Drain, f.MaxErrorRate, f.Seed
	if c.Warmup, err = experiment.ParseWarmup(f.Warmup); err != nil {
		return c, both, fmt.Errorf("--warmup: %w", err)
	}
	switch {
	case f.StageTime < 100*time.Millisecond:
		return c, both, errors.New("--stage-time must be at least 100ms")
	case f.MaxConcurrency < 1 || f.MaxConcurrency > flags.MostInFlight:
		return c, both, errors.New("--max-concurrency must be between 1 and 100000")
	case f.Drain < 0 || !(f.MaxErrorRate >= 0 && f.MaxErrorRate <= 1):
		return c, both, errors.New("--drain must not be negative, and --max-error-rate must be a share between 0 and 1")
	}
	text, percent := strings.CutSuffix(strings.TrimSpace(f.Difference), "%")
	both.Difference, err = strconv.ParseFloat(strings.TrimSpace(text), 64)
	both.Difference /= 100
	if !percent || err != nil || !(both.Difference > 0) || both.Difference > 10 {
		return c, both, fmt.Errorf("--difference %s: write a percentage above 0, such as 3%%", f.Difference)
	}
	if both.Budget = f.Budget; f.Budget < 0 {
		return c, both, errors.New("--budget must not be negative")
	}
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
	fitting, least, ok := pair.FitStages(f.StageTime, f.Budget, len(both.Rates)+len(both.Widths))
	if !ok {
		return c, both, fmt.Errorf("--budget %v is too short for two blocks of stages of %v: give --budget %v or more, or a shorter --stage-time",
			f.Budget, f.StageTime, least)
	}
	c.StageTime = fitting
	return c, both, nil
}

// keys returns the keys of the metrics that the comparison will have.
func (f *Flags) keys(rates []float64) []string {
	var widths, texts []string
	for _, r := range rates {
		texts = append(texts, strconv.FormatFloat(r, 'f', -1, 64))
	}
	for _, n := range f.Concurrency {
		widths = append(widths, strconv.Itoa(n))
	}
	return append(pair.Keys(texts, widths), compare.KeyAccuracy, compare.KeyErrors)
}

// labels returns the labels of both sides.
func (f *Flags) labels() (both [2]rundir.Labels, err error) {
	if both[0], err = store.ParseLabels(f.Label); err == nil {
		both[1], err = store.ParseLabels(slices.Concat(f.Label, f.LabelB))
	}
	return both, err
}

// side returns the flags of one side, 0 or 1.
func (f *Flags) side(side int) *flags.Target {
	flags := f.Target
	if side == 1 {
		flags.APIKey, flags.Model = cmp.Or(f.APIKeyB, flags.APIKey), cmp.Or(f.ModelB, flags.Model)
	}
	return &flags
}

// dirs makes the directories of both runs.
func (f *Flags) dirs(c *console.Console, force bool) (out string, both [2]*store.Dir, err error) {
	if out = f.Out; out == "" {
		out = store.FreePair(filepath.Join(c.Dir, "llmsweep-pair"))
	}
	if _, ok, err := store.OpenPair(out); ok || err != nil {
		return out, both, fmt.Errorf("%s already holds a comparison; name another directory with --out, or remove it", out)
	}
	for _, name := range []string{rundir.ReportFile, rundir.PageFile} {
		if err := inputs.CheckOutput(filepath.Join(out, name), force); err != nil {
			return out, both, err
		}
	}
	for i, name := range rundir.Sides() {
		if both[i], err = store.Create(filepath.Join(out, name)); err != nil {
			return out, both, err
		}
	}
	return out, both, nil
}
