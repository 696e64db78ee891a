package sweep

import (
	"cmp"
	"container/heap"
	"context"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	"llmsweep/client"
	"llmsweep/client/api"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
)

// meanTokens is the mean length of an answer of a model, few so that sweeps are cheap.
const meanTokens = 8

// model is a server of stations of slots, in which requests wait in turn, and of hooks for its habit. It answers
// requests ([modelDoer]), or runs alone through a heap of events, which tells its truth ([model.alone]). It shares no
// code with the simulator, so that neither was fitted to the other.
type model struct {
	rng      *rand.Rand
	service  float64 // seconds of an answer of meanTokens tokens, alone
	stations []station
	patience float64 // seconds in the queue, after which the answer is one token; 0 for however long
	timeout  bool    // after which the request fails instead
	tokens   int     // of an answer, where the model runs alone; 0 for meanTokens
	others   float64 // requests per second of other clients, which arrive at random

	now               float64 // seconds since the server began
	arrived, inFlight int
	served, stubs     int // answers that ended, and those for which nobody had patience
	answered          int // tokens of them
	refused           int // by fails, where the model runs alone

	fails   func(j *job) (class client.Class, retry float64) // refuses a request; retry: seconds until the next passes
	gate    func(j *job) float64                             // seconds that a request waits before it is queued
	length  func(asked int) int                              // tokens of an answer
	route   func(j *job) int                                 // the station of a request
	order   func(j *job) float64                             // least first; nil for the order of arrival
	starts  func() float64                                   // seconds that a job keeps its slot before it is served
	slow    func(j *job) float64                             // how many times longer the next token takes
	departs func(j *job)                                     // a job has ended
	passes  func(seconds float64)                            // time went by, with the slots as they are
}

type station struct {
	slots, busy int
	queue       []*job
}

type job struct {
	tokens, station, connection int
	key, work                   float64 // of [model.order]; how many times as long as others it takes
	group                       int     // of those that share a prefix
	begin                       chan struct{}
	gone, running               bool
}

func (m *model) at(now float64) {
	if m.passes != nil {
		m.passes(now - m.now)
	}
	m.now = now
}

// enter queues a job, and returns the jobs that begin.
func (m *model) enter(j *job) []*job {
	m.arrived++
	m.inFlight++
	if m.length != nil {
		j.tokens = m.length(j.tokens)
	}
	if m.route != nil {
		j.station = m.route(j)
	}
	if m.order != nil {
		j.key = m.order(j)
	}
	s := &m.stations[j.station]
	s.queue = append(s.queue, j)
	return m.fill(s)
}

func (m *model) fill(s *station) (begun []*job) {
	for s.busy < s.slots && len(s.queue) > 0 {
		j := s.queue[0]
		if m.order == nil {
			s.queue = s.queue[1:]
		} else {
			j = slices.MinFunc(s.queue, func(a, b *job) int { return cmp.Compare(a.key, b.key) })
			i := slices.Index(s.queue, j)
			s.queue = slices.Delete(s.queue, i, i+1)
		}
		if !j.gone {
			j.running = true
			s.busy++
			begun = append(begun, j)
		}
	}
	return begun
}

// leave ends a job, and returns the jobs that begin.
func (m *model) leave(j *job) []*job {
	m.inFlight--
	if m.departs != nil {
		m.departs(j)
	}
	if !j.running {
		j.gone = true
		return nil
	}
	m.served++
	m.answered += j.tokens
	s := &m.stations[j.station]
	s.busy--
	return m.fill(s)
}

// startDelay returns how long a job that has its slot waits, in seconds.
func (m *model) startDelay() float64 {
	if m.starts == nil {
		return 0
	}
	return m.starts()
}

// tokenTime returns how long the next token of a job takes, in seconds.
func (m *model) tokenTime(j *job) float64 {
	if m.slow == nil {
		return m.service / meanTokens
	}
	return m.slow(j) * m.service / meanTokens
}

// busy returns how many slots are at work, and waiting how many jobs wait for one.
func (m *model) busy() (n int) {
	for i := range m.stations {
		n += m.stations[i].busy
	}
	return n
}

func (m *model) waiting() int { return m.inFlight - m.busy() }

// event is an event of the model that runs alone.
type event struct {
	at  float64
	job *job // nil for an arrival
	// tokens that the job still has to send; or that it comes to the queue, or loses patience
	left int
}

const (
	comesToQueue  = -1
	losesPatience = -2
)

type events []event

func (e events) Len() int           { return len(e) }
func (e events) Less(i, j int) bool { return e[i].at < e[j].at }
func (e events) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)        { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

// alone runs the model for a time in seconds with Poisson arrivals at a rate, and returns how many of its jobs are
// unfinished then.
func (m *model) alone(rate, seconds float64, rng *rand.Rand) int {
	all := &events{{at: rng.ExpFloat64() / (rate + m.others)}}
	begin := func(jobs []*job) {
		for _, j := range jobs {
			heap.Push(all, event{m.now + m.startDelay() + m.tokenTime(j), j, j.tokens - 1})
		}
	}
	enter := func(j *job) {
		begin(m.enter(j))
		if m.patience > 0 && !j.running {
			heap.Push(all, event{m.now + m.patience, j, losesPatience})
		}
	}
	gated := 0
	for (*all)[0].at < seconds {
		e := heap.Pop(all).(event)
		m.at(e.at)
		switch {
		case e.job == nil:
			heap.Push(all, event{at: e.at + rng.ExpFloat64()/(rate+m.others)})
			j := &job{tokens: cmp.Or(m.tokens, meanTokens)}
			if m.fails != nil {
				if class, _ := m.fails(j); class != "" {
					m.refused++
					continue
				}
			}
			if m.gate == nil {
				enter(j)
				continue
			}
			gated++
			heap.Push(all, event{e.at + m.gate(j), j, comesToQueue})
		case e.left == comesToQueue:
			gated--
			enter(e.job)
		case e.left == losesPatience:
			if !e.job.running {
				m.stubs++
				m.leave(e.job)
			}
		case e.left > 0:
			heap.Push(all, event{e.at + m.tokenTime(e.job), e.job, e.left - 1})
		default:
			begin(m.leave(e.job))
		}
	}
	return gated + m.inFlight
}

// complete ends an answer; one shorter than asked finishes with "stop".
func complete(res *client.Result, tokens, asked int) {
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

// rest waits for seconds, and reports false where the request was cancelled.
func rest(ctx context.Context, seconds float64) bool {
	if seconds <= 0 {
		return ctx.Err() == nil
	}
	select {
	case <-time.After(rundir.Duration(seconds)):
		return true
	case <-ctx.Done():
		return false
	}
}

// modelDoer answers requests as a model does.
type modelDoer struct {
	simtest.Unencoded
	mu     sync.Mutex
	model  *model
	began  time.Time
	closed chan struct{}
}

func newModelDoer(m *model) *modelDoer {
	d := &modelDoer{model: m, began: time.Now(), closed: make(chan struct{})}
	if m.others > 0 {
		go d.disturb(m.others, rand.New(rand.NewPCG(uint64(m.rng.Int64()), 3)))
	}
	return d
}

// disturb sends the requests of other clients.
func (d *modelDoer) disturb(rate float64, rng *rand.Rand) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for {
		select {
		case <-d.closed:
			return
		case <-time.After(rundir.Duration(rng.ExpFloat64() / rate)):
			go d.Do(ctx, &client.Prepared{Request: &api.Request{OutputTokens: meanTokens}}, &client.Result{Epoch: time.Now()})
		}
	}
}

func (d *modelDoer) close() { close(d.closed) }

// with calls f with the model at the present time, and lets the jobs begin that f returns.
func (d *modelDoer) with(f func(m *model) []*job) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.model.at(time.Since(d.began).Seconds())
	for _, j := range f(d.model) {
		close(j.begin)
	}
}

// Do answers a request.
func (d *modelDoer) Do(ctx context.Context, call *client.Prepared, res *client.Result) {
	res.Sent, res.Status = time.Since(res.Epoch), client.StatusIncomplete
	asked := call.Request.OutputTokens
	j := &job{tokens: asked, begin: make(chan struct{})}
	var class client.Class
	var wait, retry float64
	d.with(func(m *model) []*job {
		if m.fails != nil {
			class, retry = m.fails(j)
		}
		if m.gate != nil && class == "" {
			wait = m.gate(j)
		}
		return nil
	})
	if class != "" {
		refuse(ctx, res, class, retry)
		return
	}
	if !rest(ctx, wait) {
		return
	}
	d.with(func(m *model) []*job { return m.enter(j) })
	defer d.with(func(m *model) []*job { return m.leave(j) })
	var patience <-chan time.Time
	if d.model.patience > 0 {
		patience = time.After(rundir.Duration(d.model.patience))
	}
	select {
	case <-j.begin:
	case <-patience:
		if d.model.timeout {
			res.HTTP, res.Headers = http.StatusGatewayTimeout, time.Since(res.Epoch)
			res.Fail(res.Headers, client.ClassHTTP5xx, "gateway timeout")
			return
		}
		complete(res, 1, asked)
		return
	case <-ctx.Done():
		return
	}
	each := math.NaN()
	d.with(func(m *model) []*job { each = m.startDelay(); return nil })
	if !rest(ctx, each) {
		return
	}
	for range j.tokens {
		d.with(func(m *model) []*job { each = m.tokenTime(j); return nil })
		if !rest(ctx, each) {
			return
		}
		res.Token(time.Since(res.Epoch), 1, false)
	}
	complete(res, j.tokens, asked)
}

// refuse fails a request after 5 ms.
func refuse(ctx context.Context, res *client.Result, class client.Class, retry float64) {
	if !rest(ctx, 0.005) {
		return
	}
	now := time.Since(res.Epoch)
	if class != client.ClassReset {
		res.HTTP, res.Headers, res.RetryAfter = http.StatusTooManyRequests, now, rundir.Duration(retry)
	}
	res.Fail(now, class, string(class))
}
