package measure

import (
	"cmp"
	"math"
	"time"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/sample"
)

// A server of continuous batching shares its time between prompts and output tokens. Shortly after more requests began
// it first computes their prompts, and then only tokens. These two spans tell how long either takes, and so how many
// whole requests it serves per second, long before the first of them has ended.

// pace counts first tokens of a stage while it runs.
type pace struct {
	now         paceCounts
	ticks       []paceCounts  // as they stood at the end of each tick
	filledAt    time.Duration // when nearly all requests had their first token; 0 before
	placesTaken bool          // requests wait for a place while the others go on
}

type paceCounts struct {
	due       int     // requests
	firsts    int     // first tokens of the requests of this stage,
	allFirsts float64 // and of all in flight, those of earlier stages included
}

// between returns the first tokens of the stage's requests, and of all, in a range of ticks.
func (p *pace) between(first, end int) (own, all float64) {
	if end = min(end, len(p.ticks)); end <= first {
		return 0, 0
	}
	to, from := p.ticks[end-1], paceCounts{}
	if first > 0 {
		from = p.ticks[first-1]
	}
	return float64(to.firsts - from.firsts), to.allFirsts - from.allFirsts
}

// fill notes when the requests of a closed loop have their first tokens: nearly all of them, or as many as the server
// has places for, so that no other came for a while.
func (a *Account) fill(now time.Duration, firsts float64) {
	p := &a.pace
	p.now.due = a.due
	p.now.allFirsts += firsts
	p.keep(len(a.ticks.Sums))
	if !a.Quick || p.filledAt > 0 || p.now.firsts == 0 {
		return
	}
	missing := float64(p.now.due - p.now.firsts)
	first, _ := a.ticks.Range(now-a.quiet(), now)
	switch {
	case missing <= fewWait*float64(p.now.due):
		p.filledAt = now
	case first > 0 && p.ticks[first-1].firsts == p.now.firsts:
		p.filledAt, p.placesTaken = now-a.quiet(), missing > manyWait*float64(a.Concurrency)
	}
}

// keep notes the counts at the end of the last of n ticks. A busy machine drops ticks, and those of a long stage are
// merged.
func (p *pace) keep(n int) {
	for len(p.ticks) > n {
		p.ticks = sample.MergePairs(p.ticks, func(_, last paceCounts) paceCounts { return last })
	}
	for len(p.ticks) < n {
		p.ticks = append(p.ticks, p.now)
	}
	p.ticks[n-1] = p.now
}

// quiet is for how long no prompt is computed in the second span, at least.
func (a *Account) quiet() time.Duration { return max(leastPaced, a.LoneLatency/10) }

// paced reports whether the pace of a closed loop is known: half of a second span was seen, or whole waves.
func (a *Account) paced(now time.Duration) bool {
	filled := a.pace.filledAt
	if a.Quick && filled > 0 && now-filled >= a.quiet() && a.distinct(now) {
		return true
	}
	tokens, _ := a.arrivedIn(a.From, now)
	wave := float64(a.Concurrency) * a.tokensPerRequest()
	last := a.ticks.Sums[len(a.ticks.Sums)-1]
	return tokens >= a.MinWaves*wave && math.Floor(tokens/wave) > math.Floor((tokens-last)/wave)
}

// distinct reports whether tokens came in the second span, and far fewer prompts were computed in it than in the first:
// else the spans tell nothing.
func (a *Account) distinct(now time.Duration) bool {
	const fewest = 3 // tokens of each request
	p := &a.pace
	_, one := a.arrivedIn(0, p.filledAt)
	tokens, two := a.arrivedIn(p.filledAt, now)
	return tokens >= fewest*float64(a.Concurrency-p.now.due+p.now.firsts) &&
		two/(now-p.filledAt).Seconds() < one/p.filledAt.Seconds()/2
}

// arrivedIn returns the output tokens, and the first tokens among them, of a part of the stage.
func (a *Account) arrivedIn(from, to time.Duration) (tokens, firsts float64) {
	first, end := a.ticks.Range(from, to)
	for _, n := range a.ticks.Sums[first:end] {
		tokens += n
	}
	firsts, _ = a.pace.between(first, end)
	return tokens, firsts
}

// tokensPerRequest is what was asked for, by the share of it that answers had: short ones end first.
func (a *Account) tokensPerRequest() float64 {
	return max(1, cmp.Or(a.tally.counter().share, 1)*a.askedTokens/float64(max(1, a.due)))
}

// Pace is what a closed loop shows before its last requests have ended.
type Pace struct {
	Output  rundir.Number // output tokens per second
	Latency rundir.Number // seconds, by Little's law from Output and the number in flight
	Error   rundir.Number // standard error of both, as a share; absent for a pace from the first moments
	Waited  bool          // requests waited for a place in the server while the others went on
}

// Pace returns the pace of a closed loop whose window has closed.
func (a *Account) Pace() (p Pace) {
	a.mu.Lock()
	defer a.mu.Unlock()
	p.Waited = a.pace.placesTaken
	length := a.tokensPerRequest()
	if a.closedAt <= a.From {
		return p
	}
	tokens, _ := a.arrivedIn(a.From, a.closedAt)
	if tokens <= 0 {
		return p
	}
	perSecond, filled := tokens/(a.closedAt-a.From).Seconds(), a.pace.filledAt
	switch {
	case a.Concurrency == 1 && a.doneLatency > 0: // whole requests tell more
		perSecond = a.doneTokens / a.doneLatency
	case tokens >= float64(a.Concurrency)*length:
	case filled > 0 && filled < a.closedAt && a.distinct(a.closedAt):
		perSecond = length * a.requestRate(length)
	case a.Quick: // parts of a wave tell nothing
		return p
	}
	if a.timePerToken.n > 1 && !a.Quick { // a wave from an empty server on is no whole one
		p.Error = rundir.Exactly(a.timePerToken.variation() / math.Sqrt(max(1, tokens/length)))
	}
	p.Output, p.Latency = rundir.Exactly(perSecond), rundir.Exactly(float64(a.Concurrency)*length/perSecond)
	return p
}

// requestRate returns how many requests of a length the server serves per second: in either span its time is that of
// the prompts and that of the tokens. A step takes about as long for few tokens as for many, so that a token counts for
// more while fewer requests are at work than in the second span.
func (a *Account) requestRate(length float64) float64 {
	p := &a.pace
	filled, end := a.ticks.Range(p.filledAt, a.closedAt)
	end = min(end, len(p.ticks))
	working := func(i int) float64 { return max(1, float64(a.Concurrency-p.ticks[i].due+p.ticks[i].firsts)) }
	full, one := 0.0, 0.0
	for i := filled; i < end; i++ {
		full += working(i) / float64(end-filled)
	}
	for i := range filled {
		one += a.ticks.Sums[i] * full / working(i)
	}
	two, f2 := a.arrivedIn(p.filledAt, a.closedAt)
	_, f1 := a.arrivedIn(0, p.filledAt)
	t1, t2 := p.filledAt.Seconds(), (a.closedAt - p.filledAt).Seconds()
	one, f1, two, f2 = one/t1, f1/t1, two/t2, f2/t2
	prompt := 0.0 // seconds that a prompt takes
	if d := f1*two - f2*one; d > 0 {
		prompt = min(max(0, (two-one)/d), 1/max(f2, 1e-9))
	}
	return 1 / (prompt + length*(1-f2*prompt)/two)
}
