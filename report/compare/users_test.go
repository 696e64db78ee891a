package compare

import (
	"strings"
	"testing"

	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/sweep/rundir"
)

// carries is a run that carries a number of users.
func carries(gpu, term string, users, low, high float64) setup.Input {
	c := &rundir.UserCapacity{Terms: []string{term}, Verdict: rundir.Met, Users: rundir.Exactly(users),
		Low: rundir.Exactly(low), High: rundir.Exactly(high)}
	return setup.Input{Path: gpu, Run: &rundir.Run{
		State: rundir.Complete, Plan: rundir.Plan{Kind: rundir.KindUsers}, Labels: rundir.Labels{Model: "m", GPU: gpu,
			GPUs: 2},
		Answer: &rundir.Answer{Kind: rundir.Carries, Carried: c},
	}}
}

// Numbers of users are compared with their intervals, and only within the same terms.
func TestUsersAreCompared(t *testing.T) {
	const term = "ttft:p95<300ms"
	for _, c := range []struct {
		name  string
		other setup.Input
		shown string // of the change; empty where there is none
		says  string
	}{
		{"twice as many", carries("B", term, 20, 18, 22), "+100 %",
			"A carries 10 (95 %: 9-11) users; B carries 20 (95 %: 18-22): +100 %"},
		{"as many", carries("B", term, 11, 9, 13), "~", "B carries 11 (95 %: 9-13): ~ ("},
		{"other terms", carries("B", "ttft:p95<1s", 20, 18, 22), "", ""},
	} {
		cmp := compared(t, setup.Load([]setup.Input{carries("A", term, 10, 9, 11), c.other}))
		var shown []string
		for _, ch := range cmp.Changes {
			shown = append(shown, ch.Key+" "+ch.String())
		}
		all := strings.Join(shown, "; ")
		if c.shown == "" && all != "" || c.shown != "" && (!strings.Contains(all, "users "+c.shown) ||
			!strings.Contains(all, "users_per_gpu "+c.shown)) {
			t.Errorf("%s: changes %q, not %q", c.name, all, c.shown)
		}
		said := cmp.Factors[0].Conclusion(lang.English)
		if !strings.Contains(said, c.says) || c.shown == "" && strings.Contains(said, "carries") {
			t.Errorf("%s: %s", c.name, said)
		}
		notes := ""
		for _, n := range cmp.Sections(1)[0].Notes {
			notes += n.In(lang.English) + n.In(lang.Chinese)
		}
		if c.shown == "" && !strings.Contains(notes, "different terms (ttft:p95<300ms / ttft:p95<1s)") || c.shown != "" &&
			!strings.Contains(notes, "within "+term) {
			t.Errorf("%s: notes %s", c.name, notes)
		}
	}
}
