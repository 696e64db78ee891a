// Which of several ranks this process is, and where rank 0 is, follows from flags and from what the launcher set in the
// environment: ranks cannot ask each other before they know that.

package cluster

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"time"
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
	Host, Port  string // of rank 0
	Token       string // what ranks prove to each other that they know
	Derived     bool   // the token follows from the environment: others on the cluster may be able to guess it
}

const defaultPort = "28510"

// FindPlace returns the place of this process, or nil where it is the only one. env returns the value of an environment
// variable. A launcher that started one process changes nothing.
func FindPlace(f PlaceFlags, env func(string) string) (*Place, error) {
	var err error
	number := func(name string, into *int, missing bool) {
		if text := env(name); text != "" && missing {
			n, broken := strconv.Atoi(text)
			if broken != nil {
				err = fmt.Errorf("%s=%s: it must be a whole number", name, text)
			}
			*into = n
		}
	}
	number(envRank, &f.Rank, f.Rank < 0)
	number(envRanks, &f.Ranks, f.Ranks == 0)
	f.Coordinator, f.Token = cmp.Or(f.Coordinator, env(envCoordinator)), cmp.Or(f.Token, env(envToken))
	given := f.Rank >= 0 || f.Ranks > 0 || f.Coordinator != ""
	if given {
		number("JOB_COMPLETION_INDEX", &f.Rank, f.Rank < 0) // of a Kubernetes Indexed Job, whose manifest sets the other two
	}
	switch {
	case err != nil:
		return nil, err
	case given:
		return placeByFlags(f)
	case env("SLURM_STEP_NUM_TASKS") != "" && env("SLURM_PROCID") != "":
		return placeBySlurm(f.Token, env)
	}
	return nil, nil
}

func placeByFlags(f PlaceFlags) (*Place, error) {
	host, port, err := net.SplitHostPort(f.Coordinator)
	if err != nil {
		host, port = strings.Trim(f.Coordinator, "[]"), defaultPort
	}
	n, portErr := strconv.Atoi(port)
	switch {
	case f.Rank < 0 || f.Ranks < 1 || f.Rank >= f.Ranks:
		return nil, fmt.Errorf("several ranks need --rank (from 0) and --ranks (their number): %d of %d is none", f.Rank,
			f.Ranks)
	case f.Ranks == 1:
		return nil, nil
	case host == "" || portErr != nil || n < 1 || n > 65535:
		return nil, fmt.Errorf("several ranks need --coordinator: the host of rank 0, and a port that is free there, such "+
			"as node1:%s", defaultPort)
	case f.Token == "":
		return nil, fmt.Errorf("several ranks need a token that is the same for all: set %s, for example to what openssl "+
			"rand -hex 16 prints", envToken)
	}
	return &Place{Rank: f.Rank, Ranks: f.Ranks, Host: host, Port: port, Token: f.Token}, nil
}

// placeBySlurm returns the place in a job step of srun; nil in a batch script, which has no step of several tasks.
func placeBySlurm(token string, env func(string) string) (*Place, error) {
	rank, err := strconv.Atoi(env("SLURM_PROCID"))
	ranks, ranksErr := strconv.Atoi(env("SLURM_STEP_NUM_TASKS"))
	host := firstHost(cmp.Or(env("SLURM_STEP_NODELIST"), env("SLURM_NODELIST")))
	if err = errors.Join(err, ranksErr); err != nil || host == "" {
		return nil, fmt.Errorf("the environment that srun set cannot be read: %w",
			cmp.Or(err, errors.New("SLURM_STEP_NODELIST names no host")))
	}
	if ranks < 2 {
		return nil, nil
	}
	// The port lies between those that services have and those that systems give to connections.
	const first, span = 20_000, 10_000
	h := fnv.New32a()
	h.Write([]byte(env("SLURM_JOB_ID") + "." + env("SLURM_STEP_ID")))
	p := &Place{Rank: rank, Ranks: ranks, Host: host, Port: strconv.Itoa(first + int(h.Sum32()%span)), Token: token}
	if p.Token == "" {
		p.Token, p.Derived = deriveToken(env), true
	}
	return p, nil
}

// firstHost returns the first host of a list as Slurm writes it: of "rack[1-2]n[01-04,07],gpu1" it is rack1n01.
func firstHost(list string) string {
	var host strings.Builder
	inside, skip := false, false
	for _, c := range list {
		switch {
		case c == '[':
			inside = true
		case c == ']':
			inside, skip = false, false
		case c == ',' && !inside:
			return host.String()
		case inside && (c == '-' || c == ','):
			skip = true
		case !skip:
			host.WriteRune(c)
		}
	}
	return host.String()
}

// deriveToken returns a token that all tasks of a job step have and other jobs have not. The port of srun is drawn by
// the system.
func deriveToken(env func(string) string) string {
	h := sha256.New()
	for _, name := range []string{
		"SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_CLUSTER_NAME", "SLURM_JOB_UID", "SLURM_SRUN_COMM_HOST",
		"SLURM_SRUN_COMM_PORT", "SLURM_STEP_LAUNCHER_PORT",
	} {
		fmt.Fprintf(h, "%s=%s\n", name, env(name))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Resolve replaces the name of rank 0's machine, as Slurm has it, by an address where the name is not known to the
// network: Slurm knows the addresses of its nodes.
func (p *Place) Resolve(ctx context.Context) {
	p.resolve(ctx, net.DefaultResolver.LookupHost, func(ctx context.Context, name string, args ...string) ([]byte, error) {
		return exec.CommandContext(ctx, name, args...).Output()
	})
}

func (p *Place) resolve(
	ctx context.Context, lookup func(context.Context, string) ([]string, error),
	run func(context.Context, string, ...string) ([]byte, error),
) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if addresses, err := lookup(ctx, p.Host); err == nil && len(addresses) > 0 {
		return
	}
	out, _ := run(ctx, "scontrol", "show", "node", "-o", p.Host) // where that fails, so does connecting
	for _, field := range strings.Fields(string(out)) {
		if address, ok := strings.CutPrefix(field, "NodeAddr="); ok && address != "" {
			p.Host = address
		}
	}
}
