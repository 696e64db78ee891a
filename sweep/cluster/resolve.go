package cluster

import (
	"context"
	"net"
	"os/exec"
	"strings"
	"time"
)

// Resolve replaces the name of rank 0's machine, as Slurm has it, by an address where the name is not known to the network: Slurm knows the
// addresses of its nodes.
func (p *Place) Resolve(ctx context.Context) {
	p.resolve(ctx, net.DefaultResolver.LookupHost, func(ctx context.Context, name string, args ...string) ([]byte, error) {
		return exec.CommandContext(ctx, name, args...).Output()
	})
}

func (p *Place) resolve(ctx context.Context, lookup func(context.Context, string) ([]string, error),
	run func(context.Context, string, ...string) ([]byte, error)) {
	const limit = 10 * time.Second
	if net.ParseIP(p.Host) != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if found, err := lookup(ctx, p.Host); err == nil && len(found) > 0 {
		return
	}
	out, err := run(ctx, "scontrol", "show", "node", "-o", p.Host)
	if err != nil {
		return // connecting will fail, and name the host
	}
	for _, field := range strings.Fields(string(out)) {
		if address, ok := strings.CutPrefix(field, "NodeAddr="); ok && address != "" {
			p.Host = address
		}
	}
}
