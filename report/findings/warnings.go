package findings

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"llmsweep/client/note"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/measure"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
)

// Legend explains the marks that tables show, and only those.
func Legend(tables ...table.Table) []lang.Text {
	marks := table.Marks(tables...)
	var lines []lang.Text
	if strings.Contains(marks, table.MarkBound) {
		lines = append(lines, legendBound.Text())
	}
	if strings.Contains(marks, table.MarkUnsupported) {
		lines = append(lines, legendUnsupported.Text())
	}
	return lines
}

// Warnings returns what a reader must know before trusting the table: first what the metrics show, then the notes that
// were written during the run.
func Warnings(run *rundir.Run, l lang.Lang) []string {
	checks := []struct {
		say   string
		check func(*rundir.Stage, lang.Lang) string
	}{
		{warnInvalid.In(l, ClientRemedy.In(l)), clientLimit},
		{WarnLength.In(l), func(s *rundir.Stage, l lang.Lang) string { return wrongLengths(run, s, l) }},
		{warnSource.In(l), tokenSource}, {warnChunk.In(l), packedChunks(true)}, {warnChunkWhole.In(l), packedChunks(false)},
		{warnDue.In(l), dueTTFT}, {warnCached.In(l), cachedPrompt},
	}
	var lines []string
	invalid := slices.ContainsFunc(run.Stages, func(s rundir.Stage) bool { return !s.Invalid.IsZero() })
	if !run.Client.Valid && invalid && run.State == rundir.Complete {
		lines = append(lines, clientWarning(run, l)+lang.Stop.In(l))
	}
	for _, line := range []string{fasterStages(run, l), speculationWarning(run, l)} {
		if line != "" {
			lines = append(lines, line)
		}
	}
	for _, c := range checks {
		if about := groupRows(run, l, func(s *rundir.Stage) string { return c.check(s, l) }); about != "" {
			lines = append(lines, c.say+lang.Colon.In(l)+about+lang.Stop.In(l))
		}
	}
	notes := runNotes(run, l, func(n note.Note) bool { return !isRemark(n) })
	return slices.Concat(lines, notes, stageWarnings(run, l))
}

const noiseFactor = 1.02 // above an answer: single stages differ by a few per cent besides their own noise

// fasterStages names the stages that completed more than the interval of the saturation rate. Where the server changed
// meanwhile, that says nothing.
func fasterStages(run *rundir.Run, l lang.Lang) string {
	a := saturation.AnswerOf(run)
	if a == nil || !a.Rate.Known() || !a.High.Known() || len(a.Cautions) > 0 {
		return ""
	}
	var rows []string
	for _, r := range AllStages(run) {
		s := r.Stage
		counts := s.Role != rundir.WarmUp && isComplete(s) && s.Invalid.IsZero()
		if counts && s.Progress.Low.Known() && s.Progress.Low.Value() > noiseFactor*a.High.Value() {
			rows = append(rows, table.Clean(StageName(s))+
				lang.InParens.In(l, sayDone.In(l, lang.Number(s.Rates.Completed, lang.Rate))))
		}
	}
	if len(rows) == 0 {
		return ""
	}
	say := sayMoreDone
	if a.Kind == rundir.Sustains {
		say = sayMoreLooped
	}
	return say.In(l, lang.Number(a.High, lang.Estimate(a.Low, a.High)), strings.Join(rows, lang.ListComma.In(l)))
}

// speculationWarning warns where the acceptance measured here is not that of real answers.
func speculationWarning(run *rundir.Run, l lang.Lang) string {
	w := &run.Workload
	speculates := slices.ContainsFunc(run.Stages, func(s rundir.Stage) bool {
		return s.Server != nil && s.Server.AcceptLength.Known()
	})
	switch {
	case speculates && w.Dataset == "" && w.Prompt == "":
		return saySpeculatesWords.In(l)
	case speculates && w.Forced:
		return saySpeculatesForced.In(l)
	}
	return ""
}

// isRemark reports whether a note is no reason to doubt a number.
func isRemark(n note.Note) bool {
	return slices.Contains([]string{
		"client.plan-beyond", "dataset.built-in", "dataset.rows", "trace.requests", "trace.sorted", "run.resumed",
		"server.cache-emptied", "requests.resent", "probe.busy", "probe.completions", "probe.first-model",
		"probe.newer-api", "probe.packed-counts-each", "probe.packed-running-counts", "probe.rejected-field",
	}, n.Code)
}

func runNotes(run *rundir.Run, l lang.Lang, keep func(note.Note) bool) []string {
	var notes []note.Note
	answer := saturation.AnswerOf(run)
	noAnswer := run.Saturation == nil && run.State == rundir.Complete // the answer says why there is none
	for _, n := range slices.Concat(run.Target.Notes, run.Warnings) {
		if noAnswer && isNoAnswerNote(n) || answer != nil && slices.ContainsFunc(answer.Cautions, n.Equal) {
			continue
		}
		notes = append(notes, n)
	}
	if run.Grades != nil {
		notes = append(notes, run.Grades.Notes...)
	}
	var lines []string
	for _, n := range notes {
		if line := Note(n, l); line != "" && keep(n) && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// What a reader is warned of. These are limits of what is worth a sentence: below them a difference is less than what
// the table shows in its three digits, or has another cause.
const (
	lengthTolerance = 0.01 // of the length asked for: an end token in a hundred
	packedFrom      = 1.05 // tokens per chunk: single chunks hold two at the end of an answer
	lateFrom        = 3e-3 // seconds between due and sent
	lateShare       = 0.05 // of TTFT
	cachedShare     = 0.1  // of the prompt: a chat template is cached by any server
)

// groupRows names rows together of which a check says the same.
func groupRows(run *rundir.Run, l lang.Lang, check func(*rundir.Stage) string) string {
	rows := map[string][]string{}
	var order []string
	for _, r := range AllStages(run) {
		text := check(r.Stage)
		if text == "" {
			continue
		}
		if rows[text] == nil {
			order = append(order, text)
		}
		rows[text] = append(rows[text], StageName(r.Stage))
	}
	var parts []string
	for _, text := range order {
		parts = append(parts, rowNames(rows[text], run, l)+lang.InParens.In(l, text))
	}
	return strings.Join(parts, lang.Semicolon.In(l))
}

const manyRowNames = 7 // from which on a warning names the first of them only

func rowNames(names []string, run *rundir.Run, l lang.Lang) string {
	if len(names) > 1 && len(names) == len(run.Stages) {
		return everyRow.In(l)
	}
	if len(names) >= manyRowNames {
		return otherRows.In(l, strings.Join(names[:3], lang.ListComma.In(l)), len(names)-3)
	}
	return strings.Join(names, lang.ListComma.In(l))
}

func clientLimit(s *rundir.Stage, l lang.Lang) string {
	if s.Invalid.IsZero() || measure.Accident(s.Invalid) { // an accident is a warning of its row
		return ""
	}
	return Phrase(s.Invalid, l)
}

// WrongLength compares the output tokens asked for with those received. Answers that are to end by themselves have no
// wrong length.
func WrongLength(run *rundir.Run, s *rundir.Stage, l lang.Lang) string {
	asked, got := s.AskedTokens, s.OutputTokens.Mean
	if run.Workload.Capped || s.TokenSource == "chunks" { // a guess proves nothing
		return ""
	}
	if !asked.Known() || !got.Known() || math.Abs(got.Value()-asked.Value()) <= lengthTolerance*asked.Value() {
		return ""
	}
	return detailLength.In(l, lang.Number(asked, lang.Short), lang.Number(got, lang.Short))
}

// wrongLengths returns the range of all stages with a wrong length for each of them: rows differ in numbers alone.
func wrongLengths(run *rundir.Run, s *rundir.Stage, l lang.Lang) string {
	if WrongLength(run, s, l) == "" {
		return ""
	}
	var asked, got []rundir.Number
	for i := range run.Stages {
		if st := &run.Stages[i]; WrongLength(run, st, l) != "" {
			asked, got = append(asked, st.AskedTokens), append(got, st.OutputTokens.Mean)
		}
	}
	return detailLength.In(l, numberRange(asked), numberRange(got))
}

func numberRange(all []rundir.Number) string {
	byValue := func(a, b rundir.Number) int { return cmp.Compare(a.Value(), b.Value()) }
	low := lang.Number(slices.MinFunc(all, byValue), lang.Short)
	high := lang.Number(slices.MaxFunc(all, byValue), lang.Short)
	if low == high {
		return low
	}
	return low + "-" + high
}

func tokenSource(s *rundir.Stage, l lang.Lang) string {
	switch s.TokenSource {
	case "", "server":
		return ""
	case "ids":
		return sourceIDs.In(l)
	case "tokenizer":
		return sourceTokenizer.In(l)
	case "chunks":
		return sourceChunks.In(l)
	}
	return s.TokenSource
}

func packedChunks(divided bool) func(*rundir.Stage, lang.Lang) string {
	return func(s *rundir.Stage, l lang.Lang) string {
		if k := s.TokensPerChunk; k.Known() && k.Value() > packedFrom && isDivided(s) == divided {
			return detailChunk.In(l, lang.Number(k, lang.Short))
		}
		return ""
	}
}

// isDivided reports whether gaps before chunks were divided among their tokens, since the server tells how many each
// has.
func isDivided(s *rundir.Stage) bool {
	const same = 0.001
	gap, itl := s.ChunkGap.Mean, s.ITL.Mean
	return !gap.Known() || !itl.Known() || math.Abs(gap.Value()-itl.Value()) > same*gap.Value()
}

func dueTTFT(s *rundir.Stage, l lang.Lang) string {
	due, sent := s.TTFTDue.P99, s.TTFT.P99
	if measure.Accident(s.Invalid) || !due.Known() || !sent.Known() ||
		math.Abs(due.Value()-sent.Value()) <= max(lateFrom, lateShare*sent.Value()) {
		return ""
	}
	return detailDue.In(l, lang.Time(due), lang.Time(sent))
}

// cachedPrompt leaves out a chat template, and the parts that the prompts share by order, which the columns of hits
// tell.
func cachedPrompt(s *rundir.Stage, l lang.Lang) string {
	cached, prompt := s.CachedTokens, s.PromptTokens.Mean
	if s.Sessions != nil { // of conversations that is what was asked for, and their columns tell it
		return ""
	}
	limit := cachedShare
	if s.Hits != nil {
		limit += s.Hits.Ideal.Or(0)
	}
	if !cached.Known() || !prompt.Known() || cached.Value() <= limit*prompt.Value() {
		return ""
	}
	return detailCached.In(l, lang.Number(cached, lang.Short), lang.Number(prompt, lang.Short))
}
