package selftest

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"llmsweep/sweep/stats"
)

// PacedTruth is what a server sent: the requests that were answered in full since the last reset. Times are in milliseconds where
// the key says so, else in seconds. TTFT is from the arrival of the request's last byte in the kernel to the write of the
// first token; ITL is the time between writes, pooled over all requests; a request's mean ITL is
// (last - first write) / (tokens - 1).
type PacedTruth struct {
	Phase        string       `json:"mode"`
	TTFTSet      float64      `json:"ttft_set_ms"`
	ITLSet       float64      `json:"itl_set_ms"`
	N            int          `json:"n"`
	Arrived      int          `json:"arrived"`
	Completed    int          `json:"completed"`
	Aborted      int          `json:"aborted"`
	Peak         int          `json:"peak_streams"`
	MeanStreams  float64      `json:"mean_streams,omitempty"`
	Connections  int64        `json:"connections"`
	Blocked      int64        `json:"blocked_writes"`  // that found the socket's buffer full
	Unstamped    int64        `json:"unstamped_reads"` // without the kernel's timestamp
	CPU          float64      `json:"server_cpu_s"`
	SinceReset   float64      `json:"since_reset_s"`
	Span         float64      `json:"span_s,omitempty"` // from the first arrival to the last token
	Requests     float64      `json:"requests_per_s,omitempty"`
	ArrivalsEach []int        `json:"arrivals_each_s"` // in each second from the first arrival
	Offered      float64      `json:"offered_per_s"`   // (arrivals - 1) / (last - first arrival)
	TTFT         *PacedSpread `json:"ttft_ms"`
	ITL          *PacedSpread `json:"itl_ms"`
	RequestITL   *PacedSpread `json:"request_mean_itl_ms"`
	Latency      *PacedSpread `json:"e2e_ms"`
}

// PacedSpread sums up a distribution in milliseconds.
type PacedSpread struct {
	N    int     `json:"n"`
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P99  float64 `json:"p99"`
	Max  float64 `json:"max"`
}

// pacedSpread sums up values in milliseconds; nil for none.
func pacedSpread(ms []float64) *PacedSpread {
	if len(ms) == 0 {
		return nil
	}
	slices.Sort(ms)
	sum := 0.0
	for _, v := range ms {
		sum += v
	}
	at := func(p float64) float64 { return round(stats.Quantile(ms, p)) }
	return &PacedSpread{len(ms), round(sum / float64(len(ms))), at(0.5), at(0.9), at(0.99), at(1)}
}

// round rounds to a thousandth.
func round(v float64) float64 { return math.Round(v*1000) / 1000 }

// truth records what is sent.
type truth struct {
	PacedConfig
	clock  pacedClock
	counts counts
	ids    atomic.Int64

	mu          sync.Mutex
	began       time.Time
	cpu         time.Duration // used by then
	arrivals    []int64
	done        []sent
	aborted     int
	active, top int
}

// counts are events of sockets.
type counts struct{ connections, unstamped, blocked atomic.Int64 }

// sent is one request that was answered in full.
type sent struct {
	t0, first, last int64
	gaps            []int32
}

func newTruth(c PacedConfig, clock pacedClock) *truth {
	t := &truth{PacedConfig: c, clock: clock}
	t.reset()
	return t
}

func (t *truth) nextID() int64 { return t.ids.Add(1) }

func (t *truth) reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.began = time.Now()
	t.cpu, _ = ProcessorTime()
	t.arrivals, t.done, t.aborted, t.top = nil, nil, 0, t.active
	t.counts.connections.Store(0)
}

func (t *truth) arrived(s *stream) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.arrivals = append(t.arrivals, s.t0)
	t.active++
	t.top = max(t.top, t.active)
}

// next sends a stream's next token and reports whether there are more. The last one is sent and recorded under one lock, so that
// a client that has read its answer finds it in the truth.
func (t *truth) next(s *stream) (more bool) {
	if s.sent == s.output-1 {
		t.mu.Lock()
		defer t.mu.Unlock()
		s.next(t.clock)
		t.ended(s)
		return false
	}
	if s.next(t.clock) {
		return true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended(s)
	return false
}

// ended records a stream that has ended; t.mu is held.
func (t *truth) ended(s *stream) {
	t.active--
	if s.err != nil {
		t.aborted++
		return
	}
	t.done = append(t.done, sent{s.t0, s.firstAt, s.lastAt, s.gaps})
}

// Truth returns what was sent for the last n requests to arrive that were answered in full; for all of them where n is 0.
func (s *PacedServer) Truth(n int) PacedTruth {
	t := s.truth
	t.mu.Lock()
	defer t.mu.Unlock()
	used, _ := ProcessorTime()
	out := PacedTruth{
		Phase: t.Phase, TTFTSet: t.TTFT.Seconds() * 1e3, ITLSet: t.ITL.Seconds() * 1e3,
		Arrived: len(t.arrivals), Completed: len(t.done), Aborted: t.aborted, Peak: t.top,
		Connections: t.counts.connections.Load(), Blocked: t.counts.blocked.Load(), Unstamped: t.counts.unstamped.Load(),
		CPU: round((used - t.cpu).Seconds()), SinceReset: round(time.Since(t.began).Seconds()),
	}
	out.add(lastOf(t.done, n, func(a, b sent) int { return int(a.t0 - b.t0) }))
	out.ArrivalsEach, out.Offered = perSecond(lastOf(t.arrivals, n, func(a, b int64) int { return int(a - b) }))
	return out
}

// lastOf returns the n largest values in ascending order; all for 0.
func lastOf[T any](all []T, n int, order func(a, b T) int) []T {
	all = slices.Clone(all)
	slices.SortFunc(all, order)
	if n > 0 && n < len(all) {
		all = all[len(all)-n:]
	}
	return all
}

// add sums up requests.
func (t *PacedTruth) add(done []sent) {
	var ttft, itl, mean, latency []float64
	busy := 0.0
	begin, end := int64(math.MaxInt64), int64(0)
	for _, r := range done {
		ttft = append(ttft, float64(r.first-r.t0)/1e6)
		latency = append(latency, float64(r.last-r.t0)/1e6)
		for _, g := range r.gaps {
			itl = append(itl, float64(g)/1e3)
		}
		if len(r.gaps) > 0 {
			mean = append(mean, float64(r.last-r.first)/1e6/float64(len(r.gaps)))
		}
		busy += float64(r.last - r.t0)
		begin, end = min(begin, r.t0), max(end, r.last)
	}
	t.N, t.TTFT, t.ITL, t.RequestITL, t.Latency = len(done), pacedSpread(ttft), pacedSpread(itl), pacedSpread(mean), pacedSpread(latency)
	if len(done) > 0 && end > begin {
		span := float64(end-begin) / 1e9
		t.Span, t.MeanStreams, t.Requests = round(span), round(busy/float64(end-begin)), round(float64(len(done))/span)
	}
}

// perSecond counts ascending arrivals by seconds from the first, and returns their rate.
func perSecond(at []int64) (counts []int, offered float64) {
	if len(at) < 2 {
		return []int{}, 0
	}
	for _, a := range at {
		i := int((a - at[0]) / int64(time.Second))
		for len(counts) <= i {
			counts = append(counts, 0)
		}
		counts[i]++
	}
	return counts, round(float64(len(at)-1) / (float64(at[len(at)-1]-at[0]) / 1e9))
}

// raw returns one JSON line per request, its arrival in nanoseconds since 1970.
func (t *truth) raw() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	var b bytes.Buffer
	for _, r := range t.done {
		fmt.Fprintf(&b, `{"t0":%d,"ttft_us":%d,"e2e_us":%d,"tokens":%d}`+"\n",
			t.clock.Time(r.t0).UnixNano(), (r.first-r.t0)/1000, (r.last-r.t0)/1000, len(r.gaps)+1)
	}
	return b.Bytes()
}
