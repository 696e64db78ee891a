package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"llmsweep/client/sim"
	simserver "llmsweep/client/sim/server"
	"llmsweep/cmd/llmsweep/console"
	"llmsweep/sweep/simtest"
)

// llmsweepLines returns the llmsweep command lines of a job of an example for CI, up to the next job.
func llmsweepLines(t *testing.T, file, job string) (lines []string) {
	t.Helper()
	_, text, _ := strings.Cut(contentOf(t, "../../examples/ci/"+file), "\n"+job+":\n")
	indent, _, _ := strings.Cut(job, strings.TrimSpace(job))
	text, _, _ = strings.Cut(regexp.MustCompile("(?m)^"+indent+`\w`).ReplaceAllString(text, "\x00"), "\x00")
	for _, m := range regexp.MustCompile(`(?m)^[ -]*(?:run: )?llmsweep (.*)$`).FindAllStringSubmatch(text, -1) {
		lines = append(lines, m[1])
	}
	if len(lines) == 0 {
		t.Fatalf("no llmsweep command in the job %q", job)
	}
	return lines
}

// ciLine runs a command line of a workflow in a world, and returns the exit code and what it wrote to standard error.
func (w *world) ciLine(line, server string) (int, string) {
	// Short requests decide as much in a short budget, which is simulated sooner.
	args := shellWords(strings.NewReplacer(`"$LLM_URL"`, server, "--budget 10m",
		"--budget 1m --prompt-tokens 64 --output-tokens 16", "--requests 600",
		"--requests 300 --prompt-tokens 64 --output-tokens 16").Replace(line))
	for i, a := range args {
		if strings.HasPrefix(a, "bench/") {
			args[i] = w.path(a)
		}
	}
	if args[0] == "run" || args[0] == "sweep" { // virtual time has no self-test
		args = append(args, "--no-selftest")
	}
	code, _, errs := w.llmsweep(args...)
	return code, errs
}

// TestExampleWorkflow runs the commands of examples/ci/github.yml against simulated servers: the baseline, a server
// that is as fast, and one that is slower. The gate passes the first and stops the second.
func TestExampleWorkflow(t *testing.T) {
	notInShort(t)
	if !regexp.MustCompile(`LLM_URL: .*sim:`).MatchString(contentOf(t, "../../examples/ci/github.yml")) {
		t.Error("it is to be tried without a server")
	}
	virtually(t, func(t *testing.T, w *world) {
		equal := simtest.Preset(t, "plain8")
		equal.Plain.FirstToken, equal.Plain.PerToken = 2*equal.Plain.FirstToken, 2*equal.Plain.PerToken // fewer requests
		fewer := equal
		fewer.MaxNumSeqs = 4
		w.env = map[string]string{"GITHUB_STEP_SUMMARY": w.path("summary.md")}
		run := func(job string, config sim.MachineConfig) (code int, errs string) {
			url, _ := w.server(w.simulation(config, simserver.Options{}))
			for _, line := range llmsweepLines(t, "github.yml", "  "+job) {
				if code, errs = w.ciLine(line, url); code != console.Done {
					break
				}
			}
			return code, errs
		}
		if code, errs := run("baseline", equal); code != console.Done {
			t.Fatalf("baseline: exit %d\n%s", code, errs)
		}
		if err := os.Remove(w.path("bench/baseline/records.jsonl")); err != nil { // run.json alone is enough
			t.Fatal(err)
		}
		if code, errs := run("gate", equal); code != console.Done {
			t.Errorf("an equal server: exit %d\n%s", code, errs)
		}
		os.RemoveAll(w.path("bench/load"))
		os.RemoveAll(w.path("bench/candidate"))
		if code, errs := run("gate", fewer); code != console.Missed || !strings.Contains(errs, "tokens_per_s<-10%") {
			t.Errorf("a slower server: exit %d\n%s", code, errs)
		}
		summary := contentOf(t, w.path("summary.md"))
		if strings.Count(summary, "| synchronous |") < 3 || !strings.Contains(summary, "| baseline | candidate |") {
			t.Error(summary)
		}
	})
}

// TestGitLabExample compares the commands for GitLab with those for GitHub.
func TestGitLabExample(t *testing.T) {
	lab, hub := llmsweepLines(t, "gitlab.yml", "llm-performance"), llmsweepLines(t, "github.yml", "  gate")
	if !slices.Equal(lab[:min(len(lab), len(hub))], hub) {
		t.Errorf("GitLab runs %q, GitHub %q", lab, hub)
	}
}
