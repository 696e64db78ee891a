package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"llmsweep/report/choose"
	"llmsweep/report/curve"
	"llmsweep/report/lang"
	html "llmsweep/report/page"
	"llmsweep/report/table"
	"llmsweep/sweep/answer"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
)

// chooseCmd is llmsweep choose.
type chooseCmd struct {
	Paths       []string `arg:"" name:"path" help:"Run directories, directories of those, or documents with published results."`
	AnyWorkload bool     `name:"any-workload" help:"Choose also among results of different workloads."`
	Only        []string `sep:"," placeholder:"K=V" help:"Consider only results with this model, gpu, gpus, engine or quant; may be repeated. The first words of a name are enough; quant= means not quantized."`
	wishFlags
	tableFlags
	pageFlags
}

// wishFlags say what is needed, and what GPUs cost.
type wishFlags struct {
	SLO      []string `json:"slo,omitempty" name:"slo" sep:"none" placeholder:"TERM" help:"Service level objective, such as 'ttft:p99<500ms' or 'errors<1%'; may be repeated. See llmsweep help slo." group:"Choice"`
	Demand   string   `json:"demand,omitempty" placeholder:"20rps" help:"Demand: requests (20rps) or output tokens (5000tok/s) per second." group:"Choice"`
	Price    []string `json:"price,omitempty" sep:"none" placeholder:"GPU=N,.." help:"Prices of one GPU for one hour: L20=1.2,A100=3.6. There are no built-in prices." group:"Choice"`
	Prices   string   `json:"prices,omitempty" placeholder:"FILE" help:"YAML file of prices, one 'L20: 1.2' a line; --price wins." group:"Choice"`
	MaxGPUs  int      `json:"max_gpus,omitempty" name:"max-gpus" placeholder:"N" positive:"" help:"Use at most N GPUs." group:"Choice"`
	Headroom float64  `json:"headroom" default:"0.2" placeholder:"SHARE" help:"Share of each replica's capacity to keep free (${default})." group:"Choice"`
}

// Help returns what --help prints after the purpose.
func (chooseCmd) Help() string {
	return `Examples:
  llmsweep choose results.md --only model=Qwen2-7B --slo 'itl:mean<50ms' --slo 'ttft:mean<200ms' --demand 20rps --price L20=1.2,A100=3.6
  llmsweep choose run-a run-b --slo 'ttft:p99<500ms' --demand 5000tok/s --prices prices.yaml --max-gpus 8
  llmsweep choose run-a run-b --slo 'ttft:p99<500ms' --demand 20rps --price L20=1.2 --html choice.html    # sliders choose again

More: llmsweep help choose`
}

// Run chooses.
func (ch *chooseCmd) Run(c *console) error {
	options, err := ch.options()
	if err != nil {
		return usage(err)
	}
	options.AnyWorkload = ch.AnyWorkload
	inputs, err := readInputs(c.err, ch.Paths)
	if err != nil {
		return usage(err)
	}
	if err := assess(inputs, options.Terms); err != nil {
		return usage(err)
	}
	setups, err := ch.some(curve.Load(inputs)) // after Load: the audit compares all of them
	if err != nil {
		return usage(err)
	}
	labels := make([]rundir.Labels, len(setups))
	for i := range setups {
		labels[i] = named(setups[i].Run)
	}
	for _, line := range options.Prices.Unused(labels, lang.Lang(ch.Lang)) {
		fmt.Fprintln(c.err, table.Clean(line))
	}
	choices, err := choose.Of(setups, options)
	if err != nil {
		return usage(err)
	}
	sections := func(l lang.Lang) []table.Section {
		var all []table.Section
		for i := range choices {
			all = append(all, choices[i].Sections(l, 1)...)
		}
		return all
	}
	return ch.writeBoth(c, &ch.tableFlags, func(w io.Writer) error { return choose.JSON(w, choices) }, sections, func(w io.Writer, o html.Options) error {
		return html.Choose(w, choices, setups, options, sections, o)
	})
}

// assess judges the runs that were measured here by the terms, as report --slo does. Where the records are gone, the percentiles are
// all that there is.
func assess(inputs []curve.Input, terms []slo.Term) error {
	for _, in := range inputs {
		if in.Run.Source != nil || len(terms) == 0 {
			continue
		}
		if err := answer.Assess(in.Path, in.Run, terms); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// some returns the setups that --only names.
func (ch *chooseCmd) some(setups []curve.Setup) ([]curve.Setup, error) {
	for _, text := range ch.Only {
		o, err := choose.ParseOnly(text)
		if err != nil {
			return nil, err
		}
		setups = slices.DeleteFunc(setups, func(s curve.Setup) bool { return !o.Takes(named(s.Run)) })
	}
	if len(setups) == 0 {
		return nil, fmt.Errorf("--only %s: no result has these labels; llmsweep compare lists the results", strings.Join(ch.Only, ","))
	}
	return setups, nil
}

// options parses the flags.
func (f *wishFlags) options() (choose.Options, error) {
	o := choose.Options{MaxGPUs: f.MaxGPUs, Headroom: f.Headroom, Prices: choose.Prices{}}
	var err error
	if o.Terms, err = slo.ParseAll(f.SLO); err != nil {
		return o, err
	}
	if f.Demand != "" {
		if o.Demand, err = choose.ParseDemand(f.Demand); err != nil {
			return o, err
		}
	}
	if f.Prices != "" {
		file, err := os.Open(f.Prices)
		if err != nil {
			return o, err
		}
		defer file.Close()
		if o.Prices, err = choose.ReadPrices(f.Prices, file); err != nil {
			return o, err
		}
	}
	for _, text := range f.Price {
		more, err := choose.ParsePrices(text)
		if err != nil {
			return o, err
		}
		maps.Copy(o.Prices, more)
	}
	return o, nil
}
