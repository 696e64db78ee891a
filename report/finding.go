package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"llmsweep/sweep/rundir"
)

// warnings are what a reader must know before trusting the table: first what the figures show, then what was noted
// while the run went.
func warnings(run *rundir.Run, l Lang) []string {
	checks := []struct {
		say   phrase
		check func(*rundir.Stage, Lang) string
	}{
		{warnInvalid, invalid}, {warnLength, lengths}, {warnSource, source}, {warnChunk, chunks},
		{warnDue, fromDue}, {warnCached, cached},
	}
	var lines []string
	if !run.Client.Valid && run.State == rundir.Complete {
		lines = append(lines, warnClient.in(l)+stop.in(l))
	}
	for _, c := range checks {
		about := perRow(run, l, func(s *rundir.Stage) string { return c.check(s, l) })
		if about != "" {
			lines = append(lines, c.say.in(l)+colon.in(l)+about+stop.in(l))
		}
	}
	return append(lines, noted(run, l)...)
}

// noted are the warnings that the run itself wrote down.
func noted(run *rundir.Run, l Lang) []string {
	var lines []string
	for _, n := range slices.Concat(run.Target.Notes, run.Warnings) { // the client's stand in the rows they are about
		lines = append(lines, Note(n, l))
	}
	where := map[string][]string{}
	var order []string
	for i := range run.Stages {
		s := &run.Stages[i]
		for _, n := range s.Warnings {
			text := Note(n, l)
			if where[text] == nil {
				order = append(order, text)
			}
			where[text] = append(where[text], s.Name)
		}
	}
	for _, text := range order {
		lines = append(lines, rowNames(where[text], run, l)+colon.in(l)+text)
	}
	return lines
}

// perRow gathers what a check says of each stage, rows of which it says the same together.
func perRow(run *rundir.Run, l Lang, check func(*rundir.Stage) string) string {
	rows := map[string][]string{}
	var order []string
	for _, r := range slices.Concat(tableRows(run), probeRows(run)) {
		said := check(r.stage)
		if said == "" {
			continue
		}
		if rows[said] == nil {
			order = append(order, said)
		}
		rows[said] = append(rows[said], r.stage.Name)
	}
	var parts []string
	for _, said := range order {
		parts = append(parts, rowNames(rows[said], run, l)+inParens.in(l, said))
	}
	return strings.Join(parts, semicolon.in(l))
}

// rowNames lists stages by name, or says that it is all of them.
func rowNames(names []string, run *rundir.Run, l Lang) string {
	if len(names) > 1 && len(names) == len(run.Stages) {
		return everyRow.in(l)
	}
	return strings.Join(names, listComma.in(l))
}

// invalid is why the client was the limit, as the run wrote it down.
func invalid(s *rundir.Stage, l Lang) string {
	if s.Invalid.IsZero() {
		return ""
	}
	return Note(s.Invalid, l)
}

// lengths compares the output tokens asked for with those received.
func lengths(s *rundir.Stage, l Lang) string {
	asked, got := s.AskedTokens, s.OutputTokens.Mean
	if s.TokenSource == "chunks" { // a guess proves nothing
		return ""
	}
	if !asked.Known() || !got.Known() || math.Abs(got.Value()-asked.Value()) <= 0.01*asked.Value() {
		return ""
	}
	return detailLength.in(l, number(asked, short), number(got, short))
}

// source says who counted the tokens, where it was not the server.
func source(s *rundir.Stage, l Lang) string {
	switch s.TokenSource {
	case "", "server":
		return ""
	case "ids":
		return sourceIDs.in(l)
	case "tokenizer":
		return sourceTokenizer.in(l)
	case "chunks":
		return sourceChunks.in(l)
	}
	return s.TokenSource
}

// chunks says how many tokens came at once, where it was more than one.
func chunks(s *rundir.Stage, l Lang) string {
	if k := s.TokensPerChunk; k.Known() && k.Value() > 1.05 {
		return detailChunk.in(l, number(k, short))
	}
	return ""
}

// fromDue compares the first token counted from due with that counted from sent.
func fromDue(s *rundir.Stage, l Lang) string {
	due, sent := s.TTFTDue.P99, s.TTFT.P99
	if !due.Known() || !sent.Known() || math.Abs(due.Value()-sent.Value()) <= max(1e-3, 0.01*sent.Value()) {
		return ""
	}
	return detailDue.in(l, durationText(due), durationText(sent))
}

// cached says how much of the prompts the server had seen before, where it is more than a chat template.
func cached(s *rundir.Stage, l Lang) string {
	had, all := s.CachedTokens, s.PromptTokens.Mean
	if !had.Known() || !all.Known() || had.Value() <= 0.1*all.Value() {
		return ""
	}
	return detailCached.in(l, number(had, short), number(all, short))
}

// failure is what went wrong in one way.
type failure struct {
	class, example string
	count          int
	rows           []string // with counts
}

// failuresByClass gathers a run's failed requests, the most frequent class first.
func failuresByClass(run *rundir.Run) []failure {
	byClass := map[string]*failure{}
	for _, r := range slices.Concat(tableRows(run), probeRows(run)) {
		for _, class := range slices.Sorted(maps.Keys(r.stage.Errors)) {
			f := byClass[class]
			if f == nil {
				f = &failure{class: class}
				byClass[class] = f
			}
			n := r.stage.Errors[class]
			f.count += n
			f.rows = append(f.rows, r.stage.Name+" "+strconv.Itoa(n))
			f.example = cmp.Or(f.example, r.stage.Examples[class])
		}
	}
	var all []failure
	for _, f := range byClass {
		all = append(all, *f)
	}
	slices.SortFunc(all, func(a, b failure) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.class, b.class))
	})
	return all
}

// errorLines are the failed requests by class.
func errorLines(run *rundir.Run, l Lang) []string {
	var lines []string
	for _, f := range failuresByClass(run) {
		s := f.class + colon.in(l) + sayFailures.in(l, strconv.Itoa(f.count)) + inParens.in(l, strings.Join(f.rows, listComma.in(l)))
		if f.example != "" {
			s += sayExample.in(l, abridge(clean(f.example)))
		}
		lines = append(lines, s)
	}
	return lines
}

// abridge keeps a message readable: servers answer errors with whole web pages.
func abridge(s string) string {
	const most = 160
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "..."
	}
	return s
}

// progress says how far a run got: what is whole, what was cut short, what never began.
func progress(run *rundir.Run, l Lang) []string {
	var done, cut []string
	probes := 0
	for i := range run.Stages {
		s := &run.Stages[i]
		if whole(s) {
			done = append(done, s.Name)
		} else {
			cut = append(cut, s.Name)
		}
		if s.Role == rundir.Probe {
			probes++
		}
	}
	if run.State == rundir.Complete && len(cut) == 0 {
		return []string{stateComplete.in(l, strconv.Itoa(len(done)))}
	}
	lines := []string{ended(run, l)}
	if !run.Failure.IsZero() {
		lines = append(lines, stateBecause.in(l, Note(run.Failure, l)))
	}
	if len(done) > 0 {
		lines = append(lines, stateWhole.in(l, strings.Join(done, listComma.in(l))))
	} else {
		lines = append(lines, stateNone.in(l))
	}
	if len(cut) > 0 {
		lines = append(lines, stateCut.in(l, strings.Join(cut, listComma.in(l))))
	}
	planned := run.Plan.Points*max(1, run.Plan.Repeats) + 2 // the floor and the ceiling
	if missing := planned - (len(run.Stages) - probes); run.Plan.Points > 0 && missing > 0 {
		lines = append(lines, stateMissing.in(l, strconv.Itoa(missing), strconv.Itoa(planned)))
	}
	return lines
}

// ended says how a run ended, and after how long.
func ended(run *rundir.Run, l Lang) string {
	how := stateEnded
	switch run.State {
	case rundir.Interrupted:
		how = stateInterrupted
	case rundir.Failed:
		how = stateFailed
	case rundir.Running:
		how = stateRunning
	}
	s := how.in(l)
	if t := lasted(run); t > 0 {
		s += stateAfter.in(l, clock(t))
	}
	return s + stop.in(l)
}

// lasted is how many seconds of the run there are: to its end where it has one, else to the end of its last stage.
func lasted(run *rundir.Run) float64 {
	if !run.Ended.IsZero() {
		return run.Ended.Sub(run.Started).Seconds()
	}
	last := 0.0
	for i := range run.Stages {
		last = max(last, run.Stages[i].Started+run.Stages[i].Elapsed)
	}
	return last
}

// clock prints seconds as people read a clock: 03:12, or 1:03:12.
func clock(seconds float64) string {
	t := int(math.Round(seconds))
	if t >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", t/3600, t/60%60, t%60)
	}
	return fmt.Sprintf("%02d:%02d", t/60, t%60)
}
