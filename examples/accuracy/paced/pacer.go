//go:build linux

package main

import (
	"math"
	"runtime"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

// pacer is one thread that sends every token of every stream. All streams share one ITL, so those under way
// are always in the order of their next tokens: a queue is all the timer there needs to be.
type pacer struct {
	config
	truth *truth
	wake  chan struct{}

	mu    sync.Mutex
	inbox []*stream

	starting []*stream // by due
	running  queue     // by due
	streams  int64     // that were ever added
}

func newPacer(c config, t *truth) *pacer {
	return &pacer{config: c, truth: t, wake: make(chan struct{}, 1)}
}

func (p *pacer) add(s *stream) {
	s.due = s.t0 + int64(p.ttft)
	p.mu.Lock()
	p.inbox = append(p.inbox, s)
	p.mu.Unlock()
	p.truth.arrived(s)
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

func (p *pacer) run() {
	runtime.LockOSThread()
	const golden = 0.6180339887498949
	for {
		p.mu.Lock()
		arrivals := p.inbox
		p.inbox = nil
		p.mu.Unlock()
		for _, s := range arrivals {
			p.streams++
			switch p.mode {
			case "uniform":
				_, phase := math.Modf(golden * float64(p.streams))
				s.due += int64(phase * float64(p.itl))
			case "step":
				s.due = (s.due + int64(p.itl) - 1) / int64(p.itl) * int64(p.itl)
			}
			p.start(s)
		}
		due, ok := p.send()
		if !ok {
			<-p.wake
			continue
		}
		// Nobody who comes during the sleep is due before its end. Tokens that are due within a quantum go out together.
		now := time.Now().UnixNano()
		sleep(max(due-now, int64(p.quantum)), max(int64(p.ttft)/2, 200_000))
	}
}

// start sorts a stream in; nearly always it belongs at the end, or a phase before it.
func (p *pacer) start(s *stream) {
	p.starting = append(p.starting, s)
	i := len(p.starting) - 1
	for ; i > 0 && p.starting[i-1].due > s.due; i-- {
		p.starting[i] = p.starting[i-1]
	}
	p.starting[i] = s
}

// send sends what is due, in the order of the dues, and says when there is more.
func (p *pacer) send() (due int64, ok bool) {
	for {
		s, fromStart := p.running.head(), false
		if len(p.starting) > 0 && (s == nil || p.starting[0].due < s.due) {
			s, fromStart = p.starting[0], true
		}
		if s == nil {
			return 0, false
		}
		if s.due > time.Now().UnixNano() {
			return s.due, true
		}
		if fromStart {
			p.starting = p.starting[1:]
		} else {
			p.running.pop()
		}
		if !s.next() {
			p.truth.ended(s)
			close(s.done)
			continue
		}
		s.due += int64(p.itl)
		p.running.push(s)
	}
}

// sleep sleeps for a while, in ns, but at most so long. The runtime's own timers are up to a millisecond late, for they
// wait in epoll. A short sleep is not announced to the scheduler, which would wake another thread to take over.
func sleep(d, most int64) {
	d = min(d, most)
	ts := syscall.NsecToTimespec(d)
	if d < int64(time.Millisecond) {
		syscall.RawSyscall(syscall.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&ts)), 0, 0)
		return
	}
	syscall.Syscall(syscall.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&ts)), 0, 0)
}

// queue is a ring.
type queue struct {
	ring    []*stream
	at, len int
}

func (q *queue) head() *stream {
	if q.len == 0 {
		return nil
	}
	return q.ring[q.at]
}

func (q *queue) pop() {
	q.ring[q.at] = nil
	q.at = (q.at + 1) % len(q.ring)
	q.len--
}

// push keeps the order where a stream that started late has fallen behind it.
func (q *queue) push(s *stream) {
	if q.len == len(q.ring) {
		bigger := make([]*stream, max(64, 2*len(q.ring)))
		for i := range q.len {
			bigger[i] = q.ring[(q.at+i)%len(q.ring)]
		}
		q.ring, q.at = bigger, 0
	}
	i := q.len
	for ; i > 0 && q.ring[(q.at+i-1)%len(q.ring)].due > s.due; i-- {
		q.ring[(q.at+i)%len(q.ring)] = q.ring[(q.at+i-1)%len(q.ring)]
	}
	q.ring[(q.at+i)%len(q.ring)] = s
	q.len++
}
