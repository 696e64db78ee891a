package compare

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Gate is a limit that a difference must not cross: "tokens_per_s<-5%".
type Gate struct {
	Key   string
	Below bool    // fails below Limit; else above
	Limit float64 // as in [Change].Ratio
}

var gateText = regexp.MustCompile(`^\s*([a-z_]+(?:@[\w.]+)?)\s*([<>])\s*([+-]?\d+(?:\.\d+)?)\s*%\s*$`)

// ParseGate reads a gate on one of the keys.
func ParseGate(text string, keys []string) (Gate, error) {
	m := gateText.FindStringSubmatch(text)
	if m == nil {
		return Gate{}, fmt.Errorf("--fail-if %q: write METRIC<-5%% or METRIC>+5%%, such as tokens_per_s<-5%%", text)
	}
	if !slices.Contains(keys, m[1]) {
		return Gate{}, fmt.Errorf("--fail-if %q: there is no metric %s; there are %s", text, m[1], strings.Join(keys, ", "))
	}
	limit, err := strconv.ParseFloat(m[3], 64)
	if err != nil {
		return Gate{}, fmt.Errorf("--fail-if %q: %s is no number", text, m[3])
	}
	return Gate{Key: m[1], Below: m[2] == "<", Limit: limit / 100}, nil
}

// String is the gate as ParseGate reads it.
func (g Gate) String() string {
	sign := ">"
	if g.Below {
		sign = "<"
	}
	return fmt.Sprintf("%s%s%+g%%", g.Key, sign, g.Limit*100)
}

// Failures returns the changes that fail a gate: those beyond the limit whose interval shows a difference.
func (c *Comparison) Failures(g Gate) []Change {
	var failed []Change
	for _, ch := range c.Changes {
		v := ch.Ratio.Value() // of a bound NaN
		if ch.Key == g.Key && ch.Shown != nil && *ch.Shown && (g.Below && v < g.Limit || !g.Below && v > g.Limit) {
			failed = append(failed, ch)
		}
	}
	return failed
}

// Unjudged is a change that a gate cannot judge.
type Unjudged struct {
	Key    string
	Setup  string // empty where no setup has the metric
	Change *Change
	Steep  bool // the rows on either side are too far apart
}

// String returns why, in English.
func (u Unjudged) String() string {
	switch {
	case u.Change == nil:
		return u.Key + " is not known for both"
	case u.Change.Bound:
		return fmt.Sprintf("the difference in %s of %s, %s, is a bound: one side is known as a lower bound (measure it up "+
			"to its saturation)", u.Key, u.Setup, u.Change)
	case u.Steep:
		return fmt.Sprintf("the rows about %s of %s are too far apart to interpolate between them (measure more points)",
			u.Key, u.Setup)
	}
	return fmt.Sprintf("the difference in %s of %s, %s, has no interval", u.Key, u.Setup, u.Change)
}

// Unjudged returns the changes of the gate's metric without an interval, or one without a change where no two setups
// have the metric.
func (c *Comparison) Unjudged(g Gate) []Unjudged {
	var all []Unjudged
	known := false
	for i := range c.Changes {
		ch := &c.Changes[i]
		if ch.Key != g.Key {
			continue
		}
		known = true
		if ch.Shown == nil {
			all = append(all, Unjudged{Key: g.Key, Setup: ch.Setup, Change: ch, Steep: ch.steep})
		}
	}
	if !known {
		all = append(all, Unjudged{Key: g.Key})
	}
	return all
}

// GateInput is a comparison that gates can judge.
type GateInput interface {
	Unjudged(Gate) []Unjudged
	Failures(Gate) []Change
}

// ParseGates parses gates, each on one of the keys.
func ParseGates(texts, keys []string) ([]Gate, error) {
	var gates []Gate
	for _, text := range texts {
		g, err := ParseGate(text, keys)
		if err != nil {
			return nil, err
		}
		gates = append(gates, g)
	}
	return gates, nil
}

// Judge returns what failed, and what cannot be judged, each with its gate.
func Judge(result GateInput, gates []Gate) (failed, unjudged []string) {
	for _, g := range gates {
		for _, u := range result.Unjudged(g) {
			unjudged = append(unjudged, fmt.Sprintf("%s cannot be judged: %s", g, u))
		}
		for _, ch := range result.Failures(g) {
			failed = append(failed, fmt.Sprintf("%s: %s of %s is %s", g, g.Key, ch.Setup, ch))
		}
	}
	return failed, unjudged
}
