package main

import (
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"llmsweep/cmd/llmsweep/console"
)

// TestKubernetesExample: the number of ranks is the same in each place, rank 0 is found at its pod, and llmsweep knows
// the command line.
func TestKubernetesExample(t *testing.T) {
	_, text, _ := strings.Cut(contentOf(t, "../../examples/cluster/sweep.yaml"), "\n---\n")
	var job struct {
		Spec struct {
			Completions, Parallelism int
			Template                 struct {
				Spec struct {
					Subdomain  string
					Containers []struct {
						Args []string
						Env  []struct{ Name, Value string }
					}
				}
			}
		}
	}
	noError(t, yaml.Unmarshal([]byte(text), &job))
	rank := job.Spec.Template.Spec.Containers[0]
	env := map[string]string{}
	for _, v := range rank.Env {
		env[v.Name] = v.Value
	}
	n := job.Spec.Completions
	if job.Spec.Parallelism != n || env["LLMSWEEP_RANKS"] != strconv.Itoa(n) {
		t.Errorf("%d completions, %d at a time, %s ranks", n, job.Spec.Parallelism, env["LLMSWEEP_RANKS"])
	}
	if want := "llmsweep-0." + job.Spec.Template.Spec.Subdomain + ":28510"; env["LLMSWEEP_COORDINATOR"] != want {
		t.Errorf("rank 0 is at %s, want %s", env["LLMSWEEP_COORDINATOR"], want)
	}
	parser, _ := newParser(console.NewConsole(t.Context(), io.Discard, io.Discard), &cli{})
	if _, err := parser.Parse(rank.Args); err != nil {
		t.Error(err)
	}
}
