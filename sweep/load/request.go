package load

import (
	"cmp"
	"context"
	"errors"
	"math"
	"time"

	"llmsweep/client"
	"llmsweep/client/api"
	"llmsweep/sweep/rundir"
)

// Session is one request, or a conversation of several: the first turn is due by the schedule, each later one when the
// one before has ended plus its think time.
type Session struct {
	System string // the system message; empty for none
	Turns  []Turn
	// Ended is called with the result of each turn, the text of the answer included, and keeps nothing of it; nil for
	// none.
	Ended func(seq, turn int, res *client.Result)
	Tag   any // of the workload, for those that read the answers; nil for none
	// Invent writes an answer of a number of tokens; nil for a session that cannot have begun before its stage.
	Invent func(tokens int) string

	// Repeats is how many tokens of its first prompt the run has sent before at the beginning of another; all of them
	// where it is [AllTokens].
	Repeats int

	DoneTurns int // turns that took place before the stage
	// History is the conversation so far, the system message included, and Route the place of the session by which it
	// is routed; nil and 0 where they are made up.
	History       []api.Message
	Route         int
	HistoryTokens int // tokens of History, where it was sent
}

// AllTokens is a number of tokens that no prompt has.
const AllTokens = math.MaxInt32

// skipTurns lets a share of the turns have taken place before the stage.
func (s *Session) skipTurns(share float64) {
	if s.Invent != nil && s.History == nil {
		s.DoneTurns = min(int(share*float64(len(s.Turns))), len(s.Turns)-1)
	}
}

// openingMessages returns what was said before the first request of a session: the system message, and the turns before
// the stage with answers made up.
func (s *Session) openingMessages() (messages []api.Message) {
	if s.History != nil {
		return s.History
	}
	if s.System != "" {
		messages = append(messages, api.Message{Role: "system", Content: s.System})
	}
	for _, t := range s.Turns[:s.DoneTurns] {
		messages = append(messages, api.Message{Role: "user", Content: t.User}, api.Message{Role: "assistant",
			Content: s.Invent(t.OutputTokens)})
	}
	return messages
}

// Turn is one user message and the answer asked for.
type Turn struct {
	User         string
	PromptTokens int // how many tokens the workload wanted User to have; 0 where it did not say
	OutputTokens int
	Think        time.Duration // between the end of the turn before and the instant at which this one is due
	Greedy       bool          // asks for the most likely answer
}

// Source yields the sessions of one stage. ok is false when there are no more, which ends the stage.
type Source interface {
	Next() (s Session, ok bool)
}

// Doer does one request: [client.Client] over the network, or the simulator's engine without one.
type Doer interface {
	// Prepare does all that can be done before the request is due.
	Prepare(*api.Request) (*client.Prepared, error)
	// Do sends the request and follows it to its end. Failures are in the result. It returns soon after ctx ends.
	Do(context.Context, *client.Prepared, *client.Result)
}

// Waiter waits for an instant. It returns true then, or false as soon as quit is closed. One goroutine at a time waits.
type Waiter interface {
	Wait(until time.Time, quit <-chan struct{}) bool
}

// Log keeps the records of a stage.
type Log interface {
	// Append writes a record, and keeps nothing of it: the caller uses it again.
	Append(*rundir.Record) error
}

// request returns the request of a turn, given the conversation before it. The text of the answer is kept where a next
// turn or the caller needs it.
func request(s *Session, seq, turn int, history []api.Message, keepText bool) *api.Request {
	next := s.Turns[turn]
	if turn == s.DoneTurns {
		history = s.openingMessages()
	}
	return &api.Request{
		Messages:     append(history[:len(history):len(history)], api.Message{Role: "user", Content: next.User}),
		PromptTokens: next.PromptTokens,
		OutputTokens: next.OutputTokens,
		KeepText:     keepText || turn+1 < len(s.Turns) || s.Ended != nil,
		Session:      cmp.Or(s.Route, seq),
		Greedy:       next.Greedy,
	}
}

// ErrSpent is the error of a request that was not allowed: see [client.Options].Allowance.
var ErrSpent = errors.New("the limit on tokens or cost does not allow another request")

// DoOne does the first request of a session outside of any stage, as in a warm-up, and records it under the given stage
// name. Instants count from epoch.
func DoOne(
	ctx context.Context, d Doer, l Log, stage string, s Session, seq int, epoch time.Time,
) (*client.Result, error) {
	req := request(&s, seq, 0, nil, false)
	call, err := d.Prepare(req)
	if err != nil {
		return nil, err
	}
	res := &client.Result{}
	res.Reset(epoch)
	due := time.Since(epoch)
	d.Do(ctx, call, res)
	if res.Unpaid {
		return nil, ErrSpent
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if s.Ended != nil {
		s.Ended(seq, 0, res)
	}
	r := &rundir.Record{}
	t := turnInfo{stage: stage, seq: seq, due: due, asked: req.OutputTokens, repeats: s.Repeats}
	fillRecord(r, res, t, time.Since(epoch))
	return res, l.Append(r)
}
