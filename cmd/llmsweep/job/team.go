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
	"slices"
	"strings"

	"llmsweep/client"
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
	place    *cluster.Place
	listener net.Listener
}

// listenForRanks lets ranks join. team.begin welcomes them.
func listenForRanks(c *console.Console, place *cluster.Place) (*team, error) {
	place.Resolve(c.Ctx)
	listener, err := net.Listen("tcp", ":"+place.Port)
	if err != nil {
		return nil, fmt.Errorf("rank 0 cannot listen: %w; name another port with --coordinator", err)
	}
	t := &team{cluster.NewRanks(place.Ranks, build(), host(c)), place, listener}
	if c.Interrupts != nil {
		t.Interrupt = c.Interrupts.Interrupt
	}
	return t, t.Listen(listener, place.Token)
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
	var setup bytes.Buffer
	options := server.optionsFrom(urls, t.place.Host)
	if t.place.Derived && slices.ContainsFunc(options, hasSecret) {
		return console.Usage(errors.New("the key and the headers of the server go to all ranks, and others may guess the " +
			"token that ranks derive from the job's number: set LLMSWEEP_CLUSTER_TOKEN, for example to what openssl rand " +
			"-hex 16 prints"))
	}
	if err := gob.NewEncoder(&setup).Encode(options); err != nil {
		return err
	}
	err := t.Gather(c.Ctx, setup.Bytes(), func(missing string) { say(findings.Waiting(missing, c.Lang)) })
	if err != nil {
		return err
	}
	run.Cluster = t.Describe()
	say(findings.Joined(run.Cluster, c.Lang))
	if t.place.Derived {
		say(findings.DerivedToken(c.Lang))
	}
	config.Doer, config.Warm, config.Timestamps = t, warming(t, server.maxConns*t.place.Ranks), t.Timestamps
	config.Others, config.Ranks = t, t.place.Ranks
	return nil
}

// optionsFrom returns the options of clients for the same servers on other machines. A simulated server that is part of
// this process is reached at this host.
func (t *Target) optionsFrom(urls []string, host string) (all []client.Options) {
	for i, one := range t.all() {
		o := one.prober.Options()
		o.Allowance, o.Dial, o.Proxy = nil, nil, nil // rank 0 allows; the others are the machine's own
		if u, err := url.Parse(o.URL); err == nil && strings.HasPrefix(urls[i], sim.Scheme) {
			o.URL = "http://" + net.JoinHostPort(host, u.Port())
		}
		all = append(all, o)
	}
	return all
}

// hasSecret reports whether options hold what may be a secret.
func hasSecret(o client.Options) bool {
	u, err := url.Parse(o.URL)
	return o.APIKey != "" || len(o.Headers) > 0 || len(o.Params.Extra) > 0 || err != nil || u.User != nil
}

// end ends the run for all ranks. err is why nothing was measured; nil where something was.
func (t *team) end(err error) {
	t.Close(err)
	t.listener.Close()
}

// Dismiss tells the other ranks that rank 0 ends before it begins. place is nil for a single process.
func Dismiss(c *console.Console, place *cluster.Place, err error) {
	if place == nil {
		return
	}
	if t, failed := listenForRanks(c, place); failed == nil { // else they cannot connect, and give up
		t.end(err)
	}
}

// Follow takes part as a rank other than 0, until rank 0 ends the run.
func Follow(c *console.Console, place *cluster.Place) error {
	place.Resolve(c.Ctx)
	conn, err := cluster.Dial(c.Ctx, net.JoinHostPort(place.Host, place.Port), place.Token, func(err error) {
		fmt.Fprintln(c.Err, "llmsweep: "+findings.StillConnecting(place.Rank, err.Error(), c.Lang))
	})
	if err != nil {
		return c.Interrupted(fmt.Errorf("rank %d: %w", place.Rank, err))
	}
	waiter := c.World().Waiter()
	defer waiter.Close()
	rank := cluster.Rank{
		Hello:   cluster.Hello{Rank: place.Rank, Ranks: place.Ranks, Version: build(), Host: host(c)},
		Connect: func(setup []byte) (cluster.Sender, error) { return connectAs(c, setup) },
		Meter:   func() func() (cpu, gc float64) { return load.NewMeter(waiter).Shares },
	}
	switch err := rank.Serve(c.Ctx, conn); {
	case errors.Is(err, cluster.ErrEnded):
		return console.Exit(console.Failed, printedError{}) // by rank 0
	case err != nil && c.Ctx.Err() != nil:
		return console.Exit(console.Interrupted, printedError{})
	case err != nil:
		return fmt.Errorf("rank %d: %w", place.Rank, err)
	}
	return nil
}

// connectAs makes the clients whose options rank 0 sent.
func connectAs(c *console.Console, setup []byte) (cluster.Sender, error) {
	var servers []client.Options
	if err := gob.NewDecoder(bytes.NewReader(setup)).Decode(&servers); err != nil {
		return nil, err
	}
	var all []*client.Client
	for _, o := range servers {
		o.Dial, o.Proxy = c.World().Dial, c.World().Proxy
		one, err := client.New(o)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return senderOf(all), nil
}

// printedError is an error that another process has printed.
type printedError struct{}

func (printedError) Error() string { return "" }
