package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"llmsweep/client/sim"
	simserver "llmsweep/client/sim/server"
	"llmsweep/cmd/llmsweep/console"
	"llmsweep/cmd/llmsweep/manual"
	"llmsweep/report/findings"
	"llmsweep/sweep"
)

// commandLines returns the llmsweep command lines in the sh blocks of a Markdown text.
func commandLines(text string) []string {
	var lines []string
	inside := false
	for l := bufio.NewScanner(strings.NewReader(text)); l.Scan(); {
		line := l.Text()
		switch {
		case strings.HasPrefix(line, "```"):
			inside = line == "```sh"
		case inside:
			line = strings.Replace(line, "go run ./cmd/llmsweep", "llmsweep", 1)
			if rest, ok := strings.CutPrefix(line, "llmsweep "); ok {
				lines = append(lines, rest)
			}
		}
	}
	return lines
}

// readme returns the README.
func readme(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// llmsweepPage returns a topic of the manual.
func llmsweepPage(t *testing.T, topic string) string {
	t.Helper()
	text, err := manual.Page(topic)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestManualIsComplete compares the topics with the files, and looks for headings in the form that the list of topics
// needs.
func TestManualIsComplete(t *testing.T) {
	files, err := manual.Files.ReadDir("topics")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(manual.Topics()) {
		t.Errorf("%d files, and there are %d topics", len(files), len(manual.Topics()))
	}
	for _, topic := range manual.Topics() {
		page := llmsweepPage(t, topic)
		if !strings.HasPrefix(page, "# "+topic+": ") {
			t.Errorf("%s: the first line must be '# %s: summary'", topic, topic)
		}
		namesTopics(t, topic, page)
	}
	namesTopics(t, "README", readme(t))
}

// namesTopics checks that each "llmsweep help TOPIC" in a text names a topic.
func namesTopics(t *testing.T, where, text string) {
	t.Helper()
	for _, found := range regexp.MustCompile(`llmsweep help ([a-z][a-z-]*)`).FindAllStringSubmatch(text, -1) {
		if _, err := manual.Find(found[1]); err != nil && found[1] != "schema" {
			t.Errorf("%s: %v", where, err)
		}
	}
}

// TestHelpFindsCommands looks up each command in the manual, and the topics that its --help names.
func TestHelpFindsCommands(t *testing.T) {
	for _, command := range commands(t) {
		help, err := os.ReadFile(filepath.Join("testdata/help", command+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		namesTopics(t, command, string(help))
		if topic, err := manual.Find(command); command != "llmsweep" && command != "help" &&
			(err != nil || llmsweepPage(t, topic) == "") {
			t.Errorf("%s: %v", command, err)
		}
	}
}

// TestImages: who looks for images in prompts is told what to use, in the READMEs and the manual.
func TestImages(t *testing.T) {
	topic, err := manual.Find("images")
	if err != nil {
		t.Fatal(err)
	}
	chinese, err := os.ReadFile("manual/README.zh.md")
	if err != nil {
		t.Fatal(err)
	}
	for where, text := range map[string]string{"README": readme(t), "README.zh": string(chinese),
		topic: llmsweepPage(t, topic)} {
		if !strings.Contains(text, "`vllm bench serve --backend openai-chat --dataset-name random-mm`") {
			t.Errorf("%s does not say what sends images", where)
		}
	}
}

// TestShortManual keeps the manual short.
func TestShortManual(t *testing.T) {
	words := 0
	for _, topic := range manual.Topics() {
		words += len(regexp.MustCompile(`\S*\w\S*`).FindAllString(llmsweepPage(t, topic), -1))
	}
	if topics := len(manual.Topics()); topics > 10 || words > 4000 {
		t.Errorf("the manual has %d topics and %d words; 10 and 4,000 are the limits", topics, words)
	}
}

// TestManualMetrics: each metric of the tables has an entry in the manual: those of requests under metrics, those of
// sessions under sweep.
func TestManualMetrics(t *testing.T) {
	entries := regexp.MustCompile(`(?m)^\| ([^|]+) \|`)
	var names []string
	for _, topic := range []string{"metrics", "sweep"} {
		for _, m := range entries.FindAllStringSubmatch(llmsweepPage(t, topic), -1) {
			names = append(names, strings.Split(m[1], ", ")...)
		}
	}
	for _, c := range findings.Columns() {
		if c.Number != nil && !c.Head.IsZero() && !slices.Contains(names, c.Head.EN) {
			t.Errorf("%s (%s) has no entry", c.Head.EN, c.ID)
		}
	}
}

// TestManualTolerance: the manual has the tolerance that verdicts are made with.
func TestManualTolerance(t *testing.T) {
	want := fmt.Sprintf("less than %g %% of the rate", 100*sweep.Defaults().Tolerance)
	if !strings.Contains(llmsweepPage(t, "verdicts"), want) {
		t.Errorf("help verdicts has not %q", want)
	}
}

// TestHelpLists prints the list of topics.
func TestHelpLists(t *testing.T) {
	var out, errs strings.Builder
	if code := executeAgain([]string{"help"}, console.NewConsole(t.Context(), &out, &errs)); code != console.Done {
		t.Errorf("exit %d, %s", code, errs.String())
	}
	golden(t, "testdata/help/topics.txt", out.String())
}

// TestREADME keeps the README short.
func TestREADME(t *testing.T) {
	if lines := strings.Count(readme(t), "\n"); lines > 120 {
		t.Errorf("the README has %d lines, and 120 are the limit", lines)
	}
}

// TestChineseREADME: it has the code blocks of the README, in order, as many headings and rows, and is as short.
// -update renews the blocks.
func TestChineseREADME(t *testing.T) {
	const file = "manual/README.zh.md"
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const fence = "```"
	en, zh := strings.Split(readme(t), fence), strings.Split(string(b), fence)
	if len(en) != len(zh) {
		t.Fatalf("%d pieces of text and code in English, %d in Chinese", len(en), len(zh))
	}
	outline := func(text string) (headings, rows, lists int) {
		return strings.Count(text, "\n## "), strings.Count(text, "\n|"), strings.Count(text, "\n- ") +
			strings.Count(text, "\n1. ")
	}
	for i := range en {
		if i%2 == 1 {
			zh[i] = en[i]
			continue
		}
		h, r, l := outline(en[i])
		if h2, r2, l2 := outline(zh[i]); h != h2 || r != r2 || l != l2 {
			t.Errorf("headings, rows and lists differ:\n%s\n%s", en[i], zh[i])
		}
	}
	golden(t, file, strings.Join(zh, fence))
	if lines := strings.Count(string(b), "\n"); lines > 120 {
		t.Errorf("%d lines, and 120 are the limit", lines)
	}
}

// examples returns the command lines in the --help of all commands.
func helpExamples(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, command := range commands(t) {
		b, err := os.ReadFile(filepath.Join("testdata/help", command+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "llmsweep "); ok && strings.HasPrefix(line, "    ") {
				all = append(all, rest)
			}
		}
	}
	return all
}

// TestCommandsParse parses every command line in README, manual and --help.
func TestCommandsParse(t *testing.T) {
	lines := slices.Concat(commandLines(readme(t)), helpExamples(t))
	for _, topic := range manual.Topics() {
		lines = append(lines, commandLines(llmsweepPage(t, topic))...)
	}
	if len(lines) < 80 {
		t.Fatalf("only %d command lines were found", len(lines))
	}
	config := filepath.Join(t.TempDir(), "sweep.yaml")
	if err := os.WriteFile(config, []byte(sweepYAML), 0o644); err != nil {
		t.Fatal(err)
	}
	lines = append(lines, "sweep --config ../../examples/sweep.yaml")
	parser, _ := newParser(console.NewConsole(t.Context(), nil, nil), &cli{})
	for _, line := range lines {
		args := shellWords(line)
		for i, a := range args {
			if a == "sweep.yaml" {
				args[i] = config
			}
		}
		parsed, err := parser.Parse(withSides(args))
		if err == nil {
			err = checkPositive(parsed)
		}
		if err != nil {
			t.Errorf("llmsweep %s: %v", line, err)
		}
	}
}

// sweepYAML is a configuration file as the manual shows it.
const sweepYAML = `url: http://localhost:8000
points: 5
label: {model: Qwen2-7B-Instruct, gpu: L20 48GB, gpus: 2, engine: vLLM}
body: {top_p: 0.9}
header: {X-Tenant: bench}
`

// kind names what a command line exercises: the command, and those of its flags that choose what it does.
func kind(args []string) string {
	k := args[0]
	for _, a := range args[1:] {
		flag, _, _ := strings.Cut(a, "=")
		process, _, _ := strings.Cut(a, ":")
		switch {
		case slices.Contains([]string{"gamma", "ramp", "trace"}, process):
			k += " " + process
		case slices.Contains([]string{"--concurrency", "--rate", "--arrivals", "--turns", "--prefix-tokens", "--dataset",
			"--slo", "--repeats", "--budget",
			"--live", "--document", "--format", "--fail-if", "--config", "--body", "--rules", "--price", "--prices",
			"--max-rps"}, flag):
			k += " " + flag
		case strings.HasPrefix(a, sim.Scheme) && len(a) > len(sim.Scheme):
			k += " " + sim.Scheme
		}
	}
	return k
}

// short are flags that make a measurement short.
var short = map[string][]string{
	"demo": {"--stage-time", "1s", "--no-selftest", "--plain"},
	"run":  {"--warmup", "1", "--no-selftest", "--prompt-tokens", "64", "--output-tokens", "4", "--plain"},
	"sweep": {"--stage-time", "1s", "--no-selftest", "--points", "1", "--warmup", "1", "--prompt-tokens", "64",
		"--output-tokens", "4", "--max-concurrency", "8", "--plain"},
	"selftest": {"--quick", "--streams", "10"},
}

// TestCommandsRun runs one command line of each kind in README and manual, in virtual time.
func TestCommandsRun(t *testing.T) {
	notInShort(t)
	if !apart(t) {
		return
	}
	lines := commandLines(readme(t))
	for _, topic := range manual.Topics() {
		lines = append(lines, commandLines(llmsweepPage(t, topic))...)
	}
	t.Chdir(t.TempDir()) // command lines name files without a directory
	inBubble(t, "", func(t *testing.T, w *world) {
		for address, api := range map[string]string{"localhost:8000": "http", "api.example.com:443": "https",
			"node1:8000": "http", "node2:8000": "http", "f16:8000": "http", "q4:8000": "http"} {
			if _, done, err := w.serve(w.ctx, address, w.simulated(simserver.Options{})); err != nil {
				t.Fatal(err, api)
			} else {
				defer done()
			}
		}
		defer w.cancel(nil)
		writeInputs(t, w)
		seen := map[string]bool{}
		for _, line := range lines {
			args := shellWords(line)
			if k := kind(args); seen[k] || args[0] == "selftest" || args[0] == "sim" {
				continue // a self-test is real time by nature; sim serves until it is interrupted
			} else if args[0] != "compare" && slices.Contains(args, "--live") {
				continue // a page is served from a real socket, and virtual time stands still while one is waited for
			} else if args[0] == "resume" {
				continue // the runs here are whole: TestResume has one that was interrupted
			} else if args[0] == "demo" || k == "compare --live" {
				continue // TestPicture, TestCompareLive and TestWholeSweeps run them whole
			} else {
				seen[k] = true
			}
			flags := slices.Clone(short[args[0]])
			if at := slices.Index(flags, "--output-tokens"); at >= 0 && slices.Contains(args, "--max-tokens") {
				flags = slices.Delete(flags, at, at+2)
			}
			if slices.Contains(args, "--live") {
				flags = append([]string{"--stage-time", "1s", "--max-concurrency", "8"}, short["run"]...)
				if !slices.Contains(args, "--budget") {
					flags = append(flags, "--budget", "30s")
				}
			}
			for i, a := range args {
				switch {
				case a == "https://api.example.com":
					args[i] = "http://localhost:8000"
				case a == "NAME":
					args[i] = "Qwen2-7B"
				case a == "1000" || a == "400": // requests, graded answers
					args[i] = "60"
				case args[max(0, i-1)] == "--prefix-tokens", args[max(0, i-1)] == "--max-tokens": // of shorter prompts and answers
					args[i] = "32"
				case a == "10x":
					args[i] = "2x"
				case args[max(0, i-1)] == "--duration":
					args[i] = "8s"
				case a == "15m" || a == "10m" || a == "5m": // budgets
					args[i] = "20s"
					if slices.Contains(args, "--live") { // two blocks of stages have to fit
						args[i] = "60s"
					}
				}
			}
			began := time.Now()
			code, out, errs := w.llmsweep(append(args, flags...)...)
			// then these are answers
			judged := strings.Contains(line, "--slo") || strings.Contains(line, "--fail-if") || args[0] == "audit"
			if code != console.Done && !(judged && (code == console.Failed || code == console.Missed ||
				code == console.Undecided)) {
				t.Errorf("llmsweep %s: exit %d\n%s\n%s", line, code, out, errs)
			}
			if out == "" && !slices.Contains(args, "-o") {
				t.Errorf("llmsweep %s: prints nothing\n%s", line, errs)
			}
			t.Logf("%v: llmsweep %s", time.Since(began).Round(time.Second), line)
		}
	})
}

// writeInputs makes the files and run directories that the command lines read.
func writeInputs(t *testing.T, w *world) {
	t.Helper()
	var share, trace, graded strings.Builder
	share.WriteString("[")
	for i := range 20 {
		if i > 0 {
			share.WriteString(",")
		}
		fmt.Fprintf(&share, `{"id":"%d","conversations":[{"from":"human","value":"What is the %dth prime, and why do people care about it?"},{"from":"gpt","value":"It is an odd number."}]}`, i, i)
		fmt.Fprintf(&trace, `{"timestamp": %d, "input_length": %d, "output_length": 4}`+"\n", i*50, 40+i)
		fmt.Fprintf(&graded, `{"prompt": "What is %d + 2?", "answer": %d, "output_tokens": 16}`+"\n", i, i+2)
	}
	share.WriteString("]")
	results := "- **Qwen2-7B**, **1** x **L20**, **vLLM**, prompt_tokens=64, generated_tokens=16\n\n" +
		"| Benchmark | Requests per Second | Request Latency | Time to First Token | Inter Token Latency | Output Token Throughput |\n" +
		"|---|---|---|---|---|---|\n| synchronous | 0.51 req/sec | 1.96 sec | 95.57 ms | 21.01 ms | 45.36 tokens/sec |\n"
	for name, text := range map[string]string{
		"sharegpt.json": share.String(), "questions.jsonl": graded.String(), "mooncake.jsonl": trace.String(),
		"results.md": results, "prices.yaml": "L20: 1.2\n", "sweep.yaml": sweepYAML,
	} {
		w.write(name, text)
	}
	w.must(append([]string{"sweep", "http://localhost:8000"}, short["sweep"]...)...)
	for _, quant := range []string{"f16", "q8", "q4"} {
		w.must("run", "sim:", "--concurrency", "4", "--requests", "100", "--prompt-tokens", "8", "--output-tokens", "2",
			"--no-selftest", "--out", quant, "--label", "gpu=L20,gpus=1,quant="+quant)
	}
	for _, night := range []string{"monday", "tuesday"} {
		w.must("run", "sim:", "--concurrency", "4", "--requests", "20", "--prompt-tokens", "8", "--output-tokens", "2",
			"--no-selftest", "--out", filepath.Join("nights", night))
	}
	for _, gpu := range []string{"L20", "A100"} {
		w.must(append([]string{"sweep", "http://localhost:8000", "--label", "gpus=1,gpu=" + gpu, "--out",
			strings.ToLower(gpu)}, short["sweep"]...)...)
	}
}

// TestSimServes starts the simulated server, asks it for its models, and ends it by an interrupt.
func TestSimServes(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		w.interruptAfter(time.Minute)
		code, out, errs := w.llmsweep("sim", "--engine", "sglang", "--listen", "127.0.0.1:8000", "--faults", "500:0.01")
		if code != console.Done || !strings.Contains(out, "http://127.0.0.1:8000") {
			t.Errorf("exit %d\n%s%s", code, out, errs)
		}
	})
}

// TestPicture compares the output in the README with that of the first report. -update renews it.
func TestPicture(t *testing.T) {
	inBubble(t, t.TempDir(), func(t *testing.T, w *world) {
		out, _ := w.must("report", firstReport)
		before, rest, ok := strings.Cut(readme(t), "```\n"+pictureBegins)
		_, after, ok2 := strings.Cut(rest, "\n```\n")
		if !ok || !ok2 {
			t.Fatal("the README has no output")
		}
		golden(t, "../../README.md", before+"```\n"+strings.TrimSpace(out)+"\n```\n"+after)
	})
}

// pictureBegins is how the output in the README begins.
const pictureBegins = "Qwen2-7B-Instruct · "
