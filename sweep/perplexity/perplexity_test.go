package perplexity

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"llmsweep/client/api"
	"llmsweep/client/sim/server"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
)

// Windows follow each other: each one's context is what the one before scored, and together they score the text but for its ends.
func TestCut(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{" the", " 世界", "é", "\n", "aaaaaaaaaaaaaaaaaaaaaaaaaaaa", "  x", "中", "😀"}), 60, 800).Draw(rt, "words"), "")
		window := rapid.IntRange(LeastBytes, 1000).Draw(rt, "window")
		all, err := Cut("t", text, window, MostWindows)
		if err != nil {
			if len(text) >= window {
				rt.Error(err)
			}
			return
		}
		scored := ""
		for i, w := range all.Windows {
			if text[w.At:w.At+len(w.Text)] != w.Text || w.Context <= 0 || w.Context >= len(w.Text) || len(w.Text) > window+back {
				rt.Errorf("window %d: %+v", i, w)
			}
			if i > 0 && (all.Windows[i-1].At+all.Windows[i-1].Context != w.At) {
				rt.Errorf("window %d does not follow the one before", i)
			}
			if strings.ToValidUTF8(w.Text, "?") != w.Text || strings.ToValidUTF8(w.Text[:w.Context], "?") != w.Text[:w.Context] {
				rt.Errorf("window %d divides a character", i)
			}
			scored += w.Text[w.Context:]
		}
		first := all.Windows[0].Context
		if !strings.HasPrefix(text[first:], scored) || len(text)-first-len(scored) > window/2+back {
			rt.Errorf("%d bytes of %d are scored", len(scored), len(text))
		}
		few, err := Cut("t", text, window, 3)
		if err != nil || len(few.Windows) > 3 || few.Windows[0].At != 0 || few.Print != all.Print {
			rt.Errorf("%v, %v", few, err)
		}
	})
}

func tokensOf(texts ...string) (all []api.LogProbToken) {
	for i, text := range texts {
		all = append(all, api.LogProbToken{Text: text, LogP: -float64(i) / 8})
	}
	all[0].LogP = math.NaN()
	return all
}

// Tokens are found in the text however a server writes them.
func TestPlaces(t *testing.T) {
	const bad = "\uFFFD"
	for name, c := range map[string]struct {
		text   string
		tokens []string
		want   string // places; empty for another text
	}{
		"plain":                    {"func main()", []string{"func", " main", "()"}, "[0 4 9]"},
		"a special token":          {"func main()", []string{"<s>", "func", " main", "()"}, "[0 0 4 9]"},
		"two":                      {"a b", []string{"[gMASK]", "<sop>", "a", " b"}, "[0 0 0 1]"},
		"an empty special token":   {"a b", []string{"", "a", " b"}, "[0 0 1]"},
		"an unknown first token":   {"func main()", []string{"", "unc", " main", "()"}, "[0 1 4 9]"},
		"lost blanks":              {"a bc  d", []string{"<s>", "a", "bc", "d"}, "[0 0 1 4]"},
		"SentencePiece":            {"a bc", []string{"▁a", "▁bc"}, ""},
		"SentencePiece's blank":    {" a bc", []string{"▁a", "▁bc"}, "[0 2]"},
		"GPT-2's letters":          {"a bc\nd", []string{"a", "Ġbc", "Ċ", "d"}, "[0 1 4 5]"},
		"bytes, empty":             {"f 中文 {", []string{"f", " ", "", "", "中", "", "", "文", " {"}, "[0 1 2 -1 2 5 -1 5 8]"},
		"bytes, broken":            {"f 中文 {", []string{"f", " ", bad, bad, bad, bad, " {"}, "[0 1 2 -1 -1 -1 8]"},
		"broken at the end":        {"f 中", []string{"f", " ", bad, bad}, "[0 1 2 -1]"},
		"the same character twice": {"f 中中", []string{"f", " ", bad, bad, bad, "中"}, "[0 1 2 -1 -1 5]"},
		"another text":             {"func main()", []string{"func", " mein", "()"}, ""},
		"a part of it":             {"func main()", []string{"func", " main"}, ""},
		"more than it":             {"func main()", []string{"func", " main", "()", "\n"}, ""},
		"nothing":                  {"func main()", []string{"", "", ""}, ""},
		"ids":                      {"func main()", []string{"token_id:1", "token_id:2", "token_id:3"}, ""},
	} {
		at, ok := places(c.text, tokensOf(c.tokens...))
		got := ""
		if ok {
			got = fmt.Sprint(at)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// Whatever a server answers, its tokens are placed or refused, and the places of simulated tokens are right.
func TestPlacesOfAnyText(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.String().Draw(rt, "text") + "x"
		pieces := server.Pieces(text)
		at, ok := places(text, tokensOf(pieces...))
		if pieces[0] != "" && !isBroken(pieces[0]) && !ok && !strings.Contains(text, "\uFFFD") {
			rt.Fatalf("%q", pieces)
		}
		for i, p := range at {
			if ok && p != unknown && !isBroken(pieces[i]) && text[p:p+len(pieces[i])] != pieces[i] {
				rt.Errorf("%q at %d of %q", pieces[i], p, text)
			}
		}
		places(text, tokensOf(rapid.SliceOfN(rapid.String(), 1, 8).Draw(rt, "others")...))
	})
}

// Scores that cannot be right are refused by the reason.
func TestFaults(t *testing.T) {
	w := Window{Text: "a b c d e f g h i j k l m n o p q r s t", Context: 9}
	good := func() []api.LogProbToken { return tokensOf(server.Pieces(w.Text)...) }
	n := len(good())
	s, err := score(w, good(), n)
	if err != nil || s.Bytes != len(w.Text)-9 || s.Tokens != n-5 {
		t.Fatalf("%+v, %v", s, err)
	}
	sum := 0.0
	for i := 5; i < n; i++ {
		sum += float64(i) / 8
	}
	if math.Abs(s.NLL.Value()-sum) > 1e-9 {
		t.Errorf("%v nats, want %g", s.NLL, sum)
	}
	for want, spoil := range map[fault]func([]api.LogProbToken) ([]api.LogProbToken, int){
		faultText:       func(all []api.LogProbToken) ([]api.LogProbToken, int) { all[3].Text = " z"; return all, n },
		faultCount:      func(all []api.LogProbToken) ([]api.LogProbToken, int) { return all, n + 1 },
		faultMissing:    func(all []api.LogProbToken) ([]api.LogProbToken, int) { all[7].LogP = math.NaN(); return all, n },
		faultImpossible: func(all []api.LogProbToken) ([]api.LogProbToken, int) { all[7].LogP = math.Inf(-1); return all, n },
		faultPositive:   func(all []api.LogProbToken) ([]api.LogProbToken, int) { all[7].LogP = 0.5; return all, api.Unknown },
		faultConstant: func(all []api.LogProbToken) ([]api.LogProbToken, int) {
			for i := range all {
				all[i].LogP = -1
			}
			return all, n
		},
	} {
		tokens, told := spoil(good())
		if _, err := score(w, tokens, told); faultOf(err) != want {
			t.Errorf("%v, want %v", err, want)
		}
	}
	nothing := good()
	for i := range nothing {
		nothing[i].LogP = 0
	}
	if _, err := score(w, nothing[:len(nothing):len(nothing)], n); faultOf(err) != faultConstant {
		t.Errorf("probabilities of 1: %v", err)
	}
	if _, err := score(w, nil, 0); faultOf(err) != faultText {
		t.Errorf("no tokens: %v", err)
	}
}

// drawn returns the scores of windows of a random text by two models, of which the other one's tokens cost more nats, with a topic that goes on from
// window to window.
func drawn(rng *rand.Rand, windows int, more float64) (a, b rundir.Perplexity) {
	topic := 0.0
	for i := range windows {
		topic = 0.6*topic + 0.2*rng.NormFloat64()
		tokens, own, other := 180+rng.IntN(60), 0.0, 0.0
		for range tokens {
			nats := 2*rng.ExpFloat64() + topic*topic
			own, other = own+nats, other+nats+more+0.3*rng.NormFloat64()
		}
		s := rundir.WindowScore{At: i, Tokens: tokens, Bytes: 4 * tokens, NLL: rundir.Exactly(own), Tokenization: "x"}
		a.Scores = append(a.Scores, s)
		s.NLL = rundir.Exactly(other)
		b.Scores = append(b.Scores, s)
	}
	return a, b
}

// Intervals hold the truth in 95 % of the texts, of a value and of a paired difference, also where windows that follow each other are alike.
func TestCoverage(t *testing.T) {
	const more, truth = 0.01, 2 + 0.2*0.2/(1-0.6*0.6)
	texts, rng := simtest.SampleSize(300, 4000), rand.New(rand.NewPCG(7, 8))
	if texts == 1 {
		t.Skip("with the race detector there is one text, which shows nothing")
	}
	for _, windows := range []int{40, 200} {
		held, paired := 0, 0
		for range texts {
			a, b := drawn(rng, windows, more)
			summarize(&a)
			if a.NLL.Low.Value() <= truth && truth <= a.NLL.High.Value() {
				held++
			}
			if p := Compare(&a, &b); p.Perplexity.Low.Value() <= math.Expm1(more) && math.Expm1(more) <= p.Perplexity.High.Value() {
				paired++
			}
		}
		value, difference := 100*float64(held)/float64(texts), 100*float64(paired)/float64(texts)
		simtest.Claim(t, fmt.Sprintf("95 %% intervals of a perplexity and of a paired difference, %d windows that are alike when they follow each other", windows), "90-99 %",
			"%.1f %%, %.1f %% of %d", value, difference, texts)
		if min(value, difference) < 90 || max(value, difference) > 99 {
			t.Errorf("%d windows: the truth is in %.1f %% and %.1f %% of the intervals", windows, value, difference)
		}
	}
}

// What cannot be compared is not compared.
func TestCompare(t *testing.T) {
	a, b := drawn(rand.New(rand.NewPCG(1, 1)), 30, 0.05)
	a.Text, b.Text, a.Window, b.Window = "1", "1", 2048, 2048
	if p := Compare(&a, &b); p.Verdict != Worse || !p.Perplexity.Mean.Known() || len(p.Notes) > 0 {
		t.Errorf("%+v", p)
	}
	if p := Compare(&b, &a); p.Verdict != Better {
		t.Errorf("%+v", p)
	}
	if p := Compare(&a, &a); p.Verdict != Undecided || p.BitsPerByte.Mean.Value() != 0 || p.BitsPerByte.High.Value() != 0 {
		t.Errorf("%+v", p)
	}
	other := b
	other.Scores = append([]rundir.WindowScore(nil), b.Scores...)
	other.Scores[3].Tokenization = "y"
	if p := Compare(&a, &other); p.Perplexity.Mean.Known() || p.Verdict != Worse || !p.Notes[0].Is(noteOtherTokens) {
		t.Errorf("another tokenizer: %+v", p)
	}
	other.Text = "2"
	if p := Compare(&a, &other); p.Verdict != "" || !p.Notes[0].Is(noteOtherText) {
		t.Errorf("another text: %+v", p)
	}
	other.Text, other.Window = "1", 1024
	if p := Compare(&a, &other); p.Verdict != "" || !p.Notes[0].Is(noteOtherWindows) {
		t.Errorf("other windows: %+v", p)
	}
	other.Window, other.Scores = 2048, other.Scores[:4]
	if p := Compare(&a, &other); p.Verdict != "" || !p.Notes[0].Is(noteFewWindows) {
		t.Errorf("few windows: %+v", p)
	}
}
