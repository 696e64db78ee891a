package compare

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Gate is a difference that must not be: "tokens_per_s<-5%".
type Gate struct {
	Key   string
	Below bool    // fails below Limit; else above
	Limit float64 // as in [Change].Ratio
}

var gateText = regexp.MustCompile(`^\s*([a-z_]+(?:@[\w.]+)?)\s*([<>])\s*([+-]?\d+(?:\.\d+)?)\s*%\s*$`)

// ParseGate reads a gate on one of [Keys].
func ParseGate(text string) (Gate, error) { return ParseGateOn(text, Keys()) }

// ParseGateOn reads a gate on one of the keys.
func ParseGateOn(text string, keys []string) (Gate, error) {
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

// Failures are the changes that a gate does not let pass. One whose interval shows no difference passes; one without an
// interval is taken as it is.
func (c *Comparison) Failures(g Gate) []Change {
	var failed []Change
	for _, ch := range c.Changes {
		v := ch.Ratio.Value()
		if ch.Key == g.Key && (ch.Shown == nil || *ch.Shown) && (g.Below && v < g.Limit || !g.Below && v > g.Limit) {
			failed = append(failed, ch)
		}
	}
	return failed
}

// Judged reports whether the gate's metric could be compared at all.
func (c *Comparison) Judged(g Gate) bool {
	return slices.ContainsFunc(c.Changes, func(ch Change) bool { return ch.Key == g.Key })
}
