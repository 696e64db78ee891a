package server

import (
	"fmt"
	"strconv"
	"strings"
)

// Fault is a kind of failure to inject.
type Fault string

// The faults. The first five replace the answer, the others occur after half of its tokens.
const (
	Fault500      Fault = "500"      // an internal error
	Fault429      Fault = "429"      // too many requests, Retry-After: 1
	Fault529      Fault = "529"      // Anthropic's "overloaded"
	FaultHTML     Fault = "html"     // 200 and a page of HTML
	FaultHang     Fault = "hang"     // no answer at all, not even headers
	FaultReset    Fault = "reset"    // the connection is reset
	FaultStall    Fault = "stall"    // nothing more is sent until the client disconnects
	FaultTruncate Fault = "truncate" // a clean end without finish reason, usage or [DONE]
	FaultError    Fault = "error"    // an error object inside the 200 stream, then [DONE]
	FaultGarbage  Fault = "garbage"  // a chunk that is not JSON; then the stream continues
)

var faultKinds = []Fault{Fault500, Fault429, Fault529, FaultHTML, FaultHang, FaultReset, FaultStall, FaultTruncate,
	FaultError, FaultGarbage}

// Faults selects the requests that fail. The zero value selects only those with a header X-Sim-Fault: KIND.
type Faults struct {
	Rules []FaultRule // the first that selects a request applies
	Seed  uint64
}

// FaultRule selects requests with a probability, or every n-th one in order of arrival.
type FaultRule struct {
	Kind        Fault
	Probability float64
	Every       int // 0: by probability
}

// ParseFaults reads KIND:HOW,... where HOW is a probability ("500:0.01") or one in N requests ("reset:1/50").
func ParseFaults(s string) (Faults, error) {
	var f Faults
	if s == "" {
		return f, nil
	}
	for item := range strings.SplitSeq(s, ",") {
		name, how, ok := strings.Cut(strings.TrimSpace(item), ":")
		kind, err := parseFault(name)
		if err != nil {
			return Faults{}, err
		}
		rule := FaultRule{Kind: kind}
		if every, found := strings.CutPrefix(how, "1/"); found {
			rule.Every, err = strconv.Atoi(every)
			ok = ok && err == nil && rule.Every > 0
		} else {
			rule.Probability, err = strconv.ParseFloat(how, 64)
			ok = ok && err == nil && rule.Probability >= 0 && rule.Probability <= 1
		}
		if !ok {
			return Faults{}, fmt.Errorf("fault %q: want KIND:PROBABILITY or KIND:1/N, such as 500:0.01 or reset:1/50", item)
		}
		f.Rules = append(f.Rules, rule)
	}
	return f, nil
}

func parseFault(s string) (Fault, error) {
	var names []string
	for _, k := range faultKinds {
		if string(k) == s {
			return k, nil
		}
		names = append(names, string(k))
	}
	return "", fmt.Errorf("no fault is called %q; there are %s", s, strings.Join(names, ", "))
}

// FaultOf returns the fault of the n-th request, n counting from 1; empty for none. It is a function of the seed.
func (f Faults) FaultOf(n uint64) Fault {
	for i, r := range f.Rules {
		if r.Every > 0 {
			if n%uint64(r.Every) == 0 {
				return r.Kind
			}
		} else if Fraction(mix(mix(f.Seed+uint64(i))+n)) < r.Probability {
			return r.Kind
		}
	}
	return ""
}
