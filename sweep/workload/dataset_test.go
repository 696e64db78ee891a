package workload

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed"
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
	"unicode/utf8"

	"llmsweep/client/note"
	"llmsweep/client/testkit"
	"llmsweep/sweep/load"
	"llmsweep/sweep/simtest"
	"llmsweep/sweep/stats"
)

// The files of testdata: conversations of ShareGPT's format, and rows in other formats with faults and with answers.
var (
	//go:embed testdata/sharegpt.json
	shareGPT string
	//go:embed testdata/rows.jsonl
	rowLines string
	//go:embed testdata/rows.csv
	rowCSV string
	//go:embed testdata/graded.jsonl
	gradedLines string
)

// rows writes the rows of a dataset with the lengths of their answers, a star where these are graded, and the pause
// before a turn, sorted, and then the notes on the file.
func rows(t *testing.T, d *Dataset) string {
	t.Helper()
	var all []string
	graded := 0
	for _, session := range simtest.TakeTexts(t, d.Stage("a"), d.Rows()) {
		var one []string
		if session.System != "" {
			one = append(one, "system: "+session.System)
		}
		for _, turn := range session.Turns {
			text := fmt.Sprintf("%s>%d", strings.ReplaceAll(turn.User, "\n", "\\n"), turn.OutputTokens)
			if session.Tag != nil && turn.Greedy {
				text += "*"
				graded++
			}
			if turn.Think > 0 {
				text += fmt.Sprint(" after ", turn.Think)
			}
			one = append(one, text)
		}
		all = append(all, strings.Join(one, " / "))
	}
	if n := d.Describe().Graded; n != graded {
		t.Errorf("%d rows are graded, and described as %d", graded, n)
	}
	slices.Sort(all)
	return strings.Join(append(all, written(d.Notes())...), " | ")
}

func TestDatasets(t *testing.T) {
	fifty := datasetOptions{Output: mean(50)}
	var b strings.Builder
	z := gzip.NewWriter(&b)
	io.WriteString(z, shareGPT)
	z.Close()
	packed := b.String()
	for name, c := range map[string]struct {
		content string
		o       datasetOptions
		want    string // how rows and notes begin
	}{
		"ShareGPT as published": {shareGPT, datasetOptions{}, "aaaa>7 | céc中>3 | dddd>8 | dataset.rows[drawn_from:4 " +
			"file:data rows:3] | dataset.token-estimate[file:data source:usage texts:8] | -[3 6] one-turn | -[7] no-object | " +
			"-[10] no-answer | -[11] unknown-speaker | -[9] too-short[min_output:2 min_prompt:2]"},
		"ShareGPT, all turns": {shareGPT, datasetOptions{MultiTurn: true, Think: Think{mean(1000)}},
			"aaaa>7 / more>2 after 1s | céc中>3 | dddd>8 | data"},
		"ShareGPT, packed":          {packed, datasetOptions{}, "aaaa>7 | céc中>3 | dddd>8 | data"},
		"ShareGPT, packed, and cut": {packed[:len(packed)/2], datasetOptions{}, "aaaa>7 | data"},
		"ShareGPT, forced": {shareGPT, datasetOptions{Output: mean(64), ForceOutput: true},
			"aaaa>64 | céc中>64 | dddd>64 | data"},
		"JSON lines": {strings.ReplaceAll(rowLines, "\n", "\r\n"), fifty, `a string>50 | aaaa>9 | bbbb>50 | dddd>50 | ` +
			`system: Be brief. / cc\n\ncc>3 / again>40 | 😀 and � and 中文>3 | dataset.rows[file:data rows:6] | ` +
			`dataset.token-estimate[file:data source:usage texts:7] | -[3] empty-prompt | -[5] no-json-line | -[7] not-text | ` +
			`-[8] no-user-message | -[9] output-tokens[field:output_tokens] | -[11] no-prompt`},
		"CSV": {strings.ReplaceAll(rowCSV, "\n", "\r\n"), fifty, `aaaa>7 | two\nlines, and "quotes">50 | 中文>2 | ` +
			`dataset.rows[file:data rows:3] | dataset.token-estimate[file:data source:usage texts:3] | -[5] csv-fields | ` +
			`-[6] output-tokens[field:output_tokens] | -[7] no-csv[error:bare " in non-quoted-field] | -[8] empty-prompt`},
		"graded": {gradedLines, datasetOptions{Graded: true}, "five>0 | one>0* | three>0 | two>0* | " +
			"dataset.rows[file:data rows:4] | dataset.token-estimate[file:data source:usage texts:4] | " +
			"-[4] grade[error:\"x\" is no number] | -[5] graded-turns"},
		"not graded": {gradedLines, datasetOptions{}, "a>1 / c>0 | five>0 | four>0 | one>0 | "},
		"graded CSV": {"prompt,answer,grade\nx,1,\ny,a,exact\nz,,\n", datasetOptions{Graded: true}, "x>0* | y>0* | z>0 | "},
		"a truncated array": {"[{\"prompt\": \"aa\"},\n{\"prompt\": \"bb\"},\n{\"prom", fifty, "aa>50 | bb>50 | " +
			"dataset.rows[file:data rows:2] | dataset.token-estimate[file:data source:usage texts:2] | -[3] broken-off"},
		"empty":     {"", fifty, "error: data is empty"},
		"blank":     {" \n\t\r\n ", fifty, "error: data is empty"},
		"empty []":  {"[]", fifty, "error: data has no rows"},
		"no prompt": {"id,question\n1,what\n", fifty, "error: data:1: the header has no column prompt"},
		"no rows":   {"prompt\n", fifty, "error: data has no rows"},
		"all bad":   {"{}\n{\"prompt\": 5}\n", fifty, "error: data:1: no usable row in 2; the first fault: skip.no-prompt"},
		"pretty": {"{\n \"prompt\": \"x\"\n}\n", fifty,
			"error: data:1: no usable row in 3; the first fault: skip.no-json-line"},
		"cut":      {`[{"prompt": "x`, fifty, "error: data:1: no usable row in 1; the first fault: skip.broken-off"},
		"no array": {"[\n\n}", fifty, "error: data:3: no usable row in 1; the first fault: skip.broken-off"},
		"limits": {`[{"conversations": [{"from": "human", "value": "a"}, {"from": "gpt", "value": "b"}]}]`, fifty,
			"error: data:1: no usable row in 1; the first fault: skip.too-short"},
	} {
		c.o.Count = byCharacter
		d, err := readDataset(t.Context(), text(t, c.content), c.o)
		got := fmt.Sprint("error: ", err)
		if err == nil {
			got = rows(t, d)
		}
		if !strings.HasPrefix(got, c.want) || err != nil && strings.Contains(got, "\n") {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
	_, err := newRows("data", strings.NewReader("\xff\xfe{\x00"))
	if err == nil || !strings.Contains(err.Error(), "UTF-16") {
		t.Error(err)
	}
	if _, err := openDataset(t.Context(), "/nowhere/data.json", datasetOptions{}); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	w := readText(t, shareGPT, datasetOptions{Count: byCharacter}).Describe()
	if w.Dataset != "data" || math.Abs(w.OutputTokens.Mean-6) > 1e-9 || w.PromptTokens.Mean != 9 {
		t.Errorf("described as %+v", w)
	}
}

// A server that does not count is asked once. Reading ends when the run does.
func TestCountingFails(t *testing.T) {
	calls := 0
	refuses := func(context.Context, ...string) ([]int, string, error) {
		calls++
		return nil, "", errors.New("no /tokenize")
	}
	d := readText(t, conversation(1), datasetOptions{Count: refuses})
	if calls != 1 || !slices.ContainsFunc(d.Notes(), noteGuessed.New("data", errors.New("no /tokenize")).Equal) {
		t.Errorf("asked %d times: %v", calls, d.Notes())
	}
	ctx, cancel := context.WithCancel(t.Context())
	ends := func(ctx context.Context, _ ...string) ([]int, string, error) { cancel(); return nil, "", ctx.Err() }
	if _, err := readDataset(ctx, text(t, shareGPT), datasetOptions{Count: ends}); !errors.Is(err, context.Canceled) {
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
		return strings.Join(randomWords(2+rng.IntN(most), rng), " ")
	}
	b, _ := json.Marshal(map[string]any{"id": fmt.Sprint(i), "conversations": []map[string]string{
		{"from": "human", "value": fmt.Sprintf("%07d ", i) + say(200)}, {"from": "gpt", "value": say(400)},
		{"from": "human", "value": say(100)}, {"from": "gpt", "value": say(400)},
	}})
	return string(b)
}

// Estimates of tokens are within 5 % of what several tokenizers count, in two scripts.
func TestEstimate(t *testing.T) {
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, "%s\n", conversation(i))
	}
	for name, tokenize := range simtest.Tokenizers() {
		if name == "a word" {
			continue // it makes one token of a Chinese text of any length
		}
		d := readText(t, b.String(), datasetOptions{Count: simtest.TextCounter(tokenize, 11)})
		said, really := 0, 0
		for _, session := range simtest.TakeTexts(t, d.Stage("a"), d.Rows()) {
			said += session.Turns[0].PromptTokens
			really += tokenize(session.Turns[0].User) + 11
		}
		if off := float64(said)/float64(really) - 1; math.Abs(off) > 0.05 {
			t.Errorf("%s: %d tokens are estimated as %d: %.1f %% off", name, really, said, 100*off)
		}
	}
}

// Each row is drawn equally often, and a stage takes each once before it takes one again.
func TestSampling(t *testing.T) {
	const rows, drawn, seeds = 50, 10, 500
	content := numbered(`{"prompt": "%d"}`, rows)
	times := map[string]int{}
	for seed := range uint64(seeds) {
		seen := map[string]bool{}
		all := users(t, readText(t, content, datasetOptions{Rows: drawn, Seed: seed}), "a", 2*drawn)
		for _, user := range all[:drawn] {
			times[user]++
			seen[user] = true
		}
		if len(seen) != drawn || slices.ContainsFunc(all, func(user string) bool { return !seen[user] }) {
			t.Fatalf("%q, %d different ones among the first %d", all, len(seen), drawn)
		}
	}
	for i := range rows { // 100 each, give or take 9
		if n := times[fmt.Sprint(i)]; n < 60 || n > 140 {
			t.Errorf("row %d is drawn %d times, want about 100", i, n)
		}
	}
}

func TestStagesTakeRowsInOrdersOfTheirOwn(t *testing.T) {
	d := readText(t, numbered(`{"prompt": "%d"}`, 100), datasetOptions{Seed: 1})
	a := users(t, d, "a", 100)
	if again, b := users(t, d, "a", 100), users(t, d, "b", 100); !slices.Equal(a, again) || slices.Equal(a[:20], b[:20]) {
		t.Errorf("%v, again %v, in another stage %v", a, again, b)
	}
}

// 20 MB are read from a pipe: few of them are held in memory meanwhile.
func TestMemoryStaysBounded(t *testing.T) {
	const size, bound = 20 << 20, 10 << 20
	before := allocated()
	most, row := before, conversation(0)
	r, w := io.Pipe()
	go func() {
		io.WriteString(w, "["+row)
		for i := range size / len(row) {
			if io.WriteString(w, ",\n"+row); i%500 == 0 {
				var now runtime.MemStats
				runtime.ReadMemStats(&now)
				most = max(most, int64(now.HeapAlloc))
			}
		}
		io.WriteString(w, "]")
		w.Close()
	}()
	in, err := newRows("stream", r)
	if err != nil {
		t.Fatal(err)
	}
	d, err := readDataset(t.Context(), in, datasetOptions{Rows: 500})
	if held := most - before; err != nil || held > bound || d.Rows() < 450 || len(d.skipped) > 1 {
		t.Errorf("%d KB of %d MB are held in memory: %v, %v", held>>10, size>>20, err, d)
	}
}

// allocated returns the memory in use, in bytes.
func allocated() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// A row of a megabyte is read, and one that is too long is skipped; in an array, nothing can be read after it.
func TestHugeRows(t *testing.T) {
	const most = 1 << 20
	begin, end := `{"prompt": "aa"}`+"\n", "\n"+`{"prompt": "bb"}`
	beyond := strings.Repeat("x", most+10)
	for _, c := range []struct {
		content, want string
	}{
		{begin + `{"prompt": "` + strings.Repeat("word ", most/5-10) + `"}` + end, "3 []"},
		{begin + beyond + end, "2 [-[2] row-too-long[megabytes:1]]"},
		{"[\n" + begin[:len(begin)-1] + ",\n\"" + beyond + beyond, "1 [-[3] row-too-long[megabytes:1]]"},
	} {
		in := text(t, c.content)
		in.MaxRow = most
		d, err := readDataset(t.Context(), in, datasetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(d.Rows(), " ", written(d.skipped.notes("data"))); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

func TestLongTextsAreFewer(t *testing.T) {
	d := &Dataset{options: datasetOptions{Rows: 100}}
	p := newSampler(d)
	p.maxBytes = 50_000
	for i := range 200 {
		p.take(i+1, row{turns: []turn{{user: strings.Repeat("é", 2500)}}}, note.Note{})
	}
	if n := len(p.rows.kept); !p.shrunk || n != 9 || p.bytes > p.maxBytes || p.rows.seen != 200 {
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
	f.Add([]byte(rowLines), false)
	f.Add([]byte("prompt,output_tokens\n\"a\nb\",5\nc,\n"), false)
	f.Add([]byte("[1, \"x\", {\"prompt\""), false)
	f.Fuzz(testkit.MutatedWith(func(t *testing.T, b []byte, multiTurn bool) {
		in, err := newRows("data", bytes.NewReader(b))
		if err != nil {
			return
		}
		o := datasetOptions{Rows: 3, MultiTurn: multiTurn, Output: mean(9), Count: byCharacter}
		d, err := readDataset(t.Context(), in, o)
		if err != nil {
			if strings.Contains(err.Error(), "\n") && !bytes.Contains(b, []byte("\n")) {
				t.Errorf("%q", err)
			}
			return
		}
		last := 1 + bytes.Count(b, []byte("\n")) + bytes.Count(b, []byte("\r"))
		for _, s := range d.skipped {
			if packed := bytes.HasPrefix(b, []byte{0x1f, 0x8b}); s.Lines[0] < 1 || !packed && s.Lines[len(s.Lines)-1] > last {
				t.Errorf("%v, of %d lines", s, last)
			}
		}
		for _, session := range simtest.TakeTexts(t, d.Stage("a"), 2*d.Rows()) {
			for i, turn := range session.Turns {
				blank := strings.TrimSpace(turn.User) == "" && i < len(session.Turns)-1
				if blank || turn.OutputTokens < 1 || turn.PromptTokens < 0 {
					t.Errorf("%+v", session)
				}
			}
		}
	}))
}

// What the rows of a file have in common, and what the server counted, is not new to the
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
		if n := sent.remember(c.text); n < c.from || n > c.most {
			t.Errorf("%d bytes of %q... were there before, want %d to %d", n, c.text[:min(20, len(c.text))], c.from, c.most)
		}
	}
}

// The server was sent the texts that it counted.
func TestCountedTextsAreNotNew(t *testing.T) {
	for want, count := range map[int]Counter{0: nil, load.AllTokens: byCharacter} {
		d := readText(t, numbered(`{"prompt": "prompt number %d", "output_tokens": 5}`, 10), datasetOptions{Count: count})
		for _, s := range simtest.TakeTexts(t, d.Stage("a"), 10) {
			if s.Repeats != want {
				t.Errorf("%q repeats %d tokens, want %d", s.Turns[0].User, s.Repeats, want)
			}
		}
	}
}
