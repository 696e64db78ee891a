package workload

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"llmsweep/sweep/simtest"
)

// recordFor writes the traffic of so many seconds, of sessions that begin all the time, and returns the file and the mean number of turns of whole sessions.
func recordFor(t *testing.T, seconds float64, turns func(*rand.Rand) int) (file string, mean float64) {
	rng := rand.New(rand.NewPCG(5, 6))
	var b strings.Builder
	sessions, all := 0, 0
	for at := 0.0; at < seconds; at += rng.ExpFloat64() / 10 {
		when, prompt, n := at, 100, turns(rng)
		sessions, all = sessions+1, all+n
		for range n {
			const output, took = 20, 0.3
			if when+took > seconds {
				break
			}
			fmt.Fprintf(&b, `{"timestamp":%.0f,"input_length":%d,"output_length":%d,"duration":%.0f,"hash_ids":[1],"session":%d}`+"\n",
				when*1000, prompt, output, took*1000, sessions)
			when += took + rng.ExpFloat64()
			prompt += output + 30
		}
	}
	file = filepath.Join(t.TempDir(), "traffic.jsonl")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return file, float64(all) / float64(sessions)
}

// TestCutOffSessions: the mean number of turns is that of whole sessions where a recording ended in the middle of many.
func TestCutOffSessions(t *testing.T) {
	for _, c := range []struct {
		name    string
		seconds float64
		turns   func(*rand.Rand) int
	}{
		{"geometric, 60 s", 60, func(rng *rand.Rand) int { return 1 + int(math.Log(1-rng.Float64())/math.Log(0.95)) }},
		{"uniform, 60 s", 60, func(rng *rand.Rand) int { return 10 + rng.IntN(11) }},
		{"fixed, 30 s", 30, func(*rand.Rand) int { return 10 }},
		{"short, ten minutes", 600, func(rng *rand.Rand) int { return 1 + rng.IntN(3) }},
	} {
		file, mean := recordFor(t, c.seconds, c.turns)
		recorded, err := OpenTrace(t.Context(), file, TraceOptions{Share: true})
		if err != nil {
			t.Fatal(err)
		}
		all, _ := recorded.visits(2)
		seen := float64(recorded.Rows()) / float64(len(all))
		d, err := DescribeTraffic(t.Context(), file, 10)
		if err != nil {
			t.Fatal(err)
		}
		w, err := openTraffic(t.Context(), file, 7, Guess)
		if err != nil {
			t.Fatal(err)
		}
		turns := 0
		const sessions = 3000
		for _, s := range simtest.TakeTexts(t, w.Stage("a"), sessions) {
			turns += len(s.Turns)
		}
		described, drawn := d.Distances[0].Described, float64(turns)/sessions
		t.Logf("%s: %d sessions, %d cut off, %.2f turns recorded, %.2f described, %.2f drawn from the recording, %.2f in truth",
			c.name, len(all), d.CutOff, seen, described, drawn, mean)
		if math.Abs(described/mean-1) > 0.1 || math.Abs(drawn/mean-1) > 0.1 {
			t.Errorf("%s: %.2f turns described and %.2f drawn, want %.2f", c.name, described, drawn, mean)
		}
		if c.seconds < 100 && seen > 0.9*mean {
			t.Errorf("%s: %.2f turns were recorded: nothing was cut off", c.name, seen)
		}
	}
}
