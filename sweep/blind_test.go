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

// blind is a model of a server: stations of slots that serve jobs in the order of their arrival, and hooks for what is
// odd about it. It was written, with its families, by a hand that had not read the rules of judgement. The same model
// answers requests (blindDoer) and runs alone through a heap of events, which tells its truth (sustains).
type blind struct {
	rng      *rand.Rand
	service  float64 // seconds of an answer of oddTokens tokens, alone
	stations []blindStation
	now      float64 // seconds since the server began
	inFlight int
	arrived  int

	others  float64                             // requests per second of other clients, which arrive at random
	down    func(now float64) bool              // refuses all that arrives
	length  func(b *blind, asked int) int       // tokens of an answer
	gate    func(b *blind) float64              // seconds that a request waits before it is queued
	route   func(b *blind, j *blindJob) int     // the station of a request
	starts  func(b *blind) float64              // seconds that a job that has its slot waits before it is served
	slow    func(b *blind, j *blindJob) float64 // how many times longer the next token takes
	departs func(b *blind, j *blindJob)         // a job has ended
	passes  func(b *blind, dt float64)          // seconds went by, with the slots as they are
}

type blindStation struct {
	slots, busy int
	queue       []*blindJob
}

type blindJob struct {
	tokens  int
	station int
	conn    int
	work    float64 // how many times as long as others it takes
	begin   chan struct{}
	gone    bool
	running bool
}

// at sets the time.
func (b *blind) at(now float64) {
	if b.passes != nil {
		b.passes(b, now-b.now)
	}
	b.now = now
}

// enter queues a job, and returns the jobs that begin.
func (b *blind) enter(j *blindJob) []*blindJob {
	b.arrived++
	b.inFlight++
	if b.length != nil {
		j.tokens = b.length(b, j.tokens)
	}
	if b.route != nil {
		j.station = b.route(b, j)
	}
	s := &b.stations[j.station]
	s.queue = append(s.queue, j)
	return b.pump(s)
}

func (b *blind) pump(s *blindStation) (begun []*blindJob) {
	for s.busy < s.slots && len(s.queue) > 0 {
		j := s.queue[0]
		s.queue = s.queue[1:]
		if j.gone {
			continue
		}
		j.running = true
		s.busy++
		begun = append(begun, j)
	}
	return begun
}

// leave ends a job, and returns the jobs that begin.
func (b *blind) leave(j *blindJob) []*blindJob {
	b.inFlight--
	if b.departs != nil {
		b.departs(b, j)
	}
	if !j.running {
		j.gone = true
		return nil
	}
	s := &b.stations[j.station]
	s.busy--
	return b.pump(s)
}

// startDelay returns how long a job that has its slot waits, in seconds.
func (b *blind) startDelay() float64 {
	if b.starts == nil {
		return 0
	}
	return b.starts(b)
}

// tokenTime returns how long the next token of a job takes, in seconds.
func (b *blind) tokenTime(j *blindJob) float64 {
	f := 1.0
	if b.slow != nil {
		f = b.slow(b, j)
	}
	return f * b.service / oddTokens
}

// busy returns how many slots are at work.
func (b *blind) busy() (n int) {
	for i := range b.stations {
		n += b.stations[i].busy
	}
	return n
}

// blindEvent is an event of the model that runs alone.
type blindEvent struct {
	at   float64
	job  *blindJob // nil for an arrival
	left int       // tokens that the job still has to send; -1: it comes to the queue
}

type blindEvents []blindEvent

func (e blindEvents) Len() int           { return len(e) }
func (e blindEvents) Less(i, j int) bool { return e[i].at < e[j].at }
func (e blindEvents) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *blindEvents) Push(x any)        { *e = append(*e, x.(blindEvent)) }
func (e *blindEvents) Pop() any {
	old := *e
	x := old[len(old)-1]
	*e = old[:len(old)-1]
	return x
}

// alone runs a model for a time in seconds with Poisson arrivals at a rate, and returns how many of its jobs are
// unfinished then.
func (b *blind) alone(rate, seconds float64, rng *rand.Rand) int {
	events := &blindEvents{{at: rng.ExpFloat64() / (rate + b.others)}}
	begin := func(jobs []*blindJob) {
		for _, j := range jobs {
			heap.Push(events, blindEvent{b.now + b.startDelay() + b.tokenTime(j), j, j.tokens - 1})
		}
	}
	waiting := 0 // at the gate
	for len(*events) > 0 && (*events)[0].at < seconds {
		e := heap.Pop(events).(blindEvent)
		b.at(e.at)
		switch {
		case e.job == nil:
			heap.Push(events, blindEvent{at: e.at + rng.ExpFloat64()/(rate+b.others)})
			j := &blindJob{tokens: oddTokens}
			if b.gate != nil {
				waiting++
				heap.Push(events, blindEvent{e.at + b.gate(b), j, -1})
				continue
			}
			begin(b.enter(j))
		case e.left < 0:
			waiting--
			begin(b.enter(e.job))
		case e.left > 0:
			heap.Push(events, blindEvent{e.at + b.tokenTime(e.job), e.job, e.left - 1})
		default:
			begin(b.leave(e.job))
		}
	}
	return waiting + b.inFlight
}

// sustains returns the highest rate at which the backlog of a model does not grow, by bisection over runs of an hour or
// 30,000 requests.
func sustains(make func() *blind, nominal float64, seed uint64) float64 {
	low, high := 0.1*nominal, 4*nominal
	for range 11 {
		rate := (low + high) / 2
		seconds := min(3600, 30000/rate)
		b := make()
		slots := 0
		for _, s := range b.stations {
			slots += s.slots
		}
		left := b.alone(rate, seconds, rand.New(rand.NewPCG(seed, 11)))
		if float64(left) > 4*float64(slots)+2*math.Sqrt((rate+b.others)*seconds) {
			high = rate
		} else {
			low = rate
		}
	}
	return (low + high) / 2
}

// blindDoer answers requests as a model does.
type blindDoer struct {
	unencoded
	mu     sync.Mutex
	model  *blind
	began  time.Time
	closed chan struct{}
}

func newBlindDoer(b *blind) *blindDoer {
	d := &blindDoer{model: b, began: time.Now(), closed: make(chan struct{})}
	if b.others > 0 {
		go d.disturb(b.others, rand.New(rand.NewPCG(uint64(b.rng.Int64()), 3)))
	}
	return d
}

// disturb sends the requests of other clients.
func (d *blindDoer) disturb(rate float64, rng *rand.Rand) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for {
		select {
		case <-d.closed:
			return
		case <-time.After(rundir.Duration(rng.ExpFloat64() / rate)):
			go d.Do(ctx, &client.Prepared{Request: &api.Request{OutputTokens: oddTokens}}, &client.Result{Epoch: time.Now()})
		}
	}
}

func (d *blindDoer) close() { close(d.closed) }

// with calls f with the model at the present time.
func (d *blindDoer) with(f func(b *blind)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.model.at(time.Since(d.began).Seconds())
	f(d.model)
}

// Do answers a request.
func (d *blindDoer) Do(ctx context.Context, call *client.Prepared, res *client.Result) {
	res.Sent = time.Since(res.Epoch)
	var refused bool
	var wait float64
	d.with(func(b *blind) {
		refused = b.down != nil && b.down(b.now)
		if b.gate != nil && !refused {
			wait = b.gate(b)
		}
	})
	if refused {
		res.Fail(time.Since(res.Epoch), client.ClassReset, "outage")
		return
	}
	res.Status = client.StatusIncomplete
	if !rest(ctx, rundir.Duration(wait)) {
		return
	}
	j := &blindJob{tokens: call.Request.OutputTokens, begin: make(chan struct{})}
	begun := func(jobs []*blindJob) {
		for _, j := range jobs {
			close(j.begin)
		}
	}
	d.with(func(b *blind) { begun(b.enter(j)) })
	defer d.with(func(b *blind) { begun(b.leave(j)) })
	select {
	case <-j.begin:
	case <-ctx.Done():
		return
	}
	var each float64
	d.with(func(b *blind) { each = b.startDelay() })
	if !rest(ctx, rundir.Duration(each)) {
		return
	}
	for range j.tokens {
		d.with(func(b *blind) { each = b.tokenTime(j) })
		if !rest(ctx, rundir.Duration(each)) {
			return
		}
		res.Token(time.Since(res.Epoch), 1, false)
	}
	oddEnd(res, j.tokens, call.Request.OutputTokens)
}
