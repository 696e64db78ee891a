// Measures whole sweeps or runs several times, so that the spread between runs is seen.

package job

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/sweep/rundir/store"
)

// Part is one of several whole sweeps or runs.
type Part struct {
	*console.Console // its command line ends with its own seed
	Seed             uint64
	Dir              string // numbered from 1
}

// Repeat measures n whole sweeps or runs, in a directory. Each has a seed of its own: a server with a prefix cache knows the prompts of the
// first. An SLO that is missed or undecided is returned at the end; any other error ends the repeats.
func Repeat(c *console.Console, n int, seed uint64, force bool, dir string, job func(Part) (*Job, error)) error {
	var parts []Part
	for i := range n {
		own := *c
		own.Args = append(slices.Clone(c.Args), "--seed="+strconv.FormatUint(seed+uint64(i), 10))
		p := Part{Console: &own, Seed: seed + uint64(i), Dir: filepath.Join(dir, strconv.Itoa(i+1))}
		if !force && store.Free(p.Dir) != p.Dir {
			return console.Usage(fmt.Errorf("%s already holds a run; name another directory with --out", p.Dir))
		}
		parts = append(parts, p)
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
