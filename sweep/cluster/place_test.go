package cluster

import (
	"context"
	"errors"
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
	none := PlaceFlags{Rank: -1}
	p, err := FindPlace(none, recorded(fromSrun))
	if err != nil || p.Rank != 2 || p.Ranks != 4 || p.Host != "n1" || p.Port == "" || !p.Derived {
		t.Errorf("srun: %+v, %v", p, err)
	}
	if again, _ := FindPlace(none, recorded(strings.Replace(fromSrun, "PROCID=2", "PROCID=0",
		1))); again.Token != p.Token || again.Port != p.Port {
		t.Error("two ranks of a step do not meet")
	}
	if other, _ := FindPlace(none, recorded(strings.Replace(fromSrun, "STEP_ID=0", "STEP_ID=1",
		1))); other.Token == p.Token || other.Port == p.Port {
		t.Error("two steps meet")
	}
	if p, err := FindPlace(none, recorded(fromSbatch)); p != nil || err != nil {
		t.Errorf("a batch script without srun: %+v, %v", p, err)
	}
	if p, err := FindPlace(none, recorded("")); p != nil || err != nil {
		t.Errorf("alone: %+v, %v", p, err)
	}
	p, err = FindPlace(none, recorded(fromKubernetes))
	if err != nil || p.Rank != 3 || p.Ranks != 4 || p.Host != "llmsweep-0.llmsweep" || p.Port != "28510" || p.Derived {
		t.Errorf("Kubernetes: %+v, %v", p, err)
	}
	p, err = FindPlace(PlaceFlags{Rank: 1, Ranks: 2, Coordinator: "node1", Token: "secret"}, recorded(fromSrun))
	if err != nil || p.Rank != 1 || p.Ranks != 2 || p.Host != "node1" || p.Port != "28510" {
		t.Errorf("flags: %+v, %v", p, err)
	}
	for _, f := range []PlaceFlags{
		{Rank: 2, Ranks: 2, Coordinator: "a:1", Token: "t"}, {Rank: -1, Ranks: 2, Coordinator: "a:1", Token: "t"},
		{Rank: 0, Ranks: 2, Token: "t"},
		{Rank: 0, Ranks: 2, Coordinator: "a:1"}, {Rank: 0, Ranks: 2, Coordinator: "a:x", Token: "t"},
		{Rank: 0, Ranks: 2, Coordinator: ":1", Token: "t"},
	} {
		if p, err := FindPlace(f, recorded("")); err == nil {
			t.Errorf("%+v gave %+v", f, p)
		}
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
