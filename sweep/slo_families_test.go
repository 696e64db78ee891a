package sweep

import (
	"fmt"
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
var steadyFamilies = []string{"plain", "unequal replicas", "lognormal", "shortest first", "priorities", "batches", "static batches", "slow one balanced"}

// promise is a term, and the rate up to which a server keeps it.
type promise struct {
	Term string
	Rate float64
}

// promise returns a term whose rate is known: its limit is what a long stage at that rate shows.
func (k *oddTrial) promise(t *testing.T) *promise {
	const requests = 30000
	rng := rand.New(rand.NewPCG(k.seed, 23))
	rate := (0.6 + 0.32*rng.Float64()) * k.low
	term, err := slo.Parse([]string{"ttft:p95", "latency:p90", "ttft:p99"}[k.seed%3] + "<1s")
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		server, end := k.server()
		defer end()
		c := k.config(server, k.seed+1_000_000)
		c.StageTime = rundir.Duration(requests / rate)
		st := oneStage(t, c, func(x *experiment.Experiment) experiment.Stage {
			s := x.Poisson(rate, rundir.Probe)
			s.MaxTime, s.Tail = s.MinTime, time.Minute
			return s
		})
		limit, _ := term.Of(&st)
		term.Limit, rate = limit.Value(), slo.Offered(&st)
	})
	return &promise{term.String(), rate}
}

// TestSLOFamilies sweeps servers with an SLO whose rate is known, to within 1 % by its own chance. FAMILY, FAMILYN, FAMILYFROM and FAMILYDIR are as in [TestFamilies].
func TestSLOFamilies(t *testing.T) {
	const unsure = 0.01
	var all overall
	for name, trials := range drawnTrials(steadyFamilies, simtest.Evidence(t, 1, 20)) {
		o := &familyOutcome{}
		for _, k := range trials {
			p, _ := kept(t, fmt.Sprintf("%s-%d-promise", k.family, k.seed), func() *promise { return k.promise(t) })
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
	simtest.Claim(t, "rate up to which an SLO holds, on servers that the rules were not made for", "the interval holds it in 93 %", "%s", all.summary())
	if float64(all.held) < 0.85*float64(all.answered) {
		t.Errorf("%d of %d intervals hold the rate", all.held, all.answered)
	}
}
