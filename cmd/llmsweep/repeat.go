package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/cmd/llmsweep/flags"
	"llmsweep/cmd/llmsweep/job"
	"llmsweep/report/history"
	"llmsweep/report/inputs"
	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir/store"
)

type repeats struct {
	times int
	seed  uint64
	*flags.Results
	*flags.Target
	*flags.Cluster
}

// jobFunc returns the job of one repeat.
type jobFunc func(c *console.Console, seed uint64, dir string) (*job.Job, error)

// repeat measures several whole sweeps or runs, and prints the spread between them.
func repeat(c *console.Console, r repeats, newJob jobFunc) error {
	switch {
	case r.MaxCost > 0:
		return console.Usage(errors.New("--max-cost is the limit of one sweep or run: leave out --repeats, and measure " +
			"several times"))
	case *r.Cluster != flags.Cluster{Rank: -1}:
		return console.Usage(errors.New("--repeats is measured from one machine: leave out --rank, --ranks and " +
			"--coordinator"))
	}
	out := cmp.Or(r.Out, store.FreePair(filepath.Join(c.Dir, "llmsweep-runs")))
	err := r.measureEach(c, out, newJob)
	found, readErr := inputs.Read(c.Err, []string{out})
	if readErr != nil {
		return cmp.Or(err, readErr)
	}
	h, noHistory := history.Analyze(setup.Load(found), history.DefaultAlarms)
	if noHistory != nil { // sweeps of which no two found the same metric have no spread
		return err
	}
	noise := h.Noise()
	noise.Level, noise.Lines = 1, []lang.Text{h.RequiredRuns()}
	return errors.Join(table.WriteSections(c.Out, "", []table.Section{noise}, table.Style{Lang: lang.Lang(r.Lang)}), err)
}

// measureEach measures each sweep or run with a seed of its own: a server with a prefix cache knows the prompts
// of the first. An SLO that is missed or undecided is returned at the end; any other error ends the repeats.
func (r *repeats) measureEach(c *console.Console, out string, newJob jobFunc) error {
	dir := func(i int) string { return filepath.Join(out, strconv.Itoa(i+1)) }
	for i := range r.times {
		if !r.Force && store.Free(dir(i)) != dir(i) {
			return console.Usage(fmt.Errorf("%s already holds a run; name another directory with --out", dir(i)))
		}
	}
	var missed error
	for i := range r.times {
		own, seed := *c, r.seed+uint64(i)
		own.Args = append(slices.Clone(c.Args), "--seed="+strconv.FormatUint(seed, 10))
		j, err := newJob(&own, seed, dir(i))
		if err != nil {
			return console.Usage(err)
		}
		err = j.Run()
		if code := console.Code(err); code != console.Done && code != console.Missed && code != console.Undecided {
			return err
		}
		missed = cmp.Or(missed, err)
	}
	return missed
}
