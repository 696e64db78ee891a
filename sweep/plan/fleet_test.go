package plan

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"llmsweep/client/sim"
	"llmsweep/sweep/slo"
)

// evenTimes is a server of four slots whose steps take 10 ms: 10 output tokens take 100 ms.
func evenTimes() sim.MachineConfig {
	return sim.MachineConfig{Costs: &sim.Costs{Read: sim.ReadCosts{Fixed: 10e-3}}, MaxNumSeqs: 4}
}

func terms(t *testing.T, texts ...string) []slo.Term {
	t.Helper()
	all, err := slo.ParseAll(texts)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// poisson returns requests at a rate.
func poisson(rate float64, length time.Duration) (all []FleetRequest) {
	rng := rand.New(rand.NewPCG(3, 3))
	for at := 0.0; ; {
		at += rng.ExpFloat64() / rate
		if at >= length.Seconds() {
			return all
		}
		all = append(all, FleetRequest{At: time.Duration(at * 1e9), Prompt: 64, Output: 10})
	}
}

func ran(t *testing.T, c FleetConfig, requests []FleetRequest, length time.Duration) *fleetOutcome {
	t.Helper()
	o, err := runFleet(c, requests, length)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestAFleetTakesWhatItsReplicasTake: a replica takes 40 requests a second; three take 100 and two do not.
func TestAFleetTakesWhatItsReplicasTake(t *testing.T) {
	const length = 20 * time.Minute
	requests := poisson(100, length)
	for _, router := range []Router{RoundRobin, LeastLoaded} {
		c := FleetConfig{Server: evenTimes(), Replicas: 3, Router: router, Terms: terms(t, "ttft:p99<500ms", "itl:p99<12ms"), Allowed: -1}
		if o := ran(t, c, requests, length); o.Held != 1 || o.Breaks[0]+o.Breaks[1] != 0 || math.Abs(o.PaidHours-1) > 1e-9 {
			t.Errorf("%s: three hold in %v, breaks %v, paid %v h", router, o.Held, o.Breaks, o.PaidHours)
		}
		c.Replicas = 2
		if o := ran(t, c, requests, length); o.Held > 0.2 || o.Breaks[1] != 0 || o.Usage.SlotsFull == 0 {
			t.Errorf("%s: two hold in %v, breaks %v", router, o.Held, o.Breaks)
		}
		c.Allowed = 0.05
		if o := ran(t, c, requests, length); !o.Ended || !math.IsNaN(o.Held) {
			t.Errorf("%s: two replicas are not given up", router)
		}
	}
}

// TestInFlightIsAMean: of requests that take 100 ms each, 20 a second, two are in flight on the mean, also in the last minute.
func TestInFlightIsAMean(t *testing.T) {
	const length = 20 * time.Minute
	o := ran(t, FleetConfig{Server: evenTimes(), Replicas: 1, Router: RoundRobin, Terms: terms(t, "ttft:p99<500ms"), Allowed: -1}, poisson(20, length), length)
	sum := 0.0
	for _, m := range o.Minutes {
		sum += m.MeanInFlight / float64(len(o.Minutes))
	}
	if math.Abs(sum-2) > 0.6 { // 80 looks
		t.Errorf("%.2f in flight, want 2", sum)
	}
}

// TestTheLeastLoadedIsChosen: one request in four is long. In turn, the same replica gets all of them.
func TestTheLeastLoadedIsChosen(t *testing.T) {
	var requests []FleetRequest
	for i := range 2000 {
		q := FleetRequest{At: time.Duration(i) * 30 * time.Millisecond, Prompt: 64, Output: 4}
		if i%4 == 0 {
			q.Output = 100
		}
		requests = append(requests, q)
	}
	held := map[Router]float64{}
	for _, router := range []Router{RoundRobin, LeastLoaded} {
		c := FleetConfig{Server: evenTimes(), Replicas: 4, Router: router, Terms: terms(t, "ttft:p95<100ms"), Allowed: -1}
		held[router] = ran(t, c, requests, time.Minute).Held
	}
	if held[RoundRobin] != 0 || held[LeastLoaded] != 1 {
		t.Errorf("%v", held)
	}
}

// TestALostReplica: what waits is sent again, answers that had begun are cut off, and those that are left take the load.
func TestALostReplica(t *testing.T) {
	const length = 10 * time.Minute
	c := FleetConfig{Server: evenTimes(), Replicas: 3, Router: LeastLoaded, Terms: terms(t, "ttft:p99<1s", "errors<1%"), Lost: 1, LostAt: 5 * time.Minute, Allowed: -1}
	o := ran(t, c, poisson(100, length), length)
	if o.LostAnswers < 1 || o.LostAnswers > 4 || o.Minutes[3].Replicas != 3 || o.Minutes[8].Replicas != 2 || o.Held > 0.7 || o.Held < 0.4 {
		t.Errorf("%d answers lost, %d and %d replicas, holds in %v", o.LostAnswers, o.Minutes[3].Replicas, o.Minutes[8].Replicas, o.Held)
	}
	if o := ran(t, c, poisson(60, length), length); o.Held != 1 {
		t.Errorf("two replicas hold 60 requests a second in %v", o.Held)
	}
}

// TestScaling: replicas follow the load, after a cold start.
func TestScaling(t *testing.T) {
	const length = 60 * time.Minute
	requests := poisson(20, length)
	for _, q := range poisson(100, 20*time.Minute) {
		q.At += 20 * time.Minute
		requests = append(requests, q)
	}
	slices.SortFunc(requests, func(a, b FleetRequest) int { return cmp.Compare(a.At, b.At) })
	c := FleetConfig{Server: evenTimes(), Replicas: 1, Router: LeastLoaded, Terms: terms(t, "ttft:p99<1s"), Allowed: -1,
		Scaling: &fleetScaling{Least: 1, Most: 8, InFlight: 3, ColdStart: 3 * time.Minute, Calm: 5 * time.Minute}}
	o := ran(t, c, requests, length)
	if o.Minutes[15].Replicas > 2 || o.Minutes[21].Replicas > 2 || o.Minutes[21].Paid < 4 || o.Minutes[30].Replicas < 4 || o.Minutes[55].Replicas > 2 {
		t.Errorf("replicas after 15, 21, 30 and 55 minutes: %d, %d (%d paid), %d, %d", o.Minutes[15].Replicas, o.Minutes[21].Replicas, o.Minutes[21].Paid, o.Minutes[30].Replicas, o.Minutes[55].Replicas)
	}
	if !o.Minutes[22].Broken[0] || o.Minutes[35].Broken[0] {
		t.Error("the objective breaks while replicas start, and only then")
	}
}

// TestPrefixesFindTheirReplica: eight users whose prompts begin alike. In turn, each replica must compute each beginning.
func TestPrefixesFindTheirReplica(t *testing.T) {
	server := evenTimes()
	server.Costs = &sim.Costs{Read: sim.ReadCosts{Fixed: 5e-3}, Compute: sim.ComputeCosts{Token: 50e-6}}
	server.KVTokens = 8192
	rng := rand.New(rand.NewPCG(4, 4))
	var requests []FleetRequest
	for i := range 600 {
		user := rng.Int64N(8)
		requests = append(requests, FleetRequest{At: time.Duration(i) * 100 * time.Millisecond, Prompt: 2048, Output: 4, Hashes: []int64{user * 4, user*4 + 1, user*4 + 2}})
	}
	hits := map[Router]float64{}
	for _, router := range []Router{RoundRobin, PrefixAware} {
		c := FleetConfig{Server: server, Replicas: 4, Router: router, Block: 512, Terms: terms(t, "ttft:p99<1s"), Allowed: -1}
		o := ran(t, c, requests, time.Minute)
		hits[router] = float64(o.Usage.CachedTokens) / float64(o.Usage.PromptTokens)
	}
	if hits[PrefixAware] < 0.7 || hits[RoundRobin] > 0.7*hits[PrefixAware] {
		t.Errorf("%v of the prompts are cached", hits)
	}
}

// TestPercentilesOfGaps: bins are 1.6 % wide.
func TestPercentilesOfGaps(t *testing.T) {
	var h histogram
	for i := 1; i <= 1000; i++ {
		h.add(time.Duration(i)*time.Millisecond, 2)
	}
	for q, want := range map[float64]float64{0.5: 0.5, 0.99: 0.99} {
		if got := h.quantile(q); math.Abs(got/want-1) > 0.016 {
			t.Errorf("%v: %v", q, got)
		}
	}
	if math.Abs(h.mean()-0.5005) > 1e-9 {
		t.Errorf("mean %v", h.mean())
	}
}
