package load

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"llmsweep/client"
	"llmsweep/client/api"
	"llmsweep/sweep/rundir"
)

// maxPrepared is how many requests are encoded before they are due: more than come due while the encoder waits for a
// processor.
const maxPrepared = 64

// failurePause keeps a closed loop's slot empty after a failure: a server that refuses at once would otherwise be sent
// thousands of requests a second.
const failurePause = 100 * time.Millisecond

type preparedSession struct {
	Session
	seq  int
	call *client.Prepared
}

// prepare encodes first requests ahead of time, so that nothing is left to do between due and sent.
func (r *runner) prepare() {
	defer close(r.prepared)
	for seq := 0; r.Sessions == 0 || seq < r.Sessions; seq++ {
		s, ok := r.Source.Next()
		if !ok || len(s.Turns) == 0 {
			return
		}
		if seq < len(r.Joins) {
			s.skipTurns(r.Joins[seq])
		}
		call, err := r.Doer.Prepare(request(&s, seq, s.DoneTurns, nil, r.KeepText))
		if err != nil {
			r.fail(err)
			return
		}
		select {
		case r.prepared <- preparedSession{s, seq, call}:
		case <-r.startsDone:
			return
		}
	}
}

func (r *runner) next() (s preparedSession, ok bool) {
	select {
	case s, ok = <-r.prepared:
		return s, ok
	case <-r.stop:
		return s, false
	}
}

func (r *runner) openLoop(ctx context.Context) {
	waiter := r.Waiter
	if waiter == nil {
		waiter = &Timer{}
	}
	for {
		due, ok := r.Schedule.Next()
		if !ok {
			return
		}
		s, ok := r.next()
		if !ok || !waiter.Wait(r.epoch.Add(due), r.stop) {
			return
		}
		r.work.Go(func() { r.runSession(ctx, s, due) })
	}
}

// closedLoop begins a session whenever a slot is free: it is due then.
func (r *runner) closedLoop(ctx context.Context) {
	for n := 0; ; n++ {
		s, ok := r.next()
		if !ok {
			return
		}
		select {
		case r.slots <- struct{}{}:
		case <-r.stop:
			return
		}
		if n < len(r.Opening) && !r.waitUntil(r.Opening[n]) {
			return
		}
		due := r.now()
		r.work.Go(func() {
			defer func() { <-r.slots }()
			if last := r.runSession(ctx, s, due); last == client.StatusError {
				r.waitUntil(r.now() + failurePause)
			}
		})
	}
}

// waitUntil waits for an instant that no schedule set. It reports false where the stage ended first.
func (r *runner) waitUntil(at time.Duration) bool {
	var timer Timer
	return timer.Wait(r.epoch.Add(at), r.stop)
}

// runSession returns how the session's last request ended. A session that the end of the stage cuts short goes to
// Stage.Unfinished.
func (r *runner) runSession(ctx context.Context, s preparedSession, due time.Duration) client.Status {
	b := r.buffers.Get().(*buffers)
	defer r.buffers.Put(b)
	call := s.call
	for turn := s.DoneTurns; ; turn++ {
		r.doTurn(ctx, &s, turn, due, call, b)
		s.Repeats, s.HistoryTokens = 0, max(0, b.result.PromptTokens+b.result.OutputTokens)
		if s.Ended != nil {
			s.Ended(s.seq, turn, &b.result)
		}
		last := b.result.Status
		if last != client.StatusOK || turn+1 == len(s.Turns) {
			return last
		}
		s.DoneTurns, s.Route = turn+1, cmp.Or(s.Route, s.seq)
		s.History = append(call.Request.Messages, api.Message{Role: "assistant", Content: string(b.result.Text)})
		var err error
		if call, err = r.Doer.Prepare(request(&s.Session, s.seq, turn+1, s.History, r.KeepText)); err != nil {
			r.fail(err)
			return last
		}
		due = r.now() + s.Turns[turn+1].Think
		if !r.waitUntil(due) {
			if r.Unfinished != nil {
				r.Unfinished(s.Session)
			}
			return last
		}
	}
}

// buffers are reused from request to request: what one leaves behind is in the log.
type buffers struct {
	result client.Result
	record rundir.Record
}

func (r *runner) doTurn(
	ctx context.Context, s *preparedSession, turn int, due time.Duration, call *client.Prepared, b *buffers,
) {
	asked := max(1, call.Request.OutputTokens)
	r.server.asked.Add(int64(asked))
	r.window.due()
	r.Monitor.Due(asked)

	queued := r.admit(ctx, due, call.Request)
	emitted := r.exchange(ctx, call, &b.result)
	wanted := call.Request.OutputTokens
	if n := b.result.OutputTokens; call.Request.Greedy && n > 0 {
		wanted = n // it was to end by itself
	}
	fillRecord(&b.record, &b.result, turnInfo{
		stage: r.Name, seq: s.seq, turn: turn, due: due, queued: queued, asked: wanted, prompt: call.Request.PromptTokens,
		repeats: max(s.Repeats, s.HistoryTokens),
	}, r.now())
	if err := r.Log.Append(&b.record); err != nil {
		r.fail(err)
	}
	if r.KeepText && b.result.Status == client.StatusOK {
		answer := Answer{due, string(b.result.Text), max(0, b.result.ReasoningTokens)}
		r.mu.Lock()
		r.answers = append(r.answers, answer)
		r.mu.Unlock()
	}
	r.server.asked.Add(int64(emitted - asked))
	r.Monitor.Ended(&b.record, emitted)
	r.window.ended(due)
	r.admission.leave()
}

// admit returns how long the limits delayed the request.
func (r *runner) admit(ctx context.Context, due time.Duration, req *api.Request) (queued time.Duration) {
	if r.admission.enter(ctx) {
		queued = max(0, r.now()-due)
	}
	return queued + r.Caps.wait(ctx, max(0, req.PromptTokens)+req.OutputTokens)
}

// exchange returns the output tokens counted as they came.
func (r *runner) exchange(ctx context.Context, call *client.Prepared, res *client.Result) (emitted int) {
	res.Reset(r.epoch)
	first := true
	res.OnToken = func(tokens int) {
		emitted += tokens
		r.server.tokens.Add(int64(tokens))
		if first {
			first = false
			r.server.firsts.Add(1)
			r.Monitor.FirstToken(res.FirstToken - res.Sent)
		}
	}
	if ctx.Err() == nil {
		r.Doer.Do(ctx, call, res)
		if res.Unpaid {
			r.spent.Store(true) // ends the stage; requests in flight are paid for, and end by themselves
			r.endSessions()
		}
	} else {
		res.Status = client.StatusIncomplete
	}
	if res.Status == client.StatusOK && res.Chunks() == 0 && res.OutputTokens <= 0 && call.Request.OutputTokens > 0 {
		// As a success it would make a server look fast that generates nothing. A token without text, such as the end
		// of the text, is one that the server counts.
		res.Fail(res.End, client.ClassEmpty, "the answer has no tokens")
	}
	if r.Exact && tooShort(call.Request, res) {
		res.Fail(res.End, client.ClassShort, fmt.Sprintf("the answer ended after %d of %d tokens (finish reason %q)",
			res.OutputTokens, call.Request.OutputTokens, res.Finish))
	}
	return emitted
}

// tooShort needs a count that can be relied on. Greedy answers end by themselves.
func tooShort(req *api.Request, res *client.Result) bool {
	return res.Status == client.StatusOK && client.Counted(res.TokenSource) && !req.Greedy &&
		2*res.OutputTokens < req.OutputTokens
}
