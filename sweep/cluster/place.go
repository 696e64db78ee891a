// Finds out which of several ranks this process is, and where rank 0 is, from what the launcher set in the environment or
// from flags. Ranks cannot ask each other before they know that, so all of it is derived from what each of them sees.

package cluster

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"net"
	"strconv"
	"strings"

	"llmsweep/sweep/rundir"
)

// The variables that replace flags.
const (
	envToken       = "LLMSWEEP_CLUSTER_TOKEN"
	envRank        = "LLMSWEEP_RANK"
	envRanks       = "LLMSWEEP_RANKS"
	envCoordinator = "LLMSWEEP_COORDINATOR"
)

// PlaceFlags are what the command line says. Rank is -1 and others are empty where it says nothing.
type PlaceFlags struct {
	Rank, Ranks int
	Coordinator string // host:port of rank 0
	Token       string
}

// Place is the place of this process among the ranks of a run.
type Place struct {
	Rank, Ranks int
	Source      string // where it is known from: rundir.SourceSlurm and others
	Host        string // the machine of rank 0
	Ports       []int  // on which rank 0 may listen; it takes the first that is free
	Token       string // what ranks prove to each other that they know
	Derived     bool   // the token follows from the environment: others on the cluster may be able to guess it
}

// Addresses returns where rank 0 may be reached.
func (p *Place) Addresses() (all []string) {
	for _, port := range p.Ports {
		all = append(all, net.JoinHostPort(p.Host, strconv.Itoa(port)))
	}
	return all
}

// DefaultPort is the port of rank 0 where an address has none.
const DefaultPort = 28510

// FindPlace returns the place of this process, or nil where it is the only one. env returns the value of an environment variable. A launcher that
// started one process changes nothing.
func FindPlace(f PlaceFlags, env func(string) string) (*Place, error) {
	if err := fromEnv(&f, env); err != nil {
		return nil, err
	}
	given := f.Rank >= 0 || f.Ranks > 0 || f.Coordinator != ""
	switch {
	case given && env("JOB_COMPLETION_INDEX") != "" && f.Rank < 0:
		return kubernetes(f, env)
	case given:
		return byFlags(f)
	case env("SLURM_STEP_NUM_TASKS") != "" && env("SLURM_PROCID") != "":
		return slurm(f, env)
	}
	return nil, nil
}

// fromEnv fills in what the command line does not say.
func fromEnv(f *PlaceFlags, env func(string) string) (err error) {
	number := func(name string, into *int, missing bool) {
		text := env(name)
		if text == "" || !missing || err != nil {
			return
		}
		n, broken := strconv.Atoi(text)
		if broken != nil {
			err = fmt.Errorf("%s=%s: it must be a whole number", name, text)
			return
		}
		*into = n
	}
	number(envRank, &f.Rank, f.Rank < 0)
	number(envRanks, &f.Ranks, f.Ranks == 0)
	f.Coordinator = cmp.Or(f.Coordinator, env(envCoordinator))
	f.Token = cmp.Or(f.Token, env(envToken))
	return err
}

// byFlags returns the place that flags say.
func byFlags(f PlaceFlags) (*Place, error) {
	switch {
	case f.Rank < 0 || f.Ranks < 1 || f.Rank >= f.Ranks:
		return nil, fmt.Errorf("several ranks need --rank (from 0) and --ranks (their number): %d of %d is none", f.Rank, f.Ranks)
	case f.Ranks == 1:
		return nil, nil
	case f.Coordinator == "":
		return nil, errors.New("several ranks need --coordinator: the host of rank 0, and a port that is free there, such as node1:28510")
	case f.Token == "":
		return nil, fmt.Errorf("several ranks need a token that is the same for all: set %s, for example to what openssl rand -hex 16 prints", envToken)
	}
	p := &Place{Rank: f.Rank, Ranks: f.Ranks, Source: rundir.SourceFlags, Token: f.Token}
	return p, p.at(f.Coordinator)
}

// at sets the address of rank 0.
func (p *Place) at(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		host, port = strings.Trim(address, "[]"), strconv.Itoa(DefaultPort)
	}
	n, err := strconv.Atoi(port)
	if err != nil || n < 1 || n > 65535 || host == "" {
		return fmt.Errorf("--coordinator %s: write host:port, such as node1:%d", address, DefaultPort)
	}
	p.Host, p.Ports = host, []int{n}
	return nil
}

// kubernetes returns the place in an Indexed Job. The number of pods and the name of the first are not in a pod's environment: the manifest
// sets them.
func kubernetes(f PlaceFlags, env func(string) string) (*Place, error) {
	n, err := strconv.Atoi(env("JOB_COMPLETION_INDEX"))
	if err != nil {
		return nil, fmt.Errorf("JOB_COMPLETION_INDEX=%s: it must be a whole number", env("JOB_COMPLETION_INDEX"))
	}
	f.Rank = n
	p, err := byFlags(f)
	if p != nil {
		p.Source = rundir.SourceKubernetes
	}
	return p, err
}

// slurm returns the place in a job step, as srun sets it. A batch script has no step of several tasks, and is none.
func slurm(f PlaceFlags, env func(string) string) (*Place, error) {
	rank, err := strconv.Atoi(env("SLURM_PROCID"))
	ranks, also := strconv.Atoi(env("SLURM_STEP_NUM_TASKS"))
	if err = errors.Join(err, also); err != nil {
		return nil, fmt.Errorf("the environment that srun set cannot be read: %w", err)
	}
	if ranks < 2 {
		return nil, nil
	}
	nodes, err := hosts(cmp.Or(env("SLURM_STEP_NODELIST"), env("SLURM_NODELIST")), 1)
	if err != nil {
		return nil, fmt.Errorf("SLURM_STEP_NODELIST: %w", err)
	}
	step := env("SLURM_JOB_ID") + "." + env("SLURM_STEP_ID")
	p := &Place{Rank: rank, Ranks: ranks, Source: rundir.SourceSlurm, Host: nodes[0], Ports: ports(step), Token: f.Token}
	if p.Token == "" {
		p.Token, p.Derived = derived(env), true
	}
	return p, nil
}

// ports returns where rank 0 of a job step may listen: several, since another program may have one of them. They lie between the ports
// that services have and those that systems give to connections.
func ports(step string) (all []int) {
	const first, span, tries = 20_000, 10_000, 4
	h := fnv.New32a()
	h.Write([]byte(step))
	for i := range tries {
		all = append(all, first+int((uint64(h.Sum32())+uint64(i)*2503)%span))
	}
	return all
}

// derived returns a token that all tasks of a job step have and other jobs have not. The port of srun is drawn by the system.
func derived(env func(string) string) string {
	h := sha256.New()
	for _, name := range []string{"SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_CLUSTER_NAME", "SLURM_JOB_UID", "SLURM_SRUN_COMM_HOST", "SLURM_SRUN_COMM_PORT", "SLURM_STEP_LAUNCHER_PORT"} {
		fmt.Fprintf(h, "%s=%s\n", name, env(name))
	}
	return hex.EncodeToString(h.Sum(nil))
}
