package perplexity

import (
	"math"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

// Notes on what limits a comparison, or why there is none.
var (
	noteOtherText    = note.Kind{Code: "perplexity.pair-text", Args: []string{"baseline", "candidate"}}
	noteOtherWindows = note.Kind{Code: "perplexity.pair-windows", Args: []string{"baseline", "candidate"}}
	noteOtherTokens  = note.Kind{Code: "perplexity.pair-tokens", Args: []string{"windows", "all"}}
	noteFewWindows   = note.Kind{Code: "perplexity.pair-few", Args: []string{"windows"}}
)

// Verdict is whether a candidate predicts a text worse than a baseline: its interval of bits per byte is above that of the baseline, below it,
// or includes it. It is empty without a comparison.
type Verdict string

// The verdicts on a candidate.
const (
	Worse     Verdict = "worse"
	Better    Verdict = "better"
	Undecided Verdict = "undecided"
)

// Pair is how much better or worse a candidate predicts the same text than a baseline does, over the windows that both scored.
type Pair struct {
	Windows  int               `json:"windows"`
	Baseline rundir.Perplexity `json:"-"` // over these windows
	Own      rundir.Perplexity `json:"-"`
	// Perplexity is by what share the candidate's is higher; absent where the tokenizers divide the text differently, since a perplexity is that of a
	// token. BitsPerByte is by how many bits it needs more for a byte of the text.
	Perplexity  rundir.Estimate `json:"perplexity,omitzero"`
	BitsPerByte rundir.Estimate `json:"bits_per_byte,omitzero"`
	Verdict     Verdict         `json:"verdict,omitempty"` // empty without a comparison
	Notes       []note.Note     `json:"notes,omitempty"`
}

// leastWindows is from how many common windows on runs are compared.
const leastWindows = 5

// Compare compares a candidate with a baseline.
func Compare(baseline, candidate *rundir.Perplexity) *Pair {
	p := &Pair{}
	switch {
	case baseline.Text != candidate.Text:
		p.Notes = append(p.Notes, noteOtherText.New(baseline.File, candidate.File))
		return p
	case baseline.Window != candidate.Window:
		p.Notes = append(p.Notes, noteOtherWindows.New(baseline.Window, candidate.Window))
		return p
	}
	theirs, other := map[int]rundir.WindowScore{}, 0
	for _, s := range baseline.Scores {
		theirs[s.At] = s
	}
	for _, own := range candidate.Scores {
		s, ok := theirs[own.At]
		if !ok {
			continue
		}
		if s.Tokens != own.Tokens || s.Bytes != own.Bytes || s.Tokenization != own.Tokenization {
			other++
		}
		p.Baseline.Scores, p.Own.Scores = append(p.Baseline.Scores, s), append(p.Own.Scores, own)
	}
	p.Windows = len(p.Own.Scores)
	summarize(&p.Baseline)
	summarize(&p.Own)
	if p.Windows < leastWindows {
		p.Notes = append(p.Notes, noteFewWindows.New(p.Windows))
		return p
	}
	p.compare(other == 0)
	if other > 0 {
		p.Notes = append(p.Notes, noteOtherTokens.New(other, p.Windows))
	}
	return p
}

// compare pairs the windows. alike says whether both divide the text into the same tokens.
func (p *Pair) compare(alike bool) {
	a, b := add(p.Baseline.Scores), add(p.Own.Scores)
	if alike {
		difference, h := paired(a.nll, a.tokens, b.nll, b.tokens)
		p.Perplexity = estimate(p.Windows, difference, h, math.Expm1)
	}
	difference, h := paired(a.nll, a.bytes, b.nll, b.bytes)
	p.BitsPerByte = estimate(p.Windows, difference, h, bits)
	p.Verdict = Undecided
	switch e := p.BitsPerByte; {
	case !e.Low.Known():
	case e.Low.Value() > 0:
		p.Verdict = Worse
	case e.High.Value() < 0:
		p.Verdict = Better
	}
}

// paired returns the difference of two ratios over the same windows, and half of the width of its interval.
func paired(ofA, byA, ofB, byB []float64) (difference, h float64) {
	a, moves := ratio(ofA, byA)
	b, others := ratio(ofB, byB)
	for i := range moves {
		moves[i] = others[i] - moves[i]
	}
	return b - a, half(moves)
}
