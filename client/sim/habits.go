package sim

import (
	"context"
	"errors"
	"time"
)

// ErrDropped is what requests get whose connection the server closed without an answer: habit drops.
var ErrDropped = errors.New("the simulated server dropped the connection")

// AwaitRefusal waits as long as a refusal takes, and returns the error, or the context's if that ended before.
func AwaitRefusal(ctx context.Context, err error) error {
	var r *Refusal
	if !errors.As(err, &r) {
		return err
	}
	timer := time.NewTimer(r.After)
	defer timer.Stop()
	select {
	case <-timer.C:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// receive decides what becomes of a request that arrives: it is refused, answered from the cache, or queued, and then perhaps
// dropped. It is called under the lock.
func (e *Engine) receive(g *Generation) (queued bool, err error) {
	b := e.habits
	if b.Frozen(g.arrived) {
		return true, nil
	}
	if r := b.Limit(g.sequence.Prompt, g.sequence.Output, g.arrived); r != nil {
		return false, r
	}
	if b.Known(g.asks) {
		delay := b.CacheDelay()
		e.after(g, delay, func() {
			g.sequence.Generated = g.sequence.Output
			g.emit(g.sequence.Output, e.epoch.Add(g.arrived+delay))
			g.end("length", nil)
		})
		return false, nil
	}
	if r := b.Shed(e.waitingWith(1)); r != nil {
		return false, r
	}
	if after, dropped := b.Accept(); dropped {
		g.doomed = true
		e.after(g, after, func() {
			g.left = time.Since(e.epoch)
			e.leaving = append(e.leaving, g)
			g.end("abort", ErrDropped)
		})
	}
	return true, nil
}

// after does something to a request, under the lock, some time after its arrival, unless the call ended or the server froze
// before.
func (e *Engine) after(g *Generation, d time.Duration, do func()) {
	if e.habits.Frozen(g.arrived + d) {
		return
	}
	time.AfterFunc(time.Until(e.epoch.Add(g.arrived+d)), func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if !g.ended {
			do()
		}
	})
}

// waitingWith counts the requests that would wait for a slot if more requests came. Arrivals that the engine has not seen yet wait
// only as far as there are no free slots for them.
func (e *Engine) waitingWith(more int) int {
	sc := e.scheduler
	free := max(0, sc.Slots()-sc.Running()-sc.Waiting())
	return sc.Waiting() + max(0, len(e.inbox)+more-free)
}

// Frozen reports whether the server has frozen for good: habit freezes.
func (e *Engine) Frozen() bool { return e.habits.Frozen(time.Since(e.epoch)) }

// Dropped reports whether the server will close the request's connection without an answer, when Done is closed: habit
// drops.
func (g *Generation) Dropped() bool { return g.doomed }
