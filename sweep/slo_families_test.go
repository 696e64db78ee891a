package sweep

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"llmsweep/sweep/experiment"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
	"llmsweep/sweep/slo"
)

// steadyFamilies are the families whose latencies at one rate stay what they are, so that an SLO has a rate.
var steadyFamilies = []string{"plain", "unequal replicas", "lognormal", "shortest first", "priorities", "batches",
	"static batches", "slow one balanced"}

// promise is a term, and the rate up to which a server keeps it.
type promise struct {
	Term string
	Rate float64
}

// promise returns a term whose rate is known: its limit is what a long stage at that rate shows. Where the metric
// hardly grows with the rate, no measurement tells where it passes a limit, a long one neither: such rates are not
// taken. Its term is empty where none of several was taken.
func (k *oddTrial) promise(t *testing.T) *promise {
	const tries, nearer, grows = 6, 0.95, 1 // share of the rate; least ratio of the metric's growth to the rate's
	rng := rand.New(rand.NewPCG(k.seed, 23))
	term, err := slo.Parse([]string{"ttft:p95", "latency:p90", "ttft:p99"}[k.seed%3] + "<1s")
	if err != nil {
		t.Fatal(err)
	}
	for range tries {
		rate := (0.6 + 0.32*rng.Float64()) * k.low
		at, before := k.long(t, rate), k.long(t, nearer*rate)
		limit, _ := term.Of(at)
		less, _ := term.Of(before)
		if math.Log(limit.Value()/less.Value()) > -grows*math.Log(nearer) {
			term.Limit = limit.Value()
			return &promise{term.String(), slo.Offered(at)}
		}
	}
	return &promise{}
}

// long is one long stage at a rate.
func (k *oddTrial) long(t *testing.T, rate float64) (st *rundir.Stage) {
	const requests = 100000
	synctest.Test(t, func(t *testing.T) {
		server, end := k.server()
		defer end()
		c := k.config(server, k.seed+1_000_000)
		c.StageTime = rundir.Duration(requests / rate)
		one := oneStage(t, c, func(x *experiment.Experiment) experiment.Stage {
			s := x.Poisson(rate, rundir.Probe)
			s.MaxTime, s.Tail = s.MinTime, time.Minute
			return s
		})
		st = &one
	})
	return st
}

// TestSLOFamilies sweeps servers with an SLO whose rate is known, to within 1 % by its own chance. FAMILY, FAMILYN,
// FAMILYFROM and FAMILYDIR are as in [TestFamilies].
func TestSLOFamilies(t *testing.T) {
	const unsure = 0.01
	var all overall
	for name, trials := range drawnTrials(steadyFamilies, simtest.Evidence(t, 1, 20)) {
		o := &familyOutcome{}
		for _, k := range trials {
			p, _ := kept(t, fmt.Sprintf("%s-%d-promise", k.family, k.seed), func() *promise { return k.promise(t) })
			if p.Term == "" {
				continue
			}
			terms, err := slo.ParseAll([]string{p.Term})
			if err != nil {
				t.Fatal(err)
			}
			run := k.sweptOrKept(t, terms)
			s := &rundir.Saturation{Rate: run.SLO.Rate, Low: run.SLO.Low, High: run.SLO.High}
			o.add(fmt.Sprintf("%s %d %s %s", k.family, k.seed, k.about, p.Term), s, p.Rate*(1-unsure), p.Rate*(1+unsure), run)
		}
		for _, line := range o.lines {
			t.Log(line)
		}
		fmt.Println(o.summary(name))
		all.add(o)
	}
	fmt.Println(all.summary())
	simtest.Claim(t, "rate up to which an SLO holds, on servers that the rules were not made for",
		"the interval holds it in 93 %", "%s", all.summary())
	if float64(all.held) < 0.85*float64(all.answered) {
		t.Errorf("%d of %d intervals hold the rate", all.held, all.answered)
	}
}
