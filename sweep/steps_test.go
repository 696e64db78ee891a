package sweep

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"llmsweep/client"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
)

// stepper is a server that works in steps, also where it has nothing to do. What it does in one is its habit.
type stepper struct {
	simtest.Unencoded
	mu               sync.Mutex
	rng              *rand.Rand
	now              float64
	waiting, running []*stepJob
	tokens           int                                       // that each running request gets in a step
	step             func() float64                            // decides who runs, and returns the seconds of a step
	asks             func(rng *rand.Rand) (prompt, output int) // requests of no client; nil for meanTokens
}

type stepJob struct {
	res         *client.Result // nil for a request of no client
	asked, left int
	memory      int
	prompt      int // tokens, and those that are still computed before its next token
	todo        int
	pause       int // steps until its next token
	gone        bool
	done        chan bool // nil for a request of another tenant
}

// anyJob is a request of no client.
func (s *stepper) anyJob() *stepJob {
	prompt, n := 0, meanTokens
	if s.asks != nil {
		prompt, n = s.asks(s.rng)
	}
	return &stepJob{prompt: prompt, asked: n, left: n, done: make(chan bool)}
}

// admit lets those run who may, in the order of their arrival: none goes past another.
func (s *stepper) admit(may func(j *stepJob) bool) {
	for len(s.waiting) > 0 && may(s.waiting[0]) {
		s.running, s.waiting = append(s.running, s.waiting[0]), s.waiting[1:]
	}
}

func unfinished(jobs []*stepJob) (kept []*stepJob) {
	for _, j := range jobs {
		if !j.gone && j.left > 0 {
			kept = append(kept, j)
		}
	}
	return kept
}

// begins returns the seconds of the step that begins; ends is its end, and returns how many answers ended.
func (s *stepper) begins() float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.step()
}

func (s *stepper) ends(seconds float64) (ended int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now += seconds
	for _, j := range s.running {
		if j.pause > 0 || j.gone {
			j.pause--
			continue
		}
		n := min(s.tokens, j.left)
		if j.left -= n; j.res != nil && n > 0 {
			j.res.Token(time.Since(j.res.Epoch), n, false)
		}
		if j.left == 0 && j.done != nil {
			close(j.done)
			ended++
		}
	}
	s.running = unfinished(s.running)
	return ended
}

// Do answers a request.
func (s *stepper) Do(ctx context.Context, call *client.Prepared, res *client.Result) {
	res.Sent, res.Status = time.Since(res.Epoch), client.StatusIncomplete
	n := call.Request.OutputTokens
	j := &stepJob{res: res, prompt: call.Request.PromptTokens, asked: n, left: n, done: make(chan bool)}
	s.mu.Lock()
	s.waiting = append(s.waiting, j)
	s.mu.Unlock()
	select {
	case <-j.done:
		complete(res, n, n)
	case <-ctx.Done():
		s.mu.Lock()
		j.gone = true
		s.waiting = unfinished(s.waiting)
		s.mu.Unlock()
	}
}

func newStepper(habit func(*stepper) func() float64, seed uint64) *stepper {
	s := &stepper{rng: rand.New(rand.NewPCG(seed, 67)), tokens: 1}
	s.step = habit(s)
	return s
}

// start runs the steps.
func (s *stepper) start() (load.Doer, func()) {
	closed := make(chan bool)
	go func() {
		for {
			seconds := s.begins()
			select {
			case <-time.After(rundir.Duration(seconds)):
				s.ends(seconds)
			case <-closed:
				return
			}
		}
	}()
	return s, func() { close(closed) }
}

// alone runs the server for a time in seconds with Poisson arrivals at a rate, and returns how many it has left then.
func (s *stepper) alone(rate, seconds float64, rng *rand.Rand) (left int) {
	for next := rng.ExpFloat64() / rate; s.now < seconds; {
		for ; next <= s.now; next += rng.ExpFloat64() / rate {
			s.waiting = append(s.waiting, s.anyJob())
			left++
		}
		left -= s.ends(s.begins())
	}
	return left
}

// saturated returns what the server completes per second of more than it can do.
func (s *stepper) saturated(answers int) float64 {
	ended := 0
	for ended < answers {
		for len(s.waiting) < 100 {
			s.waiting = append(s.waiting, s.anyJob())
		}
		ended += s.ends(s.begins())
	}
	return float64(ended) / s.now
}
