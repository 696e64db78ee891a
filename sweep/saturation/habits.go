package saturation

import (
	"iter"
	"math"
	"net"
	"net/url"

	"llmsweep/client"
	"llmsweep/client/note"
	"llmsweep/sweep/measure"
	"llmsweep/sweep/rundir"
)

// Notes on habits of the server, each with its evidence. Rates are per second, times in seconds, shares from 0 to 1.
var (
	noteSheds       = note.Kind{Code: "habit.sheds", Args: []string{"stage", "offered", "share", "completed"}}
	noteRateLimited = note.Kind{Code: "habit.rate-limited", Args: []string{"per_minute", "unit", "burst", "agrees"}}
	notePauses      = note.Kind{Code: "habit.pauses", Args: []string{"count", "length", "time"}}
	notePausesHere  = note.Kind{Code: "habit.pauses-here", Args: []string{"count", "length", "time"}} // the server is on this machine
	noteBatches     = note.Kind{Code: "habit.batches", Args: []string{"tokens", "gap", "share"}}
	noteCaches      = note.Kind{Code: "habit.caches", Args: []string{"share", "time", "otherwise"}}
	noteDrifts      = note.Kind{Code: "habit.drifts", Args: []string{"stage", "metric", "before", "after", "change", "low", "high", "before_s", "after_s"}} // the last two of times
	noteCollapses   = note.Kind{Code: "habit.collapses", Args: []string{"sustained", "low", "high", "overload"}}
	noteDrops       = note.Kind{Code: "habit.drops", Args: []string{"count", "share"}}
	noteScales      = note.Kind{Code: "habit.scales", Args: []string{"stage", "metric", "before", "after", "change", "low", "high", "before_s", "after_s"}}
)

// FailsAlways says that a share of the requests fails at every load. It is the first sentence of an answer.
var FailsAlways = note.Kind{Code: "habit.fails-always", Args: []string{"share", "alone", "class"}}

// habits returns a note on each habit of the server that a sweep shows. s is the answer of [Find], or nil.
func habits(run *rundir.Run, s *rundir.Saturation) (all []note.Note) {
	stages := run.Stages
	open := Open(stages)
	if stuck := metastable(run); !stuck.IsZero() {
		all = append(all, stuck)
	}
	all = append(all, changes(run)...)
	_, again := controlOfFloor(stages)
	switch {
	case s == nil || !s.Overload.Known():
	case again == nil: // it may have become slower by itself
		if ceiling := ceilingOf(stages); ceiling != nil {
			all = append(all, noteOverloadOrChange.New(ceiling.Progress.Rate.Value(), ceiling.MaxConcurrency, s.Overload.Value(), stageTimeForControls(stages)))
		}
	default:
		all = append(all, noteCollapses.New(s.Rate.Value(), s.Low.Value(), s.High.Value(), s.Overload.Value()))
	}
	if b := bucketOf(open, ceilingOf(stages)); b.Rate.Known() {
		const minute = 60
		all = append(all, noteRateLimited.New(b.Rate.Value()*minute, b.Unit, b.Burst.Value(), b.Agrees.Value()))
	} else if st := refusesMost(open, run.Plan.Tolerance); st != nil {
		all = append(all, noteSheds.New(st.Name, st.Rates.Offered.Value(), st.Refused.Value(), st.Progress.Rate.Value()))
	}
	for _, n := range []note.Note{failsAlways(stages), blamed(run, pauses(stages)), batches(stages), caches(stages), drops(stages), repeated(run)} {
		if !n.IsZero() {
			all = append(all, n)
		}
	}
	return all
}

// share returns the share of a stage's requests that were not done.
func share(st *rundir.Stage) float64 {
	if st.Refused.Known() {
		return st.Refused.Value()
	}
	return float64(st.Requests.Error) / float64(max(1, st.Requests.OK+st.Requests.Error))
}

// sheds returns the stage that shows best that the server refuses requests: that with the largest share; nil where none does.
func sheds(open []*rundir.Stage) (most *rundir.Stage) {
	for _, st := range open {
		if st.Verdict == rundir.Shedding && st.Refused.Known() && (most == nil || st.Refused.Value() > most.Refused.Value()) {
			most = st
		}
	}
	return most
}

// refusesMost returns the stage that shows best that the server refuses requests, as [sheds] does; or else one whose backlog leaves it undecided,
// of which more was refused than chance explains. tolerance is the share that counts as none; 0 in runs of earlier versions.
func refusesMost(open []*rundir.Stage, tolerance float64) (most *rundir.Stage) {
	if tolerance == 0 {
		tolerance = usualTolerance
	}
	if most = sheds(open); most != nil {
		return most
	}
	for _, st := range open {
		if !st.Refused.Known() {
			continue
		}
		ended := st.Requests.OK + st.Requests.Error
		refused := int(math.Round(st.Refused.Value() * float64(ended)))
		beyond := measure.Undone{Failed: refused, Refused: refused, Ended: ended, Tolerance: tolerance}.BeyondChance()
		if beyond && (most == nil || st.Refused.Value() > most.Refused.Value()) {
			most = st
		}
	}
	return most
}

// bucketOf returns the token bucket that the stages with refusals agree on; the zero Bucket where they do not, where a queue of limited
// length explains the refusals as well, and where a closed loop completed as much without a refusal: what passes a full queue looks like a
// bucket, too.
func bucketOf(open []*rundir.Stage, ceiling *rundir.Stage) (bucket rundir.Bucket) {
	var weight, sum float64
	var agrees, full weighted
	low, high := math.Inf(-1), math.Inf(1)
	unit := bucketUnit(open)
	for _, st := range open {
		b := st.Traits.Limit
		if !b.Rate.Known() || passes(ceiling, st) {
			continue
		}
		n := float64(st.Requests.Error)
		agrees.add(b.Agrees, n) // of another unit too: the bucket of this one explains less
		full.add(st.Traits.Full, n)
		if b.Unit != unit || b.Agrees.Value() < wellExplained {
			continue
		}
		bucket.Unit = b.Unit
		w := 1 / math.Pow(max(1e-12, b.High.Value()-b.Low.Value()), 2)
		sum, weight = sum+w*b.Rate.Value(), weight+w
		low, high = max(low, b.Low.Value()), min(high, b.High.Value())
		bucket.Burst = rundir.Exactly(max(b.Burst.Value(), bucket.Burst.Or(0)))
	}
	if weight == 0 || agrees.mean() < wellExplained || full.mean() >= agrees.mean() {
		return rundir.Bucket{}
	}
	rate := sum / weight
	bucket.Rate, bucket.Agrees = rundir.Exactly(rate), rundir.Exactly(agrees.mean())
	bucket.Low, bucket.High = rundir.Exactly(min(low, rate)), rundir.Exactly(max(high, rate))
	return bucket
}

// weighted is a mean with weights.
type weighted struct{ sum, weights float64 }

func (w *weighted) add(v rundir.Number, weight float64) {
	if v.Known() {
		w.sum, w.weights = w.sum+weight*v.Value(), w.weights+weight
	}
}

// mean returns the mean; 0 where there is none.
func (w *weighted) mean() float64 {
	if w.weights == 0 {
		return 0
	}
	return w.sum / w.weights
}

// bucketUnit returns what the bucket counts by the stages with most refusals. Those with few refusals fit either unit.
func bucketUnit(open []*rundir.Stage) (unit string) {
	refusals := map[string]int{}
	for _, st := range open {
		if b := st.Traits.Limit; b.Rate.Known() && b.Agrees.Value() >= wellExplained {
			refusals[b.Unit] += st.Requests.Error
		}
	}
	for u, n := range refusals {
		if n > refusals[unit] || n == refusals[unit] && u < unit {
			unit = u
		}
	}
	return unit
}

// passes reports whether a closed loop completed as much as a stage with refusals, and was refused nothing.
func passes(ceiling, st *rundir.Stage) bool {
	return ceiling != nil && ceiling.Refused.Or(0) == 0 && ceiling.Requests.Error == 0 &&
		ceiling.Progress.Rate.Known() && ceiling.Progress.Rate.Value() >= unrefused*st.Progress.Rate.Value()
}

// limitedBy makes a token bucket's rate the answer.
func limitedBy(b rundir.Bucket, open []*rundir.Stage, s *rundir.Saturation) {
	if !b.Rate.Known() {
		return
	}
	s.Limit = rundir.LimitRate
	cost, wide := 1.0, unsureRate
	if b.Unit != "requests" {
		sum, n := 0.0, 0.0
		for _, st := range open {
			if mean := st.PromptTokens.Mean.Value() + st.OutputTokens.Mean.Value(); mean > 0 { // NaN is not
				sum, n = sum+mean*float64(st.Requests.OK), n+float64(st.Requests.OK)
			}
		}
		if n == 0 {
			return
		}
		cost, wide = sum/n, unsureCost
	}
	rate := b.Rate.Value() / cost
	s.Rate = rundir.Exactly(rate)
	s.Low, s.High = rundir.Exactly(min(b.Low.Value()/cost, rate*(1-wide))), rundir.Exactly(max(b.High.Value()/cost, rate*(1+wide)))
}

// pauses returns a note where all streams stall together again and again.
func pauses(stages []rundir.Stage) note.Note {
	count, time, windows := 0, 0.0, 0.0
	for i := range stages {
		st := &stages[i]
		if !Usable(st) || st.Role != rundir.Floor && st.Verdict != rundir.Stable {
			continue // work on the prompts of a backlog holds streams up as well
		}
		windows += st.Elapsed
		if n := st.Traits.Stalls; n > 0 {
			count, time = count+n, time+float64(n)*st.Traits.StallTime.Value()
		}
	}
	if count < fewestPauses {
		return note.Note{}
	}
	return notePauses.New(count, time/float64(count), windows)
}

// blamed returns the note on pauses, of the server or this machine where both run on it: whatever stops the machine stops both.
func blamed(run *rundir.Run, n note.Note) note.Note {
	if n.Is(notePauses) && onThisMachine(run.Target.URL) {
		n.Code = notePausesHere.Code
	}
	return n
}

// onThisMachine reports whether the host of a URL is a name or an address of the loopback interface.
func onThisMachine(text string) bool {
	u, err := url.Parse(text)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// failsAlways returns a note where a part of the requests fails at every load, also of those sent one at a time: that is a fault and no overload.
func failsAlways(stages []rundir.Stage) note.Note {
	alone, all, failed := 0.0, 0, 0
	classes := map[string]int{}
	for i := range stages {
		st := &stages[i]
		q := st.Requests
		switch ended := q.OK + q.Error; {
		case ended == 0:
			continue
		case st.Role == rundir.Floor && q.Error >= fewestLone:
			alone = float64(q.Error) / float64(ended)
		case float64(q.Error) < leastFails*float64(ended):
			return note.Note{}
		}
		all, failed = all+q.OK+q.Error, failed+q.Error
		for class, n := range st.Errors {
			classes[class] += n
		}
	}
	if alone == 0 || all == 0 {
		return note.Note{}
	}
	most := ""
	for class, n := range classes {
		if n > classes[most] || n == classes[most] && class < most {
			most = class
		}
	}
	if most == string(client.ClassReset) { // [drops] says it
		return note.Note{}
	}
	return FailsAlways.New(float64(failed)/float64(all), alone, most)
}

// timed yields the stages that show when the server sent, and not when this client read.
func timed(stages []rundir.Stage) iter.Seq[*rundir.Stage] {
	return func(yield func(*rundir.Stage) bool) {
		for i := range stages {
			if st := &stages[i]; !measure.ByClient(st.Invalid) && !yield(st) {
				return
			}
		}
	}
}

// batches returns a note where most answers come in bursts.
func batches(stages []rundir.Stage) note.Note {
	n, all, tokens, gap := 0.0, 0.0, 0.0, 0.0
	for st := range timed(stages) {
		weight := float64(st.Requests.OK)
		all += weight
		if t := st.Traits; t.Bursts.Known() {
			k := weight * t.Bursts.Value()
			n, tokens, gap = n+k, tokens+k*t.Burst.Value(), gap+k*t.BurstGap.Value()
		}
	}
	if all == 0 || n < mostBurst*all {
		return note.Note{}
	}
	return noteBatches.New(tokens/n, gap/n, n/all)
}

// caches returns a note where some answers come in one piece, sooner than the first token of the others.
func caches(stages []rundir.Stage) note.Note {
	n, all, time := 0.0, 0.0, 0.0
	otherwise := math.Inf(1)
	for st := range timed(stages) {
		weight := float64(st.Requests.OK)
		all += weight
		if t := st.Traits; t.Whole.Known() {
			k := weight * t.Whole.Value()
			n, time = n+k, time+k*t.WholeTime.Value()
			otherwise = min(otherwise, st.TTFT.P95.Value())
		}
	}
	if n < fewestCached || n < leastCached*all {
		return note.Note{}
	}
	return noteCaches.New(n/all, time/n, otherwise)
}

// drops returns a note where the server closes connections without an answer. A few are an accident of the network.
func drops(stages []rundir.Stage) note.Note {
	n, all := 0, 0
	for st := range timed(stages) {
		resets := st.Errors[string(client.ClassReset)]
		n, all = n+resets, all+resets+st.Requests.OK
	}
	if n < fewestDropped || float64(n) < leastDropped*float64(all) {
		return note.Note{}
	}
	return noteDrops.New(n, float64(n)/float64(all))
}
