// Sums up the records of stages for drawings. A file of any length is read once, in bounded memory.

package page

import (
	"cmp"
	"errors"
	"io/fs"
	"math"
	"slices"

	"llmsweep/sweep/measure"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/slo"
)

const (
	traceSlices    = 64 // of time: more cannot be seen at the width of a drawing
	traceIntervals = 60 // of which the slowest and the fastest request is always drawn
)

func traceMetrics() []string { return []string{slo.TTFT, slo.ITL, slo.Latency} }

type traceStage struct {
	Length   float64 // seconds
	Width    float64 // of a slice, seconds
	Due      []float64
	Done     []float64    // requests that ended well
	InFlight []float64    // mean
	Tokens   []float64    // that arrived
	Requests int          // records
	Points   []tracePoint // some of the requests, by the time at which they were due
	Values   map[string]*traceHistogram
	Slowest  []traceRequest // by any of the metrics
	Readings []rundir.Reading

	perChunk  float64
	window    measure.Window
	slowest   map[string][]*slowRequest // the slowest so far, by metric
	intervals []interval
}

type tracePoint struct {
	Seq, Turn  int
	Due        float64 // seconds from the stage's start
	Queued     float64
	TTFT       rundir.Number
	Latency    rundir.Number
	Tokens     rundir.Number
	Status     string
	Error      string
	LongestGap float64
}

type traceRequest struct {
	tracePoint
	Gaps []float64 // between chunks, seconds
}

type slowRequest struct {
	value float64
	r     traceRequest
}

// interval keeps the requests with the highest and the lowest TTFT of a part of the stage, and some between.
type interval struct {
	high, low *tracePoint
	sample    []tracePoint
	seen      int // requests that were neither the lowest nor the highest when they came
	halvings  int // of sample
}

type traceLimits struct {
	Points  int // drawn one by one, at most
	Slowest int // of each metric
}

// readTrace reads the records of a run directory; stages without records are absent, and a directory without records is
// no error. A damaged line ends the reading: what came before it is kept, and the error returned.
func readTrace(path string, run *rundir.Run, limits traceLimits) (map[string]*traceStage, error) {
	stages := map[string]*traceStage{}
	for i := range run.Stages {
		st := &run.Stages[i]
		if length := max(st.Elapsed, st.WindowFrom+st.Window); length > 0 {
			stages[st.Name] = newStage(st, length)
		}
	}
	var failure error
	for r, err := range store.Records(path) {
		if err != nil {
			failure = err
			break
		}
		if s := stages[r.Stage]; s != nil {
			s.add(r, limits)
		}
	}
	if errors.Is(failure, fs.ErrNotExist) {
		return nil, nil
	}
	for name, s := range stages {
		if s.Requests == 0 {
			delete(stages, name)
			continue
		}
		s.finish()
	}
	addReadings(path, stages)
	return stages, failure
}

func newStage(st *rundir.Stage, length float64) *traceStage {
	s := &traceStage{
		Length:    length,
		Width:     length / traceSlices,
		Values:    map[string]*traceHistogram{},
		slowest:   map[string][]*slowRequest{},
		perChunk:  1,
		window:    measure.WindowOf(st),
		intervals: make([]interval, traceIntervals),
	}
	if st.TokensPerChunk.Known() {
		s.perChunk = st.TokensPerChunk.Value()
	}
	for _, bins := range []*[]float64{&s.Due, &s.Done, &s.InFlight, &s.Tokens} {
		*bins = make([]float64, traceSlices)
	}
	for _, m := range traceMetrics() {
		s.Values[m] = &traceHistogram{}
	}
	return s
}

func (s *traceStage) slice(at float64) int { return min(max(int(at/s.Width), 0), traceSlices-1) }

func (s *traceStage) add(r *rundir.Record, limits traceLimits) {
	s.Requests++
	p := tracePoint{
		Seq:     r.Seq,
		Turn:    r.Turn,
		Due:     r.Due.Value(),
		TTFT:    measure.SLOValue(slo.TTFT, r),
		Latency: measure.SLOValue(slo.Latency, r),
		Tokens:  r.OutputTokens,
		Status:  r.Status,
		Error:   r.Error,
	}
	if r.Queued.Known() {
		p.Queued = r.Queued.Value()
	}
	for _, us := range r.GapsUS {
		p.LongestGap = max(p.LongestGap, float64(us)/1e6)
	}
	s.Due[s.slice(p.Due)]++
	if r.End.Known() && r.OK() {
		s.Done[s.slice(r.End.Value())]++
	}
	s.addInFlight(r)
	for at, tokens := range measure.Arrivals(r, s.perChunk) {
		s.Tokens[s.slice(at)] += tokens
	}
	s.keepPoint(p, limits)
	if s.window.Holds(p.Due) {
		s.addValues(r, &p, limits)
	}
}

func (s *traceStage) addInFlight(r *rundir.Record) {
	if !r.Sent.Known() || !r.End.Known() {
		return
	}
	from, to := r.Sent.Value(), min(r.End.Value(), s.Length)
	for i := s.slice(from); i < traceSlices && float64(i)*s.Width < to; i++ {
		begin := float64(i) * s.Width
		s.InFlight[i] += max(0, min(to, begin+s.Width)-max(from, begin)) / s.Width
	}
}

// keepPoint keeps of each interval the lowest and the highest request, and a few between, spread over all.
func (s *traceStage) keepPoint(p tracePoint, limits traceLimits) {
	t := &s.intervals[min(max(int(p.Due/s.Length*traceIntervals), 0), traceIntervals-1)]
	other := &p // that is neither the highest nor the lowest so far, or is no longer
	switch {
	case t.high == nil || pointHeight(&p) > pointHeight(t.high):
		other, t.high = t.high, &p
	case t.low == nil || pointHeight(&p) < pointHeight(t.low):
		other, t.low = t.low, &p
	}
	if other == nil {
		return
	}
	most := max(0, limits.Points/traceIntervals-2)
	if t.seen%(1<<t.halvings) == 0 {
		t.sample = append(t.sample, *other)
	}
	t.seen++
	if len(t.sample) > most { // keep every second, also of those to come
		for i := range len(t.sample) / 2 {
			t.sample[i] = t.sample[2*i]
		}
		t.sample = t.sample[:len(t.sample)/2]
		t.halvings++
	}
}

// pointHeight is where a request stands in the drawing; a failed one stands lowest.
func pointHeight(p *tracePoint) float64 {
	if p.TTFT.IsZero() {
		return -1
	}
	return p.TTFT.Value()
}

func (s *traceStage) addValues(r *rundir.Record, p *tracePoint, limits traceLimits) {
	for _, m := range []struct {
		name string
		v    rundir.Number
	}{{slo.TTFT, p.TTFT}, {slo.Latency, p.Latency}} {
		if m.v.IsZero() {
			continue
		}
		s.Values[m.name].Add(m.v.Value(), 1, m.v.Bound())
		s.keepSlowest(m.name, m.v.Value(), r, p, limits)
	}
	if !r.OK() && !r.Censored() {
		return
	}
	for i, us := range r.GapsUS {
		k := 1.0
		if i+1 < len(r.Counts) {
			k = math.Max(1, float64(r.Counts[i+1]))
		}
		s.Values[slo.ITL].Add(float64(us)/1e6/k, k, false)
	}
	if p.LongestGap > 0 {
		s.keepSlowest(slo.ITL, p.LongestGap, r, p, limits)
	}
}

func (s *traceStage) keepSlowest(metric string, value float64, r *rundir.Record, p *tracePoint, limits traceLimits) {
	all := s.slowest[metric]
	if len(all) >= limits.Slowest {
		if limits.Slowest == 0 || value <= all[len(all)-1].value {
			return
		}
		all = all[:len(all)-1]
	}
	slow := &slowRequest{value, traceRequest{tracePoint: *p}}
	for _, us := range r.GapsUS {
		slow.r.Gaps = append(slow.r.Gaps, float64(us)/1e6)
	}
	at, _ := slices.BinarySearchFunc(all, value, func(k *slowRequest, v float64) int { return -cmp.Compare(k.value, v) })
	s.slowest[metric] = slices.Insert(all, at, slow)
}

func (s *traceStage) finish() {
	for i := range s.intervals {
		t := &s.intervals[i]
		for _, p := range []*tracePoint{t.high, t.low} {
			if p != nil {
				s.Points = append(s.Points, *p)
			}
		}
		s.Points = append(s.Points, t.sample...)
	}
	slices.SortStableFunc(s.Points,
		func(a, b tracePoint) int { return cmp.Or(cmp.Compare(a.Due, b.Due), cmp.Compare(a.Seq, b.Seq)) })
	seen := map[[2]int]bool{}
	for _, m := range traceMetrics() {
		for _, k := range s.slowest[m] {
			if id := [2]int{k.r.Seq, k.r.Turn}; !seen[id] {
				seen[id] = true
				s.Slowest = append(s.Slowest, k.r)
			}
		}
	}
	s.intervals, s.slowest = nil, nil
}

// addReadings adds what can be read of a file that may be absent or damaged.
func addReadings(path string, stages map[string]*traceStage) {
	for r, err := range store.Readings(path) {
		if err != nil {
			return
		}
		if s := stages[r.Stage]; s != nil {
			s.Readings = append(s.Readings, *r)
		}
	}
}
