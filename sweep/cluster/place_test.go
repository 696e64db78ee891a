package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// recorded returns an environment from lines as env(1) prints them.
func recorded(lines string) func(string) string {
	return func(name string) string {
		for line := range strings.Lines(lines) {
			if value, ok := strings.CutPrefix(strings.TrimSpace(line), name+"="); ok {
				return value
			}
		}
		return ""
	}
}

// What a real srun -N4 -n4 of Slurm 24.11 set for the third task, and what sbatch -n 4 set for its script.
const (
	fromSrun = `SLURM_JOB_ID=1
		SLURM_LAUNCH_NODE_IPADDR=127.0.0.1
		SLURM_NODEID=2
		SLURM_NTASKS=4
		SLURM_PROCID=2
		SLURM_SRUN_COMM_HOST=127.0.0.1
		SLURM_SRUN_COMM_PORT=38201
		SLURM_STEP_ID=0
		SLURM_STEP_LAUNCHER_PORT=38201
		SLURM_STEP_NODELIST=n[1-4]
		SLURM_STEP_NUM_TASKS=4
		SLURMD_NODENAME=n3`
	fromSbatch = `SLURM_JOB_ID=2
		SLURM_JOB_NODELIST=n[1-2]
		SLURM_NODELIST=n[1-2]
		SLURM_NPROCS=4
		SLURM_NTASKS=4
		SLURM_PROCID=0`
	fromKubernetes = `JOB_COMPLETION_INDEX=3
		LLMSWEEP_RANKS=4
		LLMSWEEP_COORDINATOR=llmsweep-0.llmsweep:28510
		LLMSWEEP_CLUSTER_TOKEN=0123456789abcdef
		KUBERNETES_SERVICE_HOST=10.0.0.1`
)

func TestPlaces(t *testing.T) {
	flags := func(rank, ranks int, coordinator, token string) PlaceFlags {
		return PlaceFlags{Rank: rank, Ranks: ranks, Coordinator: coordinator, Token: token}
	}
	none := flags(-1, 0, "", "")
	for _, c := range []struct {
		name, env string
		flags     PlaceFlags
		want      string // rank, ranks, host, port
	}{
		{"srun", fromSrun, none, "2 of 4 at n1:28290, derived"},
		{"another rank", strings.Replace(fromSrun, "PROCID=2", "PROCID=0", 1), none, "0 of 4 at n1:28290, derived"},
		{"another step", strings.Replace(fromSrun, "STEP_ID=0", "STEP_ID=1", 1), none, "2 of 4 at n1:25909, derived"},
		{"a batch script without srun", fromSbatch, none, "none"},
		{"alone", "", none, "none"},
		{"one rank", "", flags(0, 1, "", ""), "none"},
		{"one task", strings.Replace(fromSrun, "TASKS=4\n\t\tSLURMD", "TASKS=1\n\t\tSLURMD", 1), none, "none"},
		{"Kubernetes", fromKubernetes, none, "3 of 4 at llmsweep-0.llmsweep:28510"},
		{"flags", fromSrun, flags(1, 2, "node1", "secret"), "1 of 2 at node1:28510"},
		{"no such rank", "", flags(2, 2, "a:1", "t"), "error"},
		{"no rank", "", flags(-1, 2, "a:1", "t"), "error"},
		{"no coordinator", "", flags(0, 2, "", "t"), "error"},
		{"no token", "", flags(0, 2, "a:1", ""), "error"},
		{"no port", "", flags(0, 2, "a:x", "t"), "error"},
		{"no host", "", flags(0, 2, ":1", "t"), "error"},
	} {
		p, err := FindPlace(c.flags, recorded(c.env))
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
	token := func(env string) string { p, _ := FindPlace(none, recorded(env)); return p.Token }
	if one := token(fromSrun); one != token(strings.Replace(fromSrun, "PROCID=2", "PROCID=0", 1)) ||
		one == token(strings.Replace(fromSrun, "STEP_ID=0", "STEP_ID=1", 1)) {
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
	unknown := func(context.Context, string) ([]string, error) { return nil, errors.New("no such host") }
	known := func(context.Context, string) ([]string, error) { return []string{"10.0.0.7"}, nil }
	scontrol := func(_ context.Context, name string, args ...string) ([]byte, error) {
		if name != "scontrol" || args[len(args)-1] != "n1" {
			return nil, errors.New("not asked for that")
		}
		return []byte("NodeName=n1 Arch=x86_64 CoresPerSocket=2 NodeAddr=127.0.0.1 NodeHostName=vm Version=24.11"), nil
	}
	for _, c := range []struct {
		host   string
		lookup func(context.Context, string) ([]string, error)
		want   string
	}{{"n1", unknown, "127.0.0.1"}, {"n1", known, "n1"}, {"n9", unknown, "n9"}, {"10.1.1.1", unknown, "10.1.1.1"}} {
		p := &Place{Host: c.host}
		if p.resolve(t.Context(), c.lookup, scontrol); p.Host != c.want {
			t.Errorf("%s became %s, want %s", c.host, p.Host, c.want)
		}
	}
}
