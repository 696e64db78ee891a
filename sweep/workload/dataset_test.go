package workload

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"llmsweep/client/note"
	"llmsweep/client/testkit"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
	"llmsweep/sweep/stats"
)

// All are workloads.
var (
	_ Workload = (*Dataset)(nil)
	_ Workload = (*Trace)(nil)
)

// asked is a turn as a test expects it.
type asked struct {
	User   string
	Output int
}

// sessions returns all rows of a dataset as sessions, in order of their first text.
func sessions(t *testing.T, d *Dataset) [][]asked {
	t.Helper()
	var all [][]asked
	for _, session := range simtest.TakeTexts(t, d.Stage("a"), d.Rows()) {
		var one []asked
		if session.System != "" {
			one = append(one, asked{"system: " + session.System, 0})
		}
		for _, turn := range session.Turns {
			one = append(one, asked{turn.User, turn.OutputTokens})
		}
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b []asked) int { return strings.Compare(a[0].User, b[0].User) })
	return all
}

// byCharacter is a server with one token per character, and a template of five.
var byCharacter = simtest.TextCounter(simtest.Tokenizers()["a character"], 5)

const shareGPT = `[
  {"id": "1", "conversations": [{"from": "human", "value": "aaaa"}, {"from": "gpt", "value": "1234567"}, {"from": "human", "value": "more"}, {"from": "gpt", "value": "12"}]},
  {"id": "2", "conversations": [{"from": "human", "value": "bbbb"}]},
  {"id": "3",
   "conversations": [{"from": "system", "value": "You are"}, {"from": "gpt", "value": "left over"}, {"from": "human", "value": "c\u00e9c\u4e2d"}, {"from": "gpt", "value": "123"}]},
  {"id": "4", "conversations": []},
  17,
  {"id": "5", "conversation": [{"from": "user", "value": "dddd"}, {"from": "chatgpt", "value": "12345678"}, {"from": "human", "value": "unanswered"}]},
  {"id": "6", "conversations": [{"from": "human", "value": "x"}, {"from": "gpt", "value": "long enough"}]},
  {"id": "7", "conversations": [{"from": "human", "value": "long enough"}, {"from": "gpt", "value": ""}]},
  {"id": "8", "conversations": [{"from": "tool", "value": "x"}, {"from": "gpt", "value": "y"}]}
]`

func TestShareGPT(t *testing.T) {
	for _, c := range []struct {
		name string
		o    datasetOptions
		want [][]asked
	}{
		{"as published", datasetOptions{}, [][]asked{{{"aaaa", 7}}, {{"céc中", 3}}, {{"dddd", 8}}}},
		{"all turns", datasetOptions{MultiTurn: true}, [][]asked{{{"aaaa", 7}, {"more", 2}}, {{"céc中", 3}}, {{"dddd", 8}}}},
		{"forced", datasetOptions{Output: rundir.Lengths{Mean: 64}, ForceOutput: true},
			[][]asked{{{"aaaa", 64}}, {{"céc中", 64}}, {{"dddd", 64}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.o.Count = byCharacter
			d, err := read(t.Context(), text(t, shareGPT), c.o)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, sessions(t, d)); diff != "" {
				t.Errorf("(-want +got):\n%s\n%v", diff, d.Notes())
			}
		})
	}
}

func TestShareGPTNotes(t *testing.T) {
	d, err := read(t.Context(), text(t, shareGPT), datasetOptions{Count: byCharacter})
	if err != nil {
		t.Fatal(err)
	}
	want := []note.Note{
		noteRows.New("data", 3, 4),
		noteEstimated.New("data", 8, "usage"),
		skippedNote("data", skipOneTurn.New(), 3, 6),
		skippedNote("data", skipNoObject.New(), 7),
		skippedNote("data", skipNoAnswer.New(), 10),
		skippedNote("data", skipSpeaker.New(), 11),
		skippedNote("data", skipShort.New(2, 2), 9),
	}
	if diff := cmp.Diff(want, d.Notes()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	w := d.Describe()
	if w.Dataset != "data" || math.Abs(w.OutputTokens.Mean-6) > 1e-9 || w.PromptTokens.Mean != 9 {
		t.Errorf("described as %+v", w)
	}
}

func TestRowsOfJSONLines(t *testing.T) {
	const lines = "\ufeff" + `{"prompt": "aaaa", "output_tokens": 9}` + "\r\n" +
		"\r\n" +
		`{"prompt": ""}` + "\r\n" +
		`{"prompt": "bbbb"}` + "\r\n" +
		`{"prompt": "broken` + "\r\n" +
		`{"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "cc"}, {"role": "user", "content": [{"type": "text", "text": "cc"}]}, {"role": "assistant", "content": "123"}, {"role": "user", "content": "again"}], "max_tokens": 40}` + "\r\n" +
		`{"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]}` + "\r\n" +
		`{"messages": [{"role": "assistant", "content": "hello"}]}` + "\r\n" +
		`{"prompt": "cccc", "output_tokens": 1.5}` + "\r\n" +
		`{"prompt": "dddd", "output_tokens": null}` + "\r\n" +
		`{"text": "eeee"}` + "\r\n" +
		`"a string"` + "\r\n" +
		`{"prompt": "\ud83d\ude00 and \ud800 and 中文", "max_completion_tokens": 3}`
	d, err := read(t.Context(), text(t, lines), datasetOptions{Count: byCharacter, Output: rundir.Lengths{Mean: 50}})
	if err != nil {
		t.Fatal(err)
	}
	want := [][]asked{
		{{"a string", 50}}, {{"aaaa", 9}}, {{"bbbb", 50}}, {{"dddd", 50}},
		{{"system: Be brief.", 0}, {"cc\n\ncc", 3}, {"again", 40}},
		{{"😀 and � and 中文", 3}},
	}
	if diff := cmp.Diff(want, sessions(t, d)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	skipped := skips{
		{skipEmptyPrompt.New(), 1, []int{3}}, {skipNoJSONLine.New(), 1, []int{5}},
		{skipNotText.New(), 1, []int{7}}, {skipNoUser.New(), 1, []int{8}},
		{skipOutput.New("output_tokens"), 1, []int{9}}, {skipNoPrompt.New(), 1, []int{11}},
	}
	if diff := cmp.Diff(skipped, d.skipped); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
}

func TestRowsOfCSV(t *testing.T) {
	const lines = "\ufeffid, Prompt ,output_tokens\r\n" +
		"1,aaaa,7\r\n" +
		"2,\"two\r\nlines, and \"\"quotes\"\"\",\r\n" +
		"3,too,many,fields\r\n" +
		"4,bbbb,none\r\n" +
		"5,a \"bad quote,3\r\n" +
		"6,,3\r\n" +
		"7,中文,2\r\n"
	d, err := read(t.Context(), text(t, lines), datasetOptions{Count: byCharacter, Output: rundir.Lengths{Mean: 50}})
	if err != nil {
		t.Fatal(err)
	}
	want := [][]asked{{{"aaaa", 7}}, {{"two\nlines, and \"quotes\"", 50}}, {{"中文", 2}}}
	if diff := cmp.Diff(want, sessions(t, d)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	skipped := skips{
		{skipCSVFields.New(), 1, []int{5}},
		{skipOutput.New("output_tokens"), 1, []int{6}},
		{skipNoCSV.New(csv.ErrBareQuote), 1, []int{7}},
		{skipEmptyPrompt.New(), 1, []int{8}},
	}
	if diff := cmp.Diff(skipped, d.skipped); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
}

func TestUnusableDatasets(t *testing.T) {
	for name, c := range map[string]struct{ content, want string }{
		"empty":     {"", "data is empty"},
		"blank":     {" \n\t\r\n ", "data is empty"},
		"empty []":  {"[]", "data has no rows"},
		"no prompt": {"id,question\n1,what\n", "data:1: the header has no column prompt"},
		"no rows":   {"prompt\n", "data has no rows"},
		"all bad":   {"{}\n{\"prompt\": 5}\n", "data:1: no usable row in 2; the first fault: skip.no-prompt"},
		"pretty":    {"{\n \"prompt\": \"x\"\n}\n", "data:1: no usable row in 3; the first fault: skip.no-json-line"},
		"cut":       {`[{"prompt": "x`, "data:1: no usable row in 1; the first fault: skip.broken-off"},
		"no array":  {"[\n\n}", "data:3: no usable row in 1; the first fault: skip.broken-off"},
		"limits": {`[{"conversations": [{"from": "human", "value": "a"}, {"from": "gpt", "value": "b"}]}]`,
			"data:1: no usable row in 1; the first fault: skip.too-short"},
	} {
		_, err := read(t.Context(), text(t, c.content), datasetOptions{Count: byCharacter})
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v\nwant %s", name, err, c.want)
		}
	}
	if _, err := newRows("data", strings.NewReader("\xff\xfe{\x00")); err == nil || !strings.Contains(err.Error(),
		"UTF-16") {
		t.Error(err)
	}
	if _, err := openDataset(t.Context(), "/nowhere/data.json", datasetOptions{}); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// TestTruncatedArray uses what was read before the file breaks off.
func TestTruncatedArray(t *testing.T) {
	d, err := read(t.Context(), text(t, "[{\"prompt\": \"aa\"},\n{\"prompt\": \"bb\"},\n{\"prom"),
		datasetOptions{Count: byCharacter})
	if err != nil {
		t.Fatal(err)
	}
	want := skips{{skipBrokenOff.New(nil), 1, []int{3}}}
	if diff := cmp.Diff(want, d.skipped); diff != "" || d.Rows() != 2 {
		t.Errorf("%d rows (-want +got):\n%s", d.Rows(), diff)
	}
}

func TestOpenUnpacks(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, shareGPT)
	z.Close()
	for name, content := range map[string]string{"plain.json": shareGPT, "packed.json.gz": b.String(),
		"cut.gz": b.String()[:b.Len()/2]} {
		d, err := openDataset(t.Context(), file(t, name, content), datasetOptions{Count: byCharacter})
		switch {
		case name == "cut.gz":
			if err == nil && !slices.ContainsFunc(d.skipped, func(s skipped) bool { return s.Why.Is(skipBrokenOff) }) {
				t.Errorf("%s: %v", name, d.Notes())
			}
		case err != nil || d.Rows() != 3 || d.Describe().Dataset != name:
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCountingFails has a server that does not count, which is asked once, and a run that ends meanwhile.
func TestCountingFails(t *testing.T) {
	calls := 0
	refuses := func(context.Context, ...string) ([]int, string, error) {
		calls++
		return nil, "", errors.New("no /tokenize")
	}
	d, err := read(t.Context(), text(t, conversation(1)), datasetOptions{Count: refuses})
	if err != nil {
		t.Fatal(err)
	}
	if calls != 1 || !slices.ContainsFunc(d.Notes(), noteGuessed.New("data", errors.New("no /tokenize")).Equal) {
		t.Errorf("asked %d times: %v", calls, d.Notes())
	}
	ctx, cancel := context.WithCancel(t.Context())
	ends := func(ctx context.Context, _ ...string) ([]int, string, error) { cancel(); return nil, "", ctx.Err() }
	if _, err := read(ctx, text(t, shareGPT), datasetOptions{Count: ends}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// conversation returns a conversation of ShareGPT's format, with words that vary with i.
func conversation(i int) string {
	rng := stats.Rand(uint64(i), "conversation", "")
	say := func(most int) string {
		if i%5 == 4 {
			return strings.Repeat("今天天气很好", 1+rng.IntN(most/3))
		}
		return strings.Join(pick(2+rng.IntN(most), rng), " ")
	}
	b, _ := json.Marshal(map[string]any{"id": fmt.Sprint(i), "conversations": []map[string]string{
		{"from": "human", "value": fmt.Sprintf("%07d ", i) + say(200)}, {"from": "gpt", "value": say(400)},
		{"from": "human", "value": say(100)}, {"from": "gpt", "value": say(400)},
	}})
	return string(b)
}

// TestEstimate compares estimates with several tokenizers, in two scripts.
func TestEstimate(t *testing.T) {
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, "%s\n", conversation(i))
	}
	for name, tokenize := range simtest.Tokenizers() {
		if name == "a word" {
			continue // it makes one token of a Chinese text of any length
		}
		t.Run(name, func(t *testing.T) {
			d, err := read(t.Context(), text(t, b.String()), datasetOptions{Count: simtest.TextCounter(tokenize, 11)})
			if err != nil {
				t.Fatal(err)
			}
			said, really := 0, 0
			for _, session := range simtest.TakeTexts(t, d.Stage("a"), d.Rows()) {
				said += session.Turns[0].PromptTokens
				really += tokenize(session.Turns[0].User) + 11
			}
			if off := float64(said)/float64(really) - 1; math.Abs(off) > 0.05 {
				t.Errorf("%d tokens are estimated as %d: %.1f %% off", really, said, 100*off)
			}
		})
	}
}

// TestSampling checks that each row is drawn equally often, and that a stage takes each once before it takes one again.
func TestSampling(t *testing.T) {
	const rows, drawn, seeds = 50, 10, 2000
	var b strings.Builder
	for i := range rows {
		fmt.Fprintf(&b, "{\"prompt\": \"%d\"}\n", i)
	}
	times := map[string]int{}
	for seed := range uint64(seeds) {
		d, err := read(t.Context(), text(t, b.String()), datasetOptions{Rows: drawn, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		s := d.Stage("a")
		for _, session := range simtest.TakeTexts(t, s, drawn) {
			times[session.Turns[0].User]++
			seen[session.Turns[0].User] = true
		}
		if len(seen) != drawn {
			t.Fatalf("%d different rows of %d", len(seen), drawn)
		}
		if again := simtest.TakeTexts(t, s, 1)[0].Turns[0].User; !seen[again] {
			t.Fatalf("%s was not drawn", again)
		}
	}
	for i := range rows { // 400 each, give or take 18
		if n := times[fmt.Sprint(i)]; n < 320 || n > 480 {
			t.Errorf("row %d is drawn %d times, want about 400", i, n)
		}
	}
}

func TestStagesTakeRowsInOrdersOfTheirOwn(t *testing.T) {
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, "{\"prompt\": \"%d\"}\n", i)
	}
	d, err := read(t.Context(), text(t, b.String()), datasetOptions{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	a := simtest.TakeTexts(t, d.Stage("a"), 100)
	again := simtest.TakeTexts(t, d.Stage("a"), 100)
	for i := range again { // these were sent before
		if a[i].Repeats != 0 || again[i].Repeats != load.AllTokens {
			t.Errorf("row %d repeats %d tokens, and then %d", i, a[i].Repeats, again[i].Repeats)
		}
		again[i].Repeats = 0
	}
	if diff := cmp.Diff(a, again); diff != "" {
		t.Errorf("a stage does not repeat itself:\n%s", diff)
	}
	if cmp.Equal(a[:20], simtest.TakeTexts(t, d.Stage("b"), 20)) {
		t.Error("two stages take the same rows")
	}
}

func TestThinkTimeOfDatasets(t *testing.T) {
	d, err := read(t.Context(), text(t, shareGPT), datasetOptions{Count: byCharacter, MultiTurn: true,
		Think: Think{rundir.Lengths{Mean: 1000}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, session := range simtest.TakeTexts(t, d.Stage("a"), 3) {
		for i, turn := range session.Turns {
			if want := time.Duration(min(i, 1)) * time.Second; turn.Think != want {
				t.Errorf("turn %d thinks %v", i, turn.Think)
			}
		}
	}
}

// TestMemoryStaysBounded reads 50 MB from a pipe and measures the memory held meanwhile.
func TestMemoryStaysBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("50 MB of JSON")
	}
	const size, bound = 50 << 20, 12 << 20
	runtime.GC()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	most := uint64(0)
	r, w := io.Pipe()
	go func() {
		some := make([]string, 64)
		for i := range some {
			some[i] = conversation(i)
		}
		io.WriteString(w, "[")
		for written, i := 0, 0; written < size; i++ {
			n, _ := fmt.Fprintf(w, "%s,\n", some[i%len(some)])
			if written += n; i%1000 == 0 {
				runtime.ReadMemStats(&now)
				most = max(most, now.HeapAlloc)
			}
		}
		fmt.Fprintf(w, "%s]", some[0])
		w.Close()
	}()
	in, err := newRows("stream", r)
	if err != nil {
		t.Fatal(err)
	}
	d, err := read(t.Context(), in, datasetOptions{Rows: 1000})
	if err != nil {
		t.Fatal(err)
	}
	if d.Rows() < 900 || len(d.skipped) > 1 {
		t.Errorf("%v", d.Notes())
	}
	held := int64(most) - int64(before.HeapAlloc)
	t.Logf("%d MB held at most, of %d MB: %v", held>>20, size>>20, d.Notes()[0])
	if held > bound {
		t.Errorf("%d MB of %d MB are held in memory", held>>20, size>>20)
	}
}

// TestHugeRows has a row of megabytes, which is read, and one that is too long, which is skipped.
func TestHugeRows(t *testing.T) {
	long := strings.Repeat("word ", 1<<20)
	d, err := read(t.Context(), text(t, `{"prompt": "aa"}`+"\n"+`{"prompt": "`+long+`"}`+"\n"+`{"prompt": "bb"}`),
		datasetOptions{})
	if err != nil || d.Rows() != 3 {
		t.Fatal(err)
	}
	const most = 2 << 20
	beyond := io.MultiReader(strings.NewReader(`{"prompt": "aa"}`+"\n"), io.LimitReader(endless('x'), most+10),
		strings.NewReader("\n"+`{"prompt": "bb"}`))
	in, err := newRows("data", beyond)
	if err != nil {
		t.Fatal(err)
	}
	in.Most = most
	d, err = read(t.Context(), in, datasetOptions{})
	if err != nil || d.Rows() != 2 {
		t.Fatal(err)
	}
	if s := d.skipped; len(s) != 1 || s[0].Lines[0] != 2 || !s[0].Why.Equal(skipTooLong.New(2)) {
		t.Errorf("%v", s)
	}
	// In an array, nothing can be read after it.
	in, err = newRows("data", io.MultiReader(strings.NewReader("[\n"+`{"prompt": "aa"},`+"\n"+`"`), endless('x')))
	if err != nil {
		t.Fatal(err)
	}
	in.Most = most
	d, err = read(t.Context(), in, datasetOptions{})
	if err != nil || d.Rows() != 1 || len(d.skipped) != 1 || !d.skipped[0].Why.Equal(skipTooLong.New(2)) {
		t.Errorf("%v, %v", d.skipped, err)
	}
}

// endless reads the same byte again and again.
type endless byte

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(e)
	}
	return len(p), nil
}

func TestReservoirShrinks(t *testing.T) {
	v := reservoir[int]{most: 10, rng: stats.Rand(1, "test", "")}
	for i := range 100 {
		if p := v.place(); p != nil {
			*p = i
		}
		if i == 50 {
			v.shrink()
			v.shrink()
		}
	}
	if len(v.kept) != 8 || v.most != 8 || v.seen != 100 {
		t.Errorf("%+v", v)
	}
}

func TestLongTextsAreFewer(t *testing.T) {
	d := &Dataset{options: datasetOptions{Rows: 100}}
	p := newDraw(d)
	p.most = 50_000
	for i := range 200 {
		p.take(i+1, row{turns: []turn{{user: strings.Repeat("é", 2500)}}}, note.Note{})
	}
	if n := len(p.rows.kept); !p.full || n != 9 || p.bytes > p.most || p.rows.seen != 200 {
		t.Errorf("%d rows of %d bytes", n, p.bytes)
	}
	for _, text := range p.texts.kept {
		if len(text) != LongestAsked || !utf8.ValidString(text) {
			t.Errorf("a text of %d bytes is counted", len(text))
		}
	}
}

// FuzzDataset checks that no file gives a row without a user's text or a line number beyond its end.
func FuzzDataset(f *testing.F) {
	f.Add([]byte(shareGPT), true)
	f.Add([]byte("\ufeff{\"prompt\": \"a\", \"max_tokens\": 5}\r\n{\"messages\": [{\"role\": \"user\", \"content\": \"b\"}]}"), false)
	f.Add([]byte("prompt,output_tokens\n\"a\nb\",5\nc,\n"), false)
	f.Add([]byte("[1, \"x\", {\"prompt\""), false)
	f.Fuzz(testkit.MutatedWith(func(t *testing.T, b []byte, multiTurn bool) {
		in, err := newRows("data", bytes.NewReader(b))
		if err != nil {
			return
		}
		d, err := read(t.Context(), in, datasetOptions{Rows: 3, MultiTurn: multiTurn, Output: rundir.Lengths{Mean: 9},
			Count: byCharacter})
		if err != nil {
			if strings.Contains(err.Error(), "\n") && !bytes.Contains(b, []byte("\n")) {
				t.Errorf("%q", err)
			}
			return
		}
		last := 1 + bytes.Count(b, []byte("\n")) + bytes.Count(b, []byte("\r"))
		if !bytes.HasPrefix(b, []byte{0x1f, 0x8b}) {
			for _, s := range d.skipped {
				if s.Lines[0] < 1 || s.Lines[len(s.Lines)-1] > last {
					t.Errorf("%v, of %d lines", s, last)
				}
			}
		}
		for _, session := range simtest.TakeTexts(t, d.Stage("a"), 2*d.Rows()) {
			for _, turn := range session.Turns {
				if strings.TrimSpace(turn.User) == "" && turn.User != session.Turns[len(session.Turns)-1].User ||
					turn.OutputTokens < 1 || turn.PromptTokens < 0 {
					t.Errorf("%+v", session)
				}
			}
		}
	}))
}

// TestRowsThatBeginAlike: what the rows of a file have in common, and what the server counted, is not new to the
// server.
func TestRowsThatBeginAlike(t *testing.T) {
	var sent sentTexts
	shared := strings.Repeat("example ", 100)
	for _, c := range []struct {
		text       string
		from, most int
	}{
		{shared + "one", 0, 0},
		{shared + "two", len(shared) - textBlock, len(shared) + textBlock},
		{shared + "one", len(shared) + 3, len(shared) + 3},
		{"other " + shared, 0, 0},
		{"x", 0, 0},
		{"x", 1, 1},
	} {
		if n := sent.again(c.text); n < c.from || n > c.most {
			t.Errorf("%d bytes of %q... were there before, want %d to %d", n, c.text[:min(20, len(c.text))], c.from, c.most)
		}
	}
}

// TestCountedTextsAreNotNew: the server was sent the texts that it counted.
func TestCountedTextsAreNotNew(t *testing.T) {
	var b strings.Builder
	for i := range 10 {
		fmt.Fprintf(&b, "{\"prompt\": \"prompt number %d\", \"output_tokens\": 5}\n", i)
	}
	for _, count := range []Counter{nil, byCharacter} {
		d, err := read(t.Context(), text(t, b.String()), datasetOptions{Count: count, Output: rundir.Lengths{Mean: 50}})
		if err != nil {
			t.Fatal(err)
		}
		want := 0
		if count != nil {
			want = load.AllTokens
		}
		for _, s := range simtest.TakeTexts(t, d.Stage("a"), 10) {
			if s.Repeats != want {
				t.Errorf("%q repeats %d tokens, want %d", s.Turns[0].User, s.Repeats, want)
			}
		}
	}
}
