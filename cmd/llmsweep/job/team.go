package job

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/cmd/llmsweep/flags"
	"llmsweep/report/findings"
	"llmsweep/sweep"
	"llmsweep/sweep/cluster"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/workload"
)

// coordinator is rank 0 of a measurement that several processes take: it measures as if it were alone, and the others
// follow it.
type coordinator struct {
	*cluster.Coordinator
	node     *cluster.Place
	listener net.Listener
	own      chan struct{} // closed when rank 0's own part has ended; nil before it began
}

// listenForRanks lets ranks join. coordinator.Begin welcomes them.
func listenForRanks(c *console.Console, node *cluster.Place) (*coordinator, error) {
	node.Resolve(c.Ctx)
	listener, err := net.Listen("tcp", ":"+node.Port)
	if err != nil {
		return nil, fmt.Errorf("rank 0 cannot listen: %w; name another port with --coordinator", err)
	}
	t := &coordinator{Coordinator: cluster.NewCoordinator(node.Ranks, build()), node: node, listener: listener}
	return t, t.Listen(listener, node.Token)
}

// build names the version of this program, without the system that it is for.
func build() string {
	text, _, _ := strings.Cut(console.VersionText(), ", "+runtime.Version())
	return text
}

func hello(c *console.Console, node *cluster.Place) cluster.Hello {
	host, _ := os.Hostname()
	return cluster.Hello{Rank: node.Rank, Ranks: node.Ranks, Version: build(),
		Host: cmp.Or(c.World().Env("SLURMD_NODENAME"), host)}
}

// Plan is what the ranks measure.
type Plan struct {
	Server *Target
	URLs   []string
	Flags  *flags.Target
	Args   []string // the command line of the run that is continued; nil for a new one
}

// rankSetup is what rank 0 sends the others before the first stage.
type rankSetup struct {
	Args  []string // the command line of the run that is continued; nil for a new one
	Found json.RawMessage
	Nonce uint64 // of the texts: all ranks write the same; 0 where they have no numbers
}

// Begin waits for the other ranks, and lets all of them hold the stages of the plan. say shows a line.
func (t *coordinator) Begin(c *console.Console, p Plan, config *sweep.Config, run *rundir.Run, say func(string)) error {
	setup := rankSetup{Args: p.Args}
	if n := workload.NonceOf(p.Server.Workload); n != nil {
		setup.Nonce = *n
	}
	var err error
	if setup.Found, err = p.Server.found(p.URLs, t.node.Host); err != nil {
		return err
	}
	b, err := json.Marshal(setup)
	if err != nil {
		return err
	}
	own := work(p, config.Waiter, t.node.Ranks)
	t.Seed, t.SpendLimiter = config.Seed, p.Server.spending
	if c.Interrupts != nil {
		t.Interrupt = c.Interrupts.Interrupt
	}
	t.own = make(chan struct{})
	down, up := net.Pipe()
	go t.Admit(down)
	go func() {
		defer close(t.own)
		ctx := context.WithoutCancel(c.Ctx) // an interrupt reaches it as an order
		if s, _, err := cluster.Join(ctx, up, hello(c, t.node)); err == nil {
			s.Serve(ctx, own) // where that fails, rank 0 is lost
		}
	}()
	if err := t.Gather(c.Ctx, b, func(missing string) { say(findings.Waiting(missing, c.Lang)) }); err != nil {
		return err
	}
	run.Cluster = t.Describe()
	say(findings.Joined(run.Cluster, c.Lang))
	if t.node.Derived {
		say(findings.DerivedToken(c.Lang))
	}
	config.RunStage, config.Ranks, config.Retokenize = t.Hold, t.node.Ranks, nil
	return nil
}

// End ends the run for all ranks. err is why nothing was measured; nil where something was.
func (t *coordinator) End(err error) {
	t.Close(err)
	if t.own != nil {
		<-t.own
	}
	t.listener.Close()
}

func work(p Plan, w load.Waiter, ranks int) cluster.Work {
	sender := p.Server.Sender()
	work := cluster.Work{
		Doer: sender, Warm: warming(sender, p.Server.maxConns), Sources: p.Server.Workload.Stage, Waiter: w,
		SpendLimiter: p.Server.spending,
	}
	if p.Flags.Caps() != nil {
		work.Caps = load.NewCaps(p.Flags.MaxRPS/float64(ranks), p.Flags.MaxTPM/float64(ranks))
	}
	if trace, ok := p.Server.Workload.(*workload.Trace); ok {
		work.Trace = trace.Load(0).Offsets
	}
	return work
}

// ConnectRanks returns the servers and the workload as rank 0 found them. args is the command line of the run that is
// continued; nil for a new one.
type ConnectRanks func(args []string, found []byte) (Plan, error)

// Follow takes part as a rank other than 0, until rank 0 ends the run.
func Follow(c *console.Console, node *cluster.Place, connect ConnectRanks) error {
	node.Resolve(c.Ctx)
	named := func(err error) error { return fmt.Errorf("rank %d: %w", node.Rank, err) }
	conn, err := cluster.Dial(c.Ctx, net.JoinHostPort(node.Host, node.Port), node.Token, func(err error) {
		fmt.Fprintln(c.Err, "llmsweep: "+findings.StillConnecting(node.Rank, err.Error(), c.Lang))
	})
	if err != nil {
		return c.Interrupted(named(err))
	}
	s, message, err := cluster.Join(c.Ctx, conn, hello(c, node))
	if err == nil {
		err = serve(c, s, node, message, connect)
	}
	switch {
	case errors.Is(err, cluster.ErrEnded):
		return console.Exit(console.Failed, printedError{}) // by rank 0
	case err != nil && c.Ctx.Err() != nil:
		return console.Exit(console.Interrupted, printedError{})
	case err != nil:
		return named(err)
	}
	return nil
}

// printedError is an error that another process has printed.
type printedError struct{}

func (printedError) Error() string { return "" }

func serve(c *console.Console, s *cluster.Session, node *cluster.Place, message []byte, connect ConnectRanks) error {
	waiter := c.World().Waiter()
	defer waiter.Close()
	var setup rankSetup
	err := json.Unmarshal(message, &setup)
	var p Plan
	if err == nil {
		p, err = connect(setup.Args, setup.Found)
	}
	if err != nil {
		s.Leave(err)
		return err
	}
	defer p.Server.Close()
	if n := workload.NonceOf(p.Server.Workload); n != nil {
		*n = setup.Nonce
	}
	return s.Serve(c.Ctx, work(p, waiter, node.Ranks))
}
