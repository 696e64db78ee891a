package fidelity

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"llmsweep/client/api"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
)

// token is a token with a second one that is less likely by a number of nats.
func token(text, second string, gap float64) api.LogProbToken {
	return api.LogProbToken{Text: text, LogP: -0.5, Top: []api.LogProbChoice{{Text: text, LogP: -0.5}, {Text: second, LogP: -0.5 - gap}}}
}

func spell(tokens ...api.LogProbToken) *Answer {
	a := &Answer{Tokens: tokens, Output: len(tokens)}
	a.Text = spelled(tokens)
	return a
}

func TestCompare(t *testing.T) {
	first := spell(token(" a", "x", 2), token(" b", " c", 0.05), token(" d", "y", 2))
	for name, c := range map[string]struct {
		other *Answer
		kind  kind
		at    float64
	}{
		"equal":             {first, none, math.NaN()},
		"a tie":             {spell(token(" a", "x", 2), token(" c", " b", 0.01), token(" e", "y", 2)), Tie, 1},
		"another at a tie":  {spell(token(" a", "x", 2), token(" z", " b", 0.01)), change, 1},
		"a change":          {spell(token("x", " a", 0.3)), change, 0},
		"shorter":           {spell(token(" a", "x", 2)), change, 1},
		"other tokens":      {spell(token(" a b", "x", 2), token(" d", "y", 2)), none, math.NaN()},
		"texts":             {&Answer{Text: " a z"}, unknown, 3},
		"equal as texts":    {&Answer{Text: " a b d"}, none, math.NaN()},
		"without likely":    {spell(api.LogProbToken{Text: "q", LogP: -1}), change, 0},
		"nothing in common": {&Answer{Text: ""}, unknown, 0},
	} {
		d := compare(first, c.other)
		if d.Kind != c.kind || d.First != c.at && !(math.IsNaN(d.First) && math.IsNaN(c.at)) {
			t.Errorf("%s: %s at %g, want %s at %g", name, d.Kind, d.First, c.kind, c.at)
		}
	}
	shifted := spell(token(" a", "x", 2), token(" b", " c", 0.05), token(" d", "y", 2))
	for i := range shifted.Tokens {
		shifted.Tokens[i].LogP -= 0.2
		shifted.Tokens[i].Top[0].LogP -= 0.2
	}
	d := compare(first, shifted)
	p, q := math.Exp(-0.5), math.Exp(-0.7)
	rest := 1 - p - math.Exp(-2.5)
	want := p*0.2 + rest*math.Log(rest/(1-q-math.Exp(-2.5)))
	if got, ok := divergence(first.Tokens[0].Top, shifted.Tokens[0].Top); !ok || math.Abs(got-want) > 1e-12 || math.Abs(d.Shift-0.2) > 1e-12 || d.KL <= 0 {
		t.Errorf("shift %g, KL %g of one place %g, want 0.2 and %g", d.Shift, d.KL, got, want)
	}
}

func TestMalformed(t *testing.T) {
	loop := make([]api.LogProbToken, looping)
	for i := range loop {
		loop[i] = token("!", "?", 1)
	}
	for text, want := range map[string]bool{"": true, "a\uFFFD": false, "a\uFFFDb": true, "a\x00b": true, "a\nb\t": false, "é世": false} {
		if malformed(&Answer{Text: text}) != want {
			t.Errorf("%q: malformed is not %t", text, want)
		}
	}
	if !malformed(spell(loop...)) || malformed(spell(loop[1:]...)) {
		t.Error("a loop is sixteen times the same token")
	}
}

// TestTestIsExact compares with McNemar's test, with a hypergeometric distribution by hand, and with what tells nothing.
func TestTestIsExact(t *testing.T) {
	var pairs []Count
	for range 5 {
		pairs = append(pairs, Count{0, 1, 1, 1})
	}
	for name, c := range map[string]struct {
		counts []Count
		want   float64
	}{
		"five of five pairs":  {pairs, 1.0 / 32},
		"one the other way":   {append(pairs[:5:5], Count{1, 1, 0, 1}), 7.0 / 64},
		"equal pairs":         {[]Count{{1, 1, 1, 1}, {0, 1, 0, 1}}, 1},
		"two of three":        {[]Count{{0, 1, 2, 3}}, 0.5},
		"all of three, not 2": {[]Count{{0, 2, 3, 3}}, 0.1},
		"none":                {nil, 1},
	} {
		if got := Test(c.counts); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: p = %g, want %g", name, got, c.want)
		}
	}
}

// drawn returns answers to canaries of which a share is changed at random.
func drawn(rng *rand.Rand, canaries int, share float64) []asked {
	all := make([]asked, canaries)
	for i := range all {
		all[i].Canary = i
		if rng.Float64() < share {
			all[i].Kind, all[i].First = change, 3
		}
	}
	return all
}

// TestServersThatAreAlike draws runs of servers whose answers depend on no load: steady ones, and ones that answer at random.
func TestServersThatAreAlike(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	runs := simtest.SampleSize(60, 1000)
	const stages, most = 10, 0.05
	for _, noise := range []float64{0, 0.01, 0.3} {
		called := 0
		for range runs {
			var all []Stage
			for s := range stages {
				all = append(all, Stage{Name: string(rune('a' + s)), Asked: drawn(rng, 100, noise)})
			}
			if j := judge(drawn(rng, 100, noise), 0, all); isDifferent(j.Verdict) {
				called++
			}
		}
		if noise == 0 {
			simtest.Claim(t, "answers: steady servers that are called different under load", "0", "%d of %d", called, runs)
		} else {
			simtest.Claim(t, "answers: servers that are called different under load although they are not", "at most 5 %", "%d of %d (%.0f %% of the answers vary)", called, runs, noise*100)
		}
		if float64(called) > most*float64(runs)+2*math.Sqrt(most*float64(runs)) || noise == 0 && called > 0 {
			t.Errorf("%d of %d runs of servers with %g noise are called different", called, runs, noise)
		}
	}
}

// TestNeededIsEnough changes one answer in a hundred under load, and asks as many canaries as are named.
func TestNeededIsEnough(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	runs := simtest.SampleSize(30, 1000)
	for _, stages := range []int{1, 10} {
		hypotheses := 2 * stages
		if stages > 1 {
			hypotheses += 2
		}
		n := Needed(0.01, hypotheses)
		found, named := 0, 0
		for range runs {
			var all []Stage
			for s := range stages {
				share := 0.0
				if s == stages-1 {
					share = 0.01
				}
				all = append(all, Stage{Name: string(rune('a' + s)), Load: float64(s), Asked: drawn(rng, n, share)})
			}
			j := judge(drawn(rng, n, 0), 0, all)
			if j.Verdict == rundir.FidelityDiffers {
				found++
			}
			if j.Begins == all[stages-1].Name {
				named++
			}
		}
		simtest.Claim(t, "answers: 1 % changed answers in one stage are found", "at least 80 %", "%d of %d (%d canaries, %d stages)", found, runs, n, stages)
		if float64(found) < power*float64(runs)-2.5*math.Sqrt(power*(1-power)*float64(runs)) || named < found {
			t.Errorf("%d stages: found in %d of %d with %d canaries, in the right stage %d", stages, found, runs, n, named)
		}
		if got := detects(n, hypotheses); math.Abs(got-0.01) > 0.0005 {
			t.Errorf("%d canaries detect %g, want 0.01", n, got)
		}
	}
}

func TestVerdicts(t *testing.T) {
	null := drawn(rand.New(rand.NewPCG(5, 6)), 100, 0)
	of := func(kind kind, n int) []asked {
		all := append([]asked(nil), null...)
		for i := range n {
			all[i].Kind, all[i].First = kind, 7
		}
		return all
	}
	for name, c := range map[string]struct {
		asked []asked
		want  rundir.FidelityVerdict
	}{
		"equal":          {of(change, 0), rundir.FidelitySame},
		"one":            {of(change, 1), rundir.FidelitySame},
		"some":           {of(change, 3), rundir.FidelityUndecided},
		"many":           {of(change, 20), rundir.FidelityDiffers},
		"ties":           {of(Tie, 20), rundir.FidelityTies},
		"texts":          {of(unknown, 20), rundir.FidelityDiffers},
		"few":            {of(change, 0)[:20], rundir.FidelityUndecided},
		"nothing at all": {nil, rundir.FidelityUndecided},
	} {
		if got := judge(null, 0, []Stage{{Name: "s", Asked: c.asked}}); got.Verdict != c.want {
			t.Errorf("%s: %s, want %s (%+v)", name, got.Verdict, c.want, got.Load)
		}
	}
	j := judge(null, 0, []Stage{{Name: "high", Load: 9, Asked: of(change, 30)}, {Name: "low", Load: 1, Asked: of(change, 0)}, {Name: "mid", Load: 3, Asked: of(change, 20)}})
	if j.Begins != "mid" || j.Stages["low"].Verdict != rundir.FidelitySame {
		t.Errorf("begins in %q, low is %s", j.Begins, j.Stages["low"].Verdict)
	}
}

func TestSets(t *testing.T) {
	set, seen := BuiltIn(1000), map[string]bool{}
	for _, c := range set {
		if seen[c.Prompt] || strings.Contains(c.Prompt, "%!") {
			t.Fatalf("%q is there twice, or broken", c.Prompt)
		}
		seen[c.Prompt] = true
	}
	if BuiltIn(10).Fingerprint() != set[:10].Fingerprint() || BuiltIn(10).Fingerprint() == BuiltIn(11).Fingerprint() {
		t.Error("equal sets have the same fingerprint, others not")
	}
	path := filepath.Join(t.TempDir(), "set.jsonl")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("{\"prompt\":\"a\\nb\",\"tokens\":8}\n\n\"c\"\nd e\n")
	got, err := Read(path)
	if want := (Set{{"a\nb", 8}, {"c", defaultTokens}, {"d e", defaultTokens}}); err != nil || got.Fingerprint() != want.Fingerprint() {
		t.Errorf("%v %v", got, err)
	}
	for text, want := range map[string]string{"\n": "has no prompts", "{\"prompt\":\"\"}": ":1: the prompt is empty", "a\n{": ":2: not a canary", "{\"prompt\":\"a\",\"tokens\":-1}": "between 1 and"} {
		write(text)
		if _, err := Read(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
