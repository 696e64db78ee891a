package main

import (
	"encoding/xml"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"llmsweep/client/sim"
	simserver "llmsweep/client/sim/server"
	"llmsweep/cmd/llmsweep/console"

	"github.com/goccy/go-yaml"
)

// workflow is the part of a GitHub workflow that its test needs.
type workflow struct {
	Env  map[string]string
	Jobs map[string]struct {
		Steps []struct {
			Name string
			If   string
			Run  string
		}
	}
}

// llmsweepSteps returns the llmsweep command lines of a job; always are those that also run where one before them failed.
func (f *workflow) llmsweepSteps(t *testing.T, job string) (lines, always []string) {
	t.Helper()
	for _, s := range f.Jobs[job].Steps {
		for _, line := range strings.Split(s.Run, "\n") {
			rest, ok := strings.CutPrefix(strings.TrimSpace(line), "llmsweep ")
			switch {
			case !ok:
			case s.If == "always()":
				always = append(always, rest)
			default:
				lines = append(lines, rest)
			}
		}
	}
	if len(lines) == 0 {
		t.Fatalf("no llmsweep command in the job %q", job)
	}
	return lines, always
}

// TestAction runs the last step of the action with a program in place of llmsweep: its words, its exit code and the outputs.
func TestAction(t *testing.T) {
	for _, tool := range []string{"bash", "jq", "xargs"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	var action struct {
		Runs struct{ Steps []struct{ Run string } }
	}
	readYAML(t, "action.yml", &action)
	dir := t.TempDir()
	script := "#!/bin/sh\nprintf '%s,' \"$@\" >words\necho '{\"verdict\": \"missed\", \"claim\": \"It is so.\", \"may_claim\": \"slo\"}'\nexit 3\n"
	if err := os.WriteFile(filepath.Join(dir, "llmsweep"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", action.Runs.Steps[len(action.Runs.Steps)-1].Run)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "RUNNER_TEMP="+dir, "GITHUB_OUTPUT="+filepath.Join(dir, "outputs"),
		"COMMAND=run URL --slo 'ttft:p99<500ms' --label gpu=\"L20 48GB\"")
	if out, err := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != 3 {
		t.Fatalf("%v\n%s", err, out)
	}
	for file, want := range map[string]string{
		"words": "run,URL,--slo,ttft:p99<500ms,--label,gpu=L20 48GB,", "outputs": "verdict=missed\nclaim=It is so.\nmay_claim=slo\n",
	} {
		if b, err := os.ReadFile(filepath.Join(dir, file)); err != nil || string(b) != want {
			t.Errorf("%s: %q, %v", file, b, err)
		}
	}
}

func readYAML(t *testing.T, file string, into any) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../../examples/ci", file))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(b, into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// ciLine runs a command line of a workflow in a world, and returns the exit code and what it wrote to standard error.
func (w *world) ciLine(line, server string) (int, string) {
	// Short requests decide as much in a short budget, which is simulated sooner.
	args := shellWords(strings.NewReplacer(`"$LLM_URL"`, server, "--budget 10m", "--budget 1m --prompt-tokens 64 --output-tokens 16", "--requests 600", "--requests 300 --prompt-tokens 64 --output-tokens 16").Replace(line))
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

// TestExampleWorkflow runs the commands of examples/ci/github.yml against simulated servers: the baseline, a server that is as fast, and
// one that is slower. The gate passes the first and stops the second.
func TestExampleWorkflow(t *testing.T) {
	notInShort(t)
	var f workflow
	readYAML(t, "github.yml", &f)
	if !strings.Contains(f.Env["LLM_URL"], "sim:") {
		t.Errorf("LLM_URL is %q: it is to be tried without a server", f.Env["LLM_URL"])
	}
	virtually(t, func(t *testing.T, w *world) {
		config, err := sim.Preset("plain8")
		if err != nil {
			t.Fatal(err)
		}
		config.MaxNumSeqs = 4
		live, err := sim.Start(config)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(live.Close)
		slower, _ := w.server(simserver.New(live, simserver.Options{}))
		w.env = map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": w.path("summary.md")}
		baseline, _ := f.llmsweepSteps(t, "baseline")
		for _, line := range baseline {
			if code, errs := w.ciLine(line, "sim:plain8"); code != console.Done {
				t.Fatalf("%s: exit %d\n%s", line, code, errs)
			}
		}
		if err := os.Remove(w.path("bench/baseline/records.jsonl")); err != nil { // run.json alone is enough
			t.Fatal(err)
		}
		gate := func(server string) (code int, errs string) {
			os.RemoveAll(w.path("bench/load"))
			os.RemoveAll(w.path("bench/candidate"))
			lines, always := f.llmsweepSteps(t, "gate")
			for _, line := range lines {
				if code, errs = w.ciLine(line, server); code != console.Done {
					break
				}
			}
			for _, line := range always {
				if code, errs := w.ciLine(line, server); code != console.Done {
					t.Errorf("%s: exit %d\n%s", line, code, errs)
				}
			}
			return code, errs
		}
		if code, errs := gate("sim:plain8"); code != console.Done {
			t.Errorf("an equal server: exit %d\n%s", code, errs)
		}
		if code, errs := gate(slower); code != console.Missed || !strings.Contains(errs, "::error title=tokens_per_s<-10%25 missed::") {
			t.Errorf("a slower server: exit %d\n%s", code, errs)
		}
		if failures := junitCount(t, w.path("bench/gates.xml"), "failures"); failures == "0" {
			t.Error("gates.xml has no failure")
		}
		if tests := junitCount(t, w.path("bench/stages.xml"), "tests"); tests == "0" {
			t.Error("stages.xml has no test")
		}
		summary, err := os.ReadFile(w.path("summary.md"))
		if err != nil || strings.Count(string(summary), "| synchronous |") < 3 || !strings.Contains(string(summary), "bench/candidate") {
			t.Errorf("%v, the summary is\n%s", err, summary)
		}
	})
}

// junitCount returns an attribute of the first suite of a file.
func junitCount(t *testing.T, file, attribute string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	d := xml.NewDecoder(strings.NewReader(string(b)))
	for {
		token, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "testsuite" {
			for _, a := range e.Attr {
				if a.Name.Local == attribute {
					return a.Value
				}
			}
			return ""
		}
	}
}

// TestGitLabExample compares the commands for GitLab with those for GitHub.
func TestGitLabExample(t *testing.T) {
	var hub workflow
	readYAML(t, "github.yml", &hub)
	var lab struct {
		Job struct {
			Script      []string
			AfterScript []string `yaml:"after_script"`
		} `yaml:"llm-performance"`
	}
	readYAML(t, "gitlab.yml", &lab)
	want, always := hub.llmsweepSteps(t, "gate")
	for i, line := range append(want, always...) {
		got := append(lab.Job.Script, lab.Job.AfterScript...)
		if i >= len(got) || got[i] != "llmsweep "+line {
			t.Errorf("GitLab runs %q, GitHub %q", got, line)
		}
	}
}
