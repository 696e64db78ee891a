package arrival

import (
	"cmp"
	"container/heap"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// Clients are the arrivals of clients that do not know of each other. Each has gamma-distributed gaps of its own.
type Clients struct {
	Rate           float64  // requests per second, of all together
	Of             []Client // empty until the workload is known
	MaxConcurrency int      // most requests in flight; 0 for no limit
}

// Client stands for a number of clients that are alike.
type Client struct {
	Number int     `json:"clients"`
	Share  float64 `json:"share"`       // of the arrivals, of all of them together
	Shape  float64 `json:"gamma_shape"` // of the gaps of each
}

// mostClients bounds the clients of a load: each has an instant that waits.
const mostClients = 100_000

// Kind returns "clients".
func (Clients) Kind() string { return kindClients }

// Name returns "clients@4.00".
func (c Clients) Name() string { return named(c) }

// MeanRate returns the rate.
func (c Clients) MeanRate() float64 { return c.Rate }

// Limit returns the most requests in flight; 0 for no limit.
func (c Clients) Limit() int { return c.MaxConcurrency }

// Ends reports false.
func (Clients) Ends() bool { return false }

// Validate returns what is wrong with the configuration, or nil.
func (c Clients) Validate() error {
	n, share := 0, 0.0
	for _, one := range c.Of {
		if one.Number < 1 || !(one.Share > 0) || !(one.Shape >= minShape && one.Shape <= maxShape) {
			return fmt.Errorf("clients have a number, a share above 0, and a shape between %v and %v", minShape, maxShape)
		}
		n, share = n+one.Number, share+one.Share
	}
	if n > mostClients || len(c.Of) > 0 && !(share > 0.99 && share < 1.01) {
		return errors.New("the shares of clients add up to 1, and there are 100000 clients at most")
	}
	return errors.Join(validRate(c.Rate), validLimit(c.MaxConcurrency))
}

func (c Clients) with(o Options) (Load, error) {
	c.Rate, c.MaxConcurrency = o.Rate, o.MaxConcurrency
	return o.rated(c)
}

func (Clients) text() string { return kindClients }

// Schedule returns the arrivals of a stage. It begins in the middle of the clients' gaps: the first one of each is the rest of a gap that is as likely to be met
// as it is long (Cox, Renewal Theory, 1962).
func (c Clients) Schedule(runSeed uint64, stage string) Schedule {
	s := &clients{rng: stats.Rand(runSeed, purpose, stage)}
	for _, one := range c.Of {
		scale := float64(one.Number) / (c.Rate * one.Share * one.Shape)
		for range one.Number {
			s.next = append(s.next, client{at: scale * drawGamma(one.Shape+1, s.rng) * s.rng.Float64(), scale: scale, shape: one.Shape})
		}
	}
	slices.SortFunc(s.next, func(a, b client) int { return cmp.Compare(a.at, b.at) }) // a heap
	return s
}

// clients is a heap of the next arrival of each.
type clients struct {
	next []client
	rng  *rand.Rand
}

type client struct{ at, scale, shape float64 } // seconds, seconds, none

func (c *clients) Next() (time.Duration, bool) {
	if len(c.next) == 0 {
		return 0, false
	}
	first := &c.next[0]
	at := first.at
	first.at += first.scale * drawGamma(first.shape, c.rng)
	heap.Fix(c, 0)
	return rundir.Duration(at), true
}

func (c *clients) Len() int           { return len(c.next) }
func (c *clients) Less(i, j int) bool { return c.next[i].at < c.next[j].at }
func (c *clients) Swap(i, j int)      { c.next[i], c.next[j] = c.next[j], c.next[i] }
func (*clients) Push(any)             {}
func (*clients) Pop() any             { return nil }
