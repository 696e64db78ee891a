package target

import (
	"cmp"
	"encoding/json"
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

// found is what a preflight found out of a server, for other processes that send to it too.
type found struct {
	URL    string // of an embedded simulated server; empty for that of the command line
	API    string
	Model  string
	Fields api.Fields
	Bearer bool
	HTTP   string
	Costs  workload.Calibration
}

// Found returns what the preflight found out of the server at a URL, for [Again]. host is this machine's name, as others reach it.
func (t *Target) Found(server, host string) ([]byte, error) {
	o := t.prober.Options()
	f := found{API: o.API, Model: o.Params.Model, Fields: o.Params.Fields, Bearer: o.Bearer, HTTP: o.HTTP, Costs: t.costs}
	if strings.HasPrefix(server, sim.Scheme) {
		u, err := url.Parse(o.URL)
		if err != nil {
			return nil, err
		}
		f.URL = "http://" + net.JoinHostPort(host, u.Port())
	}
	return json.Marshal(f)
}

// Again returns the server and the workload as another process found them. It asks the server nothing, but to count a dataset's tokens.
func Again(c *console.Console, server string, told []byte, flags *flags.Target, l *flags.WorkloadOptions, r *Replay, conns int) (_ *Target, err error) {
	var f found
	if err := json.Unmarshal(told, &f); err != nil {
		return nil, err
	}
	t := &Target{Close: func() {}, tokenize: l.Tokenize, Lang: c.Lang}
	defer func() {
		if err != nil {
			t.Close()
		}
	}()
	o, err := flags.Options(cmp.Or(f.URL, server), conns)
	if err != nil {
		return nil, console.Usage(err)
	}
	o.Dial, o.Proxy = c.Dial, c.Proxy
	o.API, o.Params.Model, o.Params.Fields, o.Bearer, o.HTTP = f.API, f.Model, f.Fields, f.Bearer, f.HTTP
	if t.prober, err = probe.New(o); err != nil {
		return nil, err
	}
	t.closes(t.prober.Close)
	if t.Client, err = client.New(o); err != nil {
		return nil, err
	}
	t.closes(t.Client.CloseIdle)
	switch {
	case l.Prompt != "":
		t.Workload = workload.Repeated{Text: l.Prompt, Output: l.OutputLengths, Seed: l.Seed}
	case l.Dataset != "":
		t.Workload, err = t.openDataset(c.Ctx, l)
	default:
		t.Workload, err = t.written(c.Ctx, l, r, f.Costs)
	}
	return t, err
}
