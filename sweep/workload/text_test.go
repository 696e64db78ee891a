package workload

import (
	"context"
	"errors"
	"fmt"
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

// All are workloads.
var (
	_ Workload = (*Synthetic)(nil)
	_ Workload = Repeated{}
	_ Workload = (*Prefixed)(nil)
	_ Workload = (*Conversations)(nil)
)

func TestRepeated(t *testing.T) {
	w := Repeated{Text: "say this", Output: rundir.Lengths{Mean: 9}}
	want := load.Session{Turns: []load.Turn{{User: "say this", OutputTokens: 9}}, Repeats: load.AllTokens}
	for _, session := range simtest.TakeTexts(t, w.Stage("a"), 2) {
		if diff := cmp.Diff(want, session); diff != "" {
			t.Error(diff)
		}
	}
	if w.Describe().Prompt != "say this" {
		t.Errorf("%+v", w.Describe())
	}
}

func TestWordsAreDistinctAndOfFourLetters(t *testing.T) {
	seen := map[string]bool{}
	for _, w := range words {
		if len(w) != 4 || seen[w] {
			t.Errorf("%q", w)
		}
		seen[w] = true
	}
}

func TestNumbersAreDistinct(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := Numbering{Nonce: rapid.Uint64().Draw(t, "nonce")}
		a := rapid.Uint64Range(0, openingSpan-1).Draw(t, "a")
		b := rapid.Uint64Range(0, openingSpan-1).Draw(t, "b")
		if a == b {
			return
		}
		if n.Opening(a) == n.Opening(b) || len(n.Opening(a)) != 9 {
			t.Fatalf("texts %d and %d begin with %s and %s", a, b, n.Opening(a), n.Opening(b))
		}
		if cmp.Equal(n.spelled(a), n.spelled(b)) || len(n.spelled(a)) != 4 {
			t.Fatalf("texts %d and %d are spelled %q and %q", a, b, n.spelled(a), n.spelled(b))
		}
	})
}

// Whatever the tokenizer, prompts have the wanted length within 1 % as the server counts.
func TestLengthsHold(t *testing.T) {
	for name, tokenize := range simtest.Tokenizers() {
		t.Run(name, func(t *testing.T) {
			const around = 7
			costs := calibrated(t, tokenize, around)
			for _, tokens := range []int{100, 512, 2000} {
				s := NewSynthetic(rundir.Lengths{Mean: float64(tokens)}, rundir.Lengths{Mean: 5}, 1, costs)
				for _, session := range simtest.TakeTexts(t, s.Stage("a"), 5) {
					if got := tokenize(session.Turns[0].User) + around; !simtest.NearTokens(got, tokens) {
						t.Errorf("a prompt of %d tokens has %d", tokens, got)
					}
				}
				p, err := newPrefixed(3*tokens, 4, rundir.Lengths{Mean: float64(4 * tokens)}, rundir.Lengths{Mean: 5}, 1, costs)
				if err != nil {
					t.Fatal(err)
				}
				for _, session := range simtest.TakeTexts(t, p.Stage("a"), 5) {
					if got := tokenize(session.Turns[0].User) + around; !simtest.NearTokens(got, 4*tokens) ||
						session.Turns[0].PromptTokens != 4*tokens {
						t.Errorf("a prompt of %d tokens with its prefix has %d", 4*tokens, got)
					}
				}
			}
		})
	}
}

func TestNoTwoPromptsShareTheirFirstWord(t *testing.T) {
	l := rundir.Lengths{Mean: 40, Std: 10}
	seen := map[string]string{}
	for _, run := range []string{"one run", "another with the same seed"} {
		s := NewSynthetic(l, l, 1, Guess)
		c := NewConversations(Talk{Turns: rundir.Lengths{Mean: 2}, First: l, Later: l, Output: l}, 1, Guess)
		for _, w := range []Workload{s, c} {
			for _, stage := range []string{"a", "b"} {
				for _, session := range simtest.TakeTexts(t, w.Stage(stage), 200) {
					where := fmt.Sprint(run, stage)
					word := firstWord(session.Turns[0].User)
					if before, ok := seen[word]; ok {
						t.Fatalf("%s and %s both begin a prompt with %s", before, where, word)
					}
					seen[word] = where
				}
			}
		}
		if word := firstWord(s.Sample(40)); seen[word] != "" {
			t.Errorf("the sample begins with %s, and so does a prompt", word)
		}
	}
}

// The same seed, nonce and stage give the same texts; any other of the three gives others.
func TestTextsRepeat(t *testing.T) {
	l := rundir.Lengths{Mean: 40, Std: 10}
	texts := func(seed, nonce uint64, stage string) []load.Session {
		s := NewSynthetic(l, l, seed, Guess)
		s.Nonce = nonce
		p, err := newPrefixed(30, 3, l, l, seed, Guess)
		if err != nil {
			t.Fatal(err)
		}
		p.Nonce = nonce
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

func TestPrefixesAreSharedInGroups(t *testing.T) {
	const prefix, groups = 64, 5
	costs := calibrated(t, simtest.TextPieces, 9)
	p, err := newPrefixed(prefix, groups, rundir.Lengths{Mean: 96, Std: 8, Min: 80}, rundir.Lengths{Mean: 5}, 1, costs)
	if err != nil {
		t.Fatal(err)
	}
	shared, _ := costs.Fit(prefix)
	byGroup := map[string]string{} // a prefix, by its first word
	rests := map[string]bool{}
	count := map[string]int{}
	for _, session := range append(simtest.TakeTexts(t, p.Stage("a"), 200), simtest.TakeTexts(t, p.Stage("b"), 200)...) {
		all := strings.Fields(session.Turns[0].User)
		head, rest := strings.Join(all[:1+shared], " "), strings.Join(all[1+shared:1+shared+4], " ")
		if before, ok := byGroup[all[0]]; ok && before != head {
			t.Fatalf("two prefixes of a group:\n%s\n%s", before, head)
		}
		byGroup[all[0]] = head
		count[all[0]]++
		if rests[rest] {
			t.Fatalf("two prompts go on with %q", rest)
		}
		rests[rest] = true
		if got := simtest.TextPieces(head) + 9; !simtest.NearTokens(got, prefix) {
			t.Errorf("a prefix of %d tokens has %d", prefix, got)
		}
	}
	if len(byGroup) != groups {
		t.Errorf("%d prefixes, want %d", len(byGroup), groups)
	}
	for group, n := range count { // binomial: 80 of 400, give or take 8
		if n < 48 || n > 112 {
			t.Errorf("group %s has %d of 400 prompts", group, n)
		}
	}
	if w := p.Describe(); w.PromptTokens.Mean != 96 || w.PromptTokens.Min != 80 {
		t.Errorf("described as %+v", w)
	}
}

func TestPrefixRefuses(t *testing.T) {
	for _, c := range [][2]int{{0, 1}, {1, 0}, {-1, 1}, {1, -1}, {mostTokens + 1, 1}, {512, 1}} {
		if _, err := newPrefixed(c[0], c[1], rundir.Lengths{Mean: 512}, rundir.Lengths{Mean: 1}, 1, Guess); err == nil {
			t.Errorf("%v is taken", c)
		}
	}
}

func TestConversations(t *testing.T) {
	for name, tokenize := range simtest.Tokenizers() {
		t.Run(name, func(t *testing.T) {
			costs := calibrated(t, tokenize, 6)
			c := NewConversations(Talk{
				Turns: rundir.Lengths{Mean: 4, Std: 2, Min: 1, Max: 8}, First: rundir.Lengths{Mean: 200},
				Later:  rundir.Lengths{Mean: 100},
				Output: rundir.Lengths{Mean: 30, Std: 5}, Think: Think{rundir.Lengths{Mean: 2000, Shape: rundir.ShapeExponential}},
			}, 1, costs)
			turns, later := 0, 0
			var think time.Duration
			const n = 300
			for _, session := range simtest.TakeTexts(t, c.Stage("a"), n) {
				turns += len(session.Turns)
				for i, turn := range session.Turns {
					if i == 0 {
						if got := tokenize(turn.User) + 6; !simtest.NearTokens(got, 200) || turn.Think != 0 {
							t.Errorf("a first prompt of 200 tokens has %d, after %v", got, turn.Think)
						}
						continue
					}
					if got := tokenize(turn.User); !simtest.NearTokens(got, 100) {
						t.Errorf("a later prompt of 100 tokens has %d", got)
					}
					later++
					think += turn.Think
				}
			}
			if mean := float64(turns) / n; mean < 3.7 || mean > 4.4 {
				t.Errorf("%.2f turns a conversation, want about 4", mean)
			}
			if mean := think / time.Duration(later); mean < 1800*time.Millisecond || mean > 2200*time.Millisecond {
				t.Errorf("%v to think, want about 2 s", mean)
			}
		})
	}
}

func TestParseThink(t *testing.T) {
	for in, want := range map[string]Think{
		"2s": {rundir.Lengths{Mean: 2000}}, "exp:1.5s": {rundir.Lengths{Mean: 1500, Shape: "exp"}}, "0": {},
		"uniform:1s-5s": {rundir.Lengths{Mean: 3000, Min: 1000, Max: 5000, Shape: "uniform"}},
		"lognormal:mean=8s,std=6s,min=1s,max=30s": {rundir.Lengths{Mean: 8000, Std: 6000, Min: 1000, Max: 30000,
			Shape: "lognormal"}},
	} {
		if got, err := ParseThink(in); err != nil || got != want {
			t.Errorf("%q is %v, %v; want %v", in, got, err, want)
		}
	}
	for _, in := range []string{"", "2", "exp:", "-2s", "exp:-1s", "normal:2s", "9999h", "uniform:5s-1s", "uniform:2s",
		"lognormal:8s", "lognormal:mean=8s", "exp:mean=2s,std=1s"} {
		if got, err := ParseThink(in); err == nil {
			t.Errorf("%q is read as %v", in, got)
		}
	}
}

// TestDistributions: what is drawn has the mean and deviation asked for, since rates of sessions are computed with
// them, and is within the bounds.
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
	s := NewSynthetic(rundir.Lengths{Mean: 20}, rundir.Lengths{Mean: 1}, 1, Calibration{})
	if session, _ := s.Stage("a").Next(); len(strings.Fields(session.Turns[0].User)) != 9 {
		t.Errorf("%q", session.Turns[0].User)
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
	costs := calibrated(t, known, 7)
	s := NewSynthetic(rundir.Lengths{Mean: 512}, rundir.Lengths{Mean: 1}, 1, costs)
	source, sum := s.Stage("x"), 0
	const prompts = 200
	for range prompts {
		session, _ := source.Next()
		sum += known(session.Turns[0].User) + 7
	}
	if mean := float64(sum) / prompts; mean < 512*0.99 || mean > 512*1.01 {
		t.Errorf("prompts have %.1f tokens on average, want 512", mean)
	}
}

// What run.json tells of a workload is enough to repeat it.
func TestGrowingWorkloadsAreDescribed(t *testing.T) {
	l := func(n float64) rundir.Lengths { return rundir.Lengths{Mean: n} }
	talk := Talk{Turns: l(8), First: l(256), Later: l(96), Output: l(64),
		Think: Think{rundir.Lengths{Mean: 2000, Shape: rundir.ShapeExponential}}}
	want := &rundir.Conversation{Turns: l(8), TurnTokens: l(96), Pause: 2, RandomPauses: true}
	if got := NewConversations(talk, 1, Guess).Describe().Conversation; !cmp.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	p, err := newPrefixed(30, 3, l(40), l(5), 1, Guess)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Describe().Prefix; got == nil || *got != (rundir.Prefix{Tokens: 30, Groups: 3}) {
		t.Errorf("a prefix of 30 tokens in 3 groups is described as %+v", got)
	}
}

// Conversations may share the beginning of their first prompts, within the length asked for.
func TestConversationsShareAPrefix(t *testing.T) {
	const tokens, prefix, groups = 640, 512, 4
	costs := calibrated(t, simtest.TextPieces, 9)
	l := func(n float64) rundir.Lengths { return rundir.Lengths{Mean: n} }
	c := NewConversations(Talk{Turns: l(3), First: l(tokens), Later: l(96), Output: l(5)}, 1, costs)
	if err := c.Share(prefix, groups); err != nil {
		t.Fatal(err)
	}
	shared, _ := costs.Fit(prefix)
	heads, rests := map[string]bool{}, map[string]bool{}
	for _, session := range simtest.TakeTexts(t, c.Stage("a"), 100) {
		if got := simtest.TextPieces(session.Turns[0].User) + 9; !simtest.NearTokens(got, tokens) || len(session.Turns) != 3 {
			t.Fatalf("%d turns, the first of %d tokens, want 3 and %d", len(session.Turns), got, tokens)
		}
		all := strings.Fields(session.Turns[0].User)
		heads[strings.Join(all[:1+shared], " ")] = true
		rests[strings.Join(all[1+shared:], " ")] = true
	}
	if len(heads) != groups || len(rests) != 100 {
		t.Errorf("%d beginnings and %d ends, want %d and 100", len(heads), len(rests), groups)
	}
	if w := c.Describe(); w.Prefix == nil || w.Conversation == nil || w.PromptTokens.Mean != tokens {
		t.Errorf("described as %+v", w)
	}
	if err := c.Share(tokens, 1); err == nil || !strings.Contains(err.Error(), "--prompt-tokens") {
		t.Errorf("a prefix as long as the prompt: %v", err)
	}
}

// A few prompts that vary by chance do not show that prompts have another length.
func TestCheckAllowsForChance(t *testing.T) {
	for name, c := range map[string]struct {
		counts []int
		off    bool
	}{
		"by chance":  {[]int{123, 130, 125}, false},
		"all longer": {[]int{140, 140, 140}, true},
		"exact":      {[]int{128, 128, 128}, false},
	} {
		count := func(context.Context, ...string) ([]int, string, error) { return c.counts, "test", nil }
		s := &Synthetic{Costs: Guess}
		if _, notes, err := s.Check(t.Context(), count, 128); err != nil || (len(notes) > 0) != c.off {
			t.Errorf("%s: %v, %v", name, notes, err)
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
		s := &Spec{PromptTokens: rundir.Lengths{Mean: 300}, OutputTokens: rundir.Lengths{Mean: 1}}
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
