package choose

import (
	"strings"
	"testing"

	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
)

// carrying is a sweep by users whose time to the first token passes 300 ms between two numbers of users.
func carrying(gpu string, gpus, keeps, misses int) setup.Setup {
	run := &rundir.Run{State: rundir.Complete, Labels: rundir.Labels{Model: "m", GPU: gpu, GPUs: gpus},
		Plan: rundir.Plan{Kind: rundir.KindUsers}}
	for _, users := range []int{1, keeps, misses, 2 * misses} {
		p95 := 0.1
		if users >= misses {
			p95 = 0.9
		}
		const n = 2000
		run.Stages = append(run.Stages, rundir.Stage{
			Name: "users@" + lang.Shortest(float64(users)), Kind: rundir.KindOfUsers, State: rundir.Complete,
			MaxConcurrency: users, Window: 60,
			Requests:   rundir.Requests{Due: n, Sent: n, OK: n},
			Rates:      rundir.Rates{Completed: rundir.Exactly(float64(users) / 2)},
			TokensPerS: rundir.TokenRates{Output: rundir.Exactly(10 * float64(users))},
			TTFT: rundir.Dist{N: n, Neff: rundir.Exactly(n), Mean: rundir.Exactly(p95 / 2), Std: rundir.Exactly(p95 / 4),
				P50: rundir.Exactly(p95 / 2),
				P90: rundir.Exactly(0.9 * p95), P95: rundir.Exactly(p95), P99: rundir.Exactly(1.1 * p95),
				Max: rundir.Exactly(1.2 * p95)},
		})
	}
	return setup.Load([]setup.Input{{Path: gpu, Run: run}})[0]
}

// A demand in users is met by as many replicas as carry it, and GPUs are counted and paid as for a rate. What was not
// measured by users is refused.
func TestADemandInUsers(t *testing.T) {
	rates := tables(t, "Qwen2-7B-Instruct")[0]
	labelled := *rates.Run
	labelled.Labels.Model, rates.Run = "m", &labelled
	setups := []setup.Setup{carrying("A", 2, 10, 12), carrying("B", 1, 20, 23), rates}
	o := wanted(t, "500users", "A=1,B=3", "ttft:p95<300ms")
	o.AnyWorkload, o.Headroom = true, 0
	c := chosen(t, setups, o)
	if len(c.Ranked) != 2 || len(c.Refused) != 1 || !strings.Contains(c.Refused[0].Why, "--by users") {
		t.Fatalf("ranked %+v, refused %+v", c.Ranked, c.Refused)
	}
	for _, k := range c.Ranked {
		users := k.Users.Value()
		if want := saturation.UserCapacity(k.setup.Run.Stages, o.Terms).Users; users != want.Value() {
			t.Errorf("%s carries %v users, not %v as its run says", k.Labels.GPU, users, want)
		}
		replicas := int((500 + users - 1) / users)
		if k.Replicas != replicas || k.GPUs != replicas*k.Labels.GPUs {
			t.Errorf("%s: %d replicas and %d GPUs for 500 users at %v each", k.Labels.GPU, k.Replicas, k.GPUs, users)
		}
		if want := k.Hour.Value() / (500 * 10 * 3600) * 1e6; k.MillionDemand.Value() < 0.99*want ||
			k.MillionDemand.Value() > 1.01*want {
			t.Errorf("%s: a million tokens cost %v, not %v", k.Labels.GPU, k.MillionDemand, want)
		}
	}
	for l, words := range map[lang.Lang][]string{lang.English: {"500 users"}, lang.Chinese: {"500 个用户"}} {
		said := ""
		for _, s := range c.Sections(1) {
			for _, line := range s.Lines {
				said += line.In(l) + "\n"
			}
		}
		for _, w := range words {
			if !strings.Contains(said, w) {
				t.Errorf("%v: no %q in\n%s", l, w, said)
			}
		}
	}
}

// TestUnknownIsNotMissed: a configuration of which something is not known is not one that misses the demand.
func TestUnknownIsNotMissed(t *testing.T) {
	for kind, want := range map[reasonKind]bool{
		noCount: true, noPrice: true, noUsers: true, noOutput: true,
		missesSLO: false, tooMany: false,
	} {
		c := Choice{Refused: []Refusal{{why: reason{kind: kind}}}}
		if c.Undecided() != want {
			t.Errorf("%s: undecided %v, want %v", kind, !want, want)
		}
	}
}
