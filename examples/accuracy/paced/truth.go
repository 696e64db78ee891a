//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

var (
	blocked   atomic.Int64 // writes that found the socket's buffer full
	unstamped atomic.Int64 // reads without the kernel's time
)

// truth is what was really sent.
type truth struct {
	config
	connections atomic.Int64
	ids         atomic.Int64

	mu          sync.Mutex
	began       int64 // of what follows
	cpu         time.Duration
	arrivals    []int64
	done        []*record
	aborted     int
	active, top int
}

// record is one request that was answered in full.
type record struct {
	t0, first, last int64
	gaps            []int32
}

func newTruth(c config) *truth {
	t := &truth{config: c}
	t.reset()
	return t
}

func (t *truth) next() int64 { return t.ids.Add(1) }

func (t *truth) reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.began, t.cpu = time.Now().UnixNano(), cpu()
	t.arrivals, t.done, t.aborted, t.top = nil, nil, 0, t.active
	t.connections.Store(0)
}

func (t *truth) arrived(s *stream) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.arrivals = append(t.arrivals, s.t0)
	t.active++
	t.top = max(t.top, t.active)
}

func (t *truth) ended(s *stream) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.active--
	if s.err != nil {
		t.aborted++
		return
	}
	t.done = append(t.done, &record{s.t0, s.firstAt, s.lastAt, s.gaps})
}

// spread is a distribution in milliseconds.
type spread struct {
	N    int     `json:"n"`
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P99  float64 `json:"p99"`
	Max  float64 `json:"max"`
}

// spreadOf takes milliseconds; percentiles are interpolated as numpy does by default (Hyndman and Fan's type 7).
func spreadOf(ms []float64) *spread {
	if len(ms) == 0 {
		return nil
	}
	slices.Sort(ms)
	at := func(p float64) float64 {
		h := p * float64(len(ms)-1)
		i := int(h)
		if i+1 >= len(ms) {
			return ms[len(ms)-1]
		}
		return ms[i] + (h-float64(i))*(ms[i+1]-ms[i])
	}
	sum := 0.0
	for _, v := range ms {
		sum += v
	}
	return &spread{len(ms), round(sum / float64(len(ms))), round(at(0.5)), round(at(0.9)), round(at(0.99)), round(ms[len(ms)-1])}
}

func round(ms float64) float64 { return math.Round(ms*1000) / 1000 }

// summary tells of the last n requests to arrive, or of all for 0, that were answered in full.
func (t *truth) summary(n int) []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	done := slices.Clone(t.done)
	slices.SortFunc(done, func(a, b *record) int { return int(a.t0 - b.t0) })
	if n > 0 && n < len(done) {
		done = done[len(done)-n:]
	}
	var ttft, itl, tpot, e2e []float64
	busy := 0.0
	begin, end := int64(math.MaxInt64), int64(0)
	for _, r := range done {
		ttft = append(ttft, float64(r.first-r.t0)/1e6)
		e2e = append(e2e, float64(r.last-r.t0)/1e6)
		for _, g := range r.gaps {
			itl = append(itl, float64(g)/1e3)
		}
		if len(r.gaps) > 0 {
			tpot = append(tpot, float64(r.last-r.first)/1e6/float64(len(r.gaps)))
		}
		busy += float64(r.last - r.t0)
		begin, end = min(begin, r.t0), max(end, r.last)
	}
	out := map[string]any{
		"mode": t.mode, "ttft_set_ms": t.ttft.Seconds() * 1e3, "itl_set_ms": t.itl.Seconds() * 1e3,
		"n": len(done), "arrived": len(t.arrivals), "completed": len(t.done), "aborted": t.aborted, "peak_streams": t.top,
		"connections": t.connections.Load(), "blocked_writes": blocked.Load(), "unstamped_reads": unstamped.Load(),
		"server_cpu_s": round((cpu() - t.cpu).Seconds()), "since_reset_s": round(float64(time.Now().UnixNano()-t.began) / 1e9),
		"ttft_ms": spreadOf(ttft), "itl_ms": spreadOf(itl), "request_mean_itl_ms": spreadOf(tpot), "e2e_ms": spreadOf(e2e),
		"words": "ttft: first token's write less arrival of the request's last byte in the kernel; itl: gaps of the write instants; request_mean_itl: (last - first write) / (tokens - 1)",
	}
	if len(done) > 0 && end > begin {
		seconds := float64(end-begin) / 1e9
		out["span_s"], out["mean_streams"] = round(seconds), round(busy/float64(end-begin))
		out["requests_per_s"] = round(float64(len(done)) / seconds)
	}
	perSecond, offered := t.perSecond(n)
	out["arrivals_each_s"], out["offered_per_s"] = perSecond, offered
	b, err := json.MarshalIndent(out, "", " ")
	if err != nil {
		panic(err)
	}
	return append(b, '\n')
}

// perSecond counts the last n arrivals, or all, by seconds from the first; offered is (count - 1) / (last - first).
func (t *truth) perSecond(n int) (counts []int, offered float64) {
	at := slices.Clone(t.arrivals)
	slices.Sort(at)
	if n > 0 && n < len(at) {
		at = at[len(at)-n:]
	}
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

func (t *truth) raw() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	var b bytes.Buffer
	for _, r := range t.done {
		fmt.Fprintf(&b, `{"t0":%d,"ttft_us":%d,"e2e_us":%d,"tokens":%d}`+"\n", r.t0, (r.first-r.t0)/1000, (r.last-r.t0)/1000, len(r.gaps)+1)
	}
	return b.Bytes()
}

func cpu() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
