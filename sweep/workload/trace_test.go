package workload

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"llmsweep/client/note"
	"llmsweep/client/testkit"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
)

// mooncake is the first lines of a published trace.
const mooncake = `{"timestamp": 0, "input_length": 675, "output_length": 500, "hash_ids": [0, 1]}
{"timestamp": 0, "input_length": 732, "output_length": 490, "hash_ids": [0, 14]}
{"timestamp": 3000, "input_length": 915, "output_length": 355, "hash_ids": [0, 1]}
{"timestamp": 5999, "input_length": 105, "output_length": 26, "hash_ids": [773]}
`

// played is a request as a test expects it.
type played struct {
	At             time.Duration
	Prompt, Output int
}

// play replays a trace to its end.
func play(t *testing.T, tr *Trace) []played {
	t.Helper()
	schedule, source := tr.Load(0).Schedule(0, ""), tr.Stage("a")
	var all []played
	for {
		at, ok := schedule.Next()
		session, more := source.Next()
		if ok != more {
			t.Fatalf("after %d requests the schedule says %v and the source %v", len(all), ok, more)
		}
		if !ok {
			return all
		}
		all = append(all, played{at, session.Turns[0].PromptTokens, session.Turns[0].OutputTokens})
	}
}

func TestTraces(t *testing.T) {
	for name, c := range map[string]struct {
		content string
		o       traceOptions
		want    []played
	}{
		"Mooncake": {mooncake, traceOptions{}, []played{{0, 675, 500}, {0, 732, 490}, {3 * time.Second, 915, 355},
			{5999 * time.Millisecond, 105, 26}}},
		"twice as fast": {mooncake, traceOptions{Replay: Replay{Speed: 2}},
			[]played{{0, 675, 500}, {0, 732, 490}, {1500 * time.Millisecond, 915, 355}, {2999500 * time.Microsecond, 105, 26}}},
		"at a rate": {`{"timestamp": 5000, "input_length": 472, "output_length": 18}
{"timestamp": 45000, "input_length": 1087, "output_length": 230}
{"timestamp": 185000, "input_length": 1360, "output_length": 647}`, traceOptions{Replay: Replay{Rate: 0.5}},
			[]played{{0, 472, 18}, {888888889, 1087, 230}, {4 * time.Second, 1360, 647}}},
		"the first three": {mooncake, traceOptions{Replay: Replay{Limit: 3}}, []played{{0, 675, 500}, {0, 732, 490},
			{3 * time.Second, 915, 355}}},
		"other lengths": {mooncake, traceOptions{Prompt: rundir.Lengths{Mean: 64}, Output: rundir.Lengths{Mean: 8}},
			[]played{{0, 64, 8}, {0, 64, 8}, {3 * time.Second, 64, 8}, {5999 * time.Millisecond, 64, 8}}},
		"out of order": {`{"timestamp": 30, "input_length": 3, "output_length": 3}
{"timestamp": 10, "input_length": 1, "output_length": 1}
{"timestamp": 20, "input_length": 2, "output_length": 2.0}`, traceOptions{},
			[]played{{0, 1, 1}, {10 * time.Millisecond, 2, 2}, {20 * time.Millisecond, 3, 3}}},
		"since 1970": {`{"timestamp": 1731000000000.25, "input_length": 1, "output_length": 1}
{"timestamp": 1731000000001.75, "input_length": 1, "output_length": 1}`,
			traceOptions{}, []played{{0, 1, 1}, {1500 * time.Microsecond, 1, 1}}},
	} {
		t.Run(name, func(t *testing.T) {
			tr, err := readTrace(t.Context(), text(t, c.content), c.o)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, play(t, tr)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got, want := tr.duration(), c.want[len(c.want)-1].At; got != want {
				t.Errorf("it takes %v, want %v", got, want)
			}
			if want := float64(len(c.want)-1) / tr.duration().Seconds(); math.Abs(tr.rate()/want-1) > 1e-6 {
				t.Errorf("%v requests per second, want %v", tr.rate(), want)
			}
		})
	}
}

func TestTraceNotes(t *testing.T) {
	const content = `{"timestamp": 100, "input_length": 6, "output_length": 5}
{"timestamp": "now", "input_length": 6, "output_length": 5}
{"timestamp": 50, "input_length": 7, "output_length": 5}
{"timestamp": 200, "input_length": 0, "output_length": 5}
{"timestamp": 200, "input_length": 6}
{"timestamp": 1e300, "input_length": 6, "output_length": 5}
{"timestamp": 1e999, "input_length": 6, "output_length": 5}
nothing
{"timestamp": 300, "input_length": 6, "output_length": 5}
`
	tr, err := readTrace(t.Context(), text(t, content), traceOptions{Replay: Replay{Speed: 2}})
	if err != nil {
		t.Fatal(err)
	}
	want := []note.Note{
		noteTrace.New("data", 3, 125*time.Millisecond, 16, 2),
		noteDisorder.New("data", 1),
		skippedNote("data", skipTime.New(), 2, 7),
		skippedNote("data", skipPromptTokens.New(), 4),
		skippedNote("data", skipOutputTokens.New(), 5),
		skippedNote("data", skipFar.New(), 6),
		skippedNote("data", skipNoJSONLine.New(), 8),
	}
	if diff := cmp.Diff(want, tr.Notes()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestUnusableTraces(t *testing.T) {
	for name, c := range map[string]struct {
		content, want string
		o             traceOptions
	}{
		"empty":   {"", "data is empty", traceOptions{}},
		"all bad": {"{}\n\n{}\n", "data:1: no usable row in 2; the first fault: skip.no-timestamp", traceOptions{}},
		"CSV": {"TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.6805900,374,44\n",
			"data has another form: a trace has one request on each line", traceOptions{}},
		"array": {`[{"timestamp": 0, "input_length": 1, "output_length": 1}]`,
			"data has another form: a trace has one request on each line", traceOptions{}},
		"log": {`192.0.2.1 - - [10/Oct/2025:13:55:36 +0000] "POST /v1 HTTP/1.1" 200 12 0.5`,
			"data has another form: a trace has one request on each line", traceOptions{}},
		"spans": {`{"resourceSpans": []}`, "data:1: no usable row in 1; the first fault: skip.no-timestamp",
			traceOptions{}},
		"no speed": {mooncake, "a trace at NaN times its speed", traceOptions{Replay: Replay{Speed: math.NaN()}}},
		"at once": {strings.Repeat(`{"timestamp": 1, "input_length": 1, "output_length": 1}`+"\n", 2),
			"data cannot be replayed at 5 requests per second: all", traceOptions{Replay: Replay{Rate: 5}}},
		"speed": {mooncake, "a trace at -1 times its speed", traceOptions{Replay: Replay{Speed: -1}}},
	} {
		_, err := readTrace(t.Context(), text(t, c.content), c.o)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v\nwant %s", name, err, c.want)
		}
	}
}

// TestTraceSharesPrefixes checks that prompts share exactly the blocks that their hash ids share, and nothing without
// them.
func TestTraceSharesPrefixes(t *testing.T) {
	costs := calibrated(t, simtest.TextPieces, 9)
	words := func(content string) [][]string {
		tr, err := readTrace(t.Context(), text(t, content), traceOptions{Costs: costs})
		if err != nil {
			t.Fatal(err)
		}
		var all [][]string
		for i, session := range simtest.TakeTexts(t, tr.Stage("a"), len(tr.requests)) {
			user := session.Turns[0].User
			if got, want := simtest.TextPieces(user)+9, int(tr.requests[i].prompt); !simtest.NearTokens(got, want) {
				t.Errorf("a prompt of %d tokens has %d", want, got)
			}
			all = append(all, strings.Fields(user))
		}
		return all
	}
	alike := func(a, b []string) int {
		n := 0
		for n < min(len(a), len(b)) && a[n] == b[n] {
			n++
		}
		return n
	}
	block, _ := costs.Fit(mooncakeBlock)
	shared := words(mooncake)
	if n := alike(shared[0], shared[1]); n < 1+block || n > 1+block+2 {
		t.Errorf("one block in common is %d words, want %d", n, 1+block)
	}
	if n := alike(shared[0], shared[2]); n != len(shared[0]) {
		t.Errorf("two blocks in common are %d words, want all %d", n, len(shared[0]))
	}
	if n := alike(shared[0], shared[3]); n != 0 {
		t.Errorf("no block in common is %d words", n)
	}
	alone := words(strings.ReplaceAll(mooncake, "hash_ids", "ids"))
	for i, a := range alone {
		for j, b := range alone[:i] {
			if n := alike(a, b); n != 0 {
				t.Errorf("prompts %d and %d have %d words in common", i, j, n)
			}
		}
	}
}

// TestTracesAreSorted checks that requests in any order are replayed by time, each with its own hashes.
func TestTracesAreSorted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.SliceOfN(rapid.IntRange(0, 1000), 1, 50).Draw(t, "timestamps")
		var b strings.Builder
		for i, ms := range at {
			fmt.Fprintf(&b, `{"timestamp": %d, "input_length": %d, "output_length": %d, "hash_ids": [%d, %d]}`+"\n", ms, i+1,
				ms+1, ms, i)
		}
		in, err := newRows("data", strings.NewReader(b.String()))
		if err != nil {
			t.Fatal(err)
		}
		tr, err := readTrace(t.Context(), in, traceOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i, q := range tr.requests {
			row := int(q.prompt) - 1
			if i > 0 && (q.at < tr.requests[i-1].at || q.at == tr.requests[i-1].at && q.prompt < tr.requests[i-1].prompt) {
				t.Fatalf("request %d is out of order", i)
			}
			if want := []int64{int64(at[row]), int64(row)}; !cmp.Equal(q.hashes, want) || int(q.output) != at[row]+1 {
				t.Fatalf("row %d has hashes %v and %d answer tokens", row, q.hashes, q.output)
			}
		}
	})
}

// TestTracesAreCompact measures the memory of a million requests: 40 bytes each, and spare capacity.
func TestTracesAreCompact(t *testing.T) {
	if testing.Short() {
		t.Skip("60 MB of JSON")
	}
	const requests, bound = 1_000_000, 64 << 20
	r, w := io.Pipe()
	go func() {
		var b bytes.Buffer
		for i := range requests {
			fmt.Fprintf(&b, `{"timestamp":%d,"input_length":%d,"output_length":%d}`+"\n", i, 1+i%1000, 1+i%300)
			if b.Len() > 1<<16 {
				b.WriteTo(w)
			}
		}
		b.WriteTo(w)
		w.Close()
	}()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	in, err := newRows("stream", r)
	if err != nil {
		t.Fatal(err)
	}
	tr, err := readTrace(t.Context(), in, traceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	held := int64(after.HeapAlloc) - int64(before.HeapAlloc)
	t.Logf("%d requests take %d MB", len(tr.requests), held>>20)
	if len(tr.requests) != requests || held > bound {
		t.Errorf("%d requests take %d MB", len(tr.requests), held>>20)
	}
}

func TestOpenTrace(t *testing.T) {
	tr, err := openTrace(t.Context(), traceOptions{Replay: Replay{File: file(t, "mooncake.jsonl", mooncake)}, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	w := tr.Describe()
	if w.Dataset != "mooncake.jsonl" || w.PromptTokens.Mean != 606.75 || w.PromptTokens.Max != 915 || w.Seed != 7 {
		t.Errorf("described as %+v", w)
	}
	if _, err := openTrace(t.Context(), traceOptions{Replay: Replay{File: "/nowhere/trace.jsonl"}}); err == nil {
		t.Error("a trace that is not there is opened")
	}
}

// FuzzTrace checks that no file gives a schedule that goes back or a request without tokens.
func FuzzTrace(f *testing.F) {
	f.Add([]byte(mooncake))
	f.Add([]byte(`{"timestamp":1e9,"input_length":1,"output_length":1}
{"timestamp":-1e9,"input_length":1,"output_length":1}`))
	f.Fuzz(testkit.MutatedWith(func(t *testing.T, b []byte) {
		in, err := newRows("data", bytes.NewReader(b))
		if err != nil {
			return
		}
		tr, err := readTrace(t.Context(), in, traceOptions{Replay: Replay{Speed: 3}, Prompt: rundir.Lengths{Mean: 20}})
		if err != nil {
			return
		}
		last := time.Duration(0)
		for _, p := range play(t, tr) {
			if p.At < last || p.Prompt < 1 || p.Output < 1 {
				t.Errorf("%+v after %v", p, last)
			}
			last = p.At
		}
		if !(tr.rate() > 0) || tr.duration() < 0 {
			t.Errorf("%v requests per second over %v", tr.rate(), tr.duration())
		}
	}))
}
