package sweep

import (
	"math"
	"time"

	"llmsweep/client"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// survey is what a first reading of a stage's records finds out: what must be known before anything can be counted.
type survey struct {
	closedAt float64
	n        int
	last     float64 // the last end
	ends     *ends   // of requests that ended by themselves before the window closed
	tokenTally
	grouped  bool    // some answer told how many tokens each of its chunks held
	spans    sample  // from the first token to the last
	quickest float64 // the shortest time to a first token
	asked    float64 // output tokens that requests owed
	finished float64 // requests that ended well,
	emitted  float64 // and what they added to the runner's count of tokens
}

func newSurvey(closedAt time.Duration, width int) *survey {
	return &survey{closedAt: closedAt.Seconds(), ends: newEnds(width), quickest: math.Inf(1)}
}

func (v *survey) add(r *rundir.Record) {
	v.n++
	end := r.End.Value()
	v.last = max(v.last, end)
	if end <= v.closedAt && r.Status != string(client.StatusIncomplete) {
		v.ends.add(duration(end))
	}
	v.asked += owes(r)
	v.tokenTally.add(r)
	v.grouped = v.grouped || len(r.Counts) > 0
	if !ok(r) {
		return
	}
	v.finished++
	switch {
	case len(r.Counts) > 0:
		for _, k := range r.Counts {
			v.emitted += float64(k)
		}
	case r.FirstToken.Known():
		v.emitted += float64(len(r.GapsUS) + 1)
	}
	if r.FirstToken.Known() {
		v.spans.know(r.LastToken.Value() - r.FirstToken.Value())
		v.quickest = min(v.quickest, r.FirstToken.Value()-r.Sent.Value())
	}
}

// serviceTime is how long a typical request is being served, without its wait in the server's queue: from its first
// token to its last, and the shortest time to a first token that was seen.
func (v *survey) serviceTime() time.Duration {
	if v.spans.values() == 0 {
		return 0
	}
	return duration(stats.QuantileOf(v.spans.complete(), 0.5) + v.quickest)
}

// chunksPerRequest is how much a request that ended well added to the runner's count of tokens.
func (v *survey) chunksPerRequest() float64 { return v.emitted / max(v.finished, 1) }

// askedPerRequest is how many output tokens a request owed us on average.
func (v *survey) askedPerRequest() float64 { return v.asked / float64(max(v.n, 1)) }

// owes is how many output tokens a request owed us: at least one.
func owes(r *rundir.Record) float64 { return max(1, float64(r.AskedTokens)) }
