// Joins the run directories of ranks that ran apart into one, as from one machine. Records are joined, and all metrics are computed
// from them again; percentiles are never averaged.

package cluster

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"time"

	"llmsweep/client/note"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/measure"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/slo"
)

// mergePart is the run directory of a rank.
type mergePart struct {
	dir string
	run *rundir.Run
}

func (p *mergePart) rank() *rundir.Rank { return &p.run.Cluster.Ranks[0] }

// noteUnaligned says of which ranks the clocks are not known.
var noteUnaligned = note.Kind{Code: "cluster.unaligned", Args: []string{"ranks"}}

// MergeNotes returns the kinds of notes that this package writes.
func MergeNotes() []note.Kind { return []note.Kind{noteUnaligned} }

// MergeRun joins run directories into another one. clockError is the largest error of the ranks' clocks, where the user knows it; 0 for what their kernels
// told. An error says why they are no run together.
func MergeRun(dirs []string, clockError time.Duration, out *store.Dir) (*rundir.Run, error) {
	parts, err := open(dirs)
	if err != nil {
		return nil, err
	}
	if clockError > 0 {
		for i := range parts {
			parts[i].rank().WallError = rundir.Exactly(clockError.Seconds())
		}
	}
	if err := copyRecords(parts, out); err != nil {
		return nil, err
	}
	run := joined(parts)
	terms, err := slo.ParseAll(run.Plan.SLO)
	if err != nil {
		return nil, err
	}
	for i := range run.Stages {
		if err := mergeStage(run, i, parts, terms, out); err != nil {
			return nil, err
		}
	}
	judge(run)
	return run, out.Save(run)
}

// CheckMerge returns why run directories are no run together; nil where they are.
func CheckMerge(dirs []string) error {
	_, err := open(dirs)
	return err
}

// open opens run directories, by rank.
func open(dirs []string) ([]mergePart, error) {
	var parts []mergePart
	for _, dir := range dirs {
		run, err := store.Open(dir)
		switch {
		case err != nil:
			return nil, err
		case run.Cluster == nil || run.Cluster.Source != rundir.SourceApart || len(run.Cluster.Ranks) != 1:
			return nil, fmt.Errorf("%s is not of a rank that ran apart: only what run --rank --ranks --start-at wrote is merged", dir)
		case run.State != rundir.Complete:
			return nil, fmt.Errorf("%s holds a run that did not end: a part of the load was not sent", dir)
		}
		parts = append(parts, mergePart{dir, run})
	}
	slices.SortStableFunc(parts, func(a, b mergePart) int { return cmp.Compare(a.rank().Rank, b.rank().Rank) })
	return parts, complete(parts)
}

// complete returns why parts are not all ranks of one experiment; nil where they are.
func complete(parts []mergePart) error {
	first := &parts[0]
	for i := range parts {
		p := &parts[i]
		if err := alike(first, p); err != nil {
			return err
		}
		if n := p.rank().Rank; i > 0 && n == parts[i-1].rank().Rank {
			return fmt.Errorf("rank %d is there twice: %s and %s", n, parts[i-1].dir, p.dir)
		}
	}
	for i := range first.run.Cluster.Of {
		if i >= len(parts) || parts[i].rank().Rank != i {
			return fmt.Errorf("rank %d of %d is missing", i, first.run.Cluster.Of)
		}
	}
	return nil
}

// alike returns an error where two parts are of different experiments.
func alike(a, b *mergePart) error {
	x, y := a.run, b.run
	for _, c := range []struct {
		what string
		same bool
	}{
		{"number of ranks", x.Cluster.Of == y.Cluster.Of},
		{"start", x.Cluster.StartAt.Equal(y.Cluster.StartAt)},
		{"seed", x.Workload.Seed == y.Workload.Seed},
		{"server", x.Target.URL == y.Target.URL && x.Target.API == y.Target.API && x.Target.Model == y.Target.Model &&
			x.Target.Engine == y.Target.Engine && x.Target.Version == y.Target.Version && len(x.Target.Replicas) == len(y.Target.Replicas)},
		{"workload", experiment.SameWorkload(&x.Workload, &y.Workload) && bytes.Equal(x.Command.Body, y.Command.Body)},
		{"stages", reflect.DeepEqual(x.Plan, y.Plan) && slices.Equal(names(x), names(y))},
		{"version of llmsweep", x.Tool.Version == y.Tool.Version},
	} {
		if !c.same {
			return fmt.Errorf("%s and %s are of different experiments: they differ in the %s", a.dir, b.dir, c.what)
		}
	}
	for i := range y.Stages {
		if st := &y.Stages[i]; st.State != rundir.Complete || !st.Whole && st.Elapsed < y.Plan.StageTime {
			return fmt.Errorf("rank %d ended %s early: a part of the load was not sent", b.rank().Rank, st.Name)
		}
	}
	return nil
}

func names(run *rundir.Run) (all []string) {
	for i := range run.Stages {
		all = append(all, run.Stages[i].Name)
	}
	return all
}

// chunk is how many bytes of records are copied at a time.
const chunk = 1 << 20

// copyRecords copies the records of the stages, and those before them of rank 0, as they are.
func copyRecords(parts []mergePart, out *store.Dir) error {
	for i := range parts {
		stages := names(parts[i].run)
		for lines, err := range store.Lines(parts[i].dir, chunk) {
			if err == nil {
				err = copyLines(lines, stages, i == 0, out)
			}
			if err != nil {
				return err
			}
		}
		if i > 0 {
			continue
		}
		var readings []rundir.Reading
		for r, err := range store.Readings(parts[i].dir) {
			if err != nil {
				return err
			}
			readings = append(readings, *r)
		}
		if err := out.AppendReadings(readings); err != nil {
			return err
		}
	}
	return nil
}

// copyLines copies neighbouring lines of the same stage at a time.
func copyLines(lines []byte, stages []string, all bool, out *store.Dir) error {
	begin, at, current := 0, 0, ""
	flush := func() error {
		if begin == at || !all && !slices.Contains(stages, current) {
			return nil
		}
		return out.AppendLines(current, lines[begin:at])
	}
	for line := range bytes.Lines(lines) {
		name, err := store.StageOf(line)
		if err != nil {
			return err
		}
		if name != current {
			if err := flush(); err != nil {
				return err
			}
			begin, current = at, name
		}
		at += len(line)
	}
	return flush()
}

// joined returns the run of all parts before its stages are summed up.
func joined(parts []mergePart) *rundir.Run {
	run := *parts[0].run
	c := *run.Cluster
	c.Source, c.Of, c.Ranks = rundir.SourceMerged, 0, nil
	run.Stages, run.Warnings, run.Spent = slices.Clone(run.Stages), nil, nil
	var spent *rundir.Spent
	for i := range parts {
		p := &parts[i]
		r := *p.rank()
		if r.WallError.Known() && parts[0].rank().WallError.Known() && i > 0 {
			e := r.WallError.Value() + parts[0].rank().WallError.Value()
			r.Clock = rundir.Clock{Offset: rundir.Exactly(0), Low: rundir.Exactly(-e), High: rundir.Exactly(e)}
		}
		r.LagP99, r.CPU = p.run.Client.LagP99, p.run.Client.CPU
		c.Ranks = append(c.Ranks, r)
		for _, n := range p.run.Warnings {
			run.Warnings = note.Add(run.Warnings, n)
		}
		if p.run.Started.Before(run.Started) {
			run.Started = p.run.Started
		}
		if p.run.Ended.After(run.Ended) {
			run.Ended = p.run.Ended
		}
		spent = addSpent(spent, p.run.Spent)
	}
	run.Cluster, run.Spent = &c, spent
	return &run
}

// addSpent adds up what two ranks spent. Limits were each rank's own.
func addSpent(a, b *rundir.Spent) *rundir.Spent {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	sum := *a
	sum.Requests += b.Requests
	sum.PromptTokens += b.PromptTokens
	sum.OutputTokens += b.OutputTokens
	sum.UnsureTokens += b.UnsureTokens
	sum.MaxTokens += b.MaxTokens
	sum.Ended = a.Ended || b.Ended
	if a.Cost.Known() && b.Cost.Known() {
		sum.Cost = rundir.Exactly(a.Cost.Value() + b.Cost.Value())
	}
	return &sum
}

// mergeStage sums up a stage from the records of all ranks.
func mergeStage(run *rundir.Run, i int, parts []mergePart, terms []slo.Term, out *store.Dir) error {
	first := run.Stages[i]
	st := rundir.Stage{
		Name: first.Name, Kind: first.Kind, Role: first.Role, State: rundir.Complete, Rate: first.Rate, Repeat: first.Repeat,
		MaxConcurrency: first.MaxConcurrency, Started: first.Started, Ended: first.Ended, Whole: first.Whole,
	}
	closedAt := time.Duration(-1)
	if !st.Whole {
		closedAt = rundir.Duration(run.Plan.StageTime)
	}
	st, err := measure.Join(st, closedAt, run.Plan.Tolerance, terms, out.Records(st.Name))
	if err != nil {
		return err
	}
	st.Server, st.Ranks = first.Server, &rundir.StageRanks{N: len(parts)}
	var unknown []int
	worst, at, latest, earliest := 0.0, 0, math.Inf(-1), math.Inf(1)
	for n := range parts {
		own := &parts[n].run.Stages[i]
		assess(run, &st, n, own)
		late := own.Ranks.Each[0].Late.Value()
		latest, earliest = max(latest, late), min(earliest, late)
		switch e := run.Cluster.Ranks[n].WallError; {
		case !e.Known():
			unknown = append(unknown, n)
		case n > 0 && e.Value() > worst:
			worst, at = e.Value(), n
		}
	}
	if len(unknown) > 0 {
		unalign(&st, unknown)
	} else {
		worst += run.Cluster.Ranks[0].WallError.Value()
		st.Ranks.Alignment, st.Ranks.Skew = rundir.Exactly(worst), rundir.Exactly(latest-earliest)
		if st.Rate.Known() && Misaligned(st.Rate.Value(), worst) {
			st.Warnings = append(st.Warnings, Alignment(&run.Cluster.Ranks[at], st.Rate.Value(), worst))
		}
	}
	run.Stages[i] = st
	return nil
}

// assess notes whether a rank was fit to measure.
func assess(run *rundir.Run, st *rundir.Stage, n int, own *rundir.Stage) {
	rank := &run.Cluster.Ranks[n]
	st.Ranks.Each = append(st.Ranks.Each, rundir.StageRank{
		Rank: n, Requests: own.Requests.Sent, LagP99: own.Lag.P99, CPU: own.ClientCPU, GC: own.ClientGC, Late: own.Ranks.Each[0].Late,
	})
	if own.ClientCPU.Known() && (!st.ClientCPU.Known() || own.ClientCPU.Value() > st.ClientCPU.Value()) {
		st.ClientCPU, st.ClientGC = own.ClientCPU, own.ClientGC
	}
	why := measure.Unfit(own)
	if why.IsZero() {
		return
	}
	unfit := Unfit(rank, why)
	rank.Valid = false
	rank.Unfit = append(rank.Unfit, OnStage(st.Name, why))
	if st.Invalid.IsZero() {
		st.Invalid = unfit
	}
}

// unalign takes out what needs clocks that agree.
func unalign(st *rundir.Stage, ranks []int) {
	st.Concurrency, st.Drift, st.Server = rundir.Concurrency{}, rundir.Drift{}, nil
	if st.Verdict != rundir.Closed {
		st.Verdict = rundir.Undecided
	}
	st.Warnings = append(st.Warnings, noteUnaligned.New(Names(ranks)))
}

// judge sums up whether the clients were fit to measure.
func judge(run *rundir.Run) {
	c := &run.Client
	c.Valid, c.Warnings = true, nil
	for i := range run.Cluster.Ranks {
		r := &run.Cluster.Ranks[i]
		c.LagP99, c.CPU = mergeLarger(c.LagP99, r.LagP99), mergeLarger(c.CPU, r.CPU)
		c.Valid = c.Valid && r.Valid
		c.Warnings = append(c.Warnings, r.Unfit...)
	}
}

// mergeLarger returns the larger of two numbers, or the one that exists.
func mergeLarger(a, b rundir.Number) rundir.Number {
	if a.IsZero() || b.Known() && b.Value() > a.Value() {
		return b
	}
	return a
}
