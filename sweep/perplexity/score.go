package perplexity

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"strconv"

	"llmsweep/client/api"
	"llmsweep/sweep/rundir"
)

// fault is why the scores of a window are of no use.
type fault string

func (f fault) Error() string { return string(f) }

// The faults.
const (
	faultText       fault = "the tokens are not those of the text"
	faultCount      fault = "the server counts another number of tokens"
	faultMissing    fault = "a token has no log-probability"
	faultImpossible fault = "a token has the probability 0"
	faultPositive   fault = "a log-probability is above 0"
	faultConstant   fault = "all tokens are equally likely"
	faultShape      fault = "the answer has another shape"
)

// tolerance is how far above 0 a log-probability may be by rounding, in nats.
const tolerance = 1e-3

// enough is from how many tokens on it is no chance that all are equally likely.
const enough = 8

// score sums up the scored part of a window. told is the number of tokens that the server counted, or api.Unknown.
func score(w Window, tokens []api.LogProbToken, told int) (s rundir.WindowScore, err error) {
	if told != api.Unknown && told != len(tokens) {
		return s, faultCount
	}
	at, ok := places(w.Text, tokens)
	if !ok {
		return s, faultText
	}
	first := 0
	for first < len(at) && at[first] < w.Context {
		first++
	}
	if first == len(at) || first == 0 {
		return s, faultText
	}
	hash, nll, lowest, highest := fnv.New32a(), 0.0, 0.0, math.Inf(-1)
	for _, t := range tokens[first:] {
		switch {
		case math.IsNaN(t.LogP):
			return s, faultMissing
		case math.IsInf(t.LogP, -1):
			return s, faultImpossible
		case t.LogP > tolerance:
			return s, faultPositive
		}
		nll -= min(t.LogP, 0)
		lowest, highest = min(lowest, t.LogP), max(highest, t.LogP)
		fmt.Fprintf(hash, "%d %s", len(t.Text), t.Text)
	}
	n := len(tokens) - first
	if n >= enough && lowest == highest || nll == 0 {
		return s, faultConstant
	}
	return rundir.WindowScore{
		At: w.At, Tokens: n, Bytes: len(w.Text) - at[first], NLL: rundir.Exactly(rundir.Millionths(nll)), Tokenization: strconv.FormatUint(uint64(hash.Sum32()), 16),
	}, nil
}

// faultOf returns the fault of an error.
func faultOf(err error) fault {
	var f fault
	if errors.As(err, &f) {
		return f
	}
	return faultShape
}
