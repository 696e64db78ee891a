package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	simserver "llmsweep/client/sim/server"
	"llmsweep/cmd/llmsweep/console"
	"llmsweep/cmd/llmsweep/manual"
	"llmsweep/report/findings"
	"llmsweep/sweep/simtest"
)

// commandLines returns the llmsweep command lines in the sh blocks of a Markdown text.
func commandLines(text string) (lines []string) {
	for _, block := range regexp.MustCompile("(?ms)^```sh\n.*?^```").FindAllString(text, -1) {
		for _, m := range regexp.MustCompile(`(?m)^(llmsweep|go run ./cmd/llmsweep) (.*)`).FindAllStringSubmatch(block, -1) {
			lines = append(lines, m[2])
		}
	}
	return lines
}

// readme returns the README.
func readme(t *testing.T) string { return contentOf(t, "../../README.md") }

// manualPage returns a topic of the manual.
func manualPage(t *testing.T, topic string) string {
	t.Helper()
	text, err := manual.Page(topic)
	noError(t, err)
	return text
}

// TestManual: each file is a topic with a heading that the list of topics can show, each "llmsweep help TOPIC" in
// manual, README and --help names one, each command has one, and all of it is short.
func TestManual(t *testing.T) {
	files, err := manual.Files.ReadDir("topics")
	if err != nil || len(files) != len(manual.Topics()) {
		t.Errorf("%d files, and there are %d topics; %v", len(files), len(manual.Topics()), err)
	}
	texts, words := map[string]string{"README": readme(t)}, 0
	for _, topic := range manual.Topics() {
		page := manualPage(t, topic)
		if !strings.HasPrefix(page, "# "+topic+": ") {
			t.Errorf("%s: the first line must be '# %s: summary'", topic, topic)
		}
		texts[topic] = page
		words += len(regexp.MustCompile(`\S*\w\S*`).FindAllString(page, -1))
	}
	if topics := len(manual.Topics()); topics > 10 || words > 4000 {
		t.Errorf("the manual has %d topics and %d words; 10 and 4,000 are the limits", topics, words)
	}
	for _, command := range commands(t) {
		texts[command+" --help"] = contentOf(t, filepath.Join("testdata/help", command+".txt"))
		if _, err := manual.Find(command); command != "help" && err != nil {
			t.Errorf("%s: %v", command, err)
		}
	}
	for where, text := range texts {
		for _, found := range regexp.MustCompile(`llmsweep help ([a-z][a-z-]*)`).FindAllStringSubmatch(text, -1) {
			if _, err := manual.Find(found[1]); err != nil && found[1] != "schema" {
				t.Errorf("%s: %v", where, err)
			}
		}
	}
	code, text := command(t, "help")
	if code != console.Done {
		t.Errorf("help: exit %d", code)
	}
	golden(t, "testdata/help/topics.txt", text)
}

// TestManualOfFigures: each metric of the tables has an entry in the manual, those of requests under metrics, those of
// sessions under sweep.
func TestManualOfFigures(t *testing.T) {
	entries := regexp.MustCompile(`(?m)^\| ([^|]+) \|`)
	var names []string
	for _, m := range entries.FindAllStringSubmatch(manualPage(t, "metrics")+manualPage(t, "sweep"), -1) {
		names = append(names, strings.Split(m[1], ", ")...)
	}
	for _, c := range findings.Columns() {
		if c.Number != nil && !c.Head.IsZero() && !slices.Contains(names, c.Head.EN) {
			t.Errorf("%s (%s) has no row in manual/topics/metrics.md or sweep.md", c.Head.EN, c.ID)
		}
	}
}

// TestREADMEs: the Chinese one has the code blocks of the English one, in order, and as many headings and rows; both
// are short. -update renews the blocks.
func TestREADMEs(t *testing.T) {
	const file, fence = "manual/README.zh.md", "```"
	english, chinese := readme(t), contentOf(t, file)
	en, zh := strings.Split(english, fence), strings.Split(chinese, fence)
	if len(en) != len(zh) {
		t.Fatalf("%d pieces of text and code in English, %d in Chinese", len(en), len(zh))
	}
	outline := regexp.MustCompile(`\n(## |\||- |1\. )`)
	for i := range en {
		if i%2 == 1 {
			zh[i] = en[i]
		} else if a, b := outline.FindAllString(en[i], -1), outline.FindAllString(zh[i], -1); !slices.Equal(a, b) {
			t.Errorf("headings, rows and lists differ:\n%s\n%s", en[i], zh[i])
		}
	}
	golden(t, file, strings.Join(zh, fence))
	if a, b := strings.Count(english, "\n"), strings.Count(chinese, "\n"); a > 120 || b > 120 {
		t.Errorf("%d and %d lines, and 120 are the limit", a, b)
	}
}

// helpExamples returns the command lines in the --help of all commands.
func helpExamples(t *testing.T) (all []string) {
	t.Helper()
	for _, command := range commands(t) {
		text := contentOf(t, filepath.Join("testdata/help", command+".txt"))
		for _, m := range regexp.MustCompile(`(?m)^ {4,}llmsweep (.*)`).FindAllStringSubmatch(text, -1) {
			all = append(all, m[1])
		}
	}
	return all
}

// documented returns the command lines in README and manual.
func documented(t *testing.T) []string {
	t.Helper()
	lines := commandLines(readme(t))
	for _, topic := range manual.Topics() {
		lines = append(lines, commandLines(manualPage(t, topic))...)
	}
	return lines
}

// TestCommandsParse parses every command line in README, manual and --help.
func TestCommandsParse(t *testing.T) {
	lines := slices.Concat(documented(t), helpExamples(t))
	if len(lines) < 80 {
		t.Fatalf("only %d command lines were found", len(lines))
	}
	config := filepath.Join(t.TempDir(), "sweep.yaml")
	noError(t, os.WriteFile(config, []byte(sweepYAML), 0o644))
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

// deciding matches the words that decide what a command line exercises.
var deciding = regexp.MustCompile(`^(--(concurrency|rate|arrivals|turns|prefix-tokens|dataset|slo|repeats|budget|live|` +
	`document|format|fail-if|config|body|rules|price|prices|max-rps)\b|gamma:|ramp:|trace:|sim:.)`)

// kind names what a command line exercises: the command, and the words that decide how it works.
func kind(args []string) string {
	k := args[0]
	for _, a := range args[1:] {
		k += " " + deciding.FindString(a)
	}
	return strings.Join(strings.Fields(k), " ")
}

// short are flags that make a measurement short.
var short = map[string]string{
	"run": "--warmup 1 --no-selftest --prompt-tokens 64 --output-tokens 4 --plain",
	"sweep": "--stage-time 1s --points 1 --max-concurrency 8 --warmup 1 --no-selftest --prompt-tokens 64 " +
		"--output-tokens 4 --plain",
	"compare": "--stage-time 1s --max-concurrency 8 --warmup 1 --no-selftest --prompt-tokens 64 --output-tokens 4 --plain",
}

// shorter are values of flags in place of those that take long.
var shorter = map[string]string{"https://api.example.com": "http://localhost:8000", "NAME": "Qwen2-7B", "1000": "30",
	"400": "30", "200": "30", "10x": "2x", "30,50,100": "2,4", "15m": "20s", "10m": "20s", "5m": "20s"}

// shortened returns a documented command line as one that measures little.
func shortened(args []string) []string {
	live := slices.Contains(args, "--live")
	flags := strings.Fields(short[args[0]])
	if args[0] == "compare" && !live {
		flags = nil
	}
	if at := slices.Index(flags, "--output-tokens"); at >= 0 && slices.Contains(args, "--max-tokens") {
		flags = slices.Delete(flags, at, at+2)
	}
	if live && !slices.Contains(args, "--budget") {
		flags = append(flags, "--budget", "30s")
	}
	if strings.HasPrefix(kind(args), "sweep sim:") {
		flags = append(flags, "--dry-run")
	}
	for i := 1; i < len(args); i++ {
		switch args[i] = cmp.Or(shorter[args[i]], args[i]); {
		case args[i] == "20s" && live: // two blocks of stages have to fit
			args[i] = "60s"
		case args[i-1] == "--prefix-tokens", args[i-1] == "--max-tokens":
			args[i] = "32"
		case args[i-1] == "--duration":
			args[i] = "4s"
		}
	}
	return append(args, flags...)
}

// TestCommandsRun runs one command line of each kind in README and manual, in virtual time.
func TestCommandsRun(t *testing.T) {
	notInShort(t)
	if !apart(t) {
		return
	}
	lines := documented(t)
	t.Chdir(t.TempDir()) // command lines name files without a directory
	inBubble(t, "", func(t *testing.T, w *world) {
		for _, host := range []string{"localhost", "node1", "node2", "f16", "q4"} {
			w.listen(host+":8000", w.simulation(simtest.Slowed(simtest.Preset(t, "demo"), 20), simserver.Options{}))
		}
		writeInputs(t, w)
		seen := map[string]bool{}
		for _, line := range lines {
			args := shellWords(line)
			k := kind(args)
			switch {
			case seen[k], slices.Contains([]string{"selftest", "sim"}, args[0]): // which are real time by nature
				continue
			case strings.Contains(k, " --live") && args[0] != "compare": // virtual time stands still for a real socket
				continue
			case args[0] == "resume", args[0] == "demo", k == "compare --live": // others run them whole
				continue
			}
			seen[k] = true
			code, out, errs := w.llmsweep(shortened(args)...)
			judged := strings.Contains(line, "--slo") || strings.Contains(line, "--fail-if") || args[0] == "audit"
			if code != console.Done && !(judged && slices.Contains([]int{console.Failed, console.Missed, console.Undecided},
				code)) || out == "" && !slices.Contains(args, "-o") {
				t.Errorf("llmsweep %s: exit %d\n%s\n%s", line, code, out, errs)
			}
		}
	})
}

// writeInputs makes the files and run directories that the command lines read.
func writeInputs(t *testing.T, w *world) {
	t.Helper()
	var share []string
	var trace, graded strings.Builder
	for i := range 20 {
		share = append(share, fmt.Sprintf(`{"id":"%d","conversations":[{"from":"human","value":"What is the %dth prime?"},`+
			`{"from":"gpt","value":"It is an odd number."}]}`, i, i))
		fmt.Fprintf(&trace, `{"timestamp": %d, "input_length": %d, "output_length": 4}`+"\n", i*50, 40+i)
		fmt.Fprintf(&graded, `{"prompt": "What is %d + 2?", "answer": %d, "output_tokens": 16}`+"\n", i, i+2)
	}
	for name, text := range map[string]string{
		"sharegpt.json": "[" + strings.Join(share, ",") + "]", "questions.jsonl": graded.String(),
		"mooncake.jsonl": trace.String(), "prices.yaml": "L20: 1.2\n", "sweep.yaml": sweepYAML, "results.md": "- " +
			"**Qwen2-7B**, **1** x **L20**, **vLLM**, prompt_tokens=64, generated_tokens=16\n\n" + sixColumns,
	} {
		w.write(name, text)
	}
	for out, labels := range map[string]string{"llmsweep-run": "gpu=L20", "l20": "gpus=1,gpu=L20",
		"a100": "gpus=1,gpu=A100"} {
		w.must(append(strings.Fields("sweep http://localhost:8000 --label "+labels+" --out "+out),
			strings.Fields(short["sweep"])...)...)
	}
	for out, quant := range map[string]string{"f16": "f16", "q8": "q8", "q4": "q4", "nights/monday": "",
		"nights/tuesday": ""} {
		w.must(strings.Fields("run sim: --concurrency 4 --requests 40 --prompt-tokens 8 --output-tokens 2 --no-selftest " +
			"--label gpu=L20,gpus=1,quant=" + quant + " --out " + out)...)
	}
}

// TestSimServes starts the simulated server, and ends it by an interrupt.
func TestSimServes(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		w.interruptAfter(time.Minute)
		out, _ := w.must("sim", "--engine", "sglang", "--listen", "127.0.0.1:8000", "--faults", "500:0.01")
		if !strings.Contains(out, "http://127.0.0.1:8000") {
			t.Error(out)
		}
	})
}
