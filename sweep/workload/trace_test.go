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

// The first lines of the published traces, with what may go wrong among them.
const (
	mooncake = `{"timestamp": 0, "input_length": 675, "output_length": 500, "hash_ids": [0, 1]}
{"timestamp": 0, "input_length": 732, "output_length": 490, "hash_ids": [0, 14]}
{"timestamp": 3000, "input_length": 915, "output_length": 355, "hash_ids": [0, 1]}
{"timestamp": 5999, "input_length": 105, "output_length": 26, "hash_ids": [773]}
`
	burstGPT = `Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type
5,ChatGPT,472,18,490,Conversation log
45,ChatGPT,1087,230,1317,Conversation log
118,GPT-4,417,0,417,API log
185,ChatGPT,1360,647,2007,Conversation log
`
	burstGPT2 = `Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type
19440110.0,1722ac82-0a46-4bf0-aa08-89794e7a2b3f,43,GPT-4,906,446,1352,Conversation log
19440161.5,d5983bf9-4b48-497b-892b-a58995247443,2,ChatGPT,36,29,65,Conversation log
`
	azure2023 = `TIMESTAMP,ContextTokens,GeneratedTokens
2023-11-16 18:15:46.6805900,374,44
2023-11-16 18:15:50.9951690,396,109
2023-11-16 18:15:51.2224670,879,55
`
	azure2024 = "TIMESTAMP,ContextTokens,GeneratedTokens\r\n" +
		"2024-05-10 00:00:00+00:00,200,20\r\n" +
		"2024-05-10 00:00:00.009930+00:00,2162,5\r\n"
)

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
		o       TraceOptions
		want    []played
	}{
		"Mooncake":      {mooncake, TraceOptions{}, []played{{0, 675, 500}, {0, 732, 490}, {3 * time.Second, 915, 355}, {5999 * time.Millisecond, 105, 26}}},
		"BurstGPT":      {burstGPT, TraceOptions{}, []played{{0, 472, 18}, {40 * time.Second, 1087, 230}, {180 * time.Second, 1360, 647}}},
		"BurstGPT 2":    {burstGPT2, TraceOptions{}, []played{{0, 906, 446}, {51500 * time.Millisecond, 36, 29}}},
		"Azure 2023":    {azure2023, TraceOptions{}, []played{{0, 374, 44}, {4314579 * time.Microsecond, 396, 109}, {4541877 * time.Microsecond, 879, 55}}},
		"Azure 2024":    {azure2024, TraceOptions{}, []played{{0, 200, 20}, {9930 * time.Microsecond, 2162, 5}}},
		"twice as fast": {mooncake, TraceOptions{Speed: 2}, []played{{0, 675, 500}, {0, 732, 490}, {1500 * time.Millisecond, 915, 355}, {2999500 * time.Microsecond, 105, 26}}},
		"at a rate":     {burstGPT, TraceOptions{Rate: 0.5}, []played{{0, 472, 18}, {888888889, 1087, 230}, {4 * time.Second, 1360, 647}}},
		"the first two": {burstGPT, TraceOptions{Limit: 2}, []played{{0, 472, 18}, {40 * time.Second, 1087, 230}}},
		"other lengths": {azure2024, TraceOptions{Prompt: rundir.Lengths{Mean: 64}, Output: rundir.Lengths{Mean: 8}},
			[]played{{0, 64, 8}, {9930 * time.Microsecond, 64, 8}}},
		"out of order": {"timestamp_ms,prompt_tokens,output_tokens\n30,3,3\n10,1,1\n20,2,2.0\n", TraceOptions{},
			[]played{{0, 1, 1}, {10 * time.Millisecond, 2, 2}, {20 * time.Millisecond, 3, 3}}},
		"since 1970": {`[{"timestamp": 1731000000000.25, "input_length": 1, "output_length": 1}, {"timestamp": 1731000000001.75, "input_length": 1, "output_length": 1}]`,
			TraceOptions{}, []played{{0, 1, 1}, {1500 * time.Microsecond, 1, 1}}},
	} {
		t.Run(name, func(t *testing.T) {
			tr, err := readTrace(t.Context(), text(t, c.content), c.o)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, play(t, tr)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got, want := tr.Duration(), c.want[len(c.want)-1].At; got != want {
				t.Errorf("it takes %v, want %v", got, want)
			}
			if want := float64(len(c.want)-1) / tr.Duration().Seconds(); math.Abs(tr.Rate()/want-1) > 1e-6 {
				t.Errorf("%v requests per second, want %v", tr.Rate(), want)
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
	tr, err := readTrace(t.Context(), text(t, content), TraceOptions{Speed: 2, Share: true, Hashed: true})
	if err != nil {
		t.Fatal(err)
	}
	want := []note.Note{
		noteTrace.New("data", 3, 125*time.Millisecond, 16, 2),
		noteDisorder.New("data", 1),
		noteNoHashes.New("data"),
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
		o             TraceOptions
	}{
		"empty":    {"", "data is empty", TraceOptions{}},
		"columns":  {"a,b,c\n1,2,3\n", "data:1: the header has no columns for the time", TraceOptions{}},
		"all bad":  {"{}\n\n{}\n", "data:1: no usable row in 2; the first fault: skip.no-timestamp", TraceOptions{}},
		"no rows":  {"TIMESTAMP,ContextTokens,GeneratedTokens\n", "data has no rows", TraceOptions{}},
		"at once":  {"timestamp_ms,prompt_tokens,output_tokens\n1,1,1\n1,1,1\n", "data cannot be replayed at 5 requests per second: all", TraceOptions{Rate: 5}},
		"speed":    {mooncake, "a trace at -1 times its speed", TraceOptions{Speed: -1}},
		"no speed": {mooncake, "a trace at NaN times its speed", TraceOptions{Speed: math.NaN()}},
	} {
		_, err := readTrace(t.Context(), text(t, c.content), c.o)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v\nwant %s", name, err, c.want)
		}
	}
}

// TestTraceSharesPrefixes checks that prompts share exactly the blocks that their hash ids share, and nothing without them.
func TestTraceSharesPrefixes(t *testing.T) {
	costs := calibratedRows(t, simtest.TextPieces, 9)
	words := func(share bool) [][]string {
		tr, err := readTrace(t.Context(), text(t, mooncake), TraceOptions{Share: share, Costs: costs})
		if err != nil {
			t.Fatal(err)
		}
		var all [][]string
		for i, session := range simtest.TakeTexts(t, tr.Stage("a"), tr.Rows()) {
			user := session.Turns[0].User
			if got, want := simtest.TextPieces(user)+9, int(tr.log.prompt[i]); !simtest.NearTokens(got, want) {
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
	shared := words(true)
	if n := alike(shared[0], shared[1]); n < 1+block || n > 1+block+2 {
		t.Errorf("one block in common is %d words, want %d", n, 1+block)
	}
	if n := alike(shared[0], shared[2]); n != len(shared[0]) {
		t.Errorf("two blocks in common are %d words, want all %d", n, len(shared[0]))
	}
	if n := alike(shared[0], shared[3]); n != 0 {
		t.Errorf("no block in common is %d words", n)
	}
	for i, a := range words(false) {
		for j, b := range words(false)[:i] {
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
			fmt.Fprintf(&b, `{"timestamp": %d, "input_length": %d, "output_length": %d, "hash_ids": [%d, %d]}`+"\n", ms, i+1, ms+1, ms, i)
		}
		in, err := newRows("data", strings.NewReader(b.String()))
		if err != nil {
			t.Fatal(err)
		}
		tr, err := readTrace(t.Context(), in, TraceOptions{Share: true})
		if err != nil {
			t.Fatal(err)
		}
		q := &tr.log
		for i := range q.at {
			row := int(q.prompt[i]) - 1
			if i > 0 && (q.at[i] < q.at[i-1] || q.at[i] == q.at[i-1] && q.prompt[i] < q.prompt[i-1]) {
				t.Fatalf("request %d is out of order", i)
			}
			if want := []int64{int64(at[row]), int64(row)}; !cmp.Equal(q.hashesOf(i), want) || int(q.output[i]) != at[row]+1 {
				t.Fatalf("row %d has hashes %v and %d answer tokens", row, q.hashesOf(i), q.output[i])
			}
		}
	})
}

// TestTracesAreCompact measures the memory of a million requests: 16 bytes each, and spare capacity.
func TestTracesAreCompact(t *testing.T) {
	if testing.Short() {
		t.Skip("30 MB of CSV")
	}
	const requests, bound = 1_000_000, 64 << 20
	r, w := io.Pipe()
	go func() {
		var b bytes.Buffer
		b.WriteString("Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n")
		for i := range requests {
			fmt.Fprintf(&b, "%d,GPT-4,%d,%d,9,API log\n", i, 1+i%1000, 1+i%300)
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
	tr, err := readTrace(t.Context(), in, TraceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	held := int64(after.HeapAlloc) - int64(before.HeapAlloc)
	t.Logf("%d requests take %d MB", tr.Rows(), held>>20)
	if tr.Rows() != requests || held > bound {
		t.Errorf("%d requests take %d MB", tr.Rows(), held>>20)
	}
}

func TestOpenTrace(t *testing.T) {
	tr, err := OpenTrace(t.Context(), file(t, "azure.csv", azure2023), TraceOptions{Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	w := tr.Describe()
	if w.Dataset != "azure.csv" || math.Abs(w.PromptTokens.Mean-549.67) > 0.01 || w.PromptTokens.Max != 879 || w.Seed != 7 {
		t.Errorf("described as %+v", w)
	}
	if _, err := OpenTrace(t.Context(), "/nowhere/trace.csv", TraceOptions{}); err == nil {
		t.Error("a trace that is not there is opened")
	}
}

// FuzzTrace checks that no file gives a schedule that goes back or a request without tokens.
func FuzzTrace(f *testing.F) {
	for _, s := range []string{agents, spans, liteLLM, nginxJSON, nginxAccess, mooncake, burstGPT, burstGPT2, azure2023, azure2024} {
		f.Add([]byte(s))
	}
	f.Add([]byte("timestamp,input_length,output_length\n1e9,1,1\n-1e9,1,1\nInf,1,1\n"))
	f.Fuzz(testkit.MutatedWith(func(t *testing.T, b []byte) {
		in, err := newRows("data", bytes.NewReader(b))
		if err != nil {
			return
		}
		tr, err := readTrace(t.Context(), in, TraceOptions{Speed: 3, Share: true, Prompt: rundir.Lengths{Mean: 20}})
		if err != nil {
			return
		}
		sessions, _ := tr.visits(2)
		for _, v := range sessions {
			for i, turn := range v.turns {
				if turn.prompt < 1 || turn.output < 1 || turn.pause < 0 || turn.pause > longestPause {
					t.Errorf("turn %d is %+v", i, turn)
				}
			}
		}
		last := time.Duration(0)
		for _, p := range play(t, tr) {
			if p.At < last || p.Prompt < 1 || p.Output < 1 {
				t.Errorf("%+v after %v", p, last)
			}
			last = p.At
		}
		if !(tr.Rate() > 0) || tr.Duration() < 0 {
			t.Errorf("%v requests per second over %v", tr.Rate(), tr.Duration())
		}
	}))
}
