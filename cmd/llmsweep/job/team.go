package job

import (
	"bytes"
	"cmp"
	"encoding/gob"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"runtime"
	"strings"

	"llmsweep/client"
	"llmsweep/client/note"
	"llmsweep/client/sim"
	"llmsweep/cmd/llmsweep/console"
	"llmsweep/report/findings"
	"llmsweep/sweep"
	"llmsweep/sweep/cluster"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
)

// team is the ranks of a measurement that several processes take, as rank 0 sees them.
type team struct {
	*cluster.Ranks
	node     *cluster.Place
	listener net.Listener
}

// listenForRanks lets ranks join. team.begin welcomes them.
func listenForRanks(c *console.Console, node *cluster.Place) (*team, error) {
	node.Resolve(c.Ctx)
	listener, err := net.Listen("tcp", ":"+node.Port)
	if err != nil {
		return nil, fmt.Errorf("rank 0 cannot listen: %w; name another port with --coordinator", err)
	}
	t := &team{Ranks: cluster.NewRanks(node.Ranks, build(), host(c)), node: node, listener: listener}
	return t, t.Listen(listener, node.Token)
}

// build names the version of this program, without the system that it is for.
func build() string {
	text, _, _ := strings.Cut(console.VersionText(), ", "+runtime.Version())
	return text
}

func host(c *console.Console) string {
	name, _ := os.Hostname()
	return cmp.Or(c.World().Env("SLURMD_NODENAME"), name)
}

// begin waits for the other ranks, and lets all of them send what is measured. urls are those of the command line, and
// say shows a line.
func (t *team) begin(c *console.Console, server *Target, urls []string, config *sweep.Config, run *rundir.Run,
	say func(string)) error {
	t.Sender = server.Sender()
	if server.spending != nil {
		t.Allowance = server.spending
	}
	if c.Interrupts != nil {
		t.Interrupt = c.Interrupts.Interrupt
	}
	var setup bytes.Buffer
	if err := gob.NewEncoder(&setup).Encode(server.options(urls, t.node.Host)); err != nil {
		return err
	}
	err := t.Gather(c.Ctx, setup.Bytes(), func(missing string) { say(findings.Waiting(missing, c.Lang)) })
	if err != nil {
		return err
	}
	run.Cluster = t.Describe()
	say(findings.Joined(run.Cluster, c.Lang))
	if t.node.Derived {
		say(findings.DerivedToken(c.Lang))
	}
	config.Doer, config.Warm, config.Ranks = t, warming(t, server.maxConns), t.node.Ranks
	config.Others = func() (cpu, gc float64, slow []note.Note) {
		cpu, gc = t.Shares()
		return cpu, gc, t.Slow()
	}
	return nil
}

// options are the clients of another rank for the same servers. A simulated server has the address of rank 0.
func (t *Target) options(urls []string, host string) (all []client.Options) {
	for i, one := range t.all() {
		o := one.prober.Options()
		o.Allowance, o.Dial, o.Proxy = nil, nil, nil
		if u, err := url.Parse(o.URL); err == nil && strings.HasPrefix(urls[i], sim.Scheme) {
			o.URL = "http://" + net.JoinHostPort(host, u.Port())
		}
		all = append(all, o)
	}
	return all
}

// end ends the run for all ranks. err is why nothing was measured; nil where something was.
func (t *team) end(err error) {
	t.Close(err)
	t.listener.Close()
}

// Follow takes part as a rank other than 0, until rank 0 ends the run.
func Follow(c *console.Console, node *cluster.Place) error {
	node.Resolve(c.Ctx)
	conn, err := cluster.Dial(c.Ctx, net.JoinHostPort(node.Host, node.Port), node.Token, func(err error) {
		fmt.Fprintln(c.Err, "llmsweep: "+findings.StillConnecting(node.Rank, err.Error(), c.Lang))
	})
	if err != nil {
		return c.Interrupted(fmt.Errorf("rank %d: %w", node.Rank, err))
	}
	waiter := c.World().Waiter()
	defer waiter.Close()
	meter := load.NewMeter(waiter)
	rank := cluster.Rank{
		Hello: cluster.Hello{Rank: node.Rank, Ranks: node.Ranks, Version: build(), Host: host(c)},
		Connect: func(setup []byte) (cluster.Sender, error) {
			var servers []client.Options
			if err := gob.NewDecoder(bytes.NewReader(setup)).Decode(&servers); err != nil {
				return nil, err
			}
			return connectAsFound(c, servers)
		},
		Shares: func() (cpu, gc float64) {
			defer func() { meter = load.NewMeter(waiter) }()
			return meter.Shares()
		},
	}
	switch err := rank.Serve(c.Ctx, conn); {
	case errors.Is(err, cluster.ErrEnded):
		return console.Exit(console.Failed, printedError{}) // by rank 0
	case err != nil && c.Ctx.Err() != nil:
		return console.Exit(console.Interrupted, printedError{})
	case err != nil:
		return fmt.Errorf("rank %d: %w", node.Rank, err)
	}
	return nil
}

func connectAsFound(c *console.Console, servers []client.Options) (cluster.Sender, error) {
	var all []*client.Client
	for _, o := range servers {
		o.Dial, o.Proxy = c.World().Dial, c.World().Proxy
		one, err := client.New(o)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	if len(all) == 1 {
		return all[0], nil
	}
	return client.NewReplicas(all), nil
}

// printedError is an error that another process has printed.
type printedError struct{}

func (printedError) Error() string { return "" }
