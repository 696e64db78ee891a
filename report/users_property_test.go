package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"llmsweep/client/testkit"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
	"llmsweep/sweep/slo"
)

// drawUsers draws a sweep by users of a server whose cache holds the contexts of some of them, or that has some slots,
// with rows that differ by chance.
func drawUsers(t *rapid.T) (*rundir.Run, []slo.Term) {
	f := rundir.Exactly
	between := func(label string, low, high float64) float64 { return rapid.Float64Range(low, high).Draw(t, label) }
	edge, alone, steep := between("edge", 1.5, 60), between("alone", 0.02, 0.4), between("steep", 0.5, 6)
	cached := rapid.Bool().Draw(t, "cached")
	run := &rundir.Run{
		State: rundir.Complete, Plan: rundir.Plan{Kind: rundir.KindUsers, StageTime: 60}, Client: rundir.Client{Valid: true},
		Labels: rundir.Labels{GPU: "L20", GPUs: rapid.IntRange(1, 4).Draw(t, "gpus")},
	}
	users := 1
	for i := range rapid.IntRange(2, 9).Draw(t, "rows") {
		over := max(0, float64(users)/edge-1)
		p95 := alone * (1 + 8*steep*over) * between("chance", 0.85, 1.15)
		st := rundir.Stage{
			Name: fmt.Sprintf("users@%d#%d", users, i), Kind: rundir.KindOfUsers, State: rundir.Complete,
			Verdict: rundir.Closed, MaxConcurrency: users, Window: 60,
			Started: float64(70 * i), Requests: rundir.Requests{Due: 400, Sent: 400, OK: 400},
			OutputTokens: rundir.TokenStats{N: 400, Mean: f(64)},
			TokensPerS:   rundir.TokenRates{Output: f(64 * min(float64(users), edge) * between("spread", 0.95, 1.05))},
			TTFT: rundir.Dist{N: 400, Neff: f(300), Mean: f(p95 / 2), P50: f(p95 / 2.5), P90: f(p95 / 1.2), P95: f(p95),
				P99: f(1.4 * p95), Max: f(2 * p95)},
			Server: &rundir.Server{RunningMax: f(min(float64(users), 2*edge)), WaitingMax: f(over),
				KVUsageMax: f(min(1, float64(users)/edge))},
		}
		if cached {
			lost := min(0.9, over)
			st.Sessions = &rundir.Sessions{Of: 40, Hits: f(0.85 - 0.8*lost), Lost: f(lost), Context: f(500)}
			st.Server.KVTokens = f(float64(int(500 * edge)))
		}
		run.Stages = append(run.Stages, st)
		if !rapid.Bool().Draw(t, "again") { // a number is measured more than once
			users += rapid.IntRange(1, 1+users).Draw(t, "more")
		}
	}
	var terms []slo.Term
	if rapid.Bool().Draw(t, "slo") {
		term := testkit.Must(slo.Parse(fmt.Sprintf("ttft:p95<%dms", int(1000*alone*between("limit", 0.8, 6)))))
		terms = []slo.Term{term}
	}
	return run, terms
}

// checkUsers returns what in the answer of a sweep by users is out of order.
func checkUsers(run *rundir.Run, terms []slo.Term) (wrong []string) {
	c := saturation.AnswerOf(run).Carried
	n := c.Users.Or(0)
	check := func(ok bool, what string) {
		if !ok {
			wrong = append(wrong, fmt.Sprintf("%s: %+v", what, *c))
		}
	}
	check(!c.Low.Known() || !c.High.Known() || c.Low.Value() <= c.High.Value(), "an interval that ends before it begins")
	check(!c.Users.Known() || !c.Low.Known() || c.Low.Value() <= n && n <= c.High.Value(),
		"the interval does not hold the number of users")
	check(c.Within == nil || !c.Users.Known() || float64(c.Within.Users) <= n, "the row within has more users")
	check(c.Beyond == nil || !c.Users.Known() || float64(c.Beyond.Users) > n, "the row beyond has no more users")
	check(c.Verdict != rundir.Missed || c.Users.IsZero(), "the SLO is broken, and a number of users is given")
	var at []*rundir.Stage // the rows of the number
	missed := 0
	for i := range run.Stages {
		if st := &run.Stages[i]; len(terms) > 0 && c.Users.Known() && float64(st.MaxConcurrency) == n {
			at = append(at, st)
			if st.TTFT.P95.Value() > terms[0].Limit {
				missed++
			}
		}
	}
	check(missed == 0 || missed < len(at), "each row at the number misses the term")
	if len(terms) > 0 && c.Within != nil && c.Users.Known() {
		check(c.Within.Value.Value() <= terms[0].Limit, "the row within misses the term")
	}
	return wrong
}

// TestAnswersByUsersContradictNothing is TestAnswersContradictNothing of sweeps by users.
func TestAnswersByUsersContradictNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		run, terms := drawUsers(t)
		saturation.WriteAnswer(run, terms)
		a := saturation.AnswerOf(run)
		if a == nil || a.Carried == nil {
			t.Fatal("a sweep by users without an answer")
		}
		given := allowedNumbers(t, run, a)
		for _, n := range slices.Clone(given) { // a number of users for each GPU
			given = append(given, n/float64(run.Labels.GPUs))
		}
		lines := withoutNotes(run, findings.Answer(run, lang.English))
		chinese := withoutNotes(run, findings.Answer(run, lang.Chinese))
		if en, zh := strings.Join(lines, "\n"), strings.Join(chinese, "\n"); !slices.Equal(numbersOf(en), numbersOf(zh)) {
			t.Errorf("numbers differ by language:\n%s\n%s", en, zh)
		}
		if len(lines) > 5+len(a.Cautions) {
			t.Errorf("%d lines of answer:\n%s", len(lines), strings.Join(lines, "\n"))
		}
		for i, line := range lines { // limits of terms are no numbers of the tables
			for _, term := range terms {
				lines[i] = strings.ReplaceAll(line, term.String(), "")
			}
		}
		wrong, _ := contradictions(run, lines, given)
		for _, w := range append(wrong, checkUsers(run, terms)...) {
			t.Errorf("%s\n%s", w, strings.Join(lines, "\n"))
		}
	})
}
