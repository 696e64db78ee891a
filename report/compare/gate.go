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
	Limit float64 // as in [Difference].Ratio
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

// String is the gate as ParseGate reads it.
func (g Gate) String() string {
	sign := ">"
	if g.Below {
		sign = "<"
	}
	return fmt.Sprintf("%s%s%+g%%", g.Key, sign, g.Limit*100)
}

// Judge returns what fails a gate: differences beyond its limit whose interval shows one. Those without an interval
// cannot be judged, nor can a gate whose metric no two setups have.
func Judge(all []Difference, gates []Gate) (failed, unjudged []string) {
	for _, g := range gates {
		known := false
		for _, d := range all {
			if d.Key != g.Key {
				continue
			}
			known = true
			v := d.Ratio.Value()
			switch {
			case d.Shown == nil:
				unjudged = append(unjudged, fmt.Sprintf("%s cannot be judged: %s", g, d.unjudged()))
			case d.shown() && (g.Below && v < g.Limit || !g.Below && v > g.Limit):
				failed = append(failed, fmt.Sprintf("%s: %s of %s is %s", g, g.Key, d.Setup, d))
			}
		}
		if !known {
			unjudged = append(unjudged, fmt.Sprintf("%s cannot be judged: %s is not known for both", g, g.Key))
		}
	}
	return failed, unjudged
}

// unjudged says why a difference has no interval.
func (d Difference) unjudged() string {
	switch {
	case d.Bound == between:
		return fmt.Sprintf("the difference in %s of %s, %s, is not known better: rows or repeats disagree", d.Key, d.Setup, d)
	case d.Bound != "":
		return fmt.Sprintf("the difference in %s of %s, %s, is a bound: one side is known as a lower bound (measure it up "+
			"to its saturation)", d.Key, d.Setup, d)
	case d.before.Steep || d.after.Steep:
		return fmt.Sprintf("the rows about %s of %s are too far apart to interpolate between them (measure more points)",
			d.Key, d.Setup)
	}
	return fmt.Sprintf("the difference in %s of %s, %s, has no interval", d.Key, d.Setup, d)
}
