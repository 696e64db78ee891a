package simtest

import (
	"fmt"
	"math/rand/v2"
	"time"

	"llmsweep/client/sim"
	"llmsweep/sweep/rundir"
)

// TalkTrial is a random server with conversations whose users it can carry.
type TalkTrial struct {
	Seed   uint64
	Server sim.MachineConfig
	Talks  Talks
	Limit  time.Duration // of the 95th percentile of the time to the first token
}

// RandomTalks returns the trial of a seed: a server whose KV cache, slots or computing power is the smallest, at
// random.
func RandomTalks(seed uint64) *TalkTrial {
	rng := rand.New(rand.NewPCG(seed, talkStream))
	between := func(low, high float64) float64 { return logUniform(rng, low, high) }
	names := []string{"Qwen2-7B/L20/fp16", "Qwen2-7B/A100/int4", "Qwen2-7B/A10/int4", "Qwen2-72B/A100x4/int4"}
	server, err := sim.Preset(names[rng.IntN(len(names))])
	if err != nil {
		panic(err)
	}
	server.PrefixCache, server.Seed, server.Jitter = true, seed, 0.1*rng.Float64()
	k := &TalkTrial{Seed: seed, Server: server, Talks: Talks{
		Turns: 3 + rng.IntN(8), First: int(between(100, 1000)), Later: int(between(30, 200)), Output: int(between(20, 150)),
		Pause: rundir.Duration(between(0.5, 5)),
	}}
	w := k.Talks
	final := w.First + (w.Turns-1)*(w.Later+w.Output) + w.Output
	switch rng.IntN(3) {
	case 0:
		k.Server.KVTokens = int(between(4, 30) * float64(final) / 1.6)
	case 1:
		k.Server.MaxNumSeqs = 1 + rng.IntN(8)
	default: // as many tokens a step as few requests need
		k.Server.MaxNumSeqs, k.Server.MaxBatchedTokens = 128, 128+rng.IntN(150)
	}
	k.Limit = rundir.Duration(between(3, 10) * k.alone())
	return k
}

// talkStream keeps trials of conversations apart from other random numbers of the same seed.
const talkStream = 12

// alone returns the time in seconds to the first token of a lone first turn.
func (k *TalkTrial) alone() float64 {
	s, err := newSimulation(k.Server)
	if err != nil {
		panic(err)
	}
	j := s.Add(0, sim.Request{PromptTokens: k.Talks.First, OutputTokens: 2}, nil)
	for !j.Ended && s.Step() {
	}
	return j.First.Seconds()
}

// String describes the trial in a line.
func (k *TalkTrial) String() string {
	c := k.Server
	return fmt.Sprintf("seed %d: %s/%s/%s kv %d seqs %d budget %d %+v ttft:p95<%v", k.Seed, c.Model.Name, c.GPU.Name,
		c.Quant, c.KVTokens, c.MaxNumSeqs, c.MaxBatchedTokens, k.Talks, k.Limit.Round(time.Millisecond))
}

// Beyond returns the share of the turns that take longer than the limit with a number of users, in the long run: among
// so many turns.
func (k *TalkTrial) Beyond(server sim.MachineConfig, users, turns int) float64 {
	s, err := newSimulation(server)
	if err != nil {
		panic(err)
	}
	r := &talkRun{TalkTrial: k, server: s, rng: rand.New(rand.NewPCG(k.Seed, uint64(users))),
		opening: 3 * users * k.Talks.Turns, block: server.WithDefaults().BlockTokens}
	for range users {
		r.begin(time.Duration(r.rng.Float64()*float64(time.Duration(k.Talks.Turns)*k.Talks.Pause)), nil)
	}
	for r.ended < r.opening+turns && s.Step() {
	}
	return float64(r.beyond) / float64(r.ended-r.opening)
}

type talkRun struct {
	*TalkTrial
	server                 *simulation
	rng                    *rand.Rand
	block                  int
	opening, ended, beyond int
}

type talker struct {
	turn, tokens int
	hash         uint64
	prefix       []uint64
}

// begin lets a user send the next turn of a session, or the first of another where there is none.
func (r *talkRun) begin(at time.Duration, t *talker) {
	w := r.Talks
	if t == nil || t.turn == w.Turns {
		t = &talker{hash: r.rng.Uint64()}
		t.say(w.First, r.block)
	} else {
		t.say(w.Output, r.block)
		t.say(w.Later, r.block)
	}
	t.turn++
	r.server.Add(at, sim.Request{PromptTokens: t.tokens, OutputTokens: w.Output, Prefix: t.prefix},
		func(j *job, n int, now time.Duration) {
			if n < w.Output {
				return
			}
			if r.ended++; r.ended > r.opening && j.First-j.Arrived >= r.Limit {
				r.beyond++
			}
			next := now
			if t.turn < w.Turns {
				next += time.Duration(r.rng.ExpFloat64() * float64(w.Pause))
			}
			r.begin(next, t)
		})
}

func (t *talker) say(tokens, block int) {
	t.tokens += tokens
	prefix := t.prefix[:len(t.prefix):len(t.prefix)]
	for len(prefix) < t.tokens/block {
		prefix = append(prefix, t.hash+uint64(len(prefix))*0x9e3779b97f4a7c15)
	}
	t.prefix = prefix
}

// Carries returns the most users for whom a server keeps the limit, by an exhaustive search up to most; most where it
// keeps it for all.
func (k *TalkTrial) Carries(server sim.MachineConfig, most, turns int) int {
	const tail = 0.05
	low, high := 0, most+1 // kept, missed
	for high-low > 1 {
		mid := (low + high) / 2
		if k.Beyond(server, mid, turns/4) < tail {
			low = mid
		} else {
			high = mid
		}
	}
	best := 0
	for users := max(1, low-low/10-1); users <= min(most, low+low/10+1); users++ {
		if k.Beyond(server, users, turns) < tail {
			best = users
		}
	}
	return best
}

// Cause returns what the server runs out of beyond the users that it carries: KV cache or slots where eight times as
// many let it carry a quarter more users, else computing power, of which more makes up for too little of all.
func (k *TalkTrial) Cause(carries, turns int) string {
	const tail = 0.05
	users := carries + max(1, carries/4)
	memory, slots := k.Server, k.Server
	memory.KVTokens *= 8
	slots.MaxNumSeqs = min(8*slots.MaxNumSeqs, slots.MaxBatchedTokens)
	a, b := k.Beyond(memory, users, turns), k.Beyond(slots, users, turns)
	switch {
	case min(a, b) >= tail:
		return rundir.LimitCompute
	case a < b:
		return rundir.LimitKV
	}
	return rundir.LimitSlots
}
