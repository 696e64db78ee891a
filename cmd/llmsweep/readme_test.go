package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	simserver "llmsweep/client/sim/server"
)

// readmeCommands are the llmsweep command lines in the README's sh blocks.
func readmeCommands(t *testing.T) [][]string {
	t.Helper()
	f, err := os.Open("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var commands [][]string
	inside := false
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		switch {
		case strings.HasPrefix(line, "```"):
			inside = line == "```sh"
		case inside:
			line = strings.Replace(line, "go run ./cmd/llmsweep", "llmsweep", 1)
			if words := shellWords(line); len(words) > 1 && words[0] == "llmsweep" {
				commands = append(commands, words[1:])
			}
		}
	}
	return commands
}

// shellWords splits a command line as a shell does, as far as the README goes.
func shellWords(line string) []string {
	var words []string
	var word strings.Builder
	var quote rune
	started := false
	end := func() {
		if started {
			words = append(words, word.String())
		}
		word.Reset()
		started = false
	}
	for _, c := range line {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote, started = c, true
		case quote == 0 && c == '#' && !started:
			return words
		case quote == 0 && c == ' ':
			end()
		default:
			word.WriteRune(c)
			started = true
		}
	}
	end()
	return words
}

// rushed are flags that make any measurement as short as can be.
var rushed = map[string][]string{
	"demo":     {"--stage-time", "100ms", "--no-selftest", "--plain"},
	"run":      {"--warmup", "1", "--no-selftest", "--prompt-tokens", "64", "--output-tokens", "4", "--plain"},
	"sweep":    {"--stage-time", "100ms", "--no-selftest", "--points", "1", "--warmup", "1", "--prompt-tokens", "64", "--output-tokens", "4", "--max-concurrency", "8", "--precision", "0", "--plain"},
	"selftest": {"--quick", "--streams", "10"},
}

func TestEveryCommandInTheREADME(t *testing.T) {
	commands := readmeCommands(t)
	if len(commands) < 10 {
		t.Fatalf("only %d commands were found", len(commands))
	}
	url := server(t, simserver.Options{})
	t.Chdir(t.TempDir())
	writeInputs(t)
	for _, gpu := range []string{"L20", "A100"} {
		args := append([]string{"sweep", "sim:", "--label", "gpu=" + gpu, "--out", strings.ToLower(gpu)}, rushed["sweep"]...)
		if code, out, errs := llmsweep(args...); code != exitDone {
			t.Fatalf("exit %d\n%s\n%s", code, out, errs)
		}
	}
	for _, args := range commands {
		line := strings.Join(args, " ")
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "http://localhost:8000", url)
			switch args[i] { // nobody waits that long for a test
			case "5m", "10m":
				args[i] = "1s"
			case "15m": // a budget
				args[i] = "10s"
			case "50", "100", "200", "600":
				args[i] = "20"
			}
		}
		if args[0] == "sim" && !slices.Contains(args, "--predict") {
			serveBriefly(t, args)
			continue
		}
		began := time.Now()
		flags := rushed[args[0]]
		if slices.Contains(args, "--live") {
			flags = append([]string{"--stage-time", "100ms", "--budget", "1s", "--max-concurrency", "8"}, rushed["run"]...)
		}
		code, out, errs := llmsweep(append(args, flags...)...)
		hasty := strings.Contains(line, "--slo") && strings.Contains(errs, "needs") // too few requests to tell
		if code != exitDone && !((args[0] == "audit" || hasty) && code == exitFailed) {
			t.Errorf("llmsweep %s: exit %d\n%s\n%s", line, code, out, errs)
		}
		if out == "" && !slices.Contains(args, "-o") {
			t.Errorf("llmsweep %s: prints nothing", line)
		}
		t.Logf("%.1f s: llmsweep %s", time.Since(began).Seconds(), line)
	}
}

// writeInputs makes the files that the README's commands read.
func writeInputs(t *testing.T) {
	t.Helper()
	var share, trace strings.Builder
	share.WriteString("[")
	for i := range 20 {
		if i > 0 {
			share.WriteString(",")
		}
		fmt.Fprintf(&share, `{"id":"%d","conversations":[{"from":"human","value":"What is the %dth prime, and why do people care about it?"},{"from":"gpt","value":"It is not known to me, but it is surely odd."}]}`, i, i)
		fmt.Fprintf(&trace, `{"timestamp": %d, "input_length": %d, "output_length": 4}`+"\n", i*50, 40+i)
	}
	share.WriteString("]")
	results := "- **Qwen2-7B**, **1** x **L20**, **vLLM**, prompt_tokens=64, generated_tokens=16\n\n" +
		"| Benchmark | Requests per Second | Request Latency | Time to First Token | Inter Token Latency | Output Token Throughput |\n" +
		"|---|---|---|---|---|---|\n| synchronous | 0.51 req/sec | 1.96 sec | 95.57 ms | 21.01 ms | 45.36 tokens/sec |\n"
	for name, text := range map[string]string{"sharegpt.json": share.String(), "mooncake.jsonl": trace.String(), "results.md": results} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// serveBriefly runs a command that serves until it is interrupted.
func serveBriefly(t *testing.T, args []string) {
	t.Helper()
	for i, a := range args {
		if a == "--listen" {
			args[i+1] = "127.0.0.1:0"
		}
	}
	out, in := io.Pipe()
	var errs strings.Builder
	code := make(chan int, 1)
	go func() {
		code <- run(args, in, &errs)
		in.Close()
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.Contains(line, "http://127.0.0.1:") {
		t.Errorf("llmsweep %s: %q, %v, %s", strings.Join(args, " "), line, err, errs.String())
		return
	}
	syscall.Kill(os.Getpid(), syscall.SIGINT)
	if got := <-code; got != exitDone {
		t.Errorf("llmsweep %s: exit %d, %s", strings.Join(args, " "), got, errs.String())
	}
}
