package workload

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"llmsweep/client/testkit"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
	"llmsweep/sweep/stats"
)

func TestRepeated(t *testing.T) {
	w := Repeated{Text: "say this", Output: mean(9)}
	want := load.Session{Turns: []load.Turn{{User: "say this", OutputTokens: 9}}, Repeats: load.AllTokens}
	for _, session := range simtest.TakeTexts(t, w.Stage("a"), 2) {
		if diff := cmp.Diff(want, session); diff != "" || w.Describe().Prompt != "say this" {
			t.Error(diff, w.Describe())
		}
	}
}

func TestNumbersAreDistinct(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := Numbering{Nonce: rapid.Uint64().Draw(t, "nonce")}
		a := rapid.Uint64Range(0, openingSpan-1).Draw(t, "a")
		b := rapid.Uint64Range(0, openingSpan-1).Draw(t, "b")
		if (n.Opening(a) == n.Opening(b)) != (a == b) || cmp.Equal(n.spelled(a), n.spelled(b)) != (a == b) ||
			len(n.Opening(a)) != 9 || len(n.spelled(a)) != 4 {
			t.Fatalf("texts %d and %d begin with %s %q and %s %q", a, b, n.Opening(a), n.spelled(a), n.Opening(b), n.spelled(b))
		}
	})
}

// Whatever the tokenizer, prompts have the wanted length within 1 % as the server counts: alone, with a prefix and in
// conversations.
func TestLengthsHold(t *testing.T) {
	const around = 7
	for name, tokenize := range simtest.Tokenizers() {
		costs := calibrated(t, tokenize, around)
		talk := Talk{Turns: mean(3), First: mean(640), Later: mean(100), Output: mean(5)}
		shared := NewConversations(talk, 1, costs)
		if err := shared.Share(512, 4); err != nil {
			t.Fatal(err)
		}
		all := []Workload{NewConversations(talk, 1, costs), shared}
		for _, tokens := range []float64{100, 512, 2000} {
			all = append(all, NewSynthetic(mean(tokens), mean(5), 1, costs),
				newPrefixes(t, int(3*tokens), 4, mean(4*tokens), 1, costs))
		}
		for _, w := range all {
			for _, session := range simtest.TakeTexts(t, w.Stage("a"), 5) {
				for i, turn := range session.Turns {
					want := int(w.Describe().PromptTokens.Mean)
					got := tokenize(turn.User)
					if i == 0 {
						got += around
					} else {
						want = 100
					}
					if !simtest.NearTokens(got, want) || turn.PromptTokens != want {
						t.Errorf("%s, %T: turn %d of %d tokens has %d", name, w, i, want, got)
					}
				}
			}
		}
	}
}

func TestNoTwoPromptsShareTheirFirstWord(t *testing.T) {
	l := rundir.Lengths{Mean: 40, Std: 10}
	seen := map[string]string{}
	check := func(text, where string) {
		word, _, _ := strings.Cut(text, " ")
		if before, ok := seen[word]; ok {
			t.Fatalf("%s and %s both begin a prompt with %s", before, where, word)
		}
		seen[word] = where
	}
	for _, run := range []string{"one run", "another with the same seed"} {
		s := NewSynthetic(l, l, 1, Guess)
		for _, w := range []Workload{s, NewConversations(Talk{Turns: mean(2), First: l, Later: l, Output: l}, 1, Guess)} {
			for _, stage := range []string{"a", "b"} {
				for _, user := range users(t, w, stage, 200) {
					check(user, run+stage)
				}
			}
		}
		check(s.Sample(40), run+" sample")
	}
}

// The same seed, nonce and stage give the same texts; any other of the three gives others.
func TestTextsRepeat(t *testing.T) {
	l := rundir.Lengths{Mean: 40, Std: 10}
	texts := func(seed, nonce uint64, stage string) []load.Session {
		s, p := NewSynthetic(l, l, seed, Guess), newPrefixes(t, 30, 3, l, seed, Guess)
		s.Nonce, p.Nonce = nonce, nonce
		return append(simtest.TakeTexts(t, s.Stage(stage), 20), simtest.TakeTexts(t, p.Stage(stage), 20)...)
	}
	want := texts(1, 2, "a")
	if diff := cmp.Diff(want, texts(1, 2, "a")); diff != "" {
		t.Errorf("the same again (-want +got):\n%s", diff)
	}
	for name, other := range map[string][]load.Session{
		"another seed": texts(2, 2, "a"), "another nonce": texts(1, 3, "a"), "another stage": texts(1, 2, "b"),
	} {
		for i := range want {
			if cmp.Equal(want[i], other[i]) {
				t.Errorf("%s gives the same session %d", name, i)
			}
		}
	}
}

// Prompts of a group begin alike, for as long as the prefix is, and go on differently; groups are drawn equally often.
func TestPrefixesAreSharedInGroups(t *testing.T) {
	const prefix, groups = 64, 5
	costs := calibrated(t, simtest.TextPieces, 9)
	p := newPrefixes(t, prefix, groups, rundir.Lengths{Mean: 96, Std: 8, Min: 80}, 1, costs)
	c := NewConversations(Talk{Turns: mean(3), First: mean(96), Later: mean(96), Output: mean(5)}, 1, costs)
	if err := c.Share(prefix, groups); err != nil {
		t.Fatal(err)
	}
	shared, _ := costs.Fit(prefix)
	for _, w := range []Workload{p, c} {
		count, byGroup, rests := map[string]int{}, map[string]string{}, map[string]bool{} // a group, by its first word
		for _, user := range append(users(t, w, "a", 200), users(t, w, "b", 200)...) {
			all := strings.Fields(user)
			head, rest := strings.Join(all[:1+shared], " "), strings.Join(all[1+shared:1+shared+4], " ")
			if before, ok := byGroup[all[0]]; ok && before != head || rests[rest] {
				t.Fatalf("two prefixes of a group, or two prompts that go on alike:\n%s\n%s\n%s", before, head, rest)
			}
			byGroup[all[0]], rests[rest] = head, true
			count[all[0]]++
			if got := simtest.TextPieces(head) + 9; !simtest.NearTokens(got, prefix) {
				t.Errorf("a prefix of %d tokens has %d", prefix, got)
			}
		}
		for group, n := range count { // binomial: 80 of 400, give or take 8
			if n < 48 || n > 112 || len(count) != groups {
				t.Errorf("group %s of %d has %d of 400 prompts", group, len(count), n)
			}
		}
		d := w.Describe()
		if want := (rundir.Prefix{Tokens: prefix, Groups: groups}); d.PromptTokens.Mean != 96 || *d.Prefix != want {
			t.Errorf("described as %+v", d)
		}
	}
	if err := c.Share(96, 1); err == nil || !strings.Contains(err.Error(), "--prompt-tokens") {
		t.Errorf("a prefix as long as the prompt: %v", err)
	}
}

func TestPrefixRefuses(t *testing.T) {
	for _, c := range [][2]int{{0, 1}, {1, 0}, {-1, 1}, {1, -1}, {maxTokens + 1, 1}, {512, 1}} {
		if _, err := newPrefixed(c[0], c[1], mean(512), mean(1), 1, Guess); err == nil {
			t.Errorf("%v is taken", c)
		}
	}
}

// Conversations have as many turns as asked for, and think before each but the first.
func TestConversations(t *testing.T) {
	pause := Think{rundir.Lengths{Mean: 2000, Shape: rundir.ShapeExponential}}
	c := NewConversations(Talk{Turns: rundir.Lengths{Mean: 4, Std: 2, Min: 1, Max: 8}, First: mean(256), Later: mean(96),
		Output: mean(64), Think: pause}, 1, Guess)
	const n = 300
	turns, think := 0, time.Duration(0)
	for _, session := range simtest.TakeTexts(t, c.Stage("a"), n) {
		turns += len(session.Turns)
		for i, turn := range session.Turns {
			if think += turn.Think; (turn.Think == 0) != (i == 0) {
				t.Errorf("turn %d thinks for %v", i, turn.Think)
			}
		}
	}
	if each, pause := float64(turns)/n, think/time.Duration(turns-n); each < 3.7 || each > 4.4 ||
		pause < 1800*time.Millisecond || pause > 2200*time.Millisecond {
		t.Errorf("%.2f turns a conversation, want about 4; %v to think, want about 2 s", each, pause)
	}
}

func TestParseThink(t *testing.T) {
	for in, want := range map[string]Think{
		"2s": {mean(2000)}, "exp:1.5s": {rundir.Lengths{Mean: 1500, Shape: "exp"}}, "0": {},
		"lognormal:mean=8s,std=6s,min=1s,max=30s": {rundir.Lengths{Mean: 8000, Std: 6000, Min: 1000, Max: 30000,
			Shape: "lognormal"}},
	} {
		if got, err := ParseThink(in); err != nil || got != want {
			t.Errorf("%q is %v, %v; want %v", in, got, err, want)
		}
	}
	for _, in := range strings.Split(",2,exp:,-2s,exp:-1s,normal:2s,9999h,25h,uniform:2s,lognormal:8s", ",") {
		if got, err := ParseThink(in); err == nil {
			t.Errorf("%q is read as %v", in, got)
		}
	}
}

// What is drawn has the mean and deviation asked for, since rates of sessions are computed with them, and is within the
// bounds.
func TestDistributions(t *testing.T) {
	for in, std := range map[string]float64{
		"512": 0, "mean=512,std=100": 100, "uniform:100-300": 200 / math.Sqrt(12), "exp:4": 3, "exp:mean=600,min=500": 100,
		"lognormal:mean=300,std=200": 200,
	} {
		l, err := ParseLengths(in)
		if err != nil {
			t.Error(err)
			continue
		}
		rng := stats.Rand(1, "test", in)
		var drawn []float64
		for range 50_000 {
			drawn = append(drawn, float64(Draw(l, rng)))
		}
		if mean, got := stats.Mean(drawn), stats.Deviation(drawn); math.Abs(mean/l.Mean-1) > 0.02 ||
			math.Abs(got-std) > 0.05*std+0.1 || slices.Min(drawn) < float64(l.Min) {
			t.Errorf("%s: %.2f +- %.2f, want %.2f +- %.2f", in, mean, got, l.Mean, std)
		}
	}
	for _, in := range []string{"", "0", "1.5", "-1", "uniform:9-1", "uniform:0-5", "uniform:5", "exp:0", "lognormal:5",
		"gamma:5", "mean=5,max=4", "NaN", "exp:mean=5,std=1"} {
		if l, err := ParseLengths(in); err == nil {
			t.Errorf("%q is read as %+v", in, l)
		}
	}
}

func FuzzParseLengths(f *testing.F) {
	for _, s := range []string{"512", "mean=512,std=100,min=64,max=2048", "mean=1,max=0", "uniform:1-9",
		"exp:mean=8,min=2,max=99", "lognormal:mean=8,std=3"} {
		f.Add(s)
	}
	f.Fuzz(testkit.MutatedWith(func(t *testing.T, s string) {
		l, err := ParseLengths(s)
		if err != nil {
			return
		}
		rng := stats.Rand(1, "test", "")
		for range 10 {
			if n := Draw(l, rng); n < 1 || n < l.Min || l.Max > 0 && n > l.Max {
				t.Errorf("%q draws %d", s, n)
			}
		}
	}))
}

// A server whose counts cannot be used is no reason to stop.
func TestZeroCalibrationIsAGuess(t *testing.T) {
	if user := users(t, NewSynthetic(mean(20), mean(1), 1, Calibration{}), "a", 1)[0]; len(strings.Fields(user)) != 9 {
		t.Errorf("%q", user)
	}
}

// A small vocabulary has a token for some words and spells others; the average prompt must still be as long as asked.
func TestASmallVocabularyIsCalibratedOnAverage(t *testing.T) {
	known := func(text string) int {
		n := 0
		for i, w := range strings.Fields(text) {
			switch {
			case i == 0: // the number
				n += 9
			case len(w) > 1 && (w[0]+w[1])%3 == 0: // spelt
				n += 5
			default:
				n++
			}
		}
		return n
	}
	s, sum := NewSynthetic(mean(512), mean(1), 1, calibrated(t, known, 7)), 0
	const prompts = 200
	for _, user := range users(t, s, "x", prompts) {
		sum += known(user) + 7
	}
	if mean := float64(sum) / prompts; mean < 512*0.99 || mean > 512*1.01 {
		t.Errorf("prompts have %.1f tokens on average, want 512", mean)
	}
}

// A few prompts that vary by chance do not show that prompts have another length.
func TestCheckAllowsForChance(t *testing.T) {
	for _, c := range []struct {
		counts []int
		off    bool
	}{{[]int{123, 130, 125}, false}, {[]int{140, 140, 140}, true}, {[]int{128, 128, 128}, false}} {
		count := func(context.Context, ...string) ([]int, string, error) { return c.counts, "test", nil }
		s := &Synthetic{Costs: Guess}
		if _, notes, err := s.Check(t.Context(), count, 128); err != nil || (len(notes) > 0) != c.off {
			t.Errorf("%v: %v, %v", c.counts, notes, err)
		}
	}
}

// A calibration has two texts counted, and more only where words cost several tokens, or the server takes or counts no
// long text.
func TestCalibrationAsksLittle(t *testing.T) {
	all := simtest.Tokenizers()
	atMost := func(n int) func(string) int { return func(text string) int { return min(n, all["a word"](text)) } }
	for name, c := range map[string]struct {
		tokenize     func(string) int
		longest      int // words that the server takes
		texts, words int // that were counted, and those of a prompt of 300 tokens
		counted      int
	}{
		"a word":               {all["a word"], 9999, 2, 291, 300},
		"a character":          {all["a character"], 9999, 2 + len(fillers), 56, 300},
		"a short context":      {all["a word"], 350, 5, 291, 300},
		"a part of the prompt": {atMost(200), 9999, 5, -1, 208},
	} {
		asked := 0
		count := func(ctx context.Context, texts ...string) (counts []int, source string, err error) {
			for _, text := range texts {
				asked++
				if len(strings.Fields(text)) > c.longest {
					return nil, "", errors.New("too long")
				}
				counts = append(counts, c.tokenize(text)+8)
			}
			return counts, "usage", nil
		}
		s := &Spec{PromptTokens: mean(300), OutputTokens: mean(1)}
		o, err := Open(t.Context(), s, count, nil)
		if err != nil {
			t.Fatal(err)
		}
		if words, _ := o.Costs.Fit(300); c.words >= 0 && words != c.words || asked != c.texts || o.Counted != c.counted {
			t.Errorf("%s: %d texts, %d words, %d tokens counted", name, asked, words, o.Counted)
		}
		if off := len(o.Notes) > 0; off != (c.counted != 300) {
			t.Errorf("%s: %v", name, o.Notes)
		}
	}
}
