package sweep

import (
	"container/heap"
	"context"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"llmsweep/client"
	"llmsweep/client/api"
	"llmsweep/sweep/rundir"
)

// odd is a server of a small queue model whose truth is known: slots that serve requests, and one habit that the rules
// of judgement were not made for. It is no part of the simulator, so that neither was fitted to the other.
type odd struct {
	unencoded
	oddShape
	mu       sync.Mutex
	rng      *rand.Rand
	began    time.Time
	stations [2]oddStation
	arrived  int
	served   int
	inFlight int
	bucket   float64 // tokens left in it, or credits in seconds of a slot
	filled   time.Time
}

// oddShape is what an odd server is made of. The zero value of a habit stands for none.
type oddShape struct {
	Slots   int
	Service float64 // seconds of an answer of mean length with no other habit
	Sigma   float64 // lognormal standard deviation of the service time, the mean kept
	Natural float64 // coefficient of variation of the lengths of answers, which end by themselves
	Lengths float64 // coefficient of variation of the lengths of answers
	Order   string  // "lifo", "shortest", "priority"; empty for first come, first served

	Slower   float64 // a second replica of as many slots, this many times slower, takes every other request
	Rate     float64 // tokens per second of a bucket that delays
	Burst    float64 // tokens that it holds
	Period   float64 // answers begin at multiples of this many seconds
	Patience float64 // seconds in the queue, after which the answer is one token
	Shorten  bool    // answers shorten by slots over requests in flight, where there are more of them than slots
	Crowding float64 // the service takes this share longer per waiting request and slot
	Outage   float64 // connections break for 5 s at this time
	Scales   float64 // at this time,
	Times    float64 // the slots are multiplied by this
	Cold     float64 // the first requests take this many times as long,
	Warm     float64 // and after this many the server is warm
	Base     float64 // the share of full speed that is left when the credits are used up
	Credits  float64 // seconds of one slot that can be saved up
}

// oddTokens is the mean length of an answer, few so that sweeps are cheap.
const oddTokens = 8

// outageTime is how long an outage lasts, in seconds.
const outageTime = 5

type oddJob struct {
	key   float64
	seq   int
	begin chan struct{}
	gone  bool
}

type oddStation struct {
	free  int
	queue oddQueue
	wait  int // in the queue, without those gone
}

type oddQueue []*oddJob

func (q oddQueue) Len() int { return len(q) }
func (q oddQueue) Less(i, j int) bool {
	return q[i].key < q[j].key || q[i].key == q[j].key && q[i].seq < q[j].seq
}
func (q oddQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *oddQueue) Push(j any)   { *q = append(*q, j.(*oddJob)) }
func (q *oddQueue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

func newOdd(shape oddShape, seed uint64) *odd {
	s := &odd{oddShape: shape, rng: rand.New(rand.NewPCG(seed, 77)), began: time.Now(), filled: time.Now()}
	s.stations[0].free, s.stations[1].free = shape.Slots, shape.Slots
	s.bucket = max(shape.Burst, shape.Credits)
	if shape.Scales > 0 {
		time.AfterFunc(rundir.Duration(shape.Scales), func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.stations[0].free += int(math.Round(float64(shape.Slots) * (shape.Times - 1)))
			s.pump(&s.stations[0])
		})
	}
	return s
}

// unencoded prepares requests that are never encoded.
type unencoded struct{}

func (unencoded) Prepare(r *api.Request) (*client.Prepared, error) {
	return &client.Prepared{Request: r}, nil
}

// Do answers a request.
func (s *odd) Do(ctx context.Context, call *client.Prepared, res *client.Result) {
	res.Sent = time.Since(res.Epoch)
	if at := time.Since(s.began).Seconds(); s.Outage > 0 && at >= s.Outage && at < s.Outage+outageTime {
		res.Fail(time.Since(res.Epoch), client.ClassReset, "outage")
		return
	}
	job, station, tokens := s.enter(call.Request.OutputTokens)
	var patience <-chan time.Time
	if s.Patience > 0 {
		patience = time.After(rundir.Duration(s.Patience))
	}
	select {
	case <-job.begin:
	case <-ctx.Done():
		s.leave(job, station, false)
		res.Status = client.StatusIncomplete
		return
	case <-patience:
		s.leave(job, station, false)
		oddEnd(res, 1, call.Request.OutputTokens)
		return
	}
	delay, each := s.plan(station, tokens)
	if !rest(ctx, delay) {
		s.leave(job, station, true)
		res.Status = client.StatusIncomplete
		return
	}
	for range tokens {
		if !rest(ctx, each) {
			s.leave(job, station, true)
			res.Status = client.StatusIncomplete
			return
		}
		res.Token(time.Since(res.Epoch), 1, false)
	}
	s.leave(job, station, true)
	oddEnd(res, tokens, call.Request.OutputTokens)
}

// oddEnd completes an answer; one shorter than asked finishes with "stop".
func oddEnd(res *client.Result, tokens, asked int) {
	now := time.Since(res.Epoch)
	if res.Chunks() == 0 {
		res.Token(now, tokens, false)
	}
	res.Headers, res.End, res.Status = res.FirstToken, now, client.StatusOK
	res.OutputTokens, res.TokenSource, res.Finish = tokens, client.SourceServer, "length"
	if tokens < asked {
		res.Finish = "stop"
	}
}

func rest(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// enter queues a request, and returns the number of tokens that its answer has.
func (s *odd) enter(asked int) (*oddJob, *oddStation, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.arrived++
	s.inFlight++
	tokens := asked
	if s.Natural > 0 {
		tokens = s.naturalTokens(s.rng)
	}
	if s.Shorten && s.inFlight > s.Slots {
		tokens = max(1, tokens*s.Slots/s.inFlight)
	}
	station := &s.stations[0]
	if s.Slower > 0 && s.arrived%2 == 0 {
		station = &s.stations[1]
	}
	job := &oddJob{seq: s.arrived, begin: make(chan struct{})}
	switch s.Order {
	case "lifo":
		job.key = -float64(s.arrived)
	case "shortest":
		job.key = float64(tokens)
	case "priority":
		if s.rng.Float64() > 0.2 {
			job.key = 1
		}
	}
	heap.Push(&station.queue, job)
	station.wait++
	s.pump(station)
	return job, station, tokens
}

func (s *odd) pump(t *oddStation) {
	for t.free > 0 && len(t.queue) > 0 {
		job := heap.Pop(&t.queue).(*oddJob)
		if job.gone {
			continue
		}
		t.free--
		t.wait--
		close(job.begin)
	}
}

// leave ends a request that ran, or one that waited.
func (s *odd) leave(job *oddJob, t *oddStation, ran bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inFlight--
	select {
	case <-job.begin:
		s.spend(t)
		t.free++
		if ran {
			s.served++
		}
		s.pump(t)
	default:
		job.gone = true
		t.wait--
	}
}

// plan returns how long a request that has a slot waits before it is served, and how long each of its tokens takes.
func (s *odd) plan(t *oddStation, tokens int) (delay, each time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := 1.0
	if s.Sigma > 0 {
		f *= math.Exp(s.Sigma*s.rng.NormFloat64() - s.Sigma*s.Sigma/2)
	}
	if t == &s.stations[1] {
		f *= s.Slower
	}
	f *= 1 + s.Crowding*float64(t.wait)/float64(s.Slots)
	if s.Cold > 0 {
		f *= 1 + (s.Cold-1)*max(0, 1-float64(s.served)/s.Warm)
	}
	now := time.Now()
	switch {
	case s.Period > 0:
		p := rundir.Duration(s.Period)
		since := now.Sub(s.began)
		delay = (since/p+1)*p - since
	case s.Rate > 0:
		s.bucket = min(s.Burst, s.bucket+s.Rate*now.Sub(s.filled).Seconds()) - float64(tokens)
		s.filled = now
		delay = rundir.Duration(max(0, -s.bucket/s.Rate))
	case s.Base > 0:
		if s.spend(t); s.bucket <= 0 {
			f /= s.Base
		}
	}
	return delay, rundir.Duration(f * s.Service / oddTokens)
}

// spend takes the credits that the slots used since the last call, and adds those that were earned.
func (s *odd) spend(t *oddStation) {
	if s.Base == 0 {
		return
	}
	now := time.Now()
	busy := float64(s.Slots - t.free)
	if s.bucket <= 0 {
		busy *= s.Base
	}
	s.bucket = min(s.Credits, max(0, s.bucket+(s.Base*float64(s.Slots)-busy)*now.Sub(s.filled).Seconds()))
	s.filled = now
}
