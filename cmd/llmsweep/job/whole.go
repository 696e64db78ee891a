// Measures whole sweeps or runs several times, so that the spread between runs is seen.

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
	"llmsweep/sweep"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
)

// Part is one of several whole sweeps or runs.
type Part struct {
	*console.Console // its command line ends with its own seed
	Side             int
	Seed             uint64
	Dir              string // numbered from 1 in the directory of its side
	Force            bool   // overwrite what Dir holds
}

// RunDir makes its run directory.
func (p *Part) RunDir() (*store.Dir, error) { return p.Console.RunDir(p.Dir, p.Force) }

// Repeat measures n whole sweeps or runs of each side, in a directory of the side. Two sides take turns in the order A B B A, as the blocks of a comparison
// do, so that a steady drift affects both alike. Each repeat has a seed of its own: a server with a prefix cache knows the prompts of the first. An
// SLO that is missed or undecided is returned at the end; any other error ends the repeats.
func Repeat(c *console.Console, n int, seed uint64, force bool, dirs []string, job func(Part) (*Job, error)) error {
	var parts []Part
	for i := range n {
		round := slices.Clone(dirs)
		if i%2 == 1 {
			slices.Reverse(round)
		}
		for _, dir := range round {
			own := *c
			own.Args = append(slices.Clone(c.Args), "--seed="+strconv.FormatUint(seed+uint64(i), 10))
			p := Part{Console: &own, Side: slices.Index(dirs, dir), Seed: seed + uint64(i), Dir: filepath.Join(dir, strconv.Itoa(i+1)), Force: force}
			if !force && store.Free(p.Dir) != p.Dir {
				return console.Usage(fmt.Errorf("%s already holds a run; name another directory with --out", p.Dir))
			}
			parts = append(parts, p)
		}
	}
	var missed error
	for _, p := range parts {
		j, err := job(p)
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

// Sweeps compares two servers by whole sweeps of both. It returns the directories of both sides.
func (cm *Comparison) Sweeps() (dirs []string, err error) {
	plan, err := cm.wholePlan()
	if err != nil {
		return nil, console.Usage(err)
	}
	out := cm.Out
	if out == "" {
		out = store.FreePair(filepath.Join(cm.Console.Dir, "llmsweep-pair"))
	}
	for _, side := range rundir.Sides() {
		dirs = append(dirs, filepath.Join(out, side))
	}
	return dirs, Repeat(cm.Console, cm.Repeats, cm.Seed, cm.Force, dirs, func(p Part) (*Job, error) {
		workload, labels := cm.Workload, cm.Label
		if workload.Seed = p.Seed; p.Side == 1 {
			labels = slices.Concat(labels, cm.LabelB)
		}
		j := &Job{
			Console: p.Console, Urls: cm.URLs[p.Side : p.Side+1], Target: cm.side(p.Side), Workload: &workload, Plan: plan,
			Selftest: &cm.Selftest, Dir: p.RunDir,
			Results: &flags.Results{
				Label: labels, Out: p.Dir, Lang: string(cm.Lang), Plain: cm.Plain,
				Serving: flags.Serving{Live: cm.Serve},
			},
			Cluster: &flags.Cluster{Rank: -1},
		}
		j.Plan.Seed = p.Seed
		return j, nil
	})
}

// wholePlan returns the plan of each of the sweeps of a comparison, which share its budget.
func (cm *Comparison) wholePlan() (plan sweep.Config, err error) {
	if plan, _, err = cm.config(); err != nil {
		return plan, err
	}
	plan.StageTime, plan.StageMax = cm.StageTime, experiment.EdgeStages*cm.StageTime
	plan.Budget = cm.Budget / 2 / time.Duration(cm.Repeats)
	switch {
	case len(cm.URLs) != 2:
		return plan, errors.New("compare --live needs the URLs of two servers")
	case cm.Repeats > flags.MostRepeats:
		return plan, flags.ErrRepeats
	case len(cm.Rate)+len(cm.Concurrency) > 0:
		return plan, errors.New("--repeats compares by whole sweeps, which find their own loads: leave out --rate and --concurrency")
	case cm.Target.Limited():
		return plan, flags.ErrRepeatedLimit
	case cm.Budget > 0 && plan.Budget < flags.LeastBudget:
		return plan, fmt.Errorf("--budget %v is too short for %d sweeps: each takes %v at least", cm.Budget, 2*cm.Repeats, flags.LeastBudget)
	}
	return plan, nil
}
