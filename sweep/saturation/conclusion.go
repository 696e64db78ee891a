// Draws the answer from a run's stages: the saturation rate, the highest rate that keeps an SLO, and why there is none.
// It is the same for a run that has ended, one that was killed, and one that another tool wrote.

package saturation

import (
	"cmp"
	"math"
	"time"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
)

// WriteAnswer writes the answer of a sweep, with the SLO's where there are terms. Other kinds of runs have none.
func WriteAnswer(run *rundir.Run, terms []slo.Term) {
	switch run.Plan.Kind {
	case rundir.KindUsers:
		run.Answer = carriedAnswer(run, terms)
		return
	case rundir.KindSweep:
	default:
		return
	}
	findSaturation(run)
	run.SLO = sloAnswer(run, terms)
	run.Answer = answerOf(run)
}

func findSaturation(run *rundir.Run) {
	run.Saturation = Find(run)
	if q := quotaOf(run, run.Saturation); q != nil {
		run.Saturation.Quota = q
	}
	for _, n := range habits(run) {
		run.Warnings = note.Add(run.Warnings, n)
	}
	if run.Saturation == nil && run.State != rundir.Running {
		why, invalid := invalidNote(run.Stages)
		if !invalid {
			why = noteNone.New(ThroughputRate(run).Value())
		}
		run.Warnings = note.Add(run.Warnings, why)
	}
}

// DropUnsure takes out the intervals that the answer of a sweep shows to be unsure, or where it has none the ceiling. A
// run that goes on needs them: its answer may change.
func DropUnsure(run *rundir.Run) {
	if run.Source != nil {
		return
	}
	limit := ThroughputRate(run).Or(math.NaN())
	if found := run.Saturation; found != nil {
		limit = found.Rate.Or(found.Low.Or(limit)) // at worst the lower bound
	}
	for i := range run.Stages {
		if st := &run.Stages[i]; st.Rate.Known() {
			DropIntervals(st, st.Rate.Value()/limit, run.Plan.Precision)
		}
	}
}

// RequestsForMean returns how many requests at a share of the saturation rate show the interval of a mean; infinite where
// no number does.
func RequestsForMean(share float64) float64 {
	if share > meansHold {
		return math.Inf(1)
	}
	return leastSwings * share / ((1 - share) * (1 - share))
}

// DropIntervals takes out the intervals of latencies that a stage at such a share of the saturation rate cannot know,
// NaN where that is not known, and judges the means by a precision; 0 for the usual one.
func DropIntervals(st *rundir.Stage, share, precision float64) {
	if math.IsNaN(share) {
		share = unknownShare
	}
	for _, d := range []*rundir.Dist{&st.Latency, &st.TTFT, &st.TTFTDue, &st.TPOT, &st.ITL, &st.ChunkGap, &st.Queued} {
		for name := range d.CI {
			if name == "mean" && float64(d.N) < RequestsForMean(share) || name != "mean" && share > percentilesHold {
				delete(d.CI, name)
			}
		}
		d.JudgeMean(cmp.Or(precision, rundir.MeanPrecision))
	}
}

// invalidNote names the stages that show the client and not the server. The floor could not have shown the saturation
// rate.
func invalidNote(stages []rundir.Stage) (n note.Note, ok bool) {
	var names []string
	var why note.Note
	for i := range stages {
		if st := &stages[i]; !st.Invalid.IsZero() && st.Role != rundir.Synchronous {
			names, why = append(names, st.Name), st.Invalid
		}
	}
	return noteNoneInvalid.New(names, []note.Note{why}), len(names) > 0
}

// neededTime returns what the throughput took, and twice two holds, in seconds: most servers need two. It is NaN where
// too little is known of the server.
func neededTime(run *rundir.Run) float64 {
	guess := ThroughputRate(run)
	if !guess.Known() || synchronousStage(run.Stages) == nil {
		return math.NaN()
	}
	took := 0.0
	for i := range run.Stages {
		if st := &run.Stages[i]; st.Role == rundir.Throughput {
			took = st.EndsAt().Seconds()
		}
	}
	return rundir.RoundUp(took + 4*usualHoldTime(run, guess.Value()).Seconds()).Seconds()
}

func usualHoldTime(run *rundir.Run, rate float64) time.Duration {
	lone := 0.0
	if floor := synchronousStage(run.Stages); floor != nil {
		lone = floor.Latency.Mean.Or(0)
	}
	return HoldTime(rate, rundir.Duration(lone), rundir.Duration(run.Plan.StageTime))
}

// HoldTime returns how long a rate is held: for some stage times, and longer where few requests come or a request takes
// long.
func HoldTime(rate float64, lone, stageTime time.Duration) time.Duration {
	enough := max(rundir.Duration(holdRequests/rate), holdWaves*lone)
	return min(max(holdStages*stageTime, enough), 2*holdStages*stageTime+holdWaves*lone)
}

func sloAnswer(run *rundir.Run, terms []slo.Term) *rundir.SLO {
	if len(terms) == 0 {
		return nil
	}
	found := slo.Highest(SLORows(run), run.Saturation, terms)
	if st := sloProof(run, found, terms); st != nil {
		found.ProofStage = st.Name
	}
	return found
}

// sloProof returns the stage with the highest rate, up to that of an SLO, that was held as long as the holds of the
// saturation rate and met all terms; nil where there is none.
func sloProof(run *rundir.Run, found *rundir.SLO, terms []slo.Term) (best *rundir.Stage) {
	const almost = 0.9 // of the time: a stage closes when its last requests have come
	for _, st := range openLoops(run.Stages) {
		rate := st.Rate.Value()
		if st.Role != rundir.Hold && st.Role != rundir.Probe || rate > found.Rate.Or(0)*(1+rateTolerance) ||
			slo.Overloaded(st) || st.WindowFrom+st.Window < almost*usualHoldTime(run, rate).Seconds() {
			continue
		}
		if verdict, _ := slo.Judge(st, terms); verdict == rundir.Met && (best == nil || rate > best.Rate.Value()) {
			best = st
		}
	}
	return best
}

// NextProof returns the rate to be held so that the SLO's answer is shown and not only read off a line: the lower end
// of its interval; 0 where a hold near it has shown that, or there is no such answer.
func NextProof(run *rundir.Run, terms []slo.Term) float64 {
	found := slo.Highest(SLORows(run), Find(run), terms)
	rate := found.Low.Or(found.Rate.Or(0))
	if !found.Rate.Known() || rate <= 0 {
		return 0
	}
	if st := sloProof(run, found, terms); st != nil && st.Rate.Value() >= rate*(1-rateTolerance) {
		return 0
	}
	return rate
}

// SLORows returns the stages that show up to which rate terms hold: those with an arrival rate, and the floor.
func SLORows(run *rundir.Run) []*rundir.Stage {
	rows := shownLoops(run.Stages)
	if floor := synchronousStage(run.Stages); floor != nil {
		rows = append(rows, floor)
	}
	return rows
}
