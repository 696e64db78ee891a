// A server and a workload whose runs repeat themselves, and their numbers for a golden file.

package simtest

import (
	"context"
	"encoding/json"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"llmsweep/client"
	"llmsweep/client/api"
	"llmsweep/sweep/load"
	"llmsweep/sweep/stats"
)

// Unencoded prepares requests that are never encoded.
type Unencoded struct{}

// Prepare takes the request as it is.
func (Unencoded) Prepare(r *api.Request) (*client.Prepared, error) {
	return &client.Prepared{Request: r}, nil
}

type mixed struct{ draw func() float64 }

// Mixed returns requests of many lengths, which follow from the seed and the stage's name.
func Mixed(runSeed uint64, stage string) load.Source {
	return mixed{stats.Rand(runSeed, "lengths", stage).Float64}
}

func (m mixed) Next() (load.Session, bool) {
	turn := load.Turn{User: strconv.FormatFloat(m.draw(), 'f', -1, 64)}
	turn.PromptTokens = 32 + int(64*m.draw())
	turn.OutputTokens = 4 + int(24*m.draw())
	return load.Session{Turns: []load.Turn{turn}}, true
}

// Slotted is a server of eight slots whose times follow from the prompt alone, to the nanosecond. No two instants
// coincide, so that a run repeats itself: the simulated server's steps end many requests at once, in an order that
// testing/synctest draws at random.
type Slotted struct {
	Unencoded
	slots chan struct{}
}

// NewSlotted returns a server with free slots.
func NewSlotted() Slotted { return Slotted{slots: make(chan struct{}, 8)} }

// Do answers a request.
func (s Slotted) Do(ctx context.Context, call *client.Prepared, res *client.Result) {
	r := call.Request
	h := fnv.New64a()
	h.Write([]byte(r.Messages[0].Content))
	rng := rand.New(rand.NewPCG(h.Sum64(), 1))
	res.Sent = time.Since(res.Epoch)
	res.Status = client.StatusIncomplete
	// so that those sent at once arrive one by one, in a fixed order
	time.Sleep(time.Duration(rng.Int64N(int64(time.Millisecond))))
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return
	}
	for i := range r.OutputTokens {
		wait := 2*time.Millisecond + time.Duration(rng.Int64N(int64(2*time.Millisecond)))
		if i == 0 {
			wait += time.Duration(r.PromptTokens) * 200 * time.Microsecond
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
		res.Token(time.Since(res.Epoch), 1, false)
	}
	res.Status, res.Headers, res.End = client.StatusOK, res.FirstToken, res.LastToken
	res.PromptTokens, res.OutputTokens, res.TokenSource = r.PromptTokens, r.OutputTokens, client.SourceServer
}

// Gauges are the server's own metrics.
func (s Slotted) Gauges(context.Context) (client.Gauges, error) {
	nan := math.NaN()
	return client.Gauges{Running: float64(len(s.slots)), Waiting: 2, KVUsage: 0.5, Preemptions: 0, PrefixQueries: nan,
		PrefixHits: nan}, nil
}

// Numbers returns the numbers of v as JSON. Notes, and what this machine's load decides, are left out.
func Numbers(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	var tree any
	if err == nil {
		err = json.Unmarshal(b, &tree)
	}
	if err == nil {
		b, err = json.MarshalIndent(shortened(tree), "", " ")
	}
	if err != nil {
		t.Fatal(err)
	}
	return append(b, '\n')
}

// shortened keeps four significant digits of each number, since a fifth depends on which of two events at one instant
// comes first, and drops notes and the client's share of the processor.
func shortened(v any) any {
	switch v := v.(type) {
	case float64:
		short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64)
		if err != nil || math.Abs(v) < 1e-9 {
			return 0.0
		}
		return short
	case []any:
		for i := range v {
			v[i] = shortened(v[i])
		}
	case map[string]any:
		for _, key := range []string{"ended", "lag_s", "warnings", "reason", "failure", "invalid", "client_cpu_fraction",
			"client_gc_fraction", "cpu_fraction", "valid"} {
			delete(v, key)
		}
		for key := range v {
			v[key] = shortened(v[key])
		}
	}
	return v
}
