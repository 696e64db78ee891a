package job

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"llmsweep/client"
	"llmsweep/client/note"
	"llmsweep/cmd/llmsweep/console"
	"llmsweep/cmd/llmsweep/flags"
	"llmsweep/sweep/cluster"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/workload"
)

// connectAll connects to one or several servers of the same model. The workload is made with the first one.
func connectAll(c *console.Console, urls []string, f *flags.Target, l *flags.WorkloadOptions, r *workload.Replay,
	conns int) (*Target, error) {
	each := (conns + len(urls) - 1) / len(urls)
	t, err := connectTarget(c, urls[0], f, l, r, each)
	if err != nil || len(urls) == 1 {
		return t, err
	}
	for i, url := range urls[1:] {
		other, err := preflight(c, url, f, l, r != nil, each)
		if err != nil {
			t.Close()
			return nil, err
		}
		t.onClose(other.Close)
		t.others = append(t.others, other)
		if a, b := t.About, other.About; a.Model != b.Model || a.API != b.API {
			t.Close()
			return nil, console.Usage(fmt.Errorf("replica %d serves model %s by API %s, replica 1 %s by %s: replicas hold "+
				"the same model; name it with --model and --api",
				i+2, b.Model, b.API, a.Model, a.API))
		}
	}
	t.sumReplicas()
	return t, nil
}

func (t *Target) all() []*Target { return append([]*Target{t}, t.others...) }

func (t *Target) sumReplicas() {
	capacity := 0.0
	for _, one := range t.all() {
		t.About.Replicas = append(t.About.Replicas, rundir.Replica{URL: one.About.URL, Engine: one.About.Engine,
			Version: one.About.Version})
		capacity += one.About.Capacity.Value() // NaN where it is not known
		t.Longest = min(t.Longest, one.Longest)
		t.forced = t.forced && one.forced
	}
	t.About.Capacity = rundir.Exactly(capacity)
}

// Sender returns what sends requests to the server, or shares them out over several.
func (t *Target) Sender() cluster.Sender {
	var clients []*client.Client
	for _, one := range t.all() {
		clients = append(clients, one.Client)
	}
	return senderOf(clients)
}

func senderOf(clients []*client.Client) cluster.Sender {
	if len(clients) == 1 {
		return clients[0]
	}
	return client.NewReplicas(clients)
}

func (t *Target) allIdle(ctx context.Context) error {
	for _, one := range t.all() {
		if err := one.idle(ctx); err != nil {
			return err
		}
	}
	return nil
}

// emptyCaches empties the prefix caches of all servers. It returns why one of them was not emptied; the zero note where
// all were.
func (t *Target) emptyCaches(ctx context.Context) note.Note {
	servers := t.all()
	failures := make([]note.Note, len(servers))
	var wg sync.WaitGroup
	for i, one := range servers {
		wg.Go(func() { failures[i] = one.prober.EmptyCache(ctx, one.About.Engine) })
	}
	wg.Wait()
	for _, failure := range failures {
		if !failure.IsZero() {
			return failure
		}
	}
	workload.Forget(t.Workload)
	return note.Note{}
}

// allGauges returns the sum of the servers' gauges, and the highest use of a KV cache.
func (t *Target) allGauges(ctx context.Context) (client.Gauges, error) {
	servers := t.all()
	readings, errs := make([]client.Gauges, len(servers)), make([]error, len(servers))
	var wg sync.WaitGroup
	for i, one := range servers {
		wg.Go(func() { readings[i], errs[i] = one.prober.Load(ctx) })
	}
	wg.Wait()
	if err := cmp.Or(errs...); err != nil {
		return client.Gauges{}, err
	}
	return client.SumGauges(readings), nil
}
