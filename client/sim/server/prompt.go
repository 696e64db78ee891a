package server

import (
	"math"
)

// The log-probabilities of a prompt's tokens are in this range, in nats.
const (
	likeliest    = -0.05
	leastLikely  = -6.05
	promptSalt   = 0x9209
	roundingSalt = 0x2047
)

// prompt returns the log-probability of a token of a prompt after another one, in nats: a fixed function of the texts of both, the same for all
// servers.
func prompt(before, token string) float64 {
	f := fraction(before, token, promptSalt)
	return likeliest + (leastLikely-likeliest)*f*f
}

// Rounded returns it as a model finds it whose log-probabilities are off at random by a number of nats (a standard deviation): lower by half of its
// square in the mean, which is what such noise in the logits costs.
func Rounded(before, token string, nats float64) float64 {
	p := prompt(before, token)
	if nats == 0 {
		return p
	}
	most := min(math.Sqrt(3)*nats, -p) // of a uniform distribution, so that no probability is above 1
	return p + most*(2*fraction(before, token, roundingSalt)-1) - nats*nats/2
}

func fraction(before, token string, salt uint64) float64 {
	const vocab = math.MaxUint32
	return Fraction(mix(uint64(id(before, vocab))<<32 ^ uint64(id(token, vocab)) ^ salt<<16))
}
