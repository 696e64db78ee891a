// Package findings turns the metrics and notes of a run into what people read, in each language: sentences on its
// answer, warnings, errors, state and environment, and the columns of its stages. It measures nothing and decides no
// verdict. Begin with answer.go for sentences, and with columns.go for tables.
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
	"llmsweep/sweep/saturation"
	"llmsweep/sweep/slo"
)

const maxLines = 5 // of an answer, besides its cautions

type answer struct {
	lines    []string // the result first, then what a reader does with it, then why it is so
	cautions []string // that a reader must know first
	details  []string // for which the answer has no room
	leading  int      // how many of the lines are cautions on the result
}

// Answer returns what a run found, as sentences. A run that only measured rows has none.
func Answer(run *rundir.Run, l lang.Lang) []string {
	a := composeAnswer(run, l)
	return a.shown()
}

func (a *answer) shown() []string {
	return slices.Concat(a.lines[:min(maxLines, len(a.lines))], a.cautions)
}

// AnswerParts returns the answer in parts: cautions that come before the result, the result, and what follows it.
func AnswerParts(run *rundir.Run) (before []lang.Text, main lang.Text, rest []lang.Text) {
	var a answer // leading and the number of lines are the same in both languages
	all := lang.Sentences(func(l lang.Lang) []string {
		a = composeAnswer(run, l)
		return a.shown()
	})
	if len(all) == 0 {
		return nil, lang.Text{}, nil
	}
	n := a.leading
	if n == len(a.lines) { // there is no result: the last caution is in its place
		n = len(all) - 1
	}
	return all[:n], all[n], all[n+1:]
}

// Notes returns the sentences for which the answer has no room, and the notes that are no warnings.
func Notes(run *rundir.Run, l lang.Lang) []string {
	a := composeAnswer(run, l)
	return slices.Concat(a.lines[min(maxLines, len(a.lines)):], a.details, runNotes(run, l, isRemark))
}

func composeAnswer(run *rundir.Run, l lang.Lang) (a answer) {
	if sent, failed := requestCounts(run); sent > 0 && sent == failed {
		a.lines = []string{sayNothing.In(l, strconv.Itoa(failed), strconv.Itoa(sent))}
		return a
	}
	a.addResult(run, l)
	if graded := gradesSentences(run, l); len(graded) > 0 {
		a.lines, a.details = append(a.lines, graded[0]), append(a.details, graded[1:]...)
	}
	a.add(sessionRate(run, l))
	if run.Spent != nil {
		a.add(spentSentence(run.Spent, l))
	}
	return a
}

func (a *answer) add(lines ...string) {
	a.lines = append(a.lines, slices.DeleteFunc(lines, func(s string) bool { return s == "" })...)
}

func (a *answer) addResult(run *rundir.Run, l lang.Lang) {
	found := saturation.AnswerOf(run)
	switch {
	case run.Source != nil && run.Saturation != nil:
		a.add(sloLines(run, l)...)
		a.add(publishedSaturation(run.Saturation, l), costSentence(run, l))
		return
	case found == nil || run.Source != nil:
		a.add(sloLines(run, l)...)
		return
	}
	cautions := found.Cautions
	if len(cautions) > 0 && cautions[0].Is(saturation.FailsAlways) { // the rate is that of the other requests
		a.add(Note(cautions[0], l))
		a.leading, cautions = len(a.lines), cautions[1:]
	}
	if found.Carried != nil {
		a.add(capacitySentences(run, found.Carried, l)...)
	} else {
		a.add(rateSentence(run, found, l) + resourceLimit(run, found, l))
		a.add(sloLines(run, l)...)
		a.add(operatingLoad(run, found, l), costSentence(run, l), bracketSentence(run, l), neededBudget(found, l),
			simulatorCapacity(run, found, l))
	}
	for _, n := range cautions {
		a.cautions = append(a.cautions, Note(n, l))
	}
}

func bracketSentence(run *rundir.Run, l lang.Lang) string {
	sat := run.Saturation
	if sat == nil {
		return ""
	}
	held, failed := stageNamed(run, sat.KeptStage), stageNamed(run, sat.FailedStage)
	var text string
	switch {
	case held != nil && failed != nil:
		text = sayWhy.In(l, offeredText(held), holdTime(held).In(l), offeredText(failed), Phrase(sat.Reason, l))
	case held != nil:
		text = sayWhyHeld.In(l, offeredText(held), holdTime(held).In(l))
	case failed != nil:
		text = sayWhyFailed.In(l, offeredText(failed), Phrase(sat.Reason, l))
	default:
		return ""
	}
	if run.Client.Valid && run.State == rundir.Complete {
		text += sayClientKept.In(l)
	}
	return text
}

func offeredText(s *rundir.Stage) string {
	return lang.Number(rundir.Exactly(slo.Offered(s)), lang.Rate)
}

func stageNamed(run *rundir.Run, name string) *rundir.Stage {
	if i := slices.IndexFunc(run.Stages, func(s rundir.Stage) bool { return s.Name == name }); i >= 0 {
		return &run.Stages[i]
	}
	return nil
}

func neededBudget(a *rundir.Answer, l lang.Lang) string {
	if !a.Needed.Known() {
		return ""
	}
	return sayNeeded.In(l, lang.FlagValue(a.Needed.Value()))
}

func publishedSaturation(sat *rundir.Saturation, l lang.Lang) string {
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

func noAnswerReason(run *rundir.Run) (why note.Note, ok bool) {
	i := slices.IndexFunc(run.Warnings, isNoAnswerNote)
	if i < 0 {
		return why, false
	}
	return run.Warnings[i], true
}

func isNoAnswerNote(n note.Note) bool { return strings.HasPrefix(n.Code, "saturation.none") }

func rateSentence(run *rundir.Run, a *rundir.Answer, l lang.Lang) string {
	switch a.Kind {
	case rundir.Unanswerable:
		why, ok := noAnswerReason(run)
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
	say := map[rundir.AnswerKind]lang.Phrase{rundir.Saturates: saySaturates, rundir.Sustains: saySustains,
		rundir.Accepts: sayAccepts}[a.Kind]
	s := say.In(l, lang.Number(a.Rate, digits)) + interval
	if a.Output.Known() {
		tokens := a.Output.Value() / a.Rate.Value()
		digits := lang.Estimate(lang.Scale(a.Low, tokens), lang.Scale(a.High, tokens)) // as exact as the rate
		s += sayOutput.In(l, lang.Grouped(lang.Number(a.Output, digits)))
	}
	switch {
	case a.Overload.Known():
		s += sayCollapses.In(l, lang.Number(a.Overload, lang.Rate))
	case a.Kind == rundir.Accepts:
		s += sayRefusesRest.In(l)
	}
	return s + lang.Stop.In(l)
}

// operatingLoad tells the same statistics in every answer, so that answers can be compared.
func operatingLoad(run *rundir.Run, a *rundir.Answer, l lang.Lang) string {
	c := a.Comfortable
	if c == nil {
		return ""
	}
	var latencies []string
	add := func(say lang.Phrase, of func(*rundir.Stage) *rundir.Dist, mean, p90 rundir.Number) {
		marked := func(n rundir.Number, name string) string { // as the rows are
			if slices.ContainsFunc(c.Stages, func(stage string) bool {
				st := stageNamed(run, stage)
				return st != nil && !of(st).Supported(name)
			}) {
				return lang.Time(n) + table.MarkUnsupported
			}
			return lang.Time(n)
		}
		if mean.IsZero() {
			return
		}
		text := say.In(l, marked(mean, "mean"))
		if !p90.IsZero() {
			text += sayP90.In(l, marked(p90, "p90"))
		}
		latencies = append(latencies, text)
	}
	add(sayTTFT, TTFT, c.TTFTMean, c.TTFTP90)
	add(sayITL, ITL, c.ITLMean, rundir.Number{})
	add(sayLatency, Latency, c.LatencyMean, c.LatencyP90)
	if len(latencies) == 0 {
		return ""
	}
	say := sayRunAt
	if c.BySLO {
		say = sayRunAtSLO
	}
	text := strings.Join(latencies, lang.Comma.In(l))
	if len(c.Stages) > 1 {
		text += sayBetweenRows.In(l)
	}
	return say.In(l, lang.Number(c.Rate, comfortableDigits(a)), text)
}

// comfortableDigits prints the comfortable rate as exactly as the rate that it follows from is known.
func comfortableDigits(a *rundir.Answer) lang.Printer {
	if c := a.Comfortable; c != nil && c.BySLO && a.Promise.Low.Known() && a.Promise.High.Known() {
		return lang.Estimate(a.Promise.Low, a.Promise.High)
	}
	return lang.Estimate(a.Low, a.High)
}

func simulatorCapacity(run *rundir.Run, a *rundir.Answer, l lang.Lang) string {
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

func resourceLimit(run *rundir.Run, a *rundir.Answer, l lang.Lang) string {
	if a.Quota != nil {
		return quotaSentence(a, l)
	}
	st := stageNamed(run, a.LimitStage)
	if st == nil || st.Server == nil {
		return ""
	}
	s := st.Server
	switch a.Limit {
	case rundir.LimitKV:
		return sayLimitKV.In(l, Whole(lang.Scale(s.KVUsageMax, 100)), Whole(s.Preemptions))
	case rundir.LimitSlots:
		return sayLimitSlots.In(l, Whole(s.RunningMax), Whole(s.Waiting))
	case rundir.LimitCompute:
		if half := stageNamed(run, a.LimitFlat); half != nil {
			return sayLimitFlat.In(l, Whole(st.Concurrency.Mean), Whole(half.Concurrency.Mean))
		}
		return sayLimitCompute.In(l, Whole(s.Running))
	}
	return ""
}

func quotaSentence(a *rundir.Answer, l lang.Lang) string {
	const below = 0.95 // of the rate: arrivals come unevenly
	q := a.Quota
	rate := a.Rate.Or(a.Low.Or(a.High.Value()))
	if !q.Period.Known() {
		return sayRateLimit.In(l, lang.Number(rundir.Exactly(rate), lang.Short), floorTwoDigits(below*rate))
	}
	rate = q.Requests.Value() / q.Period.Value()
	say, amount := sayRequests, q.Requests
	if q.ByTokens {
		say, amount = sayOutputTokens, q.Tokens
	}
	text := say.In(l, lang.Grouped(Whole(amount)), periodText(q.Period.Value()).In(l))
	return sayQuota.In(l, text, lang.Number(rundir.Exactly(rate), lang.Short), floorTwoDigits(below*rate))
}

func periodText(seconds float64) lang.Text {
	const tolerance = 0.05
	for _, p := range []struct {
		seconds float64
		words   lang.Phrase
	}{{1, wordASecond}, {60, wordAMinute}, {3600, wordAnHour}} {
		if math.Abs(seconds/p.seconds-1) < tolerance {
			return p.words.Text()
		}
	}
	return sayInSeconds.Text(lang.Number(rundir.Exactly(seconds), lang.Fixed(0)))
}

func floorTwoDigits(v float64) string {
	scale := math.Pow(10, math.Floor(math.Log10(v))-1)
	return strconv.FormatFloat(math.Floor(v/scale)*scale, 'g', 2, 64)
}
