package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// environment returns what a file of testdata has, with changes. A real srun -N4 -n4 of Slurm 24.11 set srun.env for
// the third task, and sbatch -n 4 set sbatch.env for its script.
func environment(t *testing.T, file string, changes ...string) func(string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Fields(strings.NewReplacer(changes...).Replace(string(b)))
	return func(name string) string {
		for _, line := range lines {
			if value, ok := strings.CutPrefix(line, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

func TestPlaces(t *testing.T) {
	flags := func(rank, ranks int, coordinator, token string) PlaceFlags {
		return PlaceFlags{Rank: rank, Ranks: ranks, Coordinator: coordinator, Token: token}
	}
	none := flags(-1, 0, "", "")
	empty, srun := func(string) string { return "" }, environment(t, "srun.env")
	anotherRank := environment(t, "srun.env", "PROCID=2", "PROCID=0")
	anotherStep := environment(t, "srun.env", "STEP_ID=0", "STEP_ID=1")
	for _, c := range []struct {
		name  string
		env   func(string) string
		flags PlaceFlags
		want  string
	}{
		{"srun", srun, none, "2 of 4 at n1:28290, derived"},
		{"another rank", anotherRank, none, "0 of 4 at n1:28290, derived"},
		{"another step", anotherStep, none, "2 of 4 at n1:25909, derived"},
		{"a batch script without srun", environment(t, "sbatch.env"), none, "none"},
		{"alone", empty, none, "none"},
		{"one rank", empty, flags(0, 1, "", ""), "none"},
		{"one task", environment(t, "srun.env", "NUM_TASKS=4", "NUM_TASKS=1"), none, "none"},
		{"Kubernetes", environment(t, "kubernetes.env"), none, "3 of 4 at llmsweep-0.llmsweep:28510"},
		{"flags", srun, flags(1, 2, "node1", "secret"), "1 of 2 at node1:28510"},
		{"no such rank", empty, flags(2, 2, "a:1", "t"), "error"},
		{"no rank", empty, flags(-1, 2, "a:1", "t"), "error"},
		{"no coordinator", empty, flags(0, 2, "", "t"), "error"},
		{"no token", empty, flags(0, 2, "a:1", ""), "error"},
		{"no port", empty, flags(0, 2, "a:x", "t"), "error"},
		{"no host", empty, flags(0, 2, ":1", "t"), "error"},
	} {
		p, err := FindPlace(c.flags, c.env)
		got := "none"
		if err != nil {
			got = "error"
		} else if p != nil {
			got = fmt.Sprintf("%d of %d at %s:%s", p.Rank, p.Ranks, p.Host, p.Port)
			if p.Derived {
				got += ", derived"
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, %v; want %s", c.name, got, err, c.want)
		}
	}
	if token := deriveToken(srun); token != deriveToken(anotherRank) || token == deriveToken(anotherStep) {
		t.Error("two ranks of a step have other tokens, or two steps the same")
	}
}

func TestFirstHost(t *testing.T) {
	for list, want := range map[string]string{
		"n1": "n1", "n[1-3]": "n1", "node[01-03,07],gpu1": "node01", "r[1-2]n[08-10]-ib": "r1n08-ib",
		"gpu-a,b[2],c": "gpu-a", "n[7,9]": "n7", "": "",
	} {
		if got := firstHost(list); got != want {
			t.Errorf("%s: %s", list, got)
		}
	}
}

// A name that only Slurm knows becomes the address that Slurm knows.
func TestNamesAreResolved(t *testing.T) {
	lookup := func(_ context.Context, name string) ([]string, error) {
		if name == "known" {
			return []string{"10.0.0.7"}, nil
		}
		return nil, errors.New("no such host")
	}
	scontrol := func(_ context.Context, name string, args ...string) ([]byte, error) {
		if host := args[len(args)-1]; name != "scontrol" || host != "n1" && host != "known" {
			return nil, errors.New("not asked for that")
		}
		return []byte("NodeName=n1 Arch=x86_64 CoresPerSocket=2 NodeAddr=127.0.0.1 NodeHostName=vm Version=24.11"), nil
	}
	for host, want := range map[string]string{"n1": "127.0.0.1", "known": "known", "n9": "n9", "10.1.1.1": "10.1.1.1"} {
		p := &Place{Host: host}
		if p.resolve(t.Context(), lookup, scontrol); p.Host != want {
			t.Errorf("%s became %s, want %s", host, p.Host, want)
		}
	}
}
