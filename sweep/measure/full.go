package measure

import (
	"time"

	"llmsweep/sweep/stats"
)

// fullEvidence is for a stage that begins with a full server. Such a server is always at work, on prompts or on tokens:
// what it does of both, by the share of the time that either takes, is known to rhythmError and the chance of its
// requests, although it may put one before the other.
func (a *Account) fullEvidence(e *evidence, now time.Duration, level float64) {
	span := now
	if n := now / a.Wave; n > 0 {
		span = n * a.Wave
	}
	tokens, _ := a.arrivedIn(now-span, now)
	first, end := a.ticks.Range(now-span, now)
	_, firsts := a.pace.between(first, end)
	due := a.Rate * span.Seconds()
	value := 1 - (a.PromptShare*firsts+(1-a.PromptShare)*tokens/a.tokensPerRequest())/due
	unsure := rhythmError*max(1, float64(a.Wave)/float64(span)) + stats.RenewalError(a.timePerToken.variation(), due, 1-level)
	e.backlog, e.lasting = growth(value, value-unsure, value+unsure), true
	e.completed = min(e.completed, e.offered*(1-value+unsure))
}
