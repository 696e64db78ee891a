package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/cmd/llmsweep/flags"
	"llmsweep/cmd/llmsweep/measurement"
	"llmsweep/cmd/llmsweep/target"
	"llmsweep/cmd/llmsweep/version"
	"llmsweep/report"
	"llmsweep/report/compare"
	"llmsweep/report/compare/paired"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/outfile"
	html "llmsweep/report/page"
	"llmsweep/report/page/layout"
	"llmsweep/report/progress/web"
	"llmsweep/report/table"
	"llmsweep/sweep"
	"llmsweep/sweep/answer"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/fidelity/drift"
	"llmsweep/sweep/pair"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/labels"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/workload"
)

// liveFlags say how two servers are compared.
type liveFlags struct {
	Live           bool          `help:"Compare two running servers, stage by stage in turns." group:"Live"`
	Rate           []string      `placeholder:"R" help:"Arrival rates to compare at, in requests per second. Default: one request at a time, 50 % and 80 % of the slower server's capacity, and the maximum throughput." group:"Live"`
	Concurrency    []int         `placeholder:"N" help:"Numbers of requests in flight to compare at." group:"Live"`
	Canaries       string        `placeholder:"N|FILE" help:"With --fidelity: canaries to ask both servers, alone: how many of the built-in ones (100), or a file with a prompt on each line." group:"Live"`
	Difference     string        `default:"3%" placeholder:"P" help:"Smallest difference to detect, with a power of 80 % (${default})." group:"Live"`
	Budget         time.Duration `default:"1h" placeholder:"TIME" help:"Start nothing that does not fit into this time (${default}). 0: take as long as the difference needs." group:"Live"`
	StageTime      time.Duration `name:"stage-time" default:"10s" placeholder:"TIME" help:"Shortest time of a stage (${default})." group:"Live"`
	MaxConcurrency int           `name:"max-concurrency" default:"512" placeholder:"N" help:"Most requests in flight while the maximum throughput is searched for (${default})." group:"Live"`
	Warmup         string        `default:"auto" placeholder:"W" help:"Warm-up before the first stage: auto (until requests agree), a number of requests, or a time." group:"Live"`
	Drain          time.Duration `default:"1m" placeholder:"TIME" help:"Longest wait for unfinished requests between stages; after it they are cancelled (${default})." group:"Live"`
	MaxErrorRate   float64       `name:"max-error-rate" default:"0.5" placeholder:"SHARE" help:"Stop when more than this share of a stage's requests fails (${default})." group:"Live"`
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
func (f *liveFlags) config() (c sweep.Config, both pair.Config, err error) {
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
func (f *liveFlags) keys(rates []float64) []string {
	var widths, texts []string
	for _, r := range rates {
		texts = append(texts, strconv.FormatFloat(r, 'f', -1, 64))
	}
	for _, n := range f.Concurrency {
		widths = append(widths, strconv.Itoa(n))
	}
	return append(pair.Keys(texts, widths), compare.KeyErrors)
}

// labels returns the labels of both sides.
func (f *liveFlags) labels() (both [2]rundir.Labels, err error) {
	if both[0], err = labels.Parse(f.Label); err == nil {
		both[1], err = labels.Parse(slices.Concat(f.Label, f.LabelB))
	}
	return both, err
}

// live compares two running servers.
func (cm *compareCmd) live(c *console.Console) error {
	plan, both, err := cm.config()
	if err != nil {
		return console.Usage(err)
	}
	keys := cm.keys(both.Rates)
	if cm.Fidelity {
		keys = append(keys, drift.Keys()...)
	}
	gates, err := compare.ParseGates(cm.FailIf, keys)
	if err != nil {
		return console.Usage(err)
	}
	labels, err := cm.labels()
	if err != nil {
		return console.Usage(err)
	}
	if len(cm.Paths) != 2 {
		return console.Usage(errors.New("compare --live needs the URLs of two servers"))
	}
	c.Lang = lang.Lang(cm.Lang)
	served, err := cm.ServingPair.Listen()
	if err != nil {
		return console.Usage(err)
	}
	if served != nil {
		defer served.Close()
	}
	if err := cm.Page.Free(&cm.Tables, cm.JUnit); err != nil {
		return err
	}
	targets, err := cm.connect(c)
	if err != nil {
		return c.Interrupted(err)
	}
	defer targets[0].Close()
	defer targets[1].Close()
	out, dirs, err := cm.dirs(c, cm.Force)
	if err != nil {
		return console.Usage(err)
	}
	c.Holds = out
	defer dirs[0].Close()
	defer dirs[1].Close()

	record, runs := &rundir.Pair{}, [2]*rundir.Run{}
	for i, t := range targets {
		runs[i] = &rundir.Run{
			Tool:    rundir.Tool{Version: version.Number, Go: runtime.Version(), OS: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.NumCPU()},
			Command: cm.flags(i).Command(c, cm.Paths[i]),
			Target:  t.About, Labels: labels[i], Workload: t.Asked, Client: rundir.Client{Timestamps: t.Client.Timestamps()},
		}
		both.Sides[i] = t.Measured(c.Ctx, plan, dirs[i], false)
	}
	if err := cm.askBoth(&both, targets, runs); err != nil {
		return console.Usage(err)
	}
	both.Same = targets[0].Client.URL("") == targets[1].Client.URL("") && targets[0].About.Model == targets[1].About.Model
	both.Save = func(p *rundir.Pair) error { return store.SavePair(out, p) }
	broken := cm.watch(c, both, runs, record, served)
	return errors.Join(broken, cm.conclude(c, out, record, runs, dirs, gates))
}

// askBoth has the canaries asked of both servers.
func (cm *compareCmd) askBoth(both *pair.Config, targets [2]*target.Target, runs [2]*rundir.Run) error {
	f := flags.Fidelity{Fidelity: cm.Fidelity, Canaries: cm.Canaries}
	for i, t := range targets {
		check, err := f.Check(cm.Seed)
		if check == nil || err != nil {
			return err
		}
		check.Clean, check.Options.Alone = t.Client.WithoutSecrets, true
		both.Sides[i].Checks = append(both.Sides[i].Checks, check)
	}
	return drift.Alike(cm.Paths[0], runs[0], cm.Paths[1], runs[1])
}

// watch measures, and shows the progress.
func (cm *compareCmd) watch(c *console.Console, both pair.Config, runs [2]*rundir.Run, record *rundir.Pair, served *web.Server) error {
	l := lang.Lang(cm.Lang)
	view, pause := c.View(l, cm.Plain, false)
	defer view.Close()
	view.Start("compare  A " + report.Target(runs[0], l) + "  B " + report.Target(runs[1], l))
	for i, run := range runs {
		for _, n := range run.Target.Notes {
			view.Note(string(rune('A'+i)) + ": " + findings.Note(n, l))
		}
	}
	if both.Same {
		view.Note(paired.SameServer(l))
	}
	cm.Test(c, slices.Max(append(cm.Concurrency, 0)), runs[0], view, l)
	runs[1].Client.Selftest = runs[0].Client.Selftest
	waiter := c.Waiter()
	defer waiter.Close()
	if served != nil {
		view.Note(served.Served(l))
	}
	shown := view.Observe(0)
	observer := measurement.ShowPair(served, record, runs, l, shown)
	for i := range both.Sides {
		both.Sides[i].Observer, both.Sides[i].Waiter, both.Sides[i].Pause = observer, waiter, pause
	}
	both.Planned = func(p *rundir.Pair, stages int) {
		shown.Expect(stages)
		view.Note(paired.Forecast(p, l))
	}
	return pair.Run(c.Ctx, both, runs, record)
}

// connect runs the preflight of both servers. B gets the workload of A: the length of prompts is as A counts it.
func (cm *compareCmd) connect(c *console.Console) (both [2]*target.Target, err error) {
	l, err := cm.Parse()
	if err != nil {
		return both, console.Usage(err)
	}
	conns := cm.MaxConcurrency
	for _, n := range cm.Concurrency {
		conns = max(conns, n)
	}
	if err = target.Fits(c, cm.Paths[0], conns, 2, "--max-concurrency"); err != nil {
		return both, err
	}
	if both[0], err = target.Connect(c, cm.Paths[0], &cm.Target, l, nil, conns); err != nil {
		return both, fmt.Errorf("server A: %w", err)
	}
	if both[1], err = target.Reach(c, cm.Paths[1], cm.flags(1), l, false, conns); err == nil {
		if w, ok := both[0].Workload.(*workload.Synthetic); ok && both[0].Counted > 0 {
			err = both[1].CheckLength(c.Ctx, w, l)
		}
		both[1].Ask(both[0].Workload)
	}
	if err != nil {
		both[0].Close()
		return both, fmt.Errorf("server B: %w", err)
	}
	return both, nil
}

// flags returns the flags of one side, 0 or 1.
func (f *liveFlags) flags(side int) *flags.Target {
	flags := f.Target
	if side == 1 {
		flags.APIKey, flags.Model = cmp.Or(f.APIKeyB, flags.APIKey), cmp.Or(f.ModelB, flags.Model)
	}
	return &flags
}

// dirs makes the directories of both runs.
func (f *liveFlags) dirs(c *console.Console, force bool) (out string, both [2]*store.Dir, err error) {
	if out = f.Out; out == "" {
		out = store.FreePair(filepath.Join(c.Dir, "llmsweep-pair"))
	}
	if _, ok, err := store.OpenPair(out); ok || err != nil {
		return out, both, fmt.Errorf("%s already holds a comparison; name another directory with --out, or remove it", out)
	}
	for _, name := range []string{rundir.ReportFile, rundir.PageFile} {
		if err := outfile.Check(filepath.Join(out, name), force); err != nil {
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

// pairPage returns what writes the page of a comparison.
func pairPage(result *paired.Comparison, runs [2]*rundir.Run) func(io.Writer, layout.Options) error {
	return func(w io.Writer, o layout.Options) error { return html.Pair(w, result, runs, o) }
}

// writePages writes the page of the comparison, and that of each side.
func (cm *compareCmd) writePages(out string, result *paired.Comparison, runs [2]*rundir.Run, dirs [2]*store.Dir) error {
	l := lang.Lang(cm.Lang)
	for i := range dirs {
		if err := measurement.WritePage(dirs[i], runs[i], l); err != nil {
			return err
		}
	}
	var page bytes.Buffer
	if err := html.Pair(&page, result, runs, layout.Options{Lang: l}); err != nil {
		return err
	}
	return (&store.Dir{Path: out}).WriteFile(rundir.PageFile, outfile.Marked(page.Bytes(), outfile.XML))
}

// conclude shows the result, writes the reports and chooses the exit code.
func (cm *compareCmd) conclude(c *console.Console, out string, record *rundir.Pair, runs [2]*rundir.Run, dirs [2]*store.Dir, gates []compare.Gate) error {
	l := lang.Lang(cm.Lang)
	for i := range dirs {
		var doc bytes.Buffer
		err := report.Markdown(&doc, []rundir.Run{*runs[i]}, l)
		if err == nil {
			err = dirs[i].WriteFile(rundir.ReportFile, outfile.Marked(doc.Bytes(), outfile.XML))
		}
		if err != nil {
			return err
		}
	}
	result := paired.OfPair(record, runs[0], runs[1])
	if err := result.CompareAnswers(sideDirs(out), runs); err != nil && record.State == rundir.Complete {
		return err
	}
	var doc bytes.Buffer
	if err := table.WriteSections(&doc, "markdown", result.Sections(l, 1), table.Style{}); err != nil {
		return err
	}
	sections := func(l lang.Lang) []table.Section { return result.Sections(l, 1) }
	err := (&store.Dir{Path: out}).WriteFile(rundir.ReportFile, outfile.Marked(doc.Bytes(), outfile.XML))
	if err == nil {
		err = cm.writePages(out, result, runs, dirs)
	}
	if err == nil {
		err = cm.WriteBoth(c, &cm.Tables, result.JSON, sections, pairPage(result, runs))
	}
	if err == nil {
		err = cm.publishGates(c, result, gates, sections, out)
	}
	switch {
	case err != nil:
		return err
	case record.State == rundir.Interrupted:
		return console.Exit(console.Interrupted, errors.New(findings.PairInterrupted(out, l)))
	case record.State == rundir.Failed:
		return errors.New(findings.Failed("", record.Failure, out, l))
	}
	return verdict(result, gates)
}

// sideDirs returns the directories of both sides.
func sideDirs(out string) (dirs [2]string) {
	for i, name := range rundir.Sides() {
		dirs[i] = filepath.Join(out, name)
	}
	return dirs
}

// pairDir returns the directory of a comparison of two servers, where the paths name it or its two runs.
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

// again prints a comparison that was measured before.
func (cm *compareCmd) again(c *console.Console, dir string) error {
	record, _, err := store.OpenPair(dir)
	if err != nil {
		return console.Usage(err)
	}
	var runs [2]*rundir.Run
	for i, name := range rundir.Sides() {
		if runs[i], err = answer.Reopen(filepath.Join(dir, name)); err != nil {
			return console.Usage(err)
		}
	}
	if record.State == rundir.Running { // llmsweep was killed
		record.State = rundir.Interrupted
	}
	result := paired.OfPair(record, runs[0], runs[1])
	if err := result.CompareAnswers(sideDirs(dir), runs); err != nil && record.State == rundir.Complete {
		return console.Usage(err)
	}
	gates, err := compare.ParseGates(cm.FailIf, result.Keys())
	if err != nil {
		return console.Usage(err)
	}
	sections := func(l lang.Lang) []table.Section { return result.Sections(l, 1) }
	if err := cm.WriteBoth(c, &cm.Tables, result.JSON, sections, pairPage(result, runs)); err != nil {
		return err
	}
	if err := cm.publishGates(c, result, gates, sections, dir); err != nil {
		return err
	}
	return verdict(result, gates)
}
