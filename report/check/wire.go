// Package check compares the figures in another tool's result with a recording of the requests that the tool sent. Where they differ it finds out
// whether that is the definition of the figure or an error.
//
//	wire.go    what passed: each figure by each definition that tools use
//	check.go   figures of the file beside them, and why they differ
//	words.go   the same in sentences and tables
package check

import (
	"cmp"
	"iter"
	"slices"

	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// Wire is what passed while a tool measured one load.
type Wire struct {
	Requests []rundir.Record // in the order in which they were sent; instants count from the start of the recording
	prompts  []prompt        // in the order in which they were sent
}

// prompt is when a prompt was sent, in seconds since the start of the recording, and the hash of all of it.
type prompt struct {
	at   float64
	hash int64
}

// Read reads a recording: its run, its records, and its traffic.
func Read(run *rundir.Run, records iter.Seq2[*rundir.Record, error], traffic iter.Seq2[*rundir.Passed, error]) (*Wire, error) {
	started := map[string]float64{}
	for i := range run.Stages {
		started[run.Stages[i].Name] = run.Stages[i].Started
	}
	w := &Wire{}
	for r, err := range records {
		if err != nil {
			return nil, err
		}
		one := *r.Clone()
		for _, at := range []*rundir.Number{&one.Sent, &one.Headers, &one.FirstToken, &one.FirstAnswer, &one.LastToken, &one.End} {
			if at.Known() {
				*at = rundir.Exactly(at.Value() + started[one.Stage])
			}
		}
		w.Requests = append(w.Requests, one)
	}
	for p, err := range traffic {
		if err != nil {
			return nil, err
		}
		if n := len(p.Hashes); n > 0 {
			w.prompts = append(w.prompts, prompt{float64(p.Timestamp) / 1000, p.Hashes[n-1]})
		}
	}
	slices.SortStableFunc(w.Requests, func(a, b rundir.Record) int { return cmp.Compare(a.Sent.Value(), b.Sent.Value()) })
	return w, nil
}

// split divides a recording into n loads that were measured one after the other: at its n-1 longest pauses. It returns nil where there are fewer pauses.
func (w *Wire) split(n int) []*Wire {
	type pause struct {
		before int // the request after it
		length float64
	}
	var pauses []pause
	end := 0.0
	for i := range w.Requests {
		r := &w.Requests[i]
		if idle := r.Sent.Value() - end; i > 0 && idle > 0 {
			pauses = append(pauses, pause{i, idle})
		}
		end = max(end, r.End.Value())
	}
	if len(pauses) < n-1 {
		return nil
	}
	slices.SortFunc(pauses, func(a, b pause) int { return cmp.Compare(b.length, a.length) })
	var cuts []int
	for _, p := range pauses[:n-1] {
		cuts = append(cuts, p.before)
	}
	slices.Sort(cuts)
	var all []*Wire
	from := 0
	for _, to := range append(cuts, len(w.Requests)) {
		all = append(all, &Wire{Requests: w.Requests[from:to], prompts: w.prompts})
		from = to
	}
	return all
}

// without returns the recording without its first n requests and n, where these had ended before the others began: a tool's test of the server, or its warm-up.
func (w *Wire) without(n int) (*Wire, int) {
	if n <= 0 || n >= len(w.Requests) {
		return w, 0
	}
	for i := range w.Requests[:n] {
		if w.Requests[i].End.Value() > w.Requests[n].Sent.Value() {
			return w, 0
		}
	}
	return &Wire{Requests: w.Requests[n:], prompts: w.prompts}, n
}

// repeated returns how many prompts had passed before, to their last block.
func (w *Wire) repeated() (n int) {
	first, last, _ := w.span()
	const rounding = 0.001 // of instants in the traffic's file
	seen := map[int64]bool{}
	for _, p := range w.prompts {
		if seen[p.hash] && p.at >= first-rounding && p.at <= last+rounding {
			n++
		}
		seen[p.hash] = true
	}
	return n
}

// span returns when the first request was sent, when the last one was, and when the last answer ended.
func (w *Wire) span() (first, last, end float64) {
	first, last = w.Requests[0].Sent.Value(), w.Requests[len(w.Requests)-1].Sent.Value()
	for i := range w.Requests {
		end = max(end, w.Requests[i].End.Value())
	}
	return first, last, end
}

// ok yields the requests that ended well.
func (w *Wire) ok() iter.Seq[*rundir.Record] {
	return func(yield func(*rundir.Record) bool) {
		for i := range w.Requests {
			if r := &w.Requests[i]; r.OK() && !yield(r) {
				return
			}
		}
	}
}

// sum adds up a count over the requests that ended well.
func (w *Wire) sum(of func(*rundir.Record) rundir.Number) (sum float64, n int) {
	for r := range w.ok() {
		if v := of(r); v.Known() {
			sum, n = sum+v.Value(), n+1
		}
	}
	return sum, n
}

// way is one definition of a figure.
type way struct {
	name   lang.Phrase                      // what it is
	values func(r *rundir.Record) []float64 // of one request, in seconds
	sent   bool                             // it begins when the request was sent
}

// sample returns the values of all requests, sorted.
func (w *Wire) sample(y way) stats.Sorted {
	var all []float64
	for r := range w.ok() {
		all = append(all, y.values(r)...)
	}
	slices.Sort(all)
	return all
}

// late returns the values that a tool may have which sees each request pass: with what the recorder added.
func (w *Wire) late(y way) stats.Sorted {
	var all []float64
	for r := range w.ok() {
		for _, v := range y.values(r) {
			all = append(all, v+r.ReadDelay.Or(0))
		}
	}
	slices.Sort(all)
	return all
}

// between returns a definition as the time between two instants.
func between(from, to func(*rundir.Record) rundir.Number) func(*rundir.Record) []float64 {
	return func(r *rundir.Record) []float64 {
		if a, b := from(r), to(r); a.Known() && b.Known() {
			return []float64{b.Value() - a.Value()}
		}
		return nil
	}
}

func sent(r *rundir.Record) rundir.Number       { return r.Sent }
func headers(r *rundir.Record) rundir.Number    { return r.Headers }
func firstToken(r *rundir.Record) rundir.Number { return r.FirstToken }
func lastToken(r *rundir.Record) rundir.Number  { return r.LastToken }
func ended(r *rundir.Record) rundir.Number      { return r.End }

// perToken divides a time by the number of tokens less some.
func perToken(from, to func(*rundir.Record) rundir.Number, less float64) func(*rundir.Record) []float64 {
	length := between(from, to)
	return func(r *rundir.Record) []float64 {
		all, n := length(r), r.OutputTokens.Or(0)-less
		if len(all) == 0 || n <= 0 {
			return nil
		}
		return []float64{all[0] / n}
	}
}

// gaps are the times between chunks.
func gaps(r *rundir.Record) (all []float64) {
	for _, us := range r.GapsUS {
		all = append(all, float64(us)/1e6)
	}
	return all
}

// meanGap is their mean.
func meanGap(r *rundir.Record) []float64 {
	if all := gaps(r); len(all) > 0 {
		return []float64{stats.Mean(all)}
	}
	return nil
}

// gapsFromHeaders are the times between chunks, and that from the first bytes of the answer to the first chunk with text.
func gapsFromHeaders(r *rundir.Record) []float64 {
	return append(between(headers, firstToken)(r), gaps(r)...)
}
