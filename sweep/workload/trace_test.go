package workload

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"llmsweep/client/note"
	"llmsweep/client/testkit"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
	"llmsweep/sweep/stats"
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
	const form = "data has another form: a trace has one request on each line"
	for name, c := range map[string]struct {
		content string
		o       traceOptions
		want    string // how the requests, with the notes on the file, or the error begin
	}{
		"Mooncake": {mooncake, traceOptions{},
			"0s:675>500 | 0s:732>490 | 3s:915>355 | 5.999s:105>26 | trace.requests[file:data rate:0.5"},
		"twice as fast": {mooncake, traceOptions{Replay: Replay{Speed: 2}},
			"0s:675>500 | 0s:732>490 | 1.5s:915>355 | 2.9995s:105>26 | trace.requests[file:data rate:1.0"},
		"at a rate": {`{"timestamp": 5000, "input_length": 472, "output_length": 18}
{"timestamp": 45000, "input_length": 1087, "output_length": 230}
{"timestamp": 185000, "input_length": 1360, "output_length": 647}`, traceOptions{Replay: Replay{Rate: 0.5}},
			"0s:472>18 | 888.888889ms:1087>230 | 4s:1360>647 | trace.requests[file:data rate:0.5 requests:3 speed:45 time:4]"},
		"the first three": {mooncake, traceOptions{Replay: Replay{Limit: 3}}, "0s:675>500 | 0s:732>490 | 3s:915>355 | trace"},
		"other lengths": {mooncake, traceOptions{Prompt: mean(64), Output: mean(8)},
			"0s:64>8 | 0s:64>8 | 3s:64>8 | 5.999s:64>8 | trace"},
		"out of order": {`{"timestamp": 30, "input_length": 3, "output_length": 3}
{"timestamp": 10, "input_length": 1, "output_length": 1}
{"timestamp": 20, "input_length": 2, "output_length": 2.0}`, traceOptions{}, "0s:1>1 | 10ms:2>2 | 20ms:3>3 | " +
			"trace.requests[file:data rate:100 requests:3 time:0.02] | trace.sorted[file:data requests:1]"},
		"since 1970": {`{"timestamp": 1731000000000.25, "input_length": 1, "output_length": 1}
{"timestamp": 1731000000001.75, "input_length": 1, "output_length": 1}`, traceOptions{}, "0s:1>1 | 1.5ms:1>1 | trace"},
		"faults": {`{"timestamp": 100, "input_length": 6, "output_length": 5}
{"timestamp": "now", "input_length": 6, "output_length": 5}
{"timestamp": 50, "input_length": 7, "output_length": 5}
{"timestamp": 200, "input_length": 0, "output_length": 5}
{"timestamp": 200, "input_length": 6}
{"timestamp": 1e300, "input_length": 6, "output_length": 5}
{"timestamp": 1e999, "input_length": 6, "output_length": 5}
nothing
{"timestamp": 300, "input_length": 6, "output_length": 5}
`, traceOptions{Replay: Replay{Speed: 2}}, "0s:7>5 | 25ms:6>5 | 125ms:6>5 | " +
			"trace.requests[file:data rate:16 requests:3 speed:2 time:0.125] | trace.sorted[file:data requests:1] | " +
			"-[2 7] no-timestamp | -[4] no-prompt-tokens | -[5] no-output-tokens | -[6] far-timestamp | -[8] no-json-line"},
		"empty":    {"", traceOptions{}, "data is empty"},
		"all bad":  {"{}\n\n{}\n", traceOptions{}, "data:1: no usable row in 2; the first fault: skip.no-timestamp"},
		"CSV":      {"TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.6805900,374,44\n", traceOptions{}, form},
		"array":    {`[{"timestamp": 0, "input_length": 1, "output_length": 1}]`, traceOptions{}, form},
		"log":      {`192.0.2.1 - - [10/Oct/2025:13:55:36 +0000] "POST /v1 HTTP/1.1" 200 12 0.5`, traceOptions{}, form},
		"spans":    {`{"resourceSpans": []}`, traceOptions{}, "data:1: no usable row in 1; the first fault: skip.no-time"},
		"no speed": {mooncake, traceOptions{Replay: Replay{Speed: math.NaN()}}, "a trace at NaN times its speed"},
		"speed":    {mooncake, traceOptions{Replay: Replay{Speed: -1}}, "a trace at -1 times its speed"},
		"at once": {strings.Repeat(`{"timestamp": 1, "input_length": 1, "output_length": 1}`+"\n", 2),
			traceOptions{Replay: Replay{Rate: 5}}, "data cannot be replayed at 5 requests per second: all"},
	} {
		tr, err := readTrace(t.Context(), text(t, c.content), c.o)
		got := fmt.Sprint(err)
		if err == nil {
			var all []string
			last := played{}
			for _, last = range play(t, tr) {
				all = append(all, fmt.Sprintf("%v:%d>%d", last.At, last.Prompt, last.Output))
			}
			if n := tr.rate() * last.At.Seconds(); tr.duration() != last.At || math.Abs(n-float64(len(all)-1)) > 1e-5 {
				t.Errorf("%s: %v at %v requests per second", name, tr.duration(), tr.rate())
			}
			got = strings.Join(append(all, written(tr.Notes())...), " | ")
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
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

// Prompts share exactly the blocks that their hash ids share, which counts as repeated, and nothing without them. By
// hand: the second repeats block 0, 512 tokens; the third blocks 0 and 1, which is all of its 915.
func TestTraceSharesPrefixes(t *testing.T) {
	costs := calibrated(t, simtest.TextPieces, 9)
	words := func(content string, repeats []int) (all [][]string) {
		tr, err := readTrace(t.Context(), text(t, content), traceOptions{Costs: costs})
		if err != nil {
			t.Fatal(err)
		}
		for i, session := range simtest.TakeTexts(t, tr.Stage("a"), len(tr.requests)) {
			user := session.Turns[0].User
			if got, want := simtest.TextPieces(user)+9, int(tr.requests[i].prompt); !simtest.NearTokens(got, want) ||
				session.Repeats != repeats[i] {
				t.Errorf("a prompt of %d tokens has %d, and repeats %d, not %d", want, got, session.Repeats, repeats[i])
			}
			all = append(all, strings.Fields(user))
		}
		return all
	}
	alike := func(a, b []string) (n int) {
		for n < min(len(a), len(b)) && a[n] == b[n] {
			n++
		}
		return n
	}
	block, _ := costs.Fit(mooncakeBlock)
	shared := words(mooncake, []int{0, 512, 915, 0})
	for _, c := range []struct{ other, least, most int }{
		{1, 1 + block, 1 + block + 2}, {2, len(shared[0]), len(shared[0])}, {3, 0, 0},
	} {
		if n := alike(shared[0], shared[c.other]); n < c.least || n > c.most {
			t.Errorf("prompts 0 and %d have %d words in common, want %d to %d", c.other, n, c.least, c.most)
		}
	}
	alone := words(strings.ReplaceAll(mooncake, "hash_ids", "ids"), make([]int, 4))
	for i, a := range alone {
		for j, b := range alone[:i] {
			if n := alike(a, b); n != 0 {
				t.Errorf("prompts %d and %d have %d words in common", i, j, n)
			}
		}
	}
}

// The tokens that a hash id stands for follow from the lengths of prompts: 512 in Mooncake's traces, 64 here.
func TestBlocksOfATrace(t *testing.T) {
	for content, want := range map[string]float64{
		mooncake: 512,
		`{"timestamp": 0, "input_length": 250, "output_length": 5, "hash_ids": [1, 2, 3, 4]}
{"timestamp": 9, "input_length": 390, "output_length": 5, "hash_ids": [1, 2, 3, 4, 5, 6, 7]}
`: 64,
	} {
		tr, err := readTrace(t.Context(), text(t, content), traceOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if tr.block != want {
			t.Errorf("a hash id stands for %g tokens, not %g", tr.block, want)
		}
	}
}

// Requests take 40 bytes each, and spare capacity.
func TestTracesAreCompact(t *testing.T) {
	const requests, bound = 30_000, 2 << 20
	before := allocated()
	tr, err := readTrace(t.Context(), text(t, numbered(`{"timestamp":%d,"input_length":9,"output_length":9}`, requests)),
		traceOptions{})
	if held := allocated() - before; err != nil || len(tr.requests) != requests || held > bound {
		t.Errorf("%d requests take %d KB, %v", len(tr.requests), held>>10, err)
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
		tr, err := readTrace(t.Context(), in, traceOptions{Replay: Replay{Speed: 3}, Prompt: mean(20)})
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

// Prefixes of a hit rate are drawn by Zipf's law, and their share of the prompts is the rate once each was sent.
func TestPrefixesByZipfsLaw(t *testing.T) {
	const groups, n = 8, 20_000
	counts := make([]float64, groups)
	rng := stats.Rand(1, "zipf", "a")
	sum := 0.0
	for i := range n {
		counts[zipf(groups, rng)]++
		if i < groups {
			sum += 1 / float64(i+1)
		}
	}
	for k, got := range counts {
		want := n / float64(k+1) / sum
		if math.Abs(got-want) > 5*math.Sqrt(want) {
			t.Errorf("group %d is drawn %v times, not %.0f", k, got, want)
		}
	}
	w := newPrefixes(t, 300, groups, mean(500), 1, Guess)
	w.Zipf = true
	ideal, prompts := 0, 0
	for _, s := range simtest.TakeTexts(t, w.Stage("a"), 1000) {
		ideal, prompts = ideal+s.Repeats, prompts+s.Turns[0].PromptTokens
	}
	if share := float64(ideal) / float64(prompts); share < 0.59 || share >= 0.6 {
		t.Errorf("ideally %v of the prompts are hits, not just below 0.6", share)
	}
}

// After the server's cache was emptied, what was sent before counts as new, of all workloads that repeat themselves.
func TestForgottenRepeats(t *testing.T) {
	prefixes := &Spec{PromptTokens: mean(256), OutputTokens: mean(8), PrefixTokens: 128, PrefixGroups: 1}
	talk := *prefixes
	talk.Talking, talk.Talk = true, Talk{Turns: mean(2), First: mean(256), Later: mean(16), Output: mean(8)}
	set := file(t, "dataset.jsonl", `{"prompt": "`+strings.Repeat("river stone market ", 40)+`"}`)
	for name, spec := range map[string]*Spec{
		"prefixes": prefixes, "conversations": &talk, "dataset": {OutputTokens: mean(8), Dataset: set, Rows: 10},
		"trace": {PromptTokens: mean(512), OutputTokens: mean(8), Replay: &Replay{File: file(t, "trace.jsonl", mooncake)}},
	} {
		o, err := Open(t.Context(), spec, nil, &Guess)
		if err != nil {
			t.Fatal(name, err)
		}
		repeats := func(stage string) (n int) {
			for _, s := range simtest.TakeTexts(t, o.Stage(stage), 2) {
				n += min(s.Repeats, 1)
			}
			return n
		}
		first := repeats("a")
		warm := repeats("b")
		Forget(o.Workload)
		if cold := repeats("c"); first != cold || warm <= first {
			t.Errorf("%s: %d of 2 repeat others at first, then %d, and %d once they are forgotten", name, first, warm, cold)
		}
		if file := o.Describe().Dataset; file != "" && file != name+".jsonl" {
			t.Errorf("the %s is called %s", name, file)
		}
	}
}

// byCharacter is a server with one token per character, and a template of five.
var byCharacter = simtest.TextCounter(simtest.Tokenizers()["a character"], 5)

// text returns an input with the content of a file.
func text(t testing.TB, s string) *rowInput {
	t.Helper()
	in, err := newRows("data", strings.NewReader(s))
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// readText returns a dataset with the content of a file.
func readText(t *testing.T, s string, o datasetOptions) *Dataset {
	t.Helper()
	d, err := readDataset(t.Context(), text(t, s), o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// numbered returns lines with numbers for %d, from 0 on.
func numbered(line string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, line+"\n", i)
	}
	return b.String()
}

// written writes notes as codes with their arguments, and those of rows that were left out as "-[lines] reason".
func written(notes []note.Note) (all []string) {
	arguments := func(n note.Note) string {
		if len(n.Args) == 0 {
			return ""
		}
		return strings.TrimPrefix(fmt.Sprint(n.Args), "map")
	}
	for _, n := range notes {
		if why, ok := n.Args["why"].([]note.Note); ok {
			code := strings.TrimPrefix(why[0].Code, "skip.")
			all = append(all, fmt.Sprintf("-%v %s%s", n.Args["lines"], code, arguments(why[0])))
		} else {
			all = append(all, n.Code+arguments(n))
		}
	}
	return all
}

// file writes a file and returns its path.
func file(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// calibrated returns the calibration of such a server.
func calibrated(t *testing.T, tokenize func(string) int, around int) Calibration {
	t.Helper()
	c, err := calibrate(t.Context(), simtest.TextCounter(tokenize, around), 512)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// newPrefixes returns a workload with prefixes.
func newPrefixes(t *testing.T, tokens, groups int, prompt rundir.Lengths, seed uint64, costs Calibration) *Prefixed {
	t.Helper()
	p, err := newPrefixed(tokens, groups, prompt, mean(5), seed, costs)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func mean(n float64) rundir.Lengths { return rundir.Lengths{Mean: n} }

// users returns the first prompts of the next sessions of a stage.
func users(t *testing.T, w Workload, stage string, n int) (all []string) {
	t.Helper()
	for _, s := range simtest.TakeTexts(t, w.Stage(stage), n) {
		all = append(all, s.Turns[0].User)
	}
	return all
}
