package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

// anyText is what people and servers put into labels and messages.
func anyText() *rapid.Generator[string] {
	return rapid.StringOf(rapid.SampledFrom([]rune("ab1 |`*_[]<>&\\~#\"',\n\r\t\x1b\u2028\u202e通义千问（，é\u0301👍👨\u200d👩～…")))
}

func render(t interface{ Fatal(...any) }, format string, runs []rundir.Run, o Options) string {
	var b bytes.Buffer
	if err := Render(&b, format, runs, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestUnknownFormatAndLanguage(t *testing.T) {
	for _, c := range []struct {
		format string
		lang   Lang
		want   string
	}{
		{"pdf", English, `no format "pdf": there are console, markdown, csv, json, stress, serving, guidellm`},
		{"csv", English, "there is no run to render"},
		{"csv", "fr", `no language "fr": there are en and zh`},
	} {
		err := Render(&bytes.Buffer{}, c.format, nil, Options{Lang: c.lang})
		if err == nil || err.Error() != c.want {
			t.Errorf("%s in %s: %v, want %s", c.format, c.lang, err, c.want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		got, want string
	}{
		{durationText(rundir.Exactly(0.09557)), "95.6 ms"},
		{durationText(rundir.Exactly(0.0004123)), "0.412 ms"},
		{durationText(rundir.Exactly(0.9996)), "1.00 s"},
		{durationText(rundir.Exactly(9.996)), "10.0 s"},
		{durationText(rundir.Exactly(1090.02)), "1090 s"},
		{durationText(rundir.Over(9.849)), "> 9.84 s"},
		{durationText(rundir.Number{}), "n/a"},
		{number(rundir.Exactly(0.51), rate), "0.51"},
		{number(rundir.Exactly(0.00213), rate), "0.00213"},
		{number(rundir.Exactly(0), rate), "0.00"},
		{number(rundir.Over(58.309), rate), "> 58.30"},
		{number(something(rundir.Exactly(0)), rate), "n/a"},
		{number(rundir.Exactly(99.96), tenths), "100.0"},
		{clock(192), "03:12"},
		{clock(3803), "1:03:23"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// TestBoundsHold: what is printed of a lower bound is a lower bound too.
func TestBoundsHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Float64Range(1e-6, 1e6).Draw(t, "v")
		for _, p := range []printer{short, rate, tenths, fixed(2)} {
			printed, err := strconv.ParseFloat(p(v, true), 64)
			if err != nil || printed > v*(1+1e-9)+1e-9 {
				t.Errorf("%v printed as %q", v, p(v, true))
			}
		}
	})
}

// TestColumnsAlign: whatever the cells hold, what stands right of them stands in one column.
func TestColumnsAlign(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := Table{}
		n := rapid.IntRange(1, 5).Draw(t, "columns")
		for range n {
			head := strings.ReplaceAll(anyText().Draw(t, "head"), "|", "")
			table.Columns = append(table.Columns, Column{Head: head, Left: rapid.Bool().Draw(t, "left")}, Column{Head: "|", Left: true})
		}
		for range rapid.IntRange(1, 5).Draw(t, "rows") {
			var cells []Cell
			for range n {
				text := func(name string) string { return strings.ReplaceAll(anyText().Draw(t, name), "|", "") }
				cells = append(cells, Cell{Text: text("text"), Unit: text("unit"), Mark: "?"}, Cell{Text: "|"})
			}
			table.Rows = append(table.Rows, cells)
		}
		var b bytes.Buffer
		if err := writeTables(&b, []Table{table}, 0, false); err != nil {
			t.Fatal(err)
		}
		var first []int
		for i, line := range strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n") {
			var at []int
			for part := range strings.SplitSeq(line, "|") {
				at = append(at, measure().StringWidth(part))
			}
			if first == nil {
				first = at
			}
			if diff := cmp.Diff(first, at); diff != "" {
				t.Fatalf("line %d of\n%s%s", i, b.String(), diff)
			}
		}
	})
}

// TestConsoleFits: a terminal of 80 columns is enough for everything but what others wrote.
func TestConsoleFits(t *testing.T) {
	for _, lang := range []Lang{English, Chinese} {
		for _, width := range []int{80, 100, 120, 140} {
			for _, run := range []rundir.Run{sweptRun(), failedRun(), interruptedRun(), singleRun(), simulatedRun(), promisedRun(), judgedRun(), repeatedRun()} {
				for line := range strings.Lines(render(t, "console", []rundir.Run{run}, Options{Lang: lang, Width: width})) {
					if n := measure().StringWidth(strings.TrimSuffix(line, "\n")); n > width {
						t.Errorf("%d columns in %d: %s", n, width, line)
					}
				}
			}
		}
	}
}

func TestNoEscapesUnlessColored(t *testing.T) {
	runs := []rundir.Run{sweptRun(), failedRun(), interruptedRun()}
	for _, format := range Formats() {
		if out := render(t, format, runs, Options{}); strings.Contains(out, "\x1b") && format != "csv" {
			t.Errorf("%s has escape sequences", format)
		}
	}
	if !strings.Contains(render(t, "console", runs, Options{Color: true}), "\x1b[32mstable\x1b[0m") {
		t.Error("not coloured")
	}
}

// TestMarkdownKeepsItsCells: whatever labels and messages hold, each table keeps its columns and each line its kind.
func TestMarkdownKeepsItsCells(t *testing.T) {
	cells := regexp.MustCompile(`(?:^|[^\\])(?:\\\\)*\|`)
	rapid.Check(t, func(t *rapid.T) {
		text := anyText().Draw(t, "text")
		run := interruptedRun()
		run.Labels = rundir.Labels{Model: text, GPU: text, GPUs: 1, Engine: text, Quant: text}
		run.Warnings, run.Failure, run.Target.URL = []note.Note{note.Text.New(text)}, note.Text.New(text), text
		run.Stages[1].Name, run.Stages[1].Invalid = "x"+text, note.Text.New(text)
		run.Stages[3].Examples["reset"] = text
		columns := 0
		for line := range strings.Lines(render(t, "markdown", []rundir.Run{run}, Options{})) {
			line = strings.TrimSuffix(line, "\n")
			if strings.ContainsAny(line, "\r\t\x1b") || strings.Contains(line, "<") {
				t.Fatalf("not escaped: %q", line)
			}
			switch {
			case !strings.HasPrefix(line, "|"):
				columns = 0
				if line != "" && !strings.HasPrefix(line, "- ") && !strings.HasPrefix(line, "#") {
					t.Fatalf("neither table, list nor heading: %q", line)
				}
			case columns == 0:
				if columns = len(cells.FindAllString(line, -1)) - 1; columns != 6 && columns != 7 && columns != 13 {
					t.Fatalf("%d columns: %s", columns, line)
				}
			default:
				if n := len(cells.FindAllString(line, -1)) - 1; n != columns {
					t.Fatalf("%d cells in a table of %d columns: %s", n, columns, line)
				}
			}
		}
	})
}

// TestPublishedTable: the six columns, to the letter.
func TestPublishedTable(t *testing.T) {
	out := render(t, "markdown", []rundir.Run{sweptRun()}, Options{Lang: Chinese})
	for _, want := range []string{
		"- **Qwen2-7B-Instruct**, **1**张**L20 48GB**, **vLLM**, prompt_tokens=512,generated_tokens=128\n",
		"| Benchmark | Requests per Second | Request Latency | Time to First Token | Inter Token Latency | Output Token Throughput |\n",
		"| synchronous | 0.51 req/sec | 1.96 sec | 95.57 ms | 21.01 ms | 65.40 tokens/sec |\n",
		"| asynchronous@1.57 req/sec | 1.56 req/sec | 2.26 sec | 104.42 ms | 25.96 ms | 199.70 tokens/sec |\n",
		"| asynchronous@8.98 req/sec | 7.15 req/sec | > 58.30 sec | > 1090.02 ms | 299.34 ms | 915.20 tokens/sec |\n",
		"\n## 提要\n", "\n## 细节\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q", want)
		}
	}
	first, _, _ := strings.Cut(out[strings.Index(out, "| Benchmark"):], "\n\n")
	var names []string
	for line := range strings.Lines(first) {
		names = append(names, strings.TrimSpace(strings.Split(line, "|")[1]))
	}
	want := []string{"Benchmark", ":---", "synchronous"}
	for _, r := range []string{"1.57", "2.63", "3.69", "4.75", "5.80", "6.86", "7.92", "8.98", "10.04"} {
		want = append(want, "asynchronous@"+r+" req/sec")
	}
	if diff := cmp.Diff(append(want, "throughput"), names); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

func TestCSV(t *testing.T) {
	run := sweptRun()
	run.Labels.Model = "a \"model\", with\nall of it"
	records, err := csv.NewReader(strings.NewReader(render(t, "csv", []rundir.Run{run, failedRun()}, Options{}))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if want := 1 + len(run.Stages) + len(failedRun().Stages); len(records) != want {
		t.Fatalf("%d records, want %d", len(records), want)
	}
	column := map[string]int{}
	for i, name := range records[0] {
		if _, twice := column[name]; twice {
			t.Errorf("column %s twice", name)
		}
		column[name] = i
	}
	for _, c := range []struct {
		record int
		name   string
		want   string
	}{
		{1, "labels_model", run.Labels.Model},
		{1, "rate", ""},
		{1, "latency_s_mean", "1.96"},
		{10, "name", "poisson@8.98"},
		{10, "latency_s_mean", ""},
		{10, "latency_s_over", "mean=58.3 max=58.3 p95=58.3 p99=58.3 p999=58.3"},
		{10, "latency_s_unsupported", "p99 p999"},
		{13, "rates_completed", "0"},
		{13, "latency_s_mean", ""},
		{13, "errors", "http_5xx=20 timeout=4"},
	} {
		if got := records[c.record][column[c.name]]; got != c.want {
			t.Errorf("record %d, %s: %q, want %q", c.record, c.name, got, c.want)
		}
	}
}

// TestCSVNamesAreKeys: the columns are named by the keys of run.json.
func TestCSVNamesAreKeys(t *testing.T) {
	b, err := json.Marshal(promisedRun())
	if err != nil {
		t.Fatal(err)
	}
	var run map[string]any
	if err := json.Unmarshal(b, &run); err != nil {
		t.Fatal(err)
	}
	keys := map[string]bool{}
	var flatten func(prefix string, m map[string]any)
	flatten = func(prefix string, m map[string]any) {
		for k, v := range m {
			keys[prefix+k] = true
			if inner, ok := v.(map[string]any); ok {
				flatten(prefix+k+"_", inner)
			}
		}
	}
	flatten("", run)
	for _, s := range run["stages"].([]any) {
		flatten("", s.(map[string]any))
	}
	mine := regexp.MustCompile(`^(stage_state|errors|labels_price|labels_quant|workload_dataset|max_concurrency|repeat|cached_tokens|goodput_unknown|client_cpu_fraction|invalid|warnings|queued_s_.*|chunk_gap_s_.*|.*_over|.*_unsupported)$`)
	for _, c := range csvColumns() {
		if !keys[c.name] && !mine.MatchString(c.name) {
			t.Errorf("%s is no key of run.json", c.name)
		}
	}
}

func TestJSON(t *testing.T) {
	for _, runs := range [][]rundir.Run{{sweptRun()}, {sweptRun(), failedRun()}} {
		out := []byte(render(t, "json", runs, Options{}))
		if len(runs) == 1 {
			out = slices.Concat([]byte("["), out, []byte("]"))
		}
		var again []rundir.Run
		if err := json.Unmarshal(out, &again); err != nil {
			t.Fatal(err)
		}
		figures := cmp.Comparer(func(a, b rundir.Number) bool {
			return a.Bound() == b.Bound() && (a.Value() == b.Value() || math.IsNaN(a.Value()) && math.IsNaN(b.Value()))
		})
		if diff := cmp.Diff(runs, again, figures); diff != "" {
			t.Errorf("read again (-want +got):\n%s", diff)
		}
	}
}

func TestStageLine(t *testing.T) {
	run := interruptedRun()
	for i, want := range []string{
		"synchronous       0.51 req/s   TTFT 95.6 ms   ITL 21.0 ms   65.4 tok/s  closed",
		"throughput!       7.20 req/s   TTFT 11.6 s    ITL 135 ms    922 tok/s   closed",
		"poisson@1.57      1.56 req/s   TTFT 104 ms    ITL 26.0 ms   200 tok/s   stable",
		"poisson@2.63*     2.59 req/s   TTFT 105 ms    ITL 29.5 ms   332 tok/s   1 failed",
	} {
		if got := StageLine(&run.Stages[i], English); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"one two three", 0, "one two three"},
		{"  one two three", 9, "  one two\n  three"},
		{"  饱和点为七，输出", 10, "  饱和点为\n  七，输出"},
		{"  饱和点为，输出", 10, "  饱和点\n  为，输出"},
		{"  unbreakable", 5, "  unbreakable"},
	} {
		if got := wrap(c.text, c.width, 2); got != c.want {
			t.Errorf("%q in %d: %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

// TestPhrases: both languages of a phrase take the same arguments.
func TestPhrases(t *testing.T) {
	for en, zh := range catalogue(t) {
		if zh == "" || en == "" {
			t.Errorf("%q, %q: a language is missing", en, zh)
		}
		if a, b := arguments(en), arguments(zh); !slices.Equal(a, b) {
			t.Errorf("%q takes %v, %q takes %v", en, a, zh, b)
		}
	}
}

// TestChineseIsWhole: no English sentence of ours in a Chinese rendering.
func TestChineseIsWhole(t *testing.T) {
	runs := []rundir.Run{sweptRun(), failedRun(), interruptedRun(), singleRun(), simulatedRun(), promisedRun(), judgedRun(), blankRun()}
	var out strings.Builder
	for i := range runs {
		for _, format := range []string{"console", "markdown"} {
			out.WriteString(render(t, format, runs[i:i+1], Options{Lang: Chinese}))
		}
	}
	out.WriteString(render(t, "markdown", runs, Options{Lang: Chinese}))
	verb := regexp.MustCompile(`%(\[\d+\])?[s%]`)
	words := regexp.MustCompile(`[A-Za-z]{3,}[^%]* [^%]*[A-Za-z]{2,}`)
	for en := range catalogue(t) {
		for _, part := range verb.Split(en, -1) {
			if words.MatchString(part) && strings.Contains(out.String(), strings.TrimSpace(part)) {
				t.Errorf("%q in Chinese", part)
			}
		}
	}
}

// arguments are the numbers of the arguments that a format uses.
func arguments(format string) []int {
	var used []int
	for _, m := range regexp.MustCompile(`%(?:\[(\d+)\])?([s%])`).FindAllStringSubmatch(format, -1) {
		n, _ := strconv.Atoi(m[1])
		if m[2] == "%" {
			continue
		}
		if n == 0 {
			n = len(used) + 1
		}
		used = append(used, n)
	}
	slices.Sort(used)
	return slices.Compact(used)
}

// catalogue reads the phrases out of the source.
func catalogue(t *testing.T) map[string]string {
	file, err := parser.ParseFile(token.NewFileSet(), "words.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	phrases := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		lit, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		var texts [2]string
		for i, e := range lit.Elts {
			texts[i], _ = strconv.Unquote(e.(*ast.BasicLit).Value)
		}
		phrases[texts[0]] = texts[1]
		return true
	})
	if len(phrases) < 50 {
		t.Fatalf("only %d phrases found", len(phrases))
	}
	return phrases
}

// TestPromises: what is said of an SLO, in each way that it can end.
func TestPromises(t *testing.T) {
	swept := func(s rundir.SLO) rundir.Run {
		run := promisedRun()
		s.Terms = run.SLO.Terms
		run.SLO = &s
		return run
	}
	for _, c := range []struct {
		run    rundir.Run
		en, zh string
	}{
		{promisedRun(), "Meets ttft:p99<200ms, itl:p95<90ms up to 5.9 req/s (95 %: 5.7-6.2), goodput 5.3 req/s; ttft:p99<200ms is the first to break.",
			"到达率不超过 5.9 req/s 时满足 ttft:p99<200ms、itl:p95<90ms（95 % 区间：5.7-6.2），有效吞吐 5.3 req/s；最先不满足的是 ttft:p99<200ms。"},
		{swept(rundir.SLO{Rate: rundir.Exactly(7.14), Limiting: rundir.LimitSaturation}), "Meets ttft:p99<200ms, itl:p95<90ms up to 7.14 req/s; there the server saturates.", ""},
		{swept(rundir.SLO{Rate: rundir.Over(10.04)}), "Meets ttft:p99<200ms, itl:p95<90ms at all rates measured, the highest 10.04 req/s.", ""},
		{swept(rundir.SLO{BrokenStage: "synchronous", Limiting: "itl:p95<90ms"}), "No rate was shown to meet ttft:p99<200ms, itl:p95<90ms: itl:p95<90ms is broken as early as synchronous.",
			"没有任何到达率被证明满足 ttft:p99<200ms、itl:p95<90ms：synchronous 时已不满足 itl:p95<90ms。"},
		{swept(rundir.SLO{Needs: 340, NeedsStage: "poisson@1.57", Limiting: "ttft:p99<200ms"}),
			"No rate was shown to meet ttft:p99<200ms, itl:p95<90ms: too few requests for ttft:p99<200ms; poisson@1.57 needs 340 more (217 s at that rate).",
			"没有任何到达率被证明满足 ttft:p99<200ms、itl:p95<90ms：请求太少，不足以判定 ttft:p99<200ms；poisson@1.57 还需 340 个（按该到达率为 217 秒）。"},
	} {
		if got := promises(&c.run, English); len(got) != 1 || got[0] != c.en {
			t.Errorf("got  %q\nwant %q", got, c.en)
		}
		if got := promises(&c.run, Chinese); c.zh != "" && got[0] != c.zh {
			t.Errorf("got  %q\nwant %q", got[0], c.zh)
		}
	}
	judged := judgedRun()
	want := []string{
		"concurrent@10 misses ttft:p99<130ms: ttft:p99 is 160ms; goodput 3.41 req/s, 95.3 % of those due.",
		"Whether constant@2.00 meets ttft:p99<130ms is not known: ttft:p99<130ms needs 380 more requests (190 s at that rate); goodput 1.99 req/s, 95.3 % of those due.",
		"constant@3.00 meets ttft:p99<130ms: goodput 2.98 req/s, 95.3 % of those due.",
	}
	if diff := cmp.Diff(want, promises(&judged, English)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, format := range []string{"stress", "serving"} {
		if out := render(t, format, []rundir.Run{judged}, Options{}); !strings.Contains(out, "  Requests that met ttft:p99<130ms: 3.41 a second, 95.3 % of those due.\n") {
			t.Errorf("%s says nothing of goodput:\n%s", format, out)
		}
	}
}
