package sweep

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"llmsweep/client"
	"llmsweep/client/api"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/wait"
)

// prepare encodes tasks ahead of time, so that nothing is left to do between due and sent.
func (s *stage) prepare() {
	defer close(s.prepared)
	for seq := 0; s.MaxTasks == 0 || seq < s.MaxTasks; seq++ {
		next, ok := s.Source.Next()
		if !ok || len(next.Turns) == 0 {
			return
		}
		call, err := s.doer.Prepare(request(&next, 0, nil, s.KeepText))
		if err != nil {
			s.giveUp(err)
			return
		}
		select {
		case s.prepared <- task{Task: next, seq: seq, call: call}:
		case <-s.paced:
			return
		}
	}
}

// giveUp notes an error of our own, which ends the stage at the next tick.
func (s *stage) giveUp(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
}

// pace lets tasks arrive when the schedule says so. In a closed loop they are due when a slot is free.
func (s *stage) pace(ctx context.Context) {
	defer close(s.paced)
	waiter := s.Waiter
	if waiter == nil {
		waiter = &wait.Timer{}
	}
	for n := 0; ; n++ {
		due, ok := s.Schedule.Next()
		if !ok {
			return
		}
		var next task
		select {
		case next, ok = <-s.prepared:
			if !ok {
				return
			}
		case <-s.stop:
			return
		}
		if s.closed() {
			select {
			case s.slots <- struct{}{}:
			case <-s.stop:
				return
			}
			if n < len(s.Opening) {
				if !s.await(s.Opening[n], s.stop) {
					return
				}
			}
			due = s.now()
		} else if !waiter.Wait(s.epoch.Add(due), s.stop) {
			return
		}
		s.work.Go(func() { s.serve(ctx, next, due) })
	}
}

// await waits for an instant of the stage that no schedule set; false where quit was closed first.
func (s *stage) await(at time.Duration, quit <-chan struct{}) bool {
	var timer wait.Timer
	return timer.Wait(s.epoch.Add(at), quit)
}

// serve follows one task to its end, turn after turn.
func (s *stage) serve(ctx context.Context, t task, due time.Duration) {
	if s.closed() {
		defer func() { <-s.slots }()
	}
	b := s.buffers.Get().(*buffers)
	defer s.buffers.Put(b)
	res := &b.result
	call := t.call
	var history []api.Message
	for turn := 0; ; turn++ {
		s.one(ctx, &t, turn, due, call, b)
		if s.closed() && res.Status == client.StatusError {
			s.await(s.now()+failurePause, s.stop)
		}
		if turn+1 == len(t.Turns) || res.Status != client.StatusOK {
			return
		}
		history = append(call.Request.Messages, api.Message{Role: "assistant", Content: string(res.Text)})
		next, err := s.doer.Prepare(request(&t.Task, turn+1, history, s.KeepText))
		if err != nil {
			s.giveUp(err)
			return
		}
		call = next
		due = s.now() + t.Turns[turn+1].Think
		if !s.await(due, s.stop) {
			return
		}
	}
}

// failurePause keeps a closed loop's slot empty after a failure: a server that refuses at once would otherwise be sent
// thousands of requests a second.
const failurePause = 100 * time.Millisecond

// request is what a task's turn asks, given the conversation so far. The text of an answer is kept for the next turn, and
// where somebody wants it.
func request(t *Task, turn int, history []api.Message, keep bool) *api.Request {
	next := t.Turns[turn]
	if turn == 0 && t.System != "" {
		history = []api.Message{{Role: "system", Content: t.System}}
	}
	return &api.Request{
		Messages:     append(history[:len(history):len(history)], api.Message{Role: "user", Content: next.User}),
		PromptTokens: next.PromptTokens,
		OutputTokens: next.OutputTokens,
		KeepText:     keep || turn+1 < len(t.Turns),
	}
}

// buffers is what following a request takes. They are used again: what a request leaves behind is in the log.
type buffers struct {
	result client.Result
	record rundir.Record
}

// one does one request: admission, the call, the record.
func (s *stage) one(ctx context.Context, t *task, turn int, due time.Duration, call *client.Prepared, b *buffers) {
	res := &b.result
	s.arrive(asks(call.Request))
	queued := s.admit(ctx)
	if queued > 0 {
		queued = max(0, s.now()-due)
	}
	if s.Caps != nil {
		queued += s.Caps.wait(ctx, max(0, call.Request.PromptTokens)+call.Request.OutputTokens)
	}
	res.Reset(s.epoch)
	first, emitted := true, 0
	res.OnToken = func(tokens int) {
		emitted += tokens
		s.tokens.Add(int64(tokens))
		if first {
			first = false
			s.mu.Lock()
			s.ttft.add(res.FirstToken - res.Sent)
			s.mu.Unlock()
		}
	}
	if ctx.Err() == nil {
		s.doer.Do(ctx, call, res)
	} else {
		res.Status = client.StatusIncomplete
	}
	record(&b.record, s.Name, t.seq, turn, due, queued, call.Request.OutputTokens, res, s.now())
	if err := s.log.Append(&b.record); err != nil {
		s.giveUp(err)
	}
	s.asked.Add(int64(emitted - asks(call.Request)))
	s.ended(due, res, emitted)
}

// asks is how many output tokens a request owes us: at least one.
func asks(r *api.Request) int { return max(1, r.OutputTokens) }

// arrive counts a request as due, and what it asks for as owed.
func (s *stage) arrive(tokens int) {
	s.asked.Add(int64(tokens))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.arrived++
	s.ordered += float64(tokens)
	s.present++
}

// admit waits until the bound lets a request through, in order of arrival. It returns a positive duration where it had
// to wait. A closed loop's slots have admitted it before it was due.
func (s *stage) admit(ctx context.Context) time.Duration {
	s.mu.Lock()
	if s.closed() || s.Bound == 0 || s.admitted < s.Bound {
		s.admitted++
		s.flight.add(s.now(), 1)
		s.mu.Unlock()
		return 0
	}
	turn := make(chan struct{})
	s.queue = append(s.queue, turn)
	s.mu.Unlock()
	select {
	case <-turn: // whoever ended has passed its place on
	case <-ctx.Done():
		s.mu.Lock()
		defer s.mu.Unlock()
		select {
		case <-turn: // both at once: the place is ours, and ended passes it on
		default:
			s.leave(turn)
			s.admitted++ // so that ended can take it off again
			s.flight.add(s.now(), 1)
		}
	}
	return 1
}

func (s *stage) leave(turn chan struct{}) {
	for i, q := range s.queue {
		if q == turn {
			s.queue = append(s.queue[:i], s.queue[i+1:]...)
			return
		}
	}
}

// ended counts a request as ended, and passes its place to the oldest that waits for one.
func (s *stage) ended(due time.Duration, res *client.Result, emitted int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	s.present--
	if s.closedAt >= 0 && due <= s.closedAt {
		s.pending--
	}
	switch res.Status {
	case client.StatusOK:
		s.done++
		if s.KeepText {
			s.texts = append(s.texts, answered{due.Seconds(), string(res.Text)})
		}
		s.emitted += float64(emitted)
		if res.LastToken != client.Absent {
			s.latency += (res.LastToken - res.Sent).Seconds()
			s.quickest = min(cmp.Or(s.quickest, math.MaxInt64), res.FirstToken-res.Sent)
			s.service.add(res.LastToken - res.FirstToken + s.quickest)
		}
		if n := len(res.Gaps); n > 0 {
			s.itl.add((res.LastToken - res.FirstToken) / time.Duration(n))
		}
	case client.StatusError:
		s.failed++
	}
	if s.closed() && s.closedAt < 0 {
		s.ends.add(now)
	}
	if len(s.queue) > 0 {
		close(s.queue[0])
		s.queue = s.queue[1:]
		return // the place is taken again: the number in flight stays
	}
	s.admitted--
	s.flight.add(now, -1)
}

// record fills in r with what a request leaves behind. The counts are res's own.
func record(r *rundir.Record, stage string, seq, turn int, due, queued time.Duration, asked int, res *client.Result, now time.Duration) {
	if res.End == client.Absent { // cancelled: it lived until now
		res.End = now
	}
	*r = rundir.Record{
		Stage: stage, Seq: seq, Turn: turn, Status: string(res.Status), Error: string(res.Class), Message: res.Message,
		HTTP: res.HTTP, AskedTokens: asked, TokenSource: res.TokenSource, Finish: res.Finish,
		Due: rundir.Exactly(due.Seconds()), Sent: instant(res.Sent), Headers: instant(res.Headers),
		FirstToken: instant(res.FirstToken), FirstAnswer: instant(res.FirstAnswer), LastToken: instant(res.LastToken),
		End: instant(res.End), PromptTokens: count(res.PromptTokens), OutputTokens: count(res.OutputTokens),
		ReasoningTokens: count(res.ReasoningTokens), CachedTokens: count(res.CachedTokens),
		Resent: res.Resent, Counts: res.Counts, GapsUS: slices.Grow(r.GapsUS[:0], len(res.Gaps)), Shared: r.Shared[:0],
	}
	if res.SharedReads > 0 {
		for i := range res.Chunks() {
			if res.Shared.Has(i) {
				r.Shared = append(r.Shared, int32(i))
			}
		}
	}
	if res.ReadDelay.Reads > 0 {
		r.ReadDelay = rundir.Exactly(res.ReadDelay.Max.Seconds())
	}
	if queued > 0 {
		r.Queued = rundir.Exactly(queued.Seconds())
	}
	if res.Dial > 0 {
		r.Dial = rundir.Exactly(res.Dial.Seconds())
	}
	var sum time.Duration
	var written int64
	for _, g := range res.Gaps { // rounded cumulatively, so that the rounding does not add up
		sum += g
		us := sum.Round(time.Microsecond).Microseconds()
		r.GapsUS = append(r.GapsUS, us-written)
		written = us
	}
}

func instant(d time.Duration) rundir.Number {
	if d == client.Absent {
		return rundir.Number{}
	}
	return rundir.Exactly(d.Seconds())
}

func count(n int) rundir.Number {
	if n < 0 {
		return rundir.Number{}
	}
	return rundir.Exactly(float64(n))
}
