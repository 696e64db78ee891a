package sweep

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"llmsweep/client"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
)

// quotaShape is a server of some slots behind a gateway that lets through so much in each period.
type quotaShape struct {
	slots   int
	service float64 // seconds of an answer
	period  float64 // seconds
	amount  float64 // requests, or tokens of answers, in a period
	sliding bool    // in any period, and not in those that follow each other from the start
	delays  bool    // what is too much waits, and is not refused
	tokens  bool
}

type quota struct {
	unencoded
	quotaShape

	mu      sync.Mutex
	began   time.Time
	window  int       // the latest fixed period
	used    float64   // in it
	passed  []passage // of the latest sliding period
	waiting []chan struct{}
	busy    chan struct{}
}

type passage struct {
	at   time.Time
	cost float64
}

func newQuota(s quotaShape) *quota {
	return &quota{quotaShape: s, began: time.Now(), busy: make(chan struct{}, s.slots)}
}

// pass lets a request through, or returns when the next may pass.
func (q *quota) pass(cost float64) (wait time.Duration, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := time.Now()
	if !q.tokens {
		cost = 1
	}
	if q.sliding {
		old := now.Add(-rundir.Duration(q.period))
		q.passed = slices.DeleteFunc(q.passed, func(p passage) bool { return !p.at.After(old) })
		sum := cost
		for _, p := range q.passed {
			sum += p.cost
		}
		if sum > q.amount {
			return q.passed[0].at.Sub(old), false
		}
		q.passed = append(q.passed, passage{now, cost})
		return 0, true
	}
	at := now.Sub(q.began).Seconds()
	if w := int(at / q.period); w > q.window {
		q.window, q.used = w, 0
	}
	if q.used+cost > q.amount {
		return rundir.Duration(float64(q.window+1)*q.period - at + 1e-3), false
	}
	q.used += cost
	return 0, true
}

// Do answers a request. Those that wait pass in the order in which they came.
func (q *quota) Do(ctx context.Context, call *client.Prepared, res *client.Result) {
	now := func() time.Duration { return time.Since(res.Epoch) }
	res.Sent = now()
	asked := call.Request.OutputTokens
	if q.delays {
		if !q.queue(ctx, float64(asked)) {
			res.Status = client.StatusIncomplete
			return
		}
	} else if wait, ok := q.pass(float64(asked)); !ok {
		res.HTTP, res.Headers, res.RetryAfter = http.StatusTooManyRequests, now(), wait
		res.Fail(now(), client.ClassRateLimited, "429 Too Many Requests: rate limit reached")
		return
	}
	select {
	case q.busy <- struct{}{}:
		defer func() { <-q.busy }()
	case <-ctx.Done():
		res.Status = client.StatusIncomplete
		return
	}
	each := rundir.Duration(q.service / oddTokens)
	for range asked {
		if !rest(ctx, each) {
			res.Status = client.StatusIncomplete
			return
		}
		res.Token(now(), 1, false)
	}
	oddEnd(res, asked, asked)
}

// queue waits until a request may pass.
func (q *quota) queue(ctx context.Context, cost float64) bool {
	mine := make(chan struct{}, 1)
	q.mu.Lock()
	q.waiting = append(q.waiting, mine)
	first := len(q.waiting) == 1
	q.mu.Unlock()
	leave := func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		i := slices.Index(q.waiting, mine)
		q.waiting = slices.Delete(q.waiting, i, i+1)
		if i == 0 && len(q.waiting) > 0 {
			q.waiting[0] <- struct{}{}
		}
	}
	defer leave()
	if !first {
		select {
		case <-mine:
		case <-ctx.Done():
			return false
		}
	}
	for {
		wait, ok := q.pass(cost)
		if ok {
			return true
		}
		if !rest(ctx, wait) {
			return false
		}
	}
}

// quotaKinds are the kinds of quotas: what they count, how their periods follow each other, and what becomes of the
// rest.
var quotaKinds = []string{
	"requests fixed refuses",
	"tokens fixed refuses",
	"requests sliding refuses",
	"tokens sliding refuses",
	"requests fixed delays",
	"tokens fixed delays",
}

// drawQuota draws a server of a kind.
func drawQuota(kind string, seed uint64) *oddTrial {
	rng := rand.New(rand.NewPCG(seed, 47))
	q := quotaShape{
		slots: []int{4, 8, 16}[rng.IntN(3)], service: 0.2 * math.Pow(4, rng.Float64()),
		period: []float64{10, 30, 60, 60}[rng.IntN(4)],
		sliding: strings.Contains(
			kind,
			"sliding",
		), delays: strings.Contains(kind, "delays"), tokens: strings.Contains(kind, "tokens"),
	}
	rate := (0.3 + 0.4*rng.Float64()) * float64(q.slots) / q.service
	k := &oddTrial{family: kind, seed: seed, about: fmt.Sprintf("%d slots, %.2f s, %.0f s", q.slots, q.service, q.period)}
	requests := math.Round(rate * q.period)
	q.amount = requests
	if q.tokens {
		q.amount, k.lengths = requests*oddTokens, 0.5
	}
	k.low, k.high = requests/q.period, requests/q.period
	if !q.delays {
		k.high = acceptedTo(requests/(1+k.lengths*k.lengths), q.sliding) * k.high
		k.low = k.high * (1 - quotaTolerance) // so much is completed there
	}
	k.server = func() (load.Doer, func()) { return newQuota(q), func() {} }
	return k
}

// quotaTolerance is the share of the requests that may be refused.
const quotaTolerance = 0.05

// acceptedTo returns the load of Poisson arrivals, as a share of a quota of n requests, at which as many are refused as
// is tolerated. In a sliding window it is that of the loss formula of Erlang (n servers that are each held for a
// period); in a fixed one, what comes beyond n.
func acceptedTo(n float64, sliding bool) float64 {
	lost := func(load float64) float64 {
		if sliding {
			b := 1.0
			for k := 1.0; k <= n; k++ {
				b = load * b / (k + load*b)
			}
			return b
		}
		below, log := 0.0, -load // how many fewer than n come on average, and the logarithm of the chance of k
		for k := 0.0; k <= n; k++ {
			if k > 0 {
				log += math.Log(load / k)
			}
			below += (n - k) * math.Exp(log)
		}
		return (load - n + below) / load
	}
	low, high := 0.1*n, 2*n
	for high-low > 1e-6*n {
		if mid := (low + high) / 2; lost(mid) > quotaTolerance {
			high = mid
		} else {
			low = mid
		}
	}
	return low / n
}

// TestQuotas sweeps servers with quotas: their answer holds the quota's rate, and names it.
func TestQuotas(t *testing.T) {
	skipWithRaces(t)
	t.Parallel()
	n := simtest.SampleSize(1, 20)
	kinds := quotaKinds
	if !simtest.Full() {
		kinds = []string{kinds[0], kinds[4]}
	}
	all, located, held, named := 0, 0, 0, 0
	for _, kind := range kinds {
		o, said := &familyOutcome{}, 0
		for seed := range uint64(n) {
			k := drawQuota(kind, 7000+seed)
			run := k.sweep(t, func(*Config) {})
			o.add(fmt.Sprintf("%s %d %s", k.family, k.seed, k.about), run.Saturation, k.low, k.high, run)
			if run.Saturation != nil && run.Saturation.Quota != nil {
				said++
			}
		}
		for _, line := range o.lines {
			t.Log(line)
		}
		fmt.Println(o.summary(kind), "named", said)
		all, located, held, named = all+o.servers, located+o.answered, held+o.held, named+said
	}
	few := simtest.Full() && float64(located) < 0.8*float64(all)
	if few || float64(held) < 0.95*float64(located) || float64(named) < 0.9*float64(all) {
		t.Errorf("of %d servers %d were located, %d intervals hold, %d were named", all, located, held, named)
	}
}
