// Package workload makes prompts: texts of a given length in tokens that no server has seen before, alone, behind shared prefixes
// or in conversations. Package recorded has workloads that are read from files. It needs no tokenizer: it learns the length of texts by
// asking the server under test to count a few. It sends no requests itself.
package workload

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
)

// Workload is the source of the requests of a run.
type Workload interface {
	// Stage returns a source of sessions for one stage. The same seed and name give the same sessions.
	Stage(name string) load.Source
	// Describe returns the workload as run.json has it. Lengths are in tokens, as asked for or as found in the data.
	Describe() rundir.Workload
}

// ParseLengths parses lengths in tokens: "512", or "mean=512,std=100,min=64,max=2048".
func ParseLengths(s string) (rundir.Lengths, error) {
	var l rundir.Lengths
	bad := func() (rundir.Lengths, error) {
		return rundir.Lengths{}, fmt.Errorf("%q is not a length in tokens: use a number (512), or mean=512,std=100,min=64,max=2048", s)
	}
	if n, err := strconv.Atoi(s); err == nil {
		if n < 1 || n > mostTokens {
			return bad()
		}
		return rundir.Lengths{Mean: float64(n)}, nil
	}
	for _, part := range strings.Split(s, ",") {
		key, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		v, err := strconv.ParseFloat(value, 64)
		if err != nil || !(v >= 0) || v > mostTokens {
			return bad()
		}
		switch key {
		case "mean":
			l.Mean = v
		case "std":
			l.Std = v
		case "min":
			l.Min = int(v)
		case "max":
			l.Max = int(v)
		default:
			return bad()
		}
	}
	if l.Mean < 1 || l.Max > 0 && (l.Max < l.Min || float64(l.Max) < l.Mean) || float64(l.Min) > l.Mean {
		return bad()
	}
	return l, nil
}

// mostTokens is more than any model's context.
const mostTokens = 100_000_000

// Draw draws one length from a normal distribution, rounded, and cut at Min and Max.
func Draw(l rundir.Lengths, rng *rand.Rand) int {
	v := l.Mean
	if l.Std > 0 {
		v += l.Std * rng.NormFloat64()
	}
	n := int(math.Round(v))
	if l.Max > 0 {
		n = min(n, l.Max)
	}
	return max(n, l.Min, 1)
}
