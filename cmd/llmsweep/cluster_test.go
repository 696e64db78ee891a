package main

import (
	"io"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"llmsweep/cmd/llmsweep/console"
)

// TestKubernetesExample: the number of ranks is the same in each place, rank 0 is found at its pod, and llmsweep knows
// the command line.
func TestKubernetesExample(t *testing.T) {
	_, text, _ := strings.Cut(contentOf(t, "../../examples/cluster/sweep.yaml"), "\n---\n")
	read := func(path string, into any) {
		t.Helper()
		at, err := yaml.PathString("$.spec" + path)
		noError(t, err)
		noError(t, at.Read(strings.NewReader(text), into))
	}
	var completions, parallelism, domain string
	var env []struct{ Name, Value string }
	var args []string
	read(".completions", &completions)
	read(".parallelism", &parallelism)
	read(".template.spec.subdomain", &domain)
	read(".template.spec.containers[0].env", &env)
	read(".template.spec.containers[0].args", &args)
	values := map[string]string{}
	for _, v := range env {
		values[v.Name] = v.Value
	}
	if parallelism != completions || values["LLMSWEEP_RANKS"] != completions ||
		values["LLMSWEEP_COORDINATOR"] != "llmsweep-0."+domain+":28510" {
		t.Errorf("%s completions, %s at a time, domain %s, ranks have %v", completions, parallelism, domain, values)
	}
	parser, _ := newParser(console.NewConsole(t.Context(), io.Discard, io.Discard), &cli{})
	if _, err := parser.Parse(args); err != nil {
		t.Error(err)
	}
}

// Secrets go to no rank that may have guessed the token.
func TestAGuessableTokenIsRefusedWithAKey(t *testing.T) {
	t.Parallel()
	env := map[string]string{"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "2", "SLURM_STEP_NODELIST": "localhost",
		"SLURM_JOB_ID": "1"}
	var out strings.Builder
	c := console.NewConsole(t.Context(), &out, &out)
	world := c.World()
	world.Env = func(name string) string { return env[name] }
	c = c.WithWorld(world)
	c.Dir = t.TempDir()
	code := executeAgain(strings.Fields("run sim: --concurrency 1 --requests 2 --no-selftest --header A:secret"), c)
	if text := out.String(); code != console.WrongUsage || !strings.Contains(text, "set LLMSWEEP_CLUSTER_TOKEN") {
		t.Errorf("exit %d: %s", code, text)
	}
}
