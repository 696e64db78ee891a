package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"llmsweep/client"
	"llmsweep/client/api"
	"llmsweep/client/probe"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
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

// clusterFlags say which of several ranks this process is, where srun or Kubernetes do not.
type clusterFlags struct {
	Rank         int    `default:"-1" placeholder:"N" help:"Place of this process among --ranks, from 0. srun and Kubernetes set it themselves. See llmsweep help cluster." group:"Cluster"`
	Ranks        int    `placeholder:"N" positive:"" help:"Number of processes that send the load together." group:"Cluster"`
	Coordinator  string `placeholder:"HOST:PORT" help:"Address of rank 0, with a port that is free there." group:"Cluster"`
	ClusterToken string `name:"cluster-token" placeholder:"TEXT" help:"What the ranks prove to each other that they know. Better set LLMSWEEP_CLUSTER_TOKEN: other users can read command lines." group:"Cluster"`
}

// place returns the place of this process among the ranks; nil where it is the only one.
func (f *clusterFlags) place(c *console) (*place.Place, error) {
	if f == nil {
		return nil, nil
	}
	return place.Find(place.Flags{Rank: f.Rank, Ranks: f.Ranks, Coordinator: f.Coordinator, Token: f.ClusterToken}, c.env)
}

// sharable returns why several ranks cannot do what is asked.
func (e *measurement) sharable() error {
	switch {
	case e.varied:
		return errors.New("--for-fit runs on one machine: leave out the other ranks")
	case e.target.MaxCost > 0 || e.target.MaxTokens > 0 || e.target.PriceIn > 0 || e.target.PriceOut > 0:
		return errors.New("spending is counted on one machine: leave out the other ranks, or the prices and limits")
	}
	return nil
}

// simulates returns the address at which an embedded simulated server listens.
func (c *console) simulates() string {
	if c.everywhere {
		return ":0"
	}
	return "127.0.0.1:0"
}

// team is rank 0's side of a run of several ranks.
type team struct {
	*cluster.Coordinator
	node *place.Place
	stop func()
	own  chan error // how rank 0's own part ended; nil before it began
}

// assemble lets ranks join.
func assemble(c *console, node *place.Place) (*team, error) {
	node.Resolve(c.ctx)
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
	t := &team{Coordinator: cluster.NewCoordinator(node.Ranks, versionText(), node.Source, clockOf(c)), node: node}
	if t.stop, err = rpc.Serve(listener, node.Token, t.Coordinator); err != nil {
		return nil, err
	}
	c.everywhere = true
	return t, nil
}

// clockOf returns the clock of this process. Tests make it wrong.
func clockOf(c *console) *clock.Clock {
	wrong, _ := time.ParseDuration(c.env("LLMSWEEP_TEST_CLOCK_ERROR"))
	return clock.New(wrong)
}

// hello returns what a rank says of itself.
func hello(node *place.Place) *message.Hello {
	host, _ := os.Hostname()
	return &message.Hello{
		Rank: int32(node.Rank), Ranks: int32(node.Ranks), Version: versionText(), Host: cmp.Or(os.Getenv("SLURMD_NODENAME"), host),
		Os: runtime.GOOS + "/" + runtime.GOARCH, Cpus: int32(runtime.NumCPU()),
	}
}

// rankSetup is what rank 0 found out of the server, for the other ranks.
type rankSetup struct {
	URL    string // of the simulated server that rank 0 embeds; empty for the command line's
	API    string
	Model  string
	Fields api.Fields
	Bearer bool
	HTTP   string
	Costs  workload.Calibration
}

// lead welcomes the other ranks, and lets all of them hold the stages of the plan.
func (t *team) lead(e *measurement, server *target, run *rundir.Run, say func(string)) error {
	o := server.prober.Options()
	setup := rankSetup{API: o.API, Model: o.Params.Model, Fields: o.Params.Fields, Bearer: o.Bearer, HTTP: o.HTTP, Costs: server.costs}
	if strings.HasPrefix(e.url, simScheme) {
		u, err := url.Parse(o.URL)
		if err != nil {
			return err
		}
		setup.URL = "http://" + net.JoinHostPort(t.node.Host, u.Port())
	}
	b, err := json.Marshal(setup)
	if err != nil {
		return err
	}
	t.Seed, t.Numbers = e.plan.Seed, numbered(server.workload)
	if e.interrupts != nil {
		t.Interrupt = e.interrupts.interrupt
	}
	t.Welcome(b)
	t.own = make(chan error, 1)
	down, up := cluster.Pipe()
	go t.Admit(down)
	go func() {
		s, _, err := cluster.Join(context.WithoutCancel(e.ctx), up, t.Clock, hello(t.node))
		if err == nil {
			err = s.Serve(context.WithoutCancel(e.ctx), e.work(server, e.plan.Waiter, t.node.Ranks))
		}
		t.own <- err
	}()
	if err := t.Gather(e.ctx, func(missing []int) { say(findings.Waiting(cluster.Names(missing), e.lang)) }); err != nil {
		return err
	}
	run.Cluster = t.Describe()
	say(findings.Joined(run.Cluster, e.lang))
	if t.node.Derived {
		say(findings.DerivedToken(e.lang))
	}
	e.plan.Hold, e.plan.Ranks, e.plan.Retokenize = t.Hold, t.node.Ranks, nil
	return nil
}

// close ends the run for all ranks.
func (t *team) close(err error) {
	var e *exitError
	if errors.As(err, &e) && e.code != exitFailed && e.code != exitInterrupted && e.code != exitUsage {
		err = nil // the run is done: an SLO was missed
	}
	t.Close(err)
	if t.own != nil {
		<-t.own
	}
	t.stop()
}

// work returns what a rank sends with.
func (e *measurement) work(t *target, w load.Waiter, ranks int) cluster.Work {
	work := cluster.Work{Doer: t.client, Sources: t.workload.Stage, Numbers: numbered(t.workload), Waiter: w, Caps: e.target.share(ranks), Warm: t.client.Warm}
	if trace, ok := t.workload.(*recorded.Trace); ok {
		work.Trace = trace.Load(0).Offsets
	}
	return work
}

// share returns a rank's part of the limits of a hosted API.
func (t *targetFlags) share(ranks int) *load.Caps {
	if t.caps() == nil {
		return nil
	}
	return load.NewCaps(t.MaxRPS/float64(ranks), t.MaxTPM/float64(ranks))
}

// numbered returns the numbering of a workload's texts; nil where they have none.
func numbered(w workload.Workload) cluster.Numbers {
	n, _ := w.(cluster.Numbers)
	return n
}

// follow takes part as a rank other than 0, until rank 0 ends the run.
func (e *measurement) follow(node *place.Place, l *workloadOptions) error {
	node.Resolve(e.ctx)
	named := func(err error) error { return fmt.Errorf("rank %d: %w", node.Rank, err) }
	link, err := rpc.Dial(e.ctx, node.Addresses(), node.Token, func(err error) {
		fmt.Fprintln(e.err, "llmsweep: "+findings.StillConnecting(node.Rank, lang.Error(err.Error(), e.lang), e.lang))
	})
	if err != nil {
		return e.interrupted(named(err))
	}
	s, told, err := cluster.Join(e.ctx, link, clockOf(e.console), hello(node))
	if err == nil {
		err = e.serve(s, told, node, l)
	}
	switch {
	case errors.Is(err, cluster.ErrEnded):
		return &exitError{exitFailed, said{}} // by rank 0
	case err != nil && e.ctx.Err() != nil:
		return &exitError{exitInterrupted, said{}}
	case err != nil:
		return named(err)
	}
	return nil
}

// said is an error that another process has printed.
type said struct{}

func (said) Error() string { return "" }

// serve sends this rank's part of the stages.
func (e *measurement) serve(s *cluster.Session, told []byte, node *place.Place, l *workloadOptions) error {
	t, err := e.again(told, l)
	if err != nil {
		s.Leave(err)
		return err
	}
	defer t.close()
	waiter := e.waiter()
	defer waiter.Close()
	return s.Serve(e.ctx, e.work(t, waiter, node.Ranks))
}

// again returns the server and the workload as rank 0 found them.
func (e *measurement) again(told []byte, l *workloadOptions) (_ *target, err error) {
	var setup rankSetup
	if err := json.Unmarshal(told, &setup); err != nil {
		return nil, err
	}
	t := &target{close: func() {}, tokenize: l.tokenize, lang: e.lang}
	defer func() {
		if err != nil {
			t.close()
		}
	}()
	o, err := e.target.options(cmp.Or(setup.URL, e.url), e.conns)
	if err != nil {
		return nil, err
	}
	o.Dial, o.Proxy = e.dial, e.proxy
	o.API, o.Params.Model, o.Params.Fields, o.Bearer, o.HTTP = setup.API, setup.Model, setup.Fields, setup.Bearer, setup.HTTP
	if t.prober, err = probe.New(o); err != nil {
		return nil, err
	}
	t.closes(t.prober.Close)
	if t.client, err = client.New(o); err != nil {
		return nil, err
	}
	t.closes(t.client.CloseIdle)
	switch {
	case l.Prompt != "":
		t.workload = workload.Repeated{Text: l.Prompt, Output: l.output, Seed: l.Seed}
	case l.Dataset != "":
		t.workload, err = t.openDataset(e.ctx, l)
	default:
		t.workload, err = t.written(e.ctx, l, e.replay, setup.Costs)
	}
	return t, err
}
