package load

import (
	"sync"
	"sync/atomic"
	"time"

	"llmsweep/sweep/sample"
)

// Rest is what a chained stage left in flight.
type Rest struct {
	Ended  <-chan struct{} // closed when all of it has ended
	Cancel func()
	server *inServer
}

// HasEnded reports whether all requests have.
func (r *Rest) HasEnded() bool {
	select {
	case <-r.Ended:
		return true
	default:
		return false
	}
}

// inServer counts what the server has in hand, over stages that follow one another without a rest.
type inServer struct {
	tokens, firsts atomic.Int64 // output tokens that arrived, and the first ones among them
	asked          atomic.Int64 // output tokens asked for, except those that their requests ended without

	mu     sync.Mutex
	n      int                  // requests in flight
	level  *sample.Level        // of them, in the stage
	clock  func() time.Duration // of the stage; nil between two
	places chan struct{}        // of the stage's closed loop; nil for another
	taken  int                  // places that requests of earlier stages have
}

// begin begins a stage. What is in flight has places of its closed loop.
func (f *inServer) begin(clock func() time.Duration, tick time.Duration, places chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.clock, f.level, f.places, f.taken = clock, sample.NewLevel(tick), places, min(f.n, cap(places))
	f.level.Add(0, f.n)
	for range f.taken {
		places <- struct{}{}
	}
}

func (f *inServer) end(at time.Duration) *sample.Level {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.level.Advance(at)
	f.clock = nil
	return f.level
}

// count adds a request to those in flight, or takes one away. earlier tells that its stage is over.
func (f *inServer) count(delta int, earlier bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n += delta
	if f.clock != nil {
		f.level.Add(f.clock(), delta)
	}
	if earlier && delta < 0 && f.taken > 0 && f.n < cap(f.places) {
		f.taken--
		<-f.places
	}
}

func (f *inServer) inFlight() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.n
}

// work returns what arrived since it had arrived of an earlier call, and what is owed.
func (f *inServer) work(before *Work) (since Work) {
	now := Work{Tokens: float64(f.tokens.Load()), Firsts: float64(f.firsts.Load())}
	since = Work{Tokens: now.Tokens - before.Tokens, Firsts: now.Firsts - before.Firsts}
	since.Owed = float64(f.asked.Load()) - now.Tokens
	*before = now
	return since
}
