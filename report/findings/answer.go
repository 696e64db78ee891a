// Package findings puts into sentences what the metrics and notes of a run say: its answer, warnings, errors, state and
// environment, in each language.
package findings

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"llmsweep/client/note"
	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
)

// mostLines is how many lines an answer has beside its cautions: a reader takes in no more.
const mostLines = 5

// weight is how soon a reader needs a line of an answer.
type weight int

// The weights, the weightiest first.
const (
	weighsResult  weight = iota // the number, or why there is none; no answer is without it
	weighsSLO                   // whether the SLO is met, and up to which rate
	weighsNext                  // what would decide it
	weighsComfort               // latency with room left
	weighsAnswers               // whether answers are right
	weighsLimit                 // what the server ran out of
	weighsRows                  // where rows turn from stable to saturated
	weighsCheck                 // what the result can be held against
	weighsSpent                 // what the run cost
	weighsDetail                // how it was found
	weighsCaution               // counted apart: [rundir.Answer] has three at most
)

// said is a line of an answer.
type said struct {
	text   string
	weight weight
}

// Answer returns what a run found, as sentences: at most five lines, those that a reader needs most, and the cautions of its [rundir.Answer]. Every report
// begins or ends with it. There are none where a run only measured rows.
func Answer(run *rundir.Run, l lang.Lang) []string {
	answer, _ := answered(run, l)
	return answer
}

// Notes returns what is worth knowing and changes nothing: the sentences for which the answer has no room, and the notes of the run that are no warnings.
func Notes(run *rundir.Run, l lang.Lang) []string {
	_, beside := answered(run, l)
	return append(beside, noted(run, l, remark)...)
}

// answered returns the lines of an answer and those that stand beside it, each in the order in which they are read.
func answered(run *rundir.Run, l lang.Lang) (answer, beside []string) {
	all := slices.Concat(found(run, l), group(weighsAnswers, grades(run, l)))
	if s := sessionRate(run, l); s != "" {
		all = append(all, said{s, weighsDetail})
	}
	if run.Spent != nil {
		all = append(all, said{spent(run.Spent, l), weighsSpent})
	}
	order := make([]int, 0, len(all)) // places of lines, the weightiest first
	for i, s := range all {
		if s.weight != weighsCaution {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(all[a].weight, all[b].weight) })
	for i, s := range all {
		if slices.Contains(order[min(mostLines, len(order)):], i) {
			beside = append(beside, s.text)
		} else {
			answer = append(answer, s.text)
		}
	}
	return answer, beside
}

// group returns lines of which the first is the result, and the others are how it was found.
func group(first weight, lines []string) []said {
	var all []said
	for i, s := range lines {
		if i > 0 {
			first = weighsDetail
		}
		all = append(all, said{s, first})
	}
	return all
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
func found(run *rundir.Run, l lang.Lang) []said {
	if sent, failed := stageAttempts(run); sent > 0 && sent == failed {
		return []said{{sayNothing.In(l, strconv.Itoa(failed), strconv.Itoa(sent)), weighsResult}}
	}
	var lines []said
	add := func(w weight, all ...string) {
		for _, s := range all {
			if s != "" {
				lines = append(lines, said{s, w})
			}
		}
	}
	a := saturation.AnswerOf(run)
	if a == nil || run.Source != nil {
		lines = promised(run, l)
		if run.Source != nil && run.Saturation != nil {
			add(weighsResult, saturatesByRows(run.Saturation, l))
		}
		return lines
	}
	caution := func(all []note.Note) {
		for _, n := range all {
			add(weighsCaution, Note(n, l))
		}
	}
	if a.Carried != nil {
		lines = group(weighsResult, carried(run, a.Carried, l))
		caution(a.Cautions)
		return lines
	}
	cautions := a.Cautions
	if len(cautions) > 0 && cautions[0].Is(saturation.FailsAlways) { // at every load: the rate is that of the others
		caution(cautions[:1])
		cautions = cautions[1:]
	}
	add(weighsResult, rateOf(run, a, l))
	caution(cautions)
	lines = append(lines, promised(run, l)...)
	if run.Saturation != nil || run.State == rundir.Complete {
		add(weighsRows, turns(run, a, l))
	}
	if sat := run.Saturation; sat != nil && !sat.Reason.IsZero() {
		add(weighsRows, Note(sat.Reason, l))
	}
	add(weighsLimit, limit(run, a, l))
	add(weighsComfort, comfortable(a, l))
	add(weighsCheck, simulated(run, a, l))
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

func isWhyNoAnswer(n note.Note) bool { return strings.HasPrefix(n.Code, "saturation.none") }

// rateOf is the rate of an answer, or why there is none.
func rateOf(run *rundir.Run, a *rundir.Answer, l lang.Lang) string {
	switch a.Kind {
	case rundir.Unanswerable:
		why, ok := whyNoAnswer(run)
		switch {
		case run.Saturation == nil && run.State != rundir.Complete:
			return ""
		case run.Saturation == nil && ok:
			return Note(why, l)
		}
		return sayNoSaturation.In(l)
	case rundir.AtLeast:
		return sayAtLeast.In(l, lang.Number(rundir.Exactly(a.Rate.Value()), lang.Rate))
	case rundir.AtMost:
		return sayAtMost.In(l, lang.Number(a.High, lang.Rate))
	case rundir.Between: // the interval is no answer
		return sayBetween.In(l, lang.Number(a.Low, lang.Rate), lang.Number(a.High, lang.Rate))
	}
	digits, interval := lang.Estimate(a.Low, a.High), ""
	if a.Low.Known() && a.High.Known() {
		interval = sayInterval.In(l, lang.Number(a.Low, digits), lang.Number(a.High, digits))
	}
	say := map[rundir.AnswerKind]lang.Phrase{rundir.Saturates: saySaturates, rundir.Sustains: saySustains, rundir.Accepts: sayAccepts}[a.Kind]
	s := say.In(l, lang.Number(a.Rate, digits)) + interval
	if a.Output.Known() {
		s += sayOutput.In(l, lang.Grouped(lang.Number(a.Output, lang.Short)))
	}
	switch {
	case a.Overload.Known():
		s += sayCollapses.In(l, lang.Number(a.Overload, lang.Rate))
	case a.Kind == rundir.Accepts:
		s += sayRefusesRest.In(l)
	}
	return s + lang.Stop.In(l)
}

// turns returns up to which offered rate the rows are stable, and from which one they are overloaded.
func turns(run *rundir.Run, a *rundir.Answer, l lang.Lang) string {
	low, high := a.StableUpTo, a.SaturatedFrom
	switch {
	case low.Known() && high.Known() && a.Kind == rundir.Accepts:
		return sayShedBracket.In(l, lang.Number(low, lang.Rate), lang.Number(high, lang.Rate))
	case low.Known() && high.Known():
		return sayBracket.In(l, lang.Number(low, lang.Rate), lang.Number(high, lang.Rate))
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

// comfortable returns how the server feels below its limit: always by the same statistics, so that answers can be compared.
func comfortable(a *rundir.Answer, l lang.Lang) string {
	c := a.Comfortable
	if c == nil {
		return ""
	}
	var feel []string
	add := func(say lang.Phrase, v rundir.Number) {
		if !v.IsZero() {
			feel = append(feel, say.In(l, lang.Time(v)))
		}
	}
	add(sayTTFTMean, c.TTFTMean)
	add(sayTTFTP90, c.TTFTP90)
	add(sayITLMean, c.ITLMean)
	add(sayLatencyMean, c.LatencyMean)
	add(sayLatencyP90, c.LatencyP90)
	if len(feel) == 0 {
		return ""
	}
	say := sayComfortable
	switch {
	case c.BySLO && a.Promise.Rate.IsZero(): // only its interval is known
		say = sayComfortLow
	case c.BySLO:
		say = sayComfortSLO
	}
	return say.In(l, lang.Number(c.Rate, ComfortableDigits(a))) + strings.Join(feel, lang.Comma.In(l)) + lang.Stop.In(l)
}

// ComfortableDigits prints the comfortable rate of an answer, as exactly as the rate that it follows from is known.
func ComfortableDigits(a *rundir.Answer) lang.Printer {
	if c := a.Comfortable; c != nil && c.BySLO && a.Promise.Low.Known() && a.Promise.High.Known() {
		return lang.Estimate(a.Promise.Low, a.Promise.High)
	}
	return lang.Estimate(a.Low, a.High)
}

// simulated puts what was found beside what the simulator can be computed to take.
func simulated(run *rundir.Run, a *rundir.Answer, l lang.Lang) string {
	capacity, found := run.Target.Capacity, a.Rate
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
func limit(run *rundir.Run, a *rundir.Answer, l lang.Lang) string {
	for i := range run.Stages {
		st := &run.Stages[i]
		if st.Name != a.LimitStage || st.Server == nil {
			continue
		}
		s := st.Server
		switch a.Limit {
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
