package fidelity

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// The metrics of a drift, by the keys that conditions have.
const (
	KeyMatch     = "match"         // share of the answers that are equal
	keyChanges   = "changes"       // share of the answers that differ, and not at a tie
	keyMalformed = "malformed"     // share of the candidate's answers that are malformed
	KeyKL        = "kl"            // nats
	KeyShift     = "logprob_shift" // nats
	KeyLength    = "length"        // tokens
	keyUnderLoad = "match@load"    // as match, of the answers under load
)

// Keys returns the keys of all metrics.
func Keys() []string {
	return []string{KeyMatch, keyChanges, keyMalformed, KeyKL, KeyShift, KeyLength, keyUnderLoad}
}

// The metrics of a candidate that no canary tells: those of graded questions.
const (
	KeyAccuracy = "accuracy"        // share of the graded answers that are right, alone
	KeyChange   = "accuracy_change" // of that share, on the questions that the baseline was asked too
)

// OtherOutcomes returns their keys.
func OtherOutcomes() []string { return []string{KeyAccuracy, KeyChange} }

// isShare reports whether a metric is a share, which is written in per cent.
func isShare(key string) bool {
	switch key {
	case KeyMatch, keyChanges, keyMalformed, keyUnderLoad, KeyAccuracy, KeyChange:
		return true
	}
	return false
}

// Condition is a limit on a metric of a drift: "match>90%", "kl<0.05".
type Condition struct {
	Key   string
	Below bool // it holds below Limit; else above
	Limit float64
}

var conditionText = regexp.MustCompile(`^\s*([a-z_]+(?:@load)?)\s*([<>])\s*([+-]?\d+(?:\.\d+)?)\s*(%?)\s*$`)

// ParseCondition reads a condition on one of [Keys]. Shares are in per cent.
func ParseCondition(text string) (Condition, error) { return parseOn(text, Keys()) }

// ParseAny reads a condition on one of [Keys] or [Others].
func ParseAny(text string) (Condition, error) {
	return parseOn(text, slices.Concat(Keys(), OtherOutcomes()))
}

func parseOn(text string, keys []string) (Condition, error) {
	m := conditionText.FindStringSubmatch(text)
	switch {
	case m == nil:
		return Condition{}, fmt.Errorf("%q: write a limit on answers such as match>90%% or kl<0.05", text)
	case !slices.Contains(keys, m[1]):
		return Condition{}, fmt.Errorf("%q: there is no metric %s of answers; there are %s", text, m[1], strings.Join(keys, ", "))
	case isShare(m[1]) != (m[4] == "%"):
		return Condition{}, fmt.Errorf("%q: shares are in per cent, such as match>90%%, and others are not, such as kl<0.05", text)
	}
	limit, err := strconv.ParseFloat(m[3], 64)
	if err != nil {
		return Condition{}, fmt.Errorf("%q: %s is no number", text, m[3])
	}
	if m[4] == "%" {
		limit /= 100
		if change := m[1] == KeyChange; !change && (limit < 0 || limit > 1) {
			return Condition{}, fmt.Errorf("%q: a share is between 0%% and 100%%", text)
		}
	}
	return Condition{Key: m[1], Below: m[2] == "<", Limit: limit}, nil
}

// String returns the condition as ParseCondition reads it.
func (c Condition) String() string {
	sign := ">"
	if c.Below {
		sign = "<"
	}
	if isShare(c.Key) {
		return c.Key + sign + strconv.FormatFloat(math.Round(c.Limit*1e8)/1e6, 'f', -1, 64) + "%"
	}
	return c.Key + sign + strconv.FormatFloat(c.Limit, 'f', -1, 64)
}

// DriftOutcome is whether a condition holds.
type DriftOutcome uint8

// The outcomes.
const (
	DriftUnsure DriftOutcome = iota // the 95 % interval includes the limit, or there is none
	DriftHolds                      // the whole interval is on the right side
	DriftBroken                     // the whole interval is on the other side
)

// Of returns whether a condition holds for a drift.
func (c Condition) Of(d *Drift) DriftOutcome { return c.About(d.Metric(c.Key)) }

// About returns whether a condition holds for a metric.
func (c Condition) About(e rundir.Estimate) DriftOutcome {
	switch below, above := e.High.Value() < c.Limit, e.Low.Value() > c.Limit; {
	case !e.Low.Known() || !e.High.Known():
		return DriftUnsure
	case below == c.Below && below != above:
		return DriftHolds
	case below != above:
		return DriftBroken
	}
	return DriftUnsure
}

// Metric returns a metric with its interval; nothing where it is not known.
func (d *Drift) Metric(key string) rundir.Estimate {
	switch key {
	case KeyMatch:
		return d.Alone.Same
	case keyChanges:
		return shareOf(d.Alone.Changes+d.Alone.Unknown, d.Alone.Answers)
	case keyMalformed:
		return d.Alone.Malformed
	case KeyKL:
		return d.Alone.KL
	case KeyShift:
		return d.Alone.Shift
	case KeyLength:
		return d.Alone.Length
	case keyUnderLoad:
		return d.Load.Same
	}
	return rundir.Estimate{}
}

// shareOf returns a share with its exact interval. Each answer is to another canary.
func shareOf(k, n int) rundir.Estimate {
	if n == 0 {
		return rundir.Estimate{}
	}
	low, high := stats.ShareBounds(float64(k), float64(n), Level/2)
	return rundir.Estimate{N: n, Mean: rundir.Exactly(float64(k) / float64(n)), Low: rundir.Exactly(low), High: rundir.Exactly(high)}
}
