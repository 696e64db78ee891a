// Package team lets several processes take one measurement: rank 0 measures as if it were alone, and the others follow it.
package team

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/cmd/llmsweep/flags"
	"llmsweep/cmd/llmsweep/target"
	"llmsweep/cmd/llmsweep/version"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/sweep"
	"llmsweep/sweep/cluster"
	"llmsweep/sweep/cluster/clock"
	"llmsweep/sweep/cluster/message"
	"llmsweep/sweep/cluster/place"
	"llmsweep/sweep/cluster/rpc"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/workload"
	"llmsweep/sweep/workload/recorded"
)

// Refuses returns why several ranks cannot measure what the flags ask of a number of servers; nil where they can. A plan that makes its own sessions is varied.
func Refuses(t *flags.Target, servers int, varied bool) error {
	switch {
	case servers > 1:
		return errors.New("several servers are measured from one machine: leave out the other ranks, or the other servers")
	case varied:
		return errors.New("--for-fit runs on one machine: leave out the other ranks")
	case t.MaxCost > 0 || t.MaxTokens > 0 || t.PriceIn > 0 || t.PriceOut > 0:
		return errors.New("spending is counted on one machine: leave out the other ranks, or the prices and limits")
	}
	return nil
}

// Lead is rank 0's side.
type Lead struct {
	*cluster.Coordinator
	node *place.Place
	stop func()
	own  chan error // how rank 0's own part ended; nil before it began
}

// Assemble lets ranks join. They are welcomed by [Lead.Begin].
func Assemble(c *console.Console, node *place.Place) (*Lead, error) {
	node.Resolve(c.Ctx)
	var listener net.Listener
	var err error
	for _, port := range node.Ports {
		if listener, err = net.Listen("tcp", ":"+strconv.Itoa(port)); err == nil {
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("rank 0 cannot listen: %w; name another port with --coordinator", err)
	}
	t := &Lead{Coordinator: cluster.NewCoordinator(node.Ranks, build(), node.Source, clockOf(c)), node: node}
	if t.stop, err = rpc.Serve(listener, node.Token, t.Coordinator); err != nil {
		return nil, err
	}
	c.Everywhere = true
	return t, nil
}

// clockOf returns the clock of this process. Tests make it wrong.
func clockOf(c *console.Console) *clock.Clock {
	wrong, _ := time.ParseDuration(c.Env("LLMSWEEP_TEST_CLOCK_ERROR"))
	return clock.New(wrong)
}

// build names the version of this program, without the system that it is for.
func build() string {
	text, _, _ := strings.Cut(version.Text(), ", "+runtime.Version())
	return text
}

// hello returns what a rank says of itself.
func hello(c *console.Console, node *place.Place) *message.Hello {
	host, _ := os.Hostname()
	return &message.Hello{
		Rank: int32(node.Rank), Ranks: int32(node.Ranks), Version: build(), Host: cmp.Or(c.Env("SLURMD_NODENAME"), host),
		Os: runtime.GOOS + "/" + runtime.GOARCH, Cpus: int32(runtime.NumCPU()),
	}
}

// Begin waits for the other ranks, and lets all of them hold the stages of the plan. say shows a line.
func (t *Lead) Begin(c *console.Console, server *target.Target, url string, flags *flags.Target, plan *sweep.Config, run *rundir.Run, say func(string)) error {
	found, err := server.Found(url, t.node.Host)
	if err != nil {
		return err
	}
	t.Seed, t.Numbers = plan.Seed, numbered(server.Workload)
	if c.Interrupts != nil {
		t.Interrupt = c.Interrupts.Interrupt
	}
	t.Welcome(found)
	t.own = make(chan error, 1)
	down, up := cluster.Pipe()
	go t.Admit(down)
	go func() {
		ctx := context.WithoutCancel(c.Ctx) // an interrupt reaches it as an order
		s, _, err := cluster.Join(ctx, up, t.Clock, hello(c, t.node))
		if err == nil {
			err = s.Serve(ctx, work(server, flags, plan.Waiter, t.node.Ranks))
		}
		t.own <- err
	}()
	if err := t.Gather(c.Ctx, func(missing []int) { say(findings.Waiting(cluster.Names(missing), c.Lang)) }); err != nil {
		return err
	}
	run.Cluster = t.Describe()
	say(findings.Joined(run.Cluster, c.Lang))
	if t.node.Derived {
		say(findings.DerivedToken(c.Lang))
	}
	plan.Hold, plan.Ranks, plan.Retokenize = t.Hold, t.node.Ranks, nil
	return nil
}

// End ends the run for all ranks. err is why it failed; nil where it did not.
func (t *Lead) End(err error) {
	t.Close(err)
	if t.own != nil {
		<-t.own
	}
	t.stop()
}

// work returns what a rank sends with.
func work(t *target.Target, flags *flags.Target, w load.Waiter, ranks int) cluster.Work {
	work := cluster.Work{Doer: t.Client, Sources: t.Workload.Stage, Numbers: numbered(t.Workload), Waiter: w, Warm: t.Client.Warm}
	if flags.Caps() != nil {
		work.Caps = load.NewCaps(flags.MaxRPS/float64(ranks), flags.MaxTPM/float64(ranks))
	}
	if trace, ok := t.Workload.(*recorded.Trace); ok {
		work.Trace = trace.Load(0).Offsets
	}
	return work
}

// numbered returns the numbering of a workload's texts; nil where they have none.
func numbered(w workload.Workload) cluster.Numbers {
	n, _ := w.(cluster.Numbers)
	return n
}

// Follow takes part as a rank other than 0, until rank 0 ends the run. connect returns the server and the workload as rank 0 found them.
func Follow(c *console.Console, node *place.Place, flags *flags.Target, connect func(found []byte) (*target.Target, error)) error {
	node.Resolve(c.Ctx)
	named := func(err error) error { return fmt.Errorf("rank %d: %w", node.Rank, err) }
	link, err := rpc.Dial(c.Ctx, node.Addresses(), node.Token, func(err error) {
		fmt.Fprintln(c.Err, "llmsweep: "+findings.StillConnecting(node.Rank, lang.Error(err.Error(), c.Lang), c.Lang))
	})
	if err != nil {
		return c.Interrupted(named(err))
	}
	s, found, err := cluster.Join(c.Ctx, link, clockOf(c), hello(c, node))
	if err == nil {
		err = serve(c, s, node, flags, func() (*target.Target, error) { return connect(found) })
	}
	switch {
	case errors.Is(err, cluster.ErrEnded):
		return console.Exit(console.Failed, said{}) // by rank 0
	case err != nil && c.Ctx.Err() != nil:
		return console.Exit(console.Interrupted, said{})
	case err != nil:
		return named(err)
	}
	return nil
}

// said is an error that another process has printed.
type said struct{}

func (said) Error() string { return "" }

// serve sends this rank's part of the stages.
func serve(c *console.Console, s *cluster.Session, node *place.Place, flags *flags.Target, connect func() (*target.Target, error)) error {
	t, err := connect()
	if err != nil {
		s.Leave(err)
		return err
	}
	defer t.Close()
	waiter := c.Waiter()
	defer waiter.Close()
	return s.Serve(c.Ctx, work(t, flags, waiter, node.Ranks))
}
