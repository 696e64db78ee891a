package main

import (
	"cmp"
	"errors"
	"path/filepath"

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

// repeated is what repeat has to know of a sweep or run.
type repeated struct {
	times int
	seed  uint64
	*flags.Results
	*flags.Target
	*flags.Cluster
}

// repeat measures several whole sweeps or runs, and prints the spread between them.
func repeat(c *console.Console, r repeated, measure func(job.Part) (*job.Job, error)) error {
	switch {
	case r.Limited():
		return console.Usage(flags.ErrRepeatedLimit)
	case *r.Cluster != flags.Cluster{Rank: -1}:
		return console.Usage(errors.New("--repeats is measured from one machine: leave out --rank, --ranks and --coordinator"))
	}
	out := cmp.Or(r.Out, store.FreePair(filepath.Join(c.Dir, "llmsweep-runs")))
	err := job.Repeat(c, r.times, r.seed, r.Force, out, measure)
	found, unread := inputs.Read(c.Err, []string{out})
	if unread != nil {
		return cmp.Or(err, unread)
	}
	h, unlike := history.Of(setup.Load(found), history.DefaultAlarms)
	if unlike != nil { // sweeps of which no two found the same metric have no spread
		return err
	}
	noise := h.Noise()
	noise.Level, noise.Lines = 1, []lang.Text{h.Sees()}
	return errors.Join(table.WriteSections(c.Out, "", []table.Section{noise}, table.Style{Lang: lang.Lang(r.Lang)}), err)
}
