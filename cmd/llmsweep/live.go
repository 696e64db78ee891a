package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	loads "llmsweep/sweep/load"
	"llmsweep/sweep/pair"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"llmsweep/report"
	"llmsweep/report/compare"
	"llmsweep/report/live"
	"llmsweep/sweep"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/wait"
	"llmsweep/sweep/workload"
)

// liveFlags say how two servers are measured against each other.
type liveFlags struct {
	Live           bool          `help:"Measure two servers against each other, stage by stage in turns." group:"Live"`
	Rate           []string      `placeholder:"R,.." help:"Compare at these arrival rates, in requests per second. Default: one at a time, 50 % and 80 % of what the slower one takes, and as many in flight as either can use." group:"Live"`
	Concurrency    []int         `placeholder:"N,.." help:"Compare with so many in flight." group:"Live"`
	Difference     string        `default:"3%" placeholder:"P" help:"The smallest difference to be sure of (${default}), in four runs of five." group:"Live"`
	Budget         time.Duration `default:"1h" placeholder:"D" help:"Begin nothing that does not fit in this time (${default}); 0 for as long as the difference needs." group:"Live"`
	StageTime      time.Duration `name:"stage-time" default:"10s" help:"Each stage measures at least this long." group:"Live"`
	MaxConcurrency int           `name:"max-concurrency" default:"512" help:"Most in flight when the ceiling is searched for." group:"Live"`
	Warmup         string        `default:"auto" help:"Before the first stage: auto until requests agree, a number of requests, or a time." group:"Live"`
	Drain          time.Duration `default:"1m" help:"How long a backlog may take to end between stages before it is cancelled." group:"Live"`
	MaxErrorRate   float64       `name:"max-error-rate" default:"0.5" help:"Stop where more than this share of a stage's requests fails." group:"Live"`
	Out            string        `type:"path" placeholder:"DIR" help:"Directory of both runs. Default: llmsweep-pair, or the next free llmsweep-pair-N." group:"Live"`
	Label          []string      `sep:"," placeholder:"K=V" help:"What the figures belong to, of both: model=..,gpu=..,gpus=..,engine=..,quant=..,price=.." group:"Live"`
	LabelB         []string      `name:"label-b" sep:"," placeholder:"K=V" help:"What B has otherwise." group:"Live"`
	APIKeyB        string        `name:"api-key-b" env:"LLMSWEEP_API_KEY_B" placeholder:"KEY" help:"B's key. Default: A's, which then goes to both servers." group:"Live"`
	ModelB         string        `name:"model-b" placeholder:"NAME" help:"Model to ask B for, where it is not --model." group:"Live"`
	targetFlags
	loadFlags
	selftestFlags
}

// config is the plan of both sides, and what is looked for.
func (f *liveFlags) config() (c sweep.Config, both pair.Config, err error) {
	c = sweep.Defaults()
	c.StageTime, c.MaxConcurrency, c.Drain, c.MaxErrorRate, c.Seed = f.StageTime, f.MaxConcurrency, f.Drain, f.MaxErrorRate, f.Seed
	if c.Warmup, err = sweep.ParseWarmup(f.Warmup); err != nil {
		return c, both, fmt.Errorf("--warmup: %w", err)
	}
	switch {
	case f.StageTime < 100*time.Millisecond:
		return c, both, errors.New("--stage-time must be at least 100ms")
	case f.MaxConcurrency < 1 || f.MaxConcurrency > 100_000:
		return c, both, errors.New("--max-concurrency must be between 1 and 100000")
	case f.Drain < 0 || !(f.MaxErrorRate >= 0 && f.MaxErrorRate <= 1):
		return c, both, errors.New("--drain must not be negative, and --max-error-rate is a share between 0 and 1")
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
	for i, text := range f.Rate {
		rate, err := strconv.ParseFloat(text, 64)
		if err != nil || !(rate > 0) || rate > 1e6 {
			return c, both, fmt.Errorf("--rate %s: a rate is above 0 and at most 1000000", text)
		}
		f.Rate[i] = strconv.FormatFloat(rate, 'f', -1, 64) // as the keys have it
		both.Rates = append(both.Rates, rate)
	}
	for _, n := range f.Concurrency {
		if n < 1 || n > 100_000 {
			return c, both, errors.New("--concurrency must be between 1 and 100000")
		}
	}
	both.Widths = f.Concurrency
	return c, both, nil
}

// keys are those of the figures that will be there.
func (f *liveFlags) keys() []string {
	var widths []string
	for _, n := range f.Concurrency {
		widths = append(widths, strconv.Itoa(n))
	}
	return append(pair.Keys(f.Rate, widths), compare.KeyErrors)
}

// labels are those of both sides.
func (f *liveFlags) labels() (both [2]rundir.Labels, err error) {
	if both[0], err = (&outFlags{Label: f.Label}).labels(); err == nil {
		both[1], err = (&outFlags{Label: append(f.Label[:len(f.Label):len(f.Label)], f.LabelB...)}).labels()
	}
	return both, err
}

// live measures two servers against each other.
func (cm *compareCmd) live(c *console) error {
	plan, both, err := cm.config()
	if err != nil {
		return usage(err)
	}
	gates, err := cm.gates(cm.keys())
	if err != nil {
		return usage(err)
	}
	labels, err := cm.labels()
	if err != nil {
		return usage(err)
	}
	if len(cm.Paths) != 2 {
		return usage(errors.New("compare --live takes the URLs of two servers, A and B"))
	}
	targets, err := cm.connect(c)
	if err != nil {
		if errors.Is(c.ctx.Err(), context.Canceled) {
			return &exitError{exitInterrupted, errors.New("interrupted before anything was measured")}
		}
		return err
	}
	defer targets[0].close()
	defer targets[1].close()
	out, dirs, err := cm.dirs()
	if err != nil {
		return usage(err)
	}
	defer dirs[0].Close()
	defer dirs[1].Close()

	record, runs := &rundir.Pair{}, [2]*rundir.Run{}
	for i, t := range targets {
		runs[i] = &rundir.Run{
			Tool:   rundir.Tool{Version: version, Go: runtime.Version(), OS: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.NumCPU()},
			Target: t.about, Labels: labels[i], Workload: t.asked, Client: rundir.Client{Timestamps: t.client.Timestamps()},
		}
		both.Sides[i] = t.side(c.ctx, plan, cm.caps(), dirs[i])
	}
	both.Same = targets[0].client.URL("") == targets[1].client.URL("") && targets[0].about.Model == targets[1].about.Model
	both.Save = func(p *rundir.Pair) error { return p.Save(out) }
	broken := cm.watch(c, both, runs, record)
	return errors.Join(broken, cm.conclude(c, out, record, runs, dirs, gates))
}

// watch measures, and shows how it goes.
func (cm *compareCmd) watch(c *console, both pair.Config, runs [2]*rundir.Run, record *rundir.Pair) error {
	l := report.Lang(cm.Lang)
	view := live.New(c.err, live.Options{Lang: l, Plain: cm.Plain})
	defer view.Close()
	view.Start("compare  A " + headline(runs[0]) + "  B " + headline(runs[1]))
	for i, run := range runs {
		for _, n := range run.Target.Notes {
			view.Note(string(rune('A'+i)) + ": " + report.Note(n, report.English))
		}
	}
	if both.Same {
		view.Note(compare.SameServer(l))
	}
	e := experiment{console: c, fit: &cm.selftestFlags, width: slices.Max(append(cm.Concurrency, 0)), out: &outFlags{Lang: cm.Lang}}
	e.selftest(runs[0], view)
	runs[1].Client.Selftest = runs[0].Client.Selftest
	waiter := wait.NewExact()
	defer waiter.Close()
	shown := &progress{view: view, lang: l, began: time.Now()}
	for i := range both.Sides {
		both.Sides[i].Observer, both.Sides[i].Waiter = shown, waiter
	}
	both.Planned = func(p *rundir.Pair, stages int) {
		shown.total = shown.index + stages
		view.Note(compare.Forecast(p, l))
	}
	return pair.Run(c.ctx, both, runs, record)
}

// connect reaches both servers. B gets A's workload: prompts are made to be as long as asked by A's count.
func (cm *compareCmd) connect(c *console) (both [2]*target, err error) {
	l, err := cm.parse()
	if err != nil {
		return both, usage(err)
	}
	conns := cm.MaxConcurrency
	for _, n := range cm.Concurrency {
		conns = max(conns, n)
	}
	if both[0], err = connect(c, cm.Paths[0], &cm.targetFlags, l, nil, conns); err != nil {
		return both, fmt.Errorf("server A: %w", err)
	}
	flags := cm.targetFlags
	flags.APIKey, flags.Model = cmp.Or(cm.APIKeyB, flags.APIKey), cmp.Or(cm.ModelB, flags.Model)
	if both[1], err = reach(c, cm.Paths[1], &flags, l, false, conns); err == nil {
		if w, ok := both[0].workload.(*workload.Synthetic); ok && both[0].counted > 0 {
			err = both[1].checkLength(c.ctx, w, l)
		}
		both[1].ask(both[0].workload)
	}
	if err != nil {
		both[0].close()
		return both, fmt.Errorf("server B: %w", err)
	}
	return both, nil
}

// side is how a server is measured.
func (t *target) side(ctx context.Context, plan sweep.Config, caps *loads.Caps, dir *rundir.Dir) sweep.Config {
	plan.Caps, plan.Doer, plan.Sources, plan.Log = caps, t.client, t.workload.Stage, dir
	plan.Warm, plan.Timestamps = t.client.Warm, t.client.Timestamps
	plan.Retokenize = t.retokenize(ctx, false)
	if t.tellsLoad(ctx) {
		plan.Idle, plan.Scrape = t.idle, t.gauges
	}
	return plan
}

// dirs makes the directory of both runs.
func (f *liveFlags) dirs() (out string, both [2]*rundir.Dir, err error) {
	out = cmp.Or(f.Out, rundir.FreePair("llmsweep-pair"))
	if _, ok, err := rundir.OpenPair(out); ok || err != nil {
		return out, both, fmt.Errorf("%s already holds a comparison; name another directory with --out, or remove it", out)
	}
	for i, name := range rundir.Sides() {
		if both[i], err = rundir.Create(filepath.Join(out, name)); err != nil {
			return out, both, err
		}
	}
	return out, both, nil
}

// conclude shows the result, writes the reports and chooses the exit code.
func (cm *compareCmd) conclude(c *console, out string, record *rundir.Pair, runs [2]*rundir.Run, dirs [2]*rundir.Dir, gates []compare.Gate) error {
	l := report.Lang(cm.Lang)
	for i := range dirs {
		var doc bytes.Buffer
		err := report.Markdown(&doc, []rundir.Run{*runs[i]}, l)
		if err == nil {
			err = dirs[i].WriteFile(rundir.ReportFile, doc.Bytes())
		}
		if err != nil {
			return err
		}
	}
	result := compare.OfPair(record, runs[0], runs[1])
	var doc bytes.Buffer
	if err := report.WriteSections(&doc, "markdown", result.Sections(l, 1), report.Options{Lang: l}); err != nil {
		return err
	}
	err := (&rundir.Dir{Path: out}).WriteFile(rundir.ReportFile, doc.Bytes())
	if err == nil {
		err = cm.write(c, result.JSON, func(l report.Lang) []report.Section { return result.Sections(l, 1) })
	}
	switch {
	case err != nil:
		return err
	case record.State == rundir.Interrupted:
		return &exitError{exitInterrupted, fmt.Errorf("interrupted; what was measured is in %s", out)}
	case record.State == rundir.Failed:
		return fmt.Errorf("the comparison failed: %s (what was measured is in %s)", report.Note(record.Failure, report.English), out)
	}
	return judge(result, gates)
}

// pairDir is the directory of two servers that were measured against each other, where the paths name it or its two runs.
func pairDir(paths []string) (string, bool) {
	dir := ""
	switch sides := rundir.Sides(); {
	case len(paths) == 1:
		dir = paths[0]
	case len(paths) == 2 && filepath.Base(paths[0]) == sides[0] && filepath.Base(paths[1]) == sides[1] && filepath.Dir(paths[0]) == filepath.Dir(paths[1]):
		dir = filepath.Dir(paths[0])
	default:
		return "", false
	}
	_, err := os.Stat(filepath.Join(dir, rundir.PairFile))
	return dir, err == nil
}

// again compares what was measured before.
func (cm *compareCmd) again(c *console, dir string) error {
	record, _, err := rundir.OpenPair(dir)
	if err != nil {
		return usage(err)
	}
	var runs [2]*rundir.Run
	for i, name := range rundir.Sides() {
		if runs[i], err = sweep.Reopen(filepath.Join(dir, name)); err != nil {
			return usage(err)
		}
	}
	if record.State == rundir.Running { // llmsweep was killed
		record.State = rundir.Interrupted
	}
	result := compare.OfPair(record, runs[0], runs[1])
	gates, err := cm.gates(result.Keys())
	if err != nil {
		return usage(err)
	}
	if err := cm.write(c, result.JSON, func(l report.Lang) []report.Section { return result.Sections(l, 1) }); err != nil {
		return err
	}
	return judge(result, gates)
}
