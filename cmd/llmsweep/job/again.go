package job

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"strings"

	"llmsweep/client"
	"llmsweep/client/api"
	"llmsweep/client/probe"
	"llmsweep/client/sim"
	"llmsweep/cmd/llmsweep/console"
	"llmsweep/cmd/llmsweep/flags"
	"llmsweep/sweep/workload"
)

// preflightResult is what a preflight learned of the servers, for other processes that send to them.
type preflightResult struct {
	Servers []foundServer
	Costs   workload.Calibration
	Longest int
}

type foundServer struct {
	URL    string // of an embedded simulated server; empty for that of the command line
	API    string
	Model  string
	Fields api.Fields
	Bearer bool
	HTTP   string
}

// found returns what the preflight learned of the servers at some URLs, for connectAsFound. host is this machine's name
// for other ranks.
func (t *Target) found(urls []string, host string) ([]byte, error) {
	f := preflightResult{Costs: t.costs, Longest: t.Longest}
	for i, one := range t.all() {
		o := one.prober.Options()
		s := foundServer{API: o.API, Model: o.Params.Model, Fields: o.Params.Fields, Bearer: o.Bearer, HTTP: o.HTTP}
		if strings.HasPrefix(urls[i], sim.Scheme) {
			u, err := url.Parse(o.URL)
			if err != nil {
				return nil, err
			}
			s.URL = "http://" + net.JoinHostPort(host, u.Port())
		}
		f.Servers = append(f.Servers, s)
	}
	return json.Marshal(f)
}

// connectAsFound connects to servers as rank 0 found them, and makes the same workload. It asks the servers nothing but
// to count a dataset's tokens.
func connectAsFound(c *console.Console, urls []string, found []byte, flags *flags.Target, l *flags.WorkloadOptions,
	r *workload.Replay, conns int) (_ *Target, err error) {
	var f preflightResult
	if err := json.Unmarshal(found, &f); err != nil {
		return nil, err
	}
	if len(f.Servers) != len(urls) {
		return nil, console.Usage(fmt.Errorf("this rank names %d servers, and rank 0 %d: all ranks need the same command "+
			"line", len(urls), len(f.Servers)))
	}
	each := (conns + len(urls) - 1) / len(urls)
	t := &Target{Close: func() {}, tokenize: l.Tokenize, Lang: c.Lang, Longest: f.Longest,
		maxConns: c.World().Limits().Most(1)}
	defer func() {
		if err != nil {
			t.Close()
		}
	}()
	for i, server := range urls {
		one := t
		if i > 0 {
			one = &Target{Close: func() {}}
		}
		if err = one.connectOne(c, server, &f.Servers[i], flags, each); err != nil {
			return nil, err
		}
		if i > 0 {
			t.onClose(one.Close)
			t.others = append(t.others, one)
		}
	}
	return t, t.open(c.Ctx, l.Spec(r), &f.Costs)
}

func (t *Target) connectOne(c *console.Console, server string, f *foundServer, flags *flags.Target,
	conns int) error {
	o, err := flags.Options(cmp.Or(f.URL, server), conns)
	if err != nil {
		return console.Usage(err)
	}
	o.Dial, o.Proxy = c.World().Dial, c.World().Proxy
	o.API, o.Params.Model, o.Params.Fields, o.Bearer, o.HTTP = f.API, f.Model, f.Fields, f.Bearer, f.HTTP
	t.spending = flags.Spending
	if t.prober, err = probe.New(o); err != nil {
		return err
	}
	t.onClose(t.prober.Close)
	if t.Client, err = client.New(o); err != nil {
		return err
	}
	t.onClose(t.Client.CloseIdle)
	return nil
}
