package measure

import (
	"iter"
	"math"

	"llmsweep/client"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// Shares sums up how long answers were, as shares of the lengths asked for (Welford, Technometrics 4 (1962)).
type Shares struct {
	n        int
	mean, m2 float64
}

// Exact returns the shares of a server that was shown to send exactly the length asked for.
func Exact() *Shares { return &Shares{n: math.MaxInt32, mean: 1} }

// SharesOf returns the shares of records; nil where none has one.
func SharesOf(records iter.Seq2[*rundir.Record, error]) (*Shares, error) {
	s := &Shares{}
	for r, err := range records {
		if err != nil {
			return nil, err
		}
		s.add(r)
	}
	if s.n == 0 {
		return nil, nil
	}
	return s, nil
}

// add counts a cancelled request as long as asked: long answers are cancelled sooner than short ones.
func (s *Shares) add(r *rundir.Record) {
	switch {
	case r.AskedTokens <= 0:
	case r.Censored():
		s.note(1)
	case (r.OK() || r.Short()) && client.Counted(r.TokenSource) && r.OutputTokens.Known():
		s.note(r.OutputTokens.Value() / float64(r.AskedTokens))
	}
}

func (s *Shares) note(share float64) {
	s.n++
	d := share - s.mean
	s.mean += d / float64(s.n)
	s.m2 += d * (share - s.mean)
}

// variance returns the variance of the mean; 0 where there is no spread.
func (s *Shares) variance() float64 { return s.m2 / float64(max(s.n-1, 1)) / float64(s.n) }

// shortened returns the mean length as a share of that of lone requests, absent where it is not shown to be less.
func (s *Shares) shortened(alone *Shares) rundir.Number {
	if alone == nil || min(s.n, alone.n) < fewestShares || alone.mean <= 0 || s.mean >= (1-leastShortened)*alone.mean {
		return rundir.Number{}
	}
	a, b := s.variance(), alone.variance()
	if both := a + b; both > 0 {
		freedom := both * both / (a*a/float64(s.n-1) + b*b/float64(alone.n-1))
		if (alone.mean-s.mean)/math.Sqrt(both) < stats.StudentQuantile(1-shortenedLevel, freedom) {
			return rundir.Number{}
		}
	}
	return rundir.Exactly(s.mean / alone.mean)
}
