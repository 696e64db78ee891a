package flags

import (
	"errors"
	"fmt"
	"strconv"

	"llmsweep/sweep/fidelity"
)

// Fidelity holds the flags of the comparison of answers under load with those of a server that is asked alone.
type Fidelity struct {
	Fidelity    bool   `help:"Compare answers under load with those got alone: ask canaries (prompts at temperature 0) alone, alone again, and in every stage. See llmsweep help fidelity." group:"Fidelity"`
	Canaries    string `placeholder:"N|FILE" help:"Canaries: how many of the built-in ones (100), or a file with a prompt on each line." group:"Fidelity"`
	CanaryShare string `name:"canary-share" placeholder:"SHARE" help:"Share of the requests of each stage that are canaries, 1% to 5% (5%)." group:"Fidelity"`
	Graded      int    `default:"100" placeholder:"N" help:"Dataset rows with an answer are graded: ask N of them alone first, and compare those under load (${default}); 0 grades none. See llmsweep help fidelity." group:"Fidelity"`
}

// Grades reports whether the answers to rows of a workload may be graded.
func (f *Fidelity) Grades(w *Workload) bool {
	return f != nil && f.Graded > 0 && w.Dataset != "" && !w.MultiTurn
}

// Check returns what asks and judges the canaries; nil without --fidelity.
func (f *Fidelity) Check(seed uint64) (*fidelity.Check, error) {
	if !f.Fidelity {
		if f.Canaries != "" || f.CanaryShare != "" {
			return nil, errors.New("--canaries and --canary-share belong to --fidelity: add it")
		}
		return nil, nil
	}
	o := fidelity.Options{Seed: seed, Set: fidelity.BuiltIn(fidelity.DefaultCanaries)}
	if n, err := strconv.Atoi(f.Canaries); err == nil {
		if n < 1 || n > fidelity.MostCanaries {
			return nil, fmt.Errorf("--canaries must be between 1 and %d, or a file", fidelity.MostCanaries)
		}
		o.Set = fidelity.BuiltIn(n)
	} else if f.Canaries != "" {
		if o.Set, err = fidelity.Read(f.Canaries); err != nil {
			return nil, fmt.Errorf("--canaries: %w", err)
		}
	}
	if f.CanaryShare != "" {
		v, err := share(f.CanaryShare)
		if err != nil || v < fidelity.LeastShare || v > fidelity.MostShare {
			return nil, errors.New("--canary-share must be between 1% and 5%")
		}
		o.Share = v
	}
	return fidelity.New(o), nil
}
