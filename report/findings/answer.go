// Package findings puts into sentences what the metrics and notes of a run say: its answer, warnings, errors, state and
// environment, in each language.
package findings

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"llmsweep/client/note"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// Answer returns what a run found, as sentences, and what it spent; none where it only measured rows.
func Answer(run *rundir.Run, l lang.Lang) []string {
	lines := slices.Concat(found(run, l), Fidelity(run, l), Grades(run, l), Perplexity(run, l))
	if s := sessionRate(run, l); s != "" {
		lines = append(lines, s)
	}
	if run.Spent != nil {
		lines = append(lines, Spent(run.Spent, l))
	}
	return lines
}

// saturatesByRows returns what the rows of a published sweep show of its saturation.
func saturatesByRows(sat *rundir.Saturation, l lang.Lang) string {
	if sat.Rate.IsZero() {
		return sayRowsDisagree.In(l, lang.Number(sat.Low, lang.Fixed(2)), lang.Number(sat.High, lang.Fixed(2)))
	}
	rate, output := lang.Number(rundir.Exactly(sat.Rate.Value()), lang.Fixed(2))+" req/s", ""
	if sat.Output.Known() {
		output = sayOutput.In(l, lang.Number(sat.Output, lang.Fixed(2)))
	}
	if sat.Rate.Bound() {
		return sayRowsRise.In(l, rate+output)
	}
	return sayRowsLevel.In(l, rate+output)
}

// found returns what a run found.
func found(run *rundir.Run, l lang.Lang) []string {
	if sent, failed := StageAttempts(run); sent > 0 && sent == failed {
		return []string{sayNothing.In(l, strconv.Itoa(failed), strconv.Itoa(sent))}
	}
	var lines []string
	add := func(s string) {
		if s != "" {
			lines = append(lines, s)
		}
	}
	sat := run.Saturation
	if sat == nil {
		lines = append(lines, Promises(run, l)...)
		if run.Plan.Kind == rundir.KindSweep && run.State == rundir.Complete {
			if why, ok := whyNoAnswer(run); ok {
				add(Note(why, l))
			} else {
				add(sayNoSaturation.In(l))
			}
		}
		return lines
	}
	if run.Source != nil {
		return append(lines, saturatesByRows(sat, l))
	}
	add(saturates(run, l))
	for _, n := range sat.Cautions {
		add(Note(n, l))
	}
	lines = append(lines, Promises(run, l)...)
	add(bracket(run, l))
	add(inInterval(run, l))
	grew := backlog(run, l)
	add(grew)
	if sat.Rate.IsZero() { // it says what to run next
		grew = ""
	}
	if grew == "" && !sat.Reason.IsZero() {
		add(Note(sat.Reason, l))
	}
	add(limit(run, l))
	add(comfortable(run, l))
	add(simulated(run, l))
	return lines
}

// whyNoAnswer returns the note on why a sweep found no saturation point, and on what to run next; ok is false where there is none.
func whyNoAnswer(run *rundir.Run) (why note.Note, ok bool) {
	i := slices.IndexFunc(run.Warnings, isWhyNoAnswer)
	if i < 0 {
		return why, false
	}
	return run.Warnings[i], true
}

func isWhyNoAnswer(n note.Note) bool { return strings.HasPrefix(n.Code, "saturation.none-") }

// saturates is the answer itself.
func saturates(run *rundir.Run, l lang.Lang) string {
	sat := run.Saturation
	switch {
	case sat.Rate.Bound() && !sat.Reason.IsZero(): // a search that was cut
		return sayAtLeast.In(l, lang.Number(rundir.Exactly(sat.Rate.Value()), lang.Rate))
	case sat.Rate.Bound():
		return sayNotSaturated.In(l, lang.Number(rundir.Exactly(sat.Rate.Value()), lang.Rate))
	case sat.Rate.IsZero() && sat.Low.Known() && sat.High.Known(): // the interval is no answer
		return sayBetween.In(l, lang.Number(sat.Low, lang.Rate), lang.Number(sat.High, lang.Rate))
	case sat.Rate.IsZero():
		return sayNoSaturation.In(l)
	}
	digits, interval := lang.Estimate(sat.Low, sat.High), ""
	if sat.Low.Known() && sat.High.Known() {
		interval = sayInterval.In(l, lang.Number(sat.Low, digits), lang.Number(sat.High, digits))
	}
	say, refuses := saySaturates, false
	switch MeaningOf(sat) {
	case Sustains:
		say = saySustains
	case Accepts:
		say, refuses = sayAccepts, true
	}
	s := say.In(l, lang.Number(sat.Rate, digits)) + interval
	if sat.Output.Known() {
		s += sayOutput.In(l, lang.Grouped(lang.Number(sat.Output, lang.Short)))
	}
	switch {
	case sat.Overload.Known():
		falls := sayCollapses
		if slices.ContainsFunc(run.Warnings, func(n note.Note) bool { return n.Code == overloadOrChange }) { // the warning has both causes
			falls = sayFalls
		}
		s += falls.In(l, lang.Number(sat.Overload, digits))
	case sat.Limit == rundir.LimitRate:
		s += sayRateLimit.In(l)
	case refuses:
		s += sayRefusesRest.In(l)
	}
	return s + lang.Stop.In(l)
}

// Meaning is what the rate of an answer is.
type Meaning int

// The meanings of rates.
const (
	Saturates Meaning = iota // the rate that is completed when more arrives
	Sustains                 // the highest rate that is kept up with: when more arrives, less is completed
	Accepts                  // the rate that is not refused
)

// overloadOrChange is the code of the warning that the server completed less under overload, and may have become slower by itself meanwhile.
const overloadOrChange = "saturation.overload-or-change"

// MeaningOf returns what the rate of an answer is.
func MeaningOf(sat *rundir.Saturation) Meaning {
	switch {
	case sat.Overload.Known():
		return Sustains
	case sat.Reason.Code == "saturation.refused" || sat.Limit == rundir.LimitRate:
		return Accepts
	}
	return Saturates
}

// bracket returns between which offered rates the verdicts turned.
func bracket(run *rundir.Run, l lang.Lang) string {
	sat := run.Saturation
	low, high := Bracket(run)
	switch {
	case low.Known() && high.Known() && low.Value() >= high.Value():
		return sayTurn.In(l, lang.Number(high, lang.Rate), lang.Number(low, lang.Rate))
	case low.Known() && high.Known() && (sat.Reason.Code == "saturation.refused" || sat.Limit == rundir.LimitRate):
		return sayShedBracket.In(l, lang.Number(low, lang.Rate), lang.Number(high, lang.Rate))
	case low.Known() && high.Known():
		return sayBracket.In(l, lang.Number(low, lang.Rate), lang.Number(high, lang.Rate))
	case low.Known() && judged(run, rundir.Saturated, rundir.Shedding):
		return sayStableOnly.In(l, lang.Number(low, lang.Rate))
	case low.Known():
		return sayStable.In(l, lang.Number(low, lang.Rate))
	case high.Known() && judged(run, rundir.Stable):
		return saySaturatedOnly.In(l, lang.Number(high, lang.Rate))
	case high.Known():
		return saySaturated.In(l, lang.Number(high, lang.Rate))
	}
	return ""
}

// judged reports whether some row has one of the verdicts.
func judged(run *rundir.Run, verdicts ...rundir.Verdict) bool {
	return slices.ContainsFunc(run.Stages, func(s rundir.Stage) bool {
		return slices.Contains(verdicts, s.Verdict) && WholeStages(&s) && s.Invalid.IsZero()
	})
}

// inInterval names the stages between the rates of the bracket whose verdicts decide nothing, because their rates lie within the interval
// of the saturation rate: a reader sees them in the table.
func inInterval(run *rundir.Run, l lang.Lang) string {
	sat := run.Saturation
	if !sat.HighestStable.Known() && !sat.LowestSaturated.Known() {
		return ""
	}
	var rows []string
	for _, r := range AllStages(run) {
		s := r.Stage
		decided := s.Verdict == rundir.Stable || s.Verdict == rundir.Saturated
		if decided && WithinAnswer(s, sat) && WholeStages(s) && s.Invalid.IsZero() {
			what := lang.Verdict(s.Verdict, l) + lang.Comma.In(l) + sayDone.In(l, lang.Number(s.Rates.Completed, lang.Rate))
			rows = append(rows, table.Clean(StageName(s))+lang.InParens.In(l, what))
		}
	}
	if len(rows) == 0 {
		return ""
	}
	return sayWithin.In(l, strings.Join(rows, lang.ListComma.In(l)))
}

// backlog returns how fast the backlog grew at the lowest saturated rate, which is that of the bracket where there is one.
func backlog(run *rundir.Run, l lang.Lang) string {
	var lowest *rundir.Stage
	for i := range run.Stages {
		s := &run.Stages[i]
		grew := s.Verdict == rundir.Saturated && s.Invalid.IsZero() && s.Drift.Value.Known() && s.Rates.Offered.Known()
		if grew && run.Saturation.LowestSaturated.Known() && s.Rate.Value() < run.Saturation.LowestSaturated.Value() {
			continue
		}
		if grew && (lowest == nil || s.Rates.Offered.Value() < lowest.Rates.Offered.Value()) {
			lowest = s
		}
	}
	if lowest == nil {
		return ""
	}
	growth := lang.Scale(lowest.Drift.Value, lowest.Rate.Value())
	return sayBacklog.In(l, lang.Number(lowest.Rates.Offered, lang.Rate), lang.Number(growth, lang.Rate))
}

// comfortable returns the metrics at a rate below saturation.
func comfortable(run *rundir.Run, l lang.Lang) string {
	sat := run.Saturation
	if !sat.Comfortable.Known() {
		return ""
	}
	s := sayComfortable.In(l, lang.Number(sat.Comfortable, lang.Estimate(sat.Low, sat.High))) + lang.Stop.In(l)
	for i := range run.Stages {
		if st := &run.Stages[i]; st.Name == sat.ComfortableStage {
			p := supported(&st.TTFT, &st.ITL, &st.Latency)
			var feel []string
			for _, of := range []struct {
				what string
				d    *rundir.Dist
			}{{"TTFT", &st.TTFT}, {"ITL", &st.ITL}, {lang.HeadLatency.In(l), &st.Latency}} {
				feel = append(feel, of.what+" "+p+" "+lang.Time(of.d.Get(p)))
			}
			s += sayFeels.In(l, lang.Number(Offered(st), lang.Rate), strings.Join(feel, lang.Comma.In(l))) + lang.Stop.In(l)
		}
	}
	return s
}

// supported returns the highest percentile, up to the 99th, that all of the samples support, or else the median: numbers that stand side by side
// are of the same percentile.
func supported(all ...*rundir.Dist) string {
	for _, p := range []string{"p99", "p95", "p90"} {
		if !slices.ContainsFunc(all, func(d *rundir.Dist) bool { return !d.Supported(p) || d.Get(p).IsZero() }) {
			return p
		}
	}
	return "p50"
}

// simulated puts what was found beside what the simulator can be computed to take.
func simulated(run *rundir.Run, l lang.Lang) string {
	capacity, found := run.Target.Capacity, run.Saturation.Rate
	switch {
	case !capacity.Known():
		return ""
	case !found.Known():
		return sayCapacityAlone.In(l, lang.Number(capacity, lang.Rate))
	}
	off := 100 * math.Abs(found.Value()-capacity.Value()) / capacity.Value()
	return sayCapacity.In(l, lang.Number(capacity, lang.Rate), lang.Number(found, lang.Rate), lang.Fixed(1)(off, false))
}

// limit returns which resource of a saturated server was the limit.
func limit(run *rundir.Run, l lang.Lang) string {
	for i := range run.Stages {
		st := &run.Stages[i]
		if st.Name != run.Saturation.LimitStage || st.Server == nil {
			continue
		}
		s := st.Server
		switch run.Saturation.Limit {
		case rundir.LimitKV:
			return sayLimitKV.In(l, lang.Number(lang.Scale(s.KVUsageMax, 100), lang.Fixed(0)), lang.Number(s.Preemptions, lang.Fixed(0)))
		case rundir.LimitSlots:
			return sayLimitSlots.In(l, lang.Number(s.RunningMax, lang.Fixed(0)), lang.Number(s.Waiting, lang.Fixed(0)))
		case rundir.LimitCompute:
			return sayLimitCompute.In(l, lang.Number(s.Running, lang.Fixed(0)))
		}
	}
	return ""
}
