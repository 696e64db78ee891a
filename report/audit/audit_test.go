package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"llmsweep/client/testkit"
	"llmsweep/report/lang"
	"llmsweep/report/published"
	"llmsweep/sweep/rundir"
)

func subjects(runs []rundir.Run) []Subject {
	var all []Subject
	for i := range runs {
		all = append(all, Subject{Run: &runs[i]})
	}
	return all
}

// documents audits the published documents, as the command does.
func documents(t *testing.T) []Report {
	t.Helper()
	var all []Report
	for _, name := range []string{"guidellm-tables.md", "stress-tables.txt", "serving-blocks.txt", "scaling-a10.txt"} {
		text, err := os.ReadFile(filepath.Join("..", "published", "testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		doc, err := published.ParseText(name, bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		a := Report{File: name, Results: len(doc.Runs), Findings: Runs(subjects(doc.Runs))}
		for i := range doc.Runs {
			a.Rows += len(doc.Runs[i].Stages)
		}
		all = append(all, a)
	}
	return all
}

func TestPublishedDocuments(t *testing.T) {
	all := documents(t)
	for _, l := range lang.All() {
		var text bytes.Buffer
		if err := Text(&text, all, l, true); err != nil {
			t.Fatal(err)
		}
		testkit.CheckGolden(t, "published."+string(l)+".txt", text.Bytes())
	}
	var list bytes.Buffer
	if err := JSON(&list, all[2:3]); err != nil {
		t.Fatal(err)
	}
	testkit.CheckGolden(t, "serving.json", list.Bytes())
}

// TestExpertsList: what somebody finds who reads the three documents with a pencil. One mistake is one finding. Nothing
// more is found, and nothing less.
func TestExpertsList(t *testing.T) {
	want := []string{
		"guidellm-tables.md:21 unit", "guidellm-tables.md:21 latency", // 1090.02 sec is ms, 220.06 is 22.06
		"guidellm-tables.md:24 ceiling",
		"guidellm-tables.md:38 tokens",                              // 6.28 is 6.82
		"guidellm-tables.md:51 grid", "guidellm-tables.md:134 grid", // 4.73 is 4.37, 5.65 is 5.05
		"guidellm-tables.md:135 copied", // 224.10 ms belongs to the next row
		"guidellm-tables.md:141 ceiling",
		"guidellm-tables.md:156 grid", "guidellm-tables.md:166 grid", "guidellm-tables.md:171 grid", // 16.63, 4.07, 11.64
		"guidellm-tables.md:174 latency", // 3618 ms is 13618
		"guidellm-tables.md:189 copied",  // from the row above
		"guidellm-tables.md:190 latency", // 213 ms at the ceiling
		"guidellm-tables.md:206 ceiling",
		"guidellm-tables.md:212 zeros",
		"guidellm-tables.md:214 backlog", "guidellm-tables.md:215 offered", // one backlog, three rows
		// Batches, not a closed loop; but for the tests in which all requests took the same time.
		"stress-tables.txt:17 closed-loop", "stress-tables.txt:47 closed-loop", "stress-tables.txt:80 closed-loop",
		"stress-tables.txt:110 closed-loop", "stress-tables.txt:146 closed-loop", "stress-tables.txt:176 closed-loop",
		"stress-tables.txt:208 closed-loop", "stress-tables.txt:238 closed-loop", "stress-tables.txt:277 closed-loop",
		"stress-tables.txt:307 closed-loop", "stress-tables.txt:340 closed-loop", "stress-tables.txt:370 closed-loop",
		"stress-tables.txt:427 limit", "stress-tables.txt:457 limit", // all ran to Max Tokens, and 77 % of that was counted
		"stress-tables.txt:490 limit", "stress-tables.txt:518 limit", // the 128 trap
		"serving-blocks.txt:17 stream", "serving-blocks.txt:24 latency", "serving-blocks.txt:31 stream",
		"serving-blocks.txt:98 stream",
		// Batches again.
		// 104 tokens of 256 each, by the clock
		"scaling-a10.txt:107 limit", "scaling-a10.txt:135 limit", "scaling-a10.txt:163 limit", "scaling-a10.txt:231 limit",
		"scaling-a10.txt:259 limit",
		"scaling-a10.txt:318 limit", "scaling-a10.txt:346 limit", "scaling-a10.txt:374 limit", "scaling-a10.txt:402 limit",
		"scaling-a10.txt:455 closed-loop", "scaling-a10.txt:545 closed-loop", "scaling-a10.txt:605 closed-loop",
		"scaling-a10.txt:638 closed-loop",
		"scaling-a10.txt:668 closed-loop", "scaling-a10.txt:698 closed-loop", "scaling-a10.txt:728 closed-loop",
		"scaling-a10.txt:758 closed-loop",
		"scaling-a10.txt:788 closed-loop",
	}
	var got []string
	for _, a := range documents(t) {
		for _, f := range a.Findings {
			got = append(got, fmt.Sprintf("%s:%d %s", f.File, f.Line, f.Rule))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-pencil +found:\n%s", diff)
	}
}

// TestAlikeIsSaidOnce: what is found in several tables alike is said above all, with the lines; in one table, it is a
// finding like others, and with
// --all each is.
func TestAlikeIsSaidOnce(t *testing.T) {
	all := documents(t)
	for l, want := range map[lang.Lang]string{
		lang.English: "In 3 tables the row throughput counts requests of a burst, not a sustained rate (lines 24, 141, 206).",
		lang.Chinese: "3 个表的 throughput 行计的是突发请求，而非稳态速率（第 24、141、206 行）。",
	} {
		var once, each bytes.Buffer
		if err := errors.Join(Text(&once, all[:1], l, false), Text(&each, all[:1], l, true)); err != nil {
			t.Fatal(err)
		}
		if lines := strings.Split(once.String(), "\n"); strings.TrimSpace(lines[1]) != want ||
			strings.Contains(once.String(), "  ceiling  ") {
			t.Errorf("%q, not %q, in\n%s", lines[1], want, once.String())
		}
		if n := strings.Count(each.String(), "  ceiling  "); n != 3 || strings.Contains(each.String(), want) {
			t.Errorf("%d times in\n%s", n, each.String())
		}
	}
	one := all[0]
	one.Findings = slices.DeleteFunc(slices.Clone(one.Findings), func(f Finding) bool { return f.Line != 24 })
	var b bytes.Buffer
	if err := Text(&b, []Report{one}, lang.English, false); err != nil || strings.Count(b.String(), "  ceiling  ") != 1 {
		t.Errorf("%v\n%s", err, b.String())
	}
}

// TestPlacesOfTheGridAreGivenOnce: of two rates off the grid, each has a free place of its own.
func TestPlacesOfTheGridAreGivenOnce(t *testing.T) {
	var said []string
	for _, f := range documents(t)[0].Findings {
		if f.Rule == "grid" {
			said = append(said, f.Text)
		}
	}
	slices.Sort(said)
	if again := slices.Compact(slices.Clone(said)); len(said) == 0 || len(again) != len(said) {
		t.Error(said)
	}
	table := "**M**, **1** x **L20**, **vLLM**\n\n| Benchmark | Requests per Second | Request Latency | Time to First Token | Inter Token Latency | Output Token Throughput |\n" +
		"| --- | --- | --- | --- | --- | --- |\n| synchronous | 1.00 req/sec | n/a | n/a | n/a | n/a |\n"
	for _, r := range []string{"2", "3.4", "4", "5.2", "6", "7", "8"} {
		table += "| asynchronous@" + r + ".00 req/sec | n/a | n/a | n/a | n/a | n/a |\n"
	}
	table = strings.NewReplacer("3.4.00", "3.10", "5.2.00", "3.20").Replace(table) +
		"| throughput | 8.00 req/sec | n/a | n/a | n/a | n/a |\n"
	doc, err := published.ParseText("doc", strings.NewReader(table))
	if err != nil {
		t.Fatal(err)
	}
	var places []any
	for _, f := range Runs(subjects(doc.Runs)) {
		places = append(places, f.Args["rate"], f.Args["grid_rate"])
	}
	if diff := cmp.Diff([]any{"3.10", "3.00", "3.20", "5.00"}, places); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestImportedIsAudited: what went through run.json is judged as the document was.
func TestImportedIsAudited(t *testing.T) {
	for _, a := range documents(t) {
		text, err := os.ReadFile(filepath.Join("..", "published", "testdata", a.File))
		if err != nil {
			t.Fatal(err)
		}
		doc, err := published.ParseText(a.File, bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		var runs []rundir.Run
		b, err := json.Marshal(doc.Runs)
		if err == nil {
			err = json.Unmarshal(b, &runs)
		}
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(a.Findings, Runs(subjects(runs)), cmp.AllowUnexported(rundir.Number{}, Finding{})); diff != "" {
			t.Errorf("%s (-document +run.json):\n%s", a.File, diff)
		}
	}
}

// audited is what the rules find in a text: rule and line.
func audited(t *testing.T, text string) []string {
	t.Helper()
	doc, err := published.ParseText("doc", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	found := []string{}
	for _, f := range Runs(subjects(doc.Runs)) {
		found = append(found, fmt.Sprintf("%s %d", f.Rule, f.Line))
	}
	return found
}

const (
	heading = "- **M**, **1** x **G**, **E**, prompt_tokens=512, generated_tokens=128\n" +
		"| Benchmark | Requests per Second | Request Latency | Time to First Token | Inter Token Latency | Output Token Throughput |\n|---|---|---|---|---|---|\n"
	good = "| synchronous | 1.00 req/sec | 1.00 sec | 50.00 ms | 7.48 ms | 128.00 tokens/sec |\n"
)

// TestRowRules: each rule finds what it is for, and is silent just inside of its tolerance.
func TestRowRules(t *testing.T) {
	for rows, want := range map[string][]string{
		good: {},
		"| asynchronous@1.00 | 0.00 req/sec | 0.00 sec | 0.00 ms | 0.00 ms | 0.00 tokens/sec |": {"zeros 4"},
		"| asynchronous@1.00 | n/a | n/a | n/a | n/a | n/a |":                                   {},
		"| throughput | 9.00 req/sec | 1.00 sec | 1.01 sec | n/a | n/a |":                       {"latency 4"},
		// rounding
		"| throughput | 9.00 req/sec | 1.00 sec | 1002.00 ms | n/a | n/a |":                    {},
		"| throughput | 9.00 req/sec | 1.06 sec | 50.00 ms | 7.48 ms | 1152.00 tokens/sec |":   {"latency 4"},
		"| throughput | 9.00 req/sec | 1.04 sec | 50.00 ms | 7.48 ms | 1152.00 tokens/sec |":   {},
		"| throughput | 9.00 req/sec | 0.90 sec | 50.00 ms | 7.48 ms | 1152.00 tokens/sec |":   {"latency 4"},
		"| throughput | 9.00 req/sec | > 0.90 sec | 50.00 ms | 7.48 ms | 1152.00 tokens/sec |": {},
		"| throughput | 90.00 req/sec | 1.00 sec | 50.00 ms | 7.48 ms | 25000.00 tokens/sec |": {"tokens 4"},
		// a burst: requests in flight have tokens
		"| throughput | 90.00 req/sec | 1.00 sec | 50.00 ms | 7.48 ms | 23000.00 tokens/sec |": {},
		// few have ended
		"| throughput | 9.00 req/sec | 1.00 sec | 50.00 ms | 7.48 ms | 2500.00 tokens/sec |": {},
		"| x | 9.00 req/sec | 1.00 sec | 50.00 ms | 7.48 ms | 1240.00 tokens/sec |":          {"tokens 4"},
		"| x | 9.00 req/sec | 1.00 sec | 50.00 ms | 7.48 ms | 1190.00 tokens/sec |":          {},
		"| throughput | 9.00 req/sec | 0.50 sec | 50.00 ms | 7.48 ms | 550.00 tokens/sec |":  {"tokens 4"},
		"| throughput | 9.00 req/sec | 0.57 sec | 50.00 ms | 7.48 ms | 630.00 tokens/sec |":  {},
		"| asynchronous@1.00 | 1.45 req/sec | n/a | n/a | n/a | n/a |":                       {"offered 4"},
		// doubtful: beyond chance in 120 s
		"| asynchronous@1.00 | 1.35 req/sec | n/a | n/a | n/a | n/a |": {"offered 4"},
		"| asynchronous@1.00 | 1.26 req/sec | n/a | n/a | n/a | n/a |": {},
		good + strings.Repeat("| throughput | 9.00 req/sec | 60 sec | n/a | 7.48 ms | n/a |\n",
			1): {},
		good + good + good + "| x | 9 req/sec | 2.00 sec | 60.00 sec | n/a | n/a |": {"unit 7"},
		// another unit, and right
		good + good + good + "| x | 9 req/sec | 2.00 sec | 0.06 sec | n/a | n/a |":                                                                       {},
		good + "| x | 2.00 req/sec | 2.12 sec | 50.00 ms | 7.48 ms | n/a |\n":                                                                            {},
		good + "| x@2 | 2.00 req/sec | 2.12 sec | 1050.00 ms | 7.477 ms | n/a |\n":                                                                       {},
		"| x@2 | 2.00 req/sec | 2.00 sec | 1052.00 ms | 7.477 ms | 256 tok/s |\n| x@3 | 3.00 req/sec | 2.00 sec | 1052.00 ms | 7.477 ms | 384 tok/s |\n": {},
		"| x@2 | 2.00 req/sec | 2.05 sec | 1052.00 ms | 7.477 ms | n/a |\n| x@3 | 3.00 req/sec | 2.12 sec | 1052.00 ms | 7.477 ms | n/a |\n":             {"copied 5"},
		// the queue differs, not the server
		"| x@2 | 2.00 req/sec | 1.12 sec | 152.00 ms | 7.477 ms | n/a |\n| x@3 | 3.00 req/sec | 9.12 sec | 8152.00 ms | 7.477 ms | n/a |\n": {},
		"| x@2 | 2.00 req/sec | 1.12 sec | 152.00 ms | 7.477 ms | n/a |\n| x@3 | 3.00 req/sec | 9.12 sec | 1152.00 ms | 7.477 ms | n/a |\n": {"copied 5"},
	} {
		if diff := cmp.Diff(want, audited(t, heading+rows)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", rows, diff)
		}
	}
}

// TestGrid: the rates of a sweep lie evenly between its ends.
func TestGrid(t *testing.T) {
	table := func(rates ...string) string {
		s := heading + "| synchronous | 1.00 req/sec | 1.00 sec | n/a | n/a | n/a |\n"
		for _, r := range rates {
			s += "| asynchronous@" + r + " req/sec | n/a | n/a | n/a | n/a | n/a |\n"
		}
		return s + "| throughput | 6.00 req/sec | n/a | n/a | n/a | n/a |\n"
	}
	for _, c := range []struct {
		rates []string
		want  []string
	}{
		{[]string{"2.00", "3.00", "4.00", "5.00", "6.00"}, []string{}},
		{[]string{"2.01", "2.99", "4.00", "5.01", "5.99"}, []string{}},
		{[]string{"2.00", "3.30", "4.00", "5.00", "6.00"}, []string{"grid 6"}},
		{[]string{"6.00", "5.00", "3.30", "3.00", "2.00"}, []string{"grid 7"}},
		{[]string{"2.50", "3.30", "4.00", "5.00", "6.00"}, []string{}}, // chosen by hand
	} {
		if diff := cmp.Diff(c.want, audited(t, table(c.rates...))); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.rates, diff)
		}
	}
}

// block is a serving block, good but for what is replaced in it.
func block(replace ...string) string {
	return strings.NewReplacer(replace...).Replace(`
============ Serving Benchmark Result ============
Backend:                                 sglang-oai-chat
Traffic request rate:                    20.0
Max request concurrency:                 20
Successful requests:                     100
Benchmark duration (s):                  40.00
Total input tokens:                      50000
Total generated tokens:                  20100
Total generated tokens (retokenized):    20000
Request throughput (req/s):              2.50
Input token throughput (tok/s):          1250.00
Output token throughput (tok/s):         502.50
Total token throughput (tok/s):          1752.50
Concurrency:                             15.38
----------------End-to-End Latency----------------
Mean E2E Latency (ms):                   6150.00
Median E2E Latency (ms):                 6000.00
Mean TTFT (ms):                          150.00
Median TTFT (ms):                        140.00
P99 TTFT (ms):                           190.00
Mean TPOT (ms):                          31.00
Median TPOT (ms):                        30.00
Mean ITL (ms):                           30.00
P95 ITL (ms):                            50.00
P99 ITL (ms):                            90.00
Max ITL (ms):                            99.00
==================================================
`)
}

func TestBlockRules(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{block(), []string{}},
		{block(" 2.50", " 2.55"), []string{"arithmetic 11"}},
		{block("502.50", "402.50"), []string{"arithmetic 13"}},
		{block("1752.50", "1725.50"), []string{"arithmetic 14"}},
		{block("20000", "30000"), []string{"stream 10"}},
		{block("20000", "18500"), []string{}},
		{block(" 31.00", " 61.00"), []string{"stream 22"}},
		{block(" 31.00", " 59.00"), []string{}},
		{block("P95 ITL (ms):                            50.00", "P95 ITL (ms):                            95.00"),
			[]string{"arithmetic 26"}},
		{block("6150.00", "7150.00", "15.38", "17.88"), []string{"latency 17"}},
		{block("6150.00", "3150.00", "15.38", "7.88"), []string{}}, // several tokens a chunk: fewer gaps
		{block() + block(), []string{}},
	} {
		if diff := cmp.Diff(c.want, audited(t, c.text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.text, diff)
		}
	}
}

// box is a stress table, good but for what is replaced in it.
func box(replace ...string) string {
	return strings.NewReplacer(replace...).Replace(`
┃ Metric ┃ Value ┃
│ Model │ M │
│ Max Tokens │ 512 │
│ Temperature │ 0.7 │
│ Concurrent Requests │ 10 │
│ Total Requests │ 100 │
│ Successful Requests │ 100 (100.0%) │
│ Failed Requests │ 0 (0.0%) │
│ Total Test Duration │ 60.00 seconds │
│ Min Response Time │ 1.00 seconds │
│ Max Response Time │ 9.00 seconds │
│ Average Response Time │ 5.50 seconds │
│ Median Response Time │ 5.00 seconds │
│ P90 Response Time │ 7.50 seconds │
│ P99 Response Time │ 9.00 seconds │
│ Std Dev Response Time │ 2.00 seconds │
│ Theoretical Max Throughput │ 11.11 requests/second │
│ Actual Throughput │ 1.67 requests/second │
│ Total Generated Tokens │ 30000 │
│ Tokens Per Second │ 500.00 │
│ Avg Tokens Per Request │ 300.00 │
`)
}

func TestTableRules(t *testing.T) {
	const answer = "{'completion_tokens': 128, 'finish_reason': {'type': 'length'}}\n"
	even := []string{"1.00 seconds", "5.40 seconds", "9.00 seconds", "5.60 seconds", "7.50 seconds", "5.60 seconds",
		"5.00 seconds", "5.50 seconds", "2.00 seconds", "0.05 seconds", "11.11", "17.86"}
	with := func(more ...string) []string { return append(slices.Clone(even), more...) }
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"good", box(), []string{}},
		{"batches", box("60.00 seconds", "75.00 seconds", "1.67", "1.33", "500.00", "400.00"), []string{"closed-loop 6"}},
		{"a tail", box("60.00 seconds", "64.00 seconds", "1.67", "1.56", "500.00", "468.75"), []string{}},
		{"order", box("7.50 seconds", "4.50 seconds"), []string{"arithmetic 15"}},
		{"mean", box("5.50 seconds", "9.50 seconds"), []string{"arithmetic 13"}},
		{"a cold start", box("9.00 seconds", "16.40 seconds", "5.50 seconds", "3.40 seconds", "5.00 seconds", "2.00 seconds",
			"7.50 seconds", "2.10 seconds",
			"1.00 seconds", "1.95 seconds", "11.11", "6.10", "60.00 seconds", "40.00 seconds", "1.67", "2.50", "500.00",
			"750.00", "4.20", "4.20",
			"│ Std Dev Response Time │ 2.00", "│ Std Dev Response Time │ 4.20"), []string{"cold 13"}},
		{"a count of another's", box(even...), []string{"limit 22"}},
		{"temperature 0", box(with("0.7", "0.0")...), []string{}},
		{"a default limit", answer + box(with("30000", "12800", "300.00", "128.00", "500.00", "213.33", "0.7", "0")...) +
			box(with("512", "1024", "30000", "12800", "300.00", "128.00", "500.00", "213.33", "0.7", "0")...),
			[]string{"limit 5", "limit 27"}},
		{"two limits that were heard", answer + box(with("0.7", "0")...) + box("512", "1024", "0.7", "0"), []string{}},
		{"repeated", box() + box("5.50 seconds", "5.90 seconds", "2.00 seconds", "2.10 seconds", "1.00 seconds",
			"1.10 seconds",
			"60.00 seconds", "61.00 seconds", "1.67", "1.64", "30000", "29000", "500.00", "475.41", "300.00", "290.00",
			"9.00 seconds", "9.10 seconds", "11.11", "10.99", "7.50 seconds", "7.60 seconds", "5.00 seconds", "5.10 seconds"),
			[]string{}},
	} {
		if diff := cmp.Diff(c.want, audited(t, c.text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestRecords(t *testing.T) {
	f := rundir.Exactly
	ok := rundir.Record{
		Stage: "s", Status: "ok", Due: f(1), Sent: f(1.001), Headers: f(1.1), FirstToken: f(1.2), LastToken: f(1.4),
		End:         f(1.5),
		AskedTokens: 3, OutputTokens: f(3), Finish: "length", GapsUS: []int64{100_000, 100_000},
	}
	bad := func(change func(*rundir.Record)) *rundir.Record {
		r := ok
		change(&r)
		return &r
	}
	records := []*rundir.Record{
		&ok,
		bad(func(r *rundir.Record) { r.FirstToken, r.GapsUS = f(1.05), []int64{350_000} }),
		bad(func(r *rundir.Record) { r.GapsUS = []int64{100_000, 90_000} }),
		bad(func(r *rundir.Record) { r.GapsUS = []int64{100_000, 80_000} }),
		bad(func(r *rundir.Record) { r.AskedTokens, r.OutputTokens = 512, f(128) }),
		bad(func(r *rundir.Record) { r.OutputTokens, r.Finish = f(0), "stop" }),
	}
	found, err := Records(&rundir.Run{}, "records.jsonl", func(yield func(*rundir.Record, error) bool) {
		for _, r := range records {
			if !yield(r, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range found {
		got = append(got, fmt.Sprintf("%d %s: %s", f.Line, f.Rule, f.Text))
	}
	want := []string{
		"2 latency: first_token at 1.05 s, but headers at 1.10 s",
		"3 latency: 2 requests, the first: 2 gaps add up to 190.00 ms, but first and last token are 200.00 ms apart",
		"5 tokens: stopped by length at 128 tokens, 512 were asked for",
		"6 tokens: succeeded with 0 output tokens",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestRules compares the list of rules in both languages with its golden files. Their names must be unique.
func TestRules(t *testing.T) {
	for _, l := range lang.All() {
		var b bytes.Buffer
		if err := TextRules(&b, l); err != nil {
			t.Fatal(err)
		}
		testkit.CheckGolden(t, "rules."+string(l)+".txt", b.Bytes())
	}
	seen := map[string]bool{}
	for _, r := range rules() {
		if r.Name == "" || seen[r.Name] {
			t.Errorf("a rule without a name of its own: %q", r.Name)
		}
		seen[r.Name] = true
	}
}

// TestGrades: what contradicts itself is impossible, what needs conditions that are not stated doubtful, how it was
// made a remark.
func TestGrades(t *testing.T) {
	want := map[string][]Grade{
		"unit": {Impossible}, "latency": {Impossible}, "tokens": {Impossible}, "zeros": {Impossible}, "copied": {Impossible},
		"limit":   {Doubtful, Impossible},
		"offered": {Impossible}, "grid": {Doubtful}, "ceiling": {Doubtful}, "stream": {Doubtful}, "closed-loop": {Remark},
		"backlog": {Doubtful},
	}
	count := map[Grade]int{}
	for _, a := range documents(t) {
		for _, f := range a.Findings {
			if count[f.Grade]++; !slices.Contains(want[f.Rule], f.Grade) {
				t.Errorf("%s:%d %s is %s, want %s", f.File, f.Line, f.Rule, f.Grade, want[f.Rule])
			}
		}
	}
	if diff := cmp.Diff(map[Grade]int{Impossible: 12, Doubtful: 23, Remark: 21}, count); diff != "" {
		t.Errorf("grades (-want +got):\n%s", diff)
	}
}

// steadyTable is a table of four rates that agrees with itself.
const steadyTable = heading +
	"| synchronous | 0.25 req/sec | 3.99 sec | 170.13 ms | 30.08 ms | 32.00 tokens/sec |\n" +
	"| asynchronous@1.00 | 0.96 req/sec | 4.70 sec | 186.39 ms | 35.54 ms | 122.88 tokens/sec |\n" +
	"| asynchronous@2.00 | 1.88 req/sec | 6.65 sec | 193.15 ms | 50.84 ms | 240.64 tokens/sec |\n" +
	"| asynchronous@3.00 | 2.75 req/sec | 8.30 sec | 198.65 ms | 63.79 ms | 352.00 tokens/sec |\n" +
	"| asynchronous@4.00 | 3.60 req/sec | 9.74 sec | 198.39 ms | 75.13 ms | 460.80 tokens/sec |\n"

// TestSweepRules: what a reader with a pencil finds in tables that the documents of TestExpertsList do not have.
func TestSweepRules(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"steady":                   {steadyTable, []string{}},
		"a rate too high":          {strings.Replace(steadyTable, "@2.00", "@2.90", 1), []string{"offered 6"}},
		"a rate by chance":         {strings.Replace(steadyTable, "@2.00", "@2.20", 1), []string{}},
		"no row has a higher rate": {strings.Replace(steadyTable, "@4.00", "@5.00", 1), []string{}}, // it may be saturated
		"a sum of two": {strings.NewReplacer("0.25 req/sec", "0.50 req/sec", "32.00 tok",
			"64.00 tok").Replace(steadyTable), []string{"latency 4"}},
		"a TTFT once more": {strings.Replace(steadyTable, "198.65 ms", "193.15 ms", 1), []string{"copied 7"}},
		"four digits only": {strings.Replace(strings.Replace(steadyTable, "198.65 ms", "193.2 ms", 1), "193.15 ms",
			"193.2 ms", 1), []string{}},
		"printed again": {steadyTable + "\n" + strings.Replace(steadyTable, "352.00", "354.00", 1),
			[]string{"copied 7", "copied 13", "copied 16"}},
		"a second measurement": {steadyTable + "\n" + strings.NewReplacer("3.99", "4.00", "4.70", "4.71", "6.65", "6.66",
			"8.30", "8.31", "9.74", "9.75").Replace(steadyTable), []string{}},
	} {
		if diff := cmp.Diff(c.want, audited(t, c.text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestReprintIsKnown: what prints an earlier table again says so, also when it was kept in a file.
func TestReprintIsKnown(t *testing.T) {
	doc, err := published.ParseText("doc", strings.NewReader(steadyTable+"\n"+steadyTable))
	if err != nil {
		t.Fatal(err)
	}
	Mark(subjects(doc.Runs))
	if a, b := Reprint(&doc.Runs[0]), Reprint(&doc.Runs[1]); a != 0 || b != 1 {
		t.Errorf("%d and %d", a, b)
	}
}

// TestCompletedAboveOffered: in a stage of 120 s at 2 req/s, 24 % more than was offered is more than chance explains,
// and not impossible.
func TestCompletedAboveOffered(t *testing.T) {
	for completed, want := range map[float64]Grade{2.3: "", 2.48: Doubtful, 2.6: Impossible} {
		run := rundir.Run{Stages: []rundir.Stage{{
			Name: "poisson@2.00", Kind: "poisson", Rate: rundir.Exactly(2), Window: 120, State: rundir.Complete,
			Rates: rundir.Rates{Offered: rundir.Exactly(2), Completed: rundir.Exactly(completed)},
		}}}
		var got Grade
		for _, f := range Runs([]Subject{{File: "run", Run: &run}}) {
			if f.Rule == "offered" {
				got = f.Grade
			}
		}
		if got != want {
			t.Errorf("%v completed of 2 offered: %q, want %q", completed, got, want)
		}
	}
}

// TestOldGrades: files written before grades had three names are read.
func TestOldGrades(t *testing.T) {
	var f Finding
	if err := json.Unmarshal([]byte(`{"grade":"wrong"}`), &f); err != nil || f.Grade != Impossible {
		t.Errorf("%q, %v", f.Grade, err)
	}
}

// TestGapsOfChunks: the gaps of vllm bench serve count chunks without text, so latency does not follow from them.
func TestGapsOfChunks(t *testing.T) {
	run := func(format string) rundir.Run {
		return rundir.Run{Source: &rundir.Source{File: "x", Line: 1, Format: format}, Stages: []rundir.Stage{{
			Name: "throughput", Kind: "throughput", State: rundir.Complete, Requests: rundir.Requests{OK: 100},
			Latency: rundir.Dist{Mean: rundir.Exactly(2)}, TTFT: rundir.Dist{Mean: rundir.Exactly(0.1)},
			ITL:          rundir.Dist{Mean: rundir.Exactly(0.01)},
			OutputTokens: rundir.TokenStats{N: 100, Mean: rundir.Exactly(100)}, Source: &rundir.Source{File: "x", Line: 1,
				Format: format},
		}}}
	}
	for format, want := range map[string]int{published.VLLMBench: 0, published.Serving: 1} {
		r := run(format)
		if found := Runs([]Subject{{Run: &r}}); len(found) != want {
			t.Errorf("%s: %v", format, found)
		}
	}
}
