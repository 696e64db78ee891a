package job

import (
	"errors"
	"slices"
	"strings"

	"llmsweep/client/sim"
	"llmsweep/sweep/cluster"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
)

// checkApart returns what a rank that runs apart cannot do; nil for nothing.
func (e *Measurement) checkApart() error {
	switch {
	case e.Canaries != nil && e.Canaries.Fidelity:
		return errOneMachine
	case e.Canaries != nil && e.Canaries.Text != "":
		return errTextApart
	case slices.ContainsFunc(e.Urls, func(url string) bool { return strings.HasPrefix(url, sim.Scheme) }):
		return errors.New("--start-at needs a server that all ranks reach, and each rank starts its own for sim: (llmsweep sim starts one for all)")
	}
	return nil
}

// apart lets this rank hold its part of the stage.
func (e *Measurement) apart(r *cluster.ApartRank, t *Target, run *rundir.Run) {
	r.Seed = e.Plan.Seed
	r.Numbers, _ = t.Workload.(cluster.Numbers)
	if e.Target.Caps() != nil {
		e.Plan.Caps = load.NewCaps(e.Target.MaxRPS/float64(r.Ranks), e.Target.MaxTPM/float64(r.Ranks))
	}
	run.Cluster = r.Describe()
	e.Plan.Hold, e.Plan.Retokenize = r.Hold, nil
}
