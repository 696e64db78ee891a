package workload

import (
	"context"
	"math"
)

// size is the length of a text in characters, by script: a token holds several narrow ones (Latin letters, digits,
// signs), and one or two wide ones (other scripts).
type size struct{ narrow, wide int }

// firstWide is the first character after the Latin blocks of Unicode.
const firstWide = 0x250

func measure(s string) size {
	var z size
	for _, r := range s {
		if r < firstWide {
			z.narrow++
		} else {
			z.wide++
		}
	}
	return z
}

// estimator estimates the number of tokens of a text without a tokenizer: the server counts some texts of the file, and
// the others are estimated from their length.
type estimator struct {
	narrow, wide   float64 // tokens a character
	templateTokens int     // tokens that the chat template and the like put around a message
	counted        int     // texts that the server counted; 0 for a guess
	source         string  // who counted them
}

func (e estimator) tokens(z size) int {
	if z == (size{}) {
		return 0
	}
	return max(1, int(math.Round(e.narrow*float64(z.narrow)+e.wide*float64(z.wide))))
}

// learn fits an estimator to texts that are counted. Where the counter fails, the estimator is a guess.
func learn(ctx context.Context, ask Counter, texts []string) (estimator, error) {
	// What English and Chinese texts cost with the vocabularies of present models (100,000 to 250,000 tokens).
	e := estimator{narrow: 0.25, wide: 0.65}
	if ask == nil || len(texts) == 0 {
		return e, nil
	}
	counts, source, err := ask(ctx, append([]string{"a"}, texts...)...)
	if err != nil {
		return e, err
	}
	e.templateTokens = max(0, counts[0]-1)
	var f fit
	for i, text := range texts {
		f.add(measure(text), float64(counts[i+1]-e.templateTokens))
	}
	e.narrow, e.wide = f.solve(e)
	e.counted, e.source = len(texts), source
	return e, nil
}

// fit is a least-squares fit of tokens = a narrow + b wide. Each text has the weight 1/length, since the variance of
// its number of tokens grows with its length.
type fit struct{ nn, nw, ww, nt, wt float64 }

func (f *fit) add(z size, tokens float64) {
	n, w := float64(z.narrow), float64(z.wide)
	if n+w == 0 || tokens <= 0 {
		return
	}
	weight := 1 / (n + w)
	f.nn += weight * n * n
	f.nw += weight * n * w
	f.ww += weight * w * w
	f.nt += weight * n * tokens
	f.wt += weight * w * tokens
}

// solve returns the fitted costs. Where the texts do not separate the two scripts, it scales both guessed costs by one
// factor.
func (f *fit) solve(guess estimator) (narrow, wide float64) {
	if det := f.nn*f.ww - f.nw*f.nw; det > 1e-3*f.nn*f.ww {
		narrow = (f.nt*f.ww - f.wt*f.nw) / det
		wide = (f.wt*f.nn - f.nt*f.nw) / det
		if narrow > 0 && wide > 0 {
			return narrow, wide
		}
	}
	// The same least squares along the line (narrow, wide) = k (guess.narrow, guess.wide).
	num := guess.narrow*f.nt + guess.wide*f.wt
	den := guess.narrow*guess.narrow*f.nn + 2*guess.narrow*guess.wide*f.nw + guess.wide*guess.wide*f.ww
	if num <= 0 || den <= 0 {
		return guess.narrow, guess.wide
	}
	return guess.narrow * num / den, guess.wide * num / den
}
