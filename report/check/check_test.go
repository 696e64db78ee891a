package check

import (
	"fmt"
	"iter"
	"strings"
	"testing"

	"llmsweep/sweep/rundir"
)

// recorded makes a recording of n requests, one every 10 ms, whose first bytes come after 1 ms, first token after 100 ms, and 10 more tokens in gaps of
// 10 and 20 ms in turns.
func recorded(n int) *Wire {
	var all []*rundir.Record
	var traffic []*rundir.Passed
	for i := range n {
		sent := float64(i) * 0.01
		at := func(after float64) rundir.Number { return rundir.Exactly(sent + after) }
		r := &rundir.Record{
			Stage: "s", Seq: i, Status: "ok", Sent: at(0), Headers: at(0.001), FirstToken: at(0.1), LastToken: at(0.25), End: at(0.26),
			OutputTokens: rundir.Exactly(11), PromptTokens: rundir.Exactly(7),
		}
		for k := range 10 {
			r.GapsUS = append(r.GapsUS, int64(10000+k%2*10000))
		}
		all = append(all, r)
		traffic = append(traffic, &rundir.Passed{Timestamp: int64(sent * 1000), Hashes: []int64{1, int64(i)}})
	}
	w, err := Read(&rundir.Run{Stages: []rundir.Stage{{Name: "s"}}}, each(all), each(traffic))
	if err != nil {
		panic(err)
	}
	return w
}

func each[T any](all []*T) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		for _, v := range all {
			if !yield(v, nil) {
				return
			}
		}
	}
}

func dist(mean float64) rundir.Dist { return rundir.Dist{N: 100, Mean: rundir.Exactly(mean)} }

// TestTheRecordersDelay gives times to the first token that are longer by what the recorder added, and by more.
func TestTheRecordersDelay(t *testing.T) {
	w := recorded(100)
	for i := range w.Requests {
		w.Requests[i].ReadDelay = rundir.Exactly(0.005)
	}
	for claimed, want := range map[float64]Outcome{0.101: Agrees, 0.105: Undecided, 0.11: Differs, 0.09: Differs} {
		if rows := figures(&rundir.Stage{TTFT: dist(claimed)}, w); len(rows) != 1 || rows[0].Outcome != want {
			t.Errorf("%v: %+v", claimed, rows)
		}
	}
}

// TestOutcomes gives figures by each definition, and wrong ones.
func TestOutcomes(t *testing.T) {
	const n = 100
	span := 0.99 + 0.26
	for _, c := range []struct {
		name string
		st   rundir.Stage
		want Outcome
		says string
	}{
		{"ttft", rundir.Stage{TTFT: dist(0.1)}, Agrees, ""},
		{"ttft to an empty chunk", rundir.Stage{TTFT: dist(0.001)}, Definition, "first bytes"},
		{"ttft read late", rundir.Stage{TTFT: dist(0.15)}, Differs, "50.0 ms more"},
		{"ttft near the first bytes", rundir.Stage{TTFT: dist(0.003)}, Differs, "nearest to another definition"},
		{"itl", rundir.Stage{ITL: dist(0.015)}, Agrees, ""},
		{"itl too short", rundir.Stage{ITL: dist(0.012)}, Differs, "less than passed"},
		{"tpot", rundir.Stage{TPOT: dist(0.015)}, Agrees, ""},
		{"tpot of all tokens", rundir.Stage{TPOT: dist(0.26 / 11)}, Definition, "all tokens"},
		{"latency", rundir.Stage{Latency: dist(0.25)}, Agrees, ""},
		{"latency to the end", rundir.Stage{Latency: dist(0.26)}, Definition, "end of the stream"},
		{"requests", rundir.Stage{Requests: rundir.Requests{OK: n}}, Agrees, ""},
		{"requests dropped", rundir.Stage{Requests: rundir.Requests{OK: n - 3, Error: 3}}, Differs, "3 more passed"},
		{"rate", rundir.Stage{Rates: rundir.Rates{Completed: rundir.Exactly(n / span)}}, Agrees, ""},
		{"rate of sending", rundir.Stage{Rates: rundir.Rates{Completed: rundir.Exactly(n / 0.99)}}, Definition, "last request was sent"},
		{"output", rundir.Stage{TokensPerS: rundir.TokenRates{Output: rundir.Exactly(n * 11 / span)}}, Agrees, ""},
		{"output with prompts", rundir.Stage{TokensPerS: rundir.TokenRates{Output: rundir.Exactly(n * 18 / span)}}, Definition, "prompts and answers"},
		{"output too high", rundir.Stage{TokensPerS: rundir.TokenRates{Output: rundir.Exactly(n * 11 * 2 / span)}}, Differs, "2.000 x"},
	} {
		rows := figures(&c.st, recorded(n))
		if len(rows) != 1 || rows[0].Outcome != c.want || !strings.Contains(rows[0].Because, c.says) {
			t.Errorf("%s: %+v", c.name, rows)
		}
	}
}

// TestRemarks: what is wrong with the load itself is told.
func TestRemarks(t *testing.T) {
	w := recorded(100)
	clean := &rundir.Stage{Requests: rundir.Requests{OK: 100}}
	if all := remarks(clean, w, 0); len(all) > 0 {
		t.Error(all)
	}
	w.prompts[50].hash = w.prompts[3].hash
	w.Requests[7].Status = "error"
	even := &rundir.Stage{Requests: rundir.Requests{OK: 100}, Rate: rundir.Exactly(100)}
	text := fmt.Sprint(remarks(even, w, 2))
	for _, want := range []string{"1 of 100 prompts", "1 requests failed", "vary by 0.00 of their mean", "Not counted here: 2"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
}

// TestLoadsAreToldApart: loads are divided at the longest pauses, and a test of the server before the load is not counted.
func TestLoadsAreToldApart(t *testing.T) {
	w := recorded(30)
	for i := range w.Requests {
		shift := 0.0
		if i > 0 {
			shift = 5
		}
		if i > 20 {
			shift = 6
		}
		for _, at := range []*rundir.Number{&w.Requests[i].Sent, &w.Requests[i].Headers, &w.Requests[i].FirstToken, &w.Requests[i].LastToken, &w.Requests[i].End} {
			*at = rundir.Exactly(at.Value() + shift)
		}
	}
	run := &rundir.Run{Stages: []rundir.Stage{{Name: "a", Requests: rundir.Requests{OK: 29}, TTFT: dist(0.1)}}}
	result, err := Compare([]*rundir.Run{run}, w)
	if err != nil || result.Differs() || len(result.Remarks) != 1 {
		t.Errorf("%v %+v", err, result)
	}
	two := &rundir.Run{Stages: []rundir.Stage{{Name: "a", Requests: rundir.Requests{OK: 21}}, {Name: "b", Requests: rundir.Requests{OK: 9}}}}
	parts := w.split(3)
	if len(parts) != 3 || len(parts[0].Requests) != 1 || len(parts[1].Requests) != 20 || len(parts[2].Requests) != 9 {
		t.Errorf("%d parts", len(parts))
	}
	if _, err := Compare([]*rundir.Run{two, two}, w); err == nil || !strings.Contains(err.Error(), "one load at a time") {
		t.Error(err)
	}
	if _, err := Compare([]*rundir.Run{run}, &Wire{}); err == nil {
		t.Error("an empty recording has no error")
	}
}

// TestUncountedPrompts: where the server did not count the prompts, the wire has no total of tokens to compare with.
func TestUncountedPrompts(t *testing.T) {
	for _, counted := range []bool{true, false} {
		r := &rundir.Record{
			Stage: "s", Status: "ok", Sent: rundir.Exactly(0), FirstToken: rundir.Exactly(0.1), LastToken: rundir.Exactly(1), End: rundir.Exactly(1),
			OutputTokens: rundir.Exactly(10),
		}
		if counted {
			r.PromptTokens = rundir.Exactly(90)
		}
		w, err := Read(&rundir.Run{Stages: []rundir.Stage{{Name: "s"}}}, each([]*rundir.Record{r}), each([]*rundir.Passed{}))
		if err != nil {
			t.Fatal(err)
		}
		rows := w.rates(&rundir.Stage{TokensPerS: rundir.TokenRates{Total: rundir.Exactly(100)}})
		if counted != (len(rows) == 1 && rows[0].Outcome == Agrees) || !counted && len(rows) != 0 {
			t.Errorf("counted %v: %+v", counted, rows)
		}
	}
}
