package record

import (
	"fmt"
	"iter"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"llmsweep/client"
	"llmsweep/client/api"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/simtest"
)

// nowhere is a log that keeps nothing.
type nowhere struct{ traffic int }

func (*nowhere) Append(*rundir.Record) error { return nil }
func (n *nowhere) AppendTraffic(_ int, all []rundir.Passed) error {
	n.traffic += len(all)
	return nil
}
func (*nowhere) Records(string) iter.Seq2[*rundir.Record, error] {
	return func(func(*rundir.Record, error) bool) {}
}
func (*nowhere) Flush() error            { return nil }
func (*nowhere) Save(*rundir.Run) error  { return nil }
func (*nowhere) Broken() <-chan struct{} { return nil }
func (*nowhere) Failure() error          { return nil }

// pass records requests of one turn each, with the names of models that clients make up.
func pass(r *Recorder, from, to int) {
	d, _ := api.DialectsByName("chat")
	res := &client.Result{}
	for i := from; i < to; i++ {
		body := fmt.Appendf(nil, `{"model":"m%d","messages":[{"role":"user","content":"prompt %d"}]}`, i, i)
		b := r.begin(readAsked(body, r.salt), key{byte(i)}, r.began.Add(time.Duration(i)*time.Millisecond))
		res.Reset(b.epoch)
		res.Sent, res.FirstToken, res.LastToken, res.End = 0, time.Millisecond, time.Millisecond, time.Millisecond
		res.Status, res.PromptTokens, res.OutputTokens, res.TokenSource = client.StatusOK, 10, 1, client.SourceServer
		r.ended(b, res, d)
		if i%1000 == 0 {
			r.writeTraffic()
			r.watch()
		}
	}
	r.writeTraffic()
}

// TestMemoryIsFlat: once as many sessions are known as are remembered, more requests take no more memory.
func TestMemoryIsFlat(t *testing.T) {
	if testing.Short() {
		t.Skip("300,000 requests take seconds")
	}
	log := &nowhere{}
	r := New(Options{Period: 24 * time.Hour, Share: 1, Most: 1 << 40, Watch: watcher{}}, &rundir.Run{}, log)
	r.began = time.Now()
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before, all := 2*mostSessions, simtest.SampleSize(3, 10)*mostSessions
	pass(r, 0, before)
	full := heap()
	pass(r, before, all)
	after := heap()
	if after > full+full/20+1<<20 {
		t.Errorf("%d bytes after %d requests, %d after %d", full, before, after, all)
	}
	if log.traffic != all || r.Counts().Requests != all || len(r.models) != mostModels {
		t.Errorf("%d requests, %d in traffic, %d models", r.Counts().Requests, log.traffic, len(r.models))
	}
	t.Logf("%.1f MB after %d requests, with %d sessions", float64(after)/1e6, all, mostSessions)
}

// watcher is a [Watcher] that keeps nothing.
type watcher struct{}

func (watcher) StageBegins(*rundir.Stage, time.Duration) {}
func (watcher) Progress(load.Snapshot)                   {}
func (watcher) StageEnds(*rundir.Stage)                  {}

// TestTrafficParts: traffic goes on in another file after some bytes, and readers read all of them in order.
func TestTrafficParts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "traffic")
	dir, err := store.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	const requests = 12_000
	r := New(Options{Period: 24 * time.Hour, Share: 1, Most: 1 << 40, Part: 100_000}, &rundir.Run{}, dir)
	r.began = time.Now()
	pass(r, 0, requests)
	if err := dir.Close(); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range rundir.TrafficParts(path) {
		names = append(names, filepath.Base(file))
	}
	if len(names) < 10 || names[0] != rundir.TrafficFile || !slices.Contains(names, "traffic-10.jsonl") || names[2] != "traffic-2.jsonl" {
		t.Error(names)
	}
	n := 0
	for passed, err := range store.Traffic(path) {
		if err != nil || passed.Session != n {
			t.Fatal(n, passed, err)
		}
		n++
	}
	if n != requests {
		t.Errorf("%d of %d requests", n, requests)
	}
	again, err := store.Replace(path)
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
	if left := rundir.TrafficParts(path); len(left) > 0 {
		t.Errorf("%v were left", left)
	}
}
