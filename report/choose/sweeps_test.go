package choose

import (
	"math"
	"strings"
	"testing"

	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/sweep/rundir"
)

// swept is a sweep with a searched limit. Random arrivals offered less than was planned, and the windows of tokens and
// requests differ: neither changes how long the answers are, which is 32 tokens each.
func swept(path string, limit, low, high float64) setup.Input {
	in := steps("L20", 1, 10, 16, 22)
	in.Path = path
	in.Run.Plan.Kind = rundir.KindSweep
	for i, offered := range []float64{8.1, 14.1, 18.4} {
		s := &in.Run.Stages[i]
		s.Rates = rundir.Rates{Offered: rundir.Exactly(offered), Completed: rundir.Exactly(offered)}
		s.TokensPerS.Output = rundir.Exactly(offered * 35)
		s.OutputTokens = rundir.TokenStats{N: 500, Mean: rundir.Exactly(32)}
	}
	in.Run.SLO = &rundir.SLO{Terms: []string{"ttft:mean<250ms"}, Verdict: "kept", Rate: rundir.Exactly(limit),
		Low: rundir.Exactly(low), High: rundir.Exactly(high), Limiting: "ttft:mean<250ms"}
	return in
}

// A demand in tokens and the same demand in requests take the same number of replicas, at the same price a token.
func TestAnswersAreAsLongAsMeasured(t *testing.T) {
	setups := setup.Load([]setup.Input{swept("one", 16, 12, 20)})
	inTokens := chosen(t, setups, wanted(t, "900tok/s", "L20=1.2", "ttft:mean<250ms")).Ranked[0]
	inRequests := chosen(t, setups, wanted(t, "28.125rps", "L20=1.2", "ttft:mean<250ms")).Ranked[0]
	if inTokens.Replicas != inRequests.Replicas || inTokens.MillionDemand != inRequests.MillionDemand {
		t.Errorf("%d and %d replicas, %v and %v", inTokens.Replicas, inRequests.Replicas, inTokens.MillionDemand,
			inRequests.MillionDemand)
	}
	if a := inTokens.Answer.Value(); a < 31.99 || a > 32.01 {
		t.Errorf("answers of %g tokens", a)
	}
	// Between the rows that were offered 14.1 and 18.4, not between those planned with 10 and 16.
	if low := inTokens.limit.Point.Low.Stage.Name; low != "poisson@16" {
		t.Errorf("it rests on %s", low)
	}
	// 28.125 / (12 x 0.8) and / (20 x 0.8)
	if inRequests.ReplicaRange != [2]int{2, 3} {
		t.Errorf("by the interval: %v", inRequests.ReplicaRange)
	}
}

// Two results of one configuration are named as such: the better of two measurements is not a better configuration.
func TestOneConfigurationMeasuredTwice(t *testing.T) {
	c := chosen(t, setup.Load([]setup.Input{swept("one", 16, 12, 20), swept("two", 10, 9, 11)}),
		wanted(t, "30rps", "", "ttft:mean<250ms"))
	notes := c.notes()
	said := strings.Join(lang.In(notes, lang.English), "\n")
	if !strings.Contains(said, legendRepeated.In(lang.English, "m, 1 x L20, e")) {
		t.Error(said)
	}
}

// A limit between a row that keeps the terms and one far above that misses them is not known.
func TestALimitBetweenRowsIsNotKnown(t *testing.T) {
	in := swept("one", 16, 12, 20)
	in.Run.SLO = &rundir.SLO{Terms: []string{"ttft:mean<250ms"}, Verdict: "broken", Limiting: "ttft:mean<250ms",
		BrokenStage: "poisson@22"}
	in.Run.Stages = []rundir.Stage{in.Run.Stages[0], in.Run.Stages[2]}
	c := chosen(t, setup.Load([]setup.Input{in}), wanted(t, "30rps", "", "ttft:mean<250ms"))
	if len(c.Refused) != 1 || !strings.HasPrefix(c.Refused[0].Why, "ttft:mean<250ms: met at") {
		t.Errorf("%+v", c.Refused)
	}
}

// TestTheVerdictOnARowIsThatOfItsReport: where a sweep has no answer, a row that misses the term is missed here as in
// its report.
func TestTheVerdictOnARowIsThatOfItsReport(t *testing.T) {
	in := swept("one", 16, 12, 20)
	in.Run.SLO = &rundir.SLO{Terms: []string{"ttft:mean<250ms"}, Verdict: rundir.Unsure, Limiting: "ttft:mean<250ms",
		BrokenStage: "poisson@22"}
	options := wanted(t, "30rps", "", "ttft:mean<250ms")
	if verdict := options.Terms[0].Verdict(&in.Run.Stages[2]); verdict != rundir.Missed {
		t.Fatal(verdict)
	}
	c := chosen(t, setup.Load([]setup.Input{in}), options)
	if want := "ttft:mean<250ms: met at asynchronous@16, missed at asynchronous@22 (300ms), unknown between"; c.Refused[0].Why != want {
		t.Errorf("%q, want %q", c.Refused[0].Why, want)
	}
}

// A limit that is not located is counted on with its low end.
func TestALimitThatIsNotLocated(t *testing.T) {
	in := swept("one", 16, 12, 20)
	in.Run.SLO.Rate = rundir.Number{}
	k := chosen(t, setup.Load([]setup.Input{in}), wanted(t, "20rps", "", "ttft:mean<250ms")).Ranked
	if len(k) != 1 || k[0].Rate != 12 || k[0].ReplicaRange != [2]int{2, 3} || k[0].Replicas != 3 {
		t.Fatalf("%+v", k)
	}
	if want := endUnknown.In(lang.English, "ttft:mean"); k[0].LimitedBy != want {
		t.Errorf("%q, want %q", k[0].LimitedBy, want)
	}
	in.Run.SLO.BrokenStage = "poisson@22"
	k = chosen(t, setup.Load([]setup.Input{in}), wanted(t, "20rps", "", "ttft:mean<250ms")).Ranked
	if want := endMissed.In(lang.English, "ttft:mean", "asynchronous@22"); k[0].LimitedBy != want {
		t.Errorf("%q, want %q", k[0].LimitedBy, want)
	}
}

// Several sweeps of one configuration are one row: its rate is their geometric mean, its interval has the spread
// between them, and it is refused where one of them is. Other configurations, and other numbers of GPUs, stay apart; so
// do results of documents.
func TestSweepsOfOneConfigurationAreOneRow(t *testing.T) {
	options := wanted(t, "30rps", "", "ttft:mean<250ms")
	runs := []setup.Input{swept("one", 17, 15, 19), swept("two", 24, 23, 26), swept("three", 19, 16, 22)}
	runs[1].Run.Labels.Free = map[string]string{"commit": "b"}
	together := PoolSweeps(setup.Load(runs), lang.English)
	c := chosen(t, together, options)
	if len(c.Ranked) != 1 {
		t.Fatalf("%+v", c.Ranked)
	}
	k := c.Ranked[0]
	// (17 x 24 x 19)^(1/3)
	if k.Runs != 3 || k.Name != "m, 1 x L20, e (3 sweeps)" || k.Where != "one, two, three" ||
		math.Abs(k.Rate-19.79) > 0.01 {
		t.Errorf("%+v", k)
	}
	// Deviation of the logarithms 0.1770, t of 2 degrees of freedom 4.303: 19.79 by exp(0.4397)
	if low, high := k.RateLow.Value(), k.RateHigh.Value(); math.Abs(low-12.75) > 0.05 || math.Abs(high-30.7) > 0.1 ||
		k.ReplicaRange[0] >= k.ReplicaRange[1] {
		t.Errorf("%v-%v, %v replicas", low, high, k.ReplicaRange)
	}
	runs[2].Run.SLO = &rundir.SLO{Terms: []string{"ttft:mean<250ms"}, Verdict: "broken", Limiting: "ttft:mean<250ms",
		BrokenStage: "poisson@10"}
	if c := chosen(t, PoolSweeps(setup.Load(runs), lang.English), options); len(c.Ranked) != 0 || len(c.Refused) != 1 {
		t.Errorf("%+v", c.Ranked)
	}
	runs[2] = swept("three", 19, 16, 22)
	runs[2].Run.Labels.GPUs = 2
	if n := len(PoolSweeps(setup.Load(runs), lang.English)); n != 2 {
		t.Errorf("%d configurations", n)
	}
	runs[1].Run.Source = &rundir.Source{File: "results.md"}
	if n := len(PoolSweeps(setup.Load(runs), lang.English)); n != 3 {
		t.Errorf("%d configurations with one of a document", n)
	}
}
