package simtest

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"llmsweep/client"
	"llmsweep/client/api"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
)

// Talks are conversations on a server with a prefix cache: each turn carries what was said before.
type Talks struct {
	// turns in a conversation; tokens of the first prompt, of later messages and of answers
	Turns, First, Later, Output int
	Pause                       time.Duration
}

// Run returns a run of such conversations.
func (k Talks) Run() *rundir.Run {
	c := &rundir.Conversation{Turns: rundir.Lengths{Mean: float64(k.Turns)}, Pause: k.Pause.Seconds(), RandomPauses: true}
	return &rundir.Run{Workload: rundir.Workload{Conversation: c}}
}

// Source returns the conversations of a stage. Their messages are names and lengths, as [TalkDoer] reads them.
func (k Talks) Source(stage string, seed uint64) load.Source {
	h := fnv.New64a()
	h.Write([]byte(stage))
	return &talkSource{Talks: k, stage: stage, rng: rand.New(rand.NewPCG(seed, h.Sum64()))}
}

type talkSource struct {
	Talks
	stage string
	n     int
	rng   *rand.Rand
}

// Next returns the next conversation.
func (s *talkSource) Next() (load.Session, bool) {
	s.n++
	name := fmt.Sprintf("%s/%d", s.stage, s.n)
	all := load.Session{Invent: func(tokens int) string { return fmt.Sprintf("%s/made up*%d", name, tokens) }}
	for i := range s.Turns {
		turn := load.Turn{PromptTokens: s.First, OutputTokens: s.Output}
		if i > 0 {
			turn.PromptTokens, turn.Think = s.Later, time.Duration(s.rng.ExpFloat64()*float64(s.Pause))
		}
		turn.User = fmt.Sprintf("%s/%d*%d", name, i, turn.PromptTokens)
		all.Turns = append(all.Turns, turn)
	}
	return all, true
}

// TalkDoer does the requests of [Talks] on an engine: a prompt is all messages before it.
type TalkDoer struct{ VirtualDoer }

// Do runs the request on the engine.
func (d TalkDoer) Do(ctx context.Context, call *client.Prepared, res *client.Result) {
	r := *call.Request
	tokens, prefix := blocks(r.Messages, d.Live.Config().BlockTokens)
	r.PromptTokens = tokens
	d.do(ctx, &r, prefix, res)
	if r.KeepText {
		res.Text = fmt.Appendf(res.Text[:0], "answer to %s*%d", r.Messages[len(r.Messages)-1].Content, r.OutputTokens)
	}
}

// Gauges returns what the engine tells of itself.
func (d TalkDoer) Gauges(context.Context) (client.Gauges, error) {
	st := d.Live.Stats()
	return client.Gauges{
		Running: float64(st.Running), Waiting: float64(st.Waiting), KVUsage: st.KVUsage, Preemptions: float64(st.Preemptions),
		PrefixQueries: float64(st.PrefixQueries), PrefixHits: float64(st.PrefixHits),
		KVTokens: float64(d.Live.Config().KVTokens),
	}, nil
}

// blocks returns the tokens of messages, and the hashes of their full blocks.
func blocks(messages []api.Message, block int) (tokens int, prefix []uint64) {
	const fnvPrime = 1099511628211
	hash := uint64(1)
	for _, m := range messages {
		at := strings.LastIndexByte(m.Content, '*')
		n, _ := strconv.Atoi(m.Content[at+1:])
		for i := range len(m.Content) {
			hash = (hash ^ uint64(m.Content[i])) * fnvPrime
		}
		tokens += n
		for len(prefix) < tokens/block {
			prefix = append(prefix, hash+uint64(len(prefix))*0x9e3779b97f4a7c15)
		}
	}
	return tokens, prefix
}
