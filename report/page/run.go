// Package page makes pages of HTML: of a run, of a comparison, of a choice, and an index of many runs. A page is one file: its style and
// its script are in it, drawings are SVG, and nothing is loaded from anywhere. Both languages are in the file.
//
// Parts of a page are in block.go, sections.go, table.go and figure.go; layout.go and template.go write it. Drawings against the load are in view.go,
// rates.go and speed.go, those over time in overtime.go. Package draw has the means.
package page

import (
	"io"
	"strconv"
	"strings"

	"llmsweep/report/audit"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
	"llmsweep/sweep/slo"
)

// Run writes the page of a run. dir is its directory, whose records the drawings over time are made of; empty for none. Records that cannot be
// read are said in the page.
func Run(w io.Writer, run *rundir.Run, dir string, o WriteOptions) error {
	return WriteHTML(w, ofRun(run, dir, o.Live != ""), o)
}

// ofRun returns the page of a run, which goes on where live is set.
func ofRun(run *rundir.Run, dir string, live bool) *Document {
	v := newView(run)
	v.live = live
	var traces map[string]*traceStage
	var failure error
	if dir != "" {
		traces, failure = readTrace(dir, run, overTimeLimits(len(run.Stages)))
	}
	d := &Document{Title: lang.Both(func(l lang.Lang) string { return findings.SetupName(run, l) }), Subtitle: v.subtitle(), Data: map[string]any{}}
	d.Sections = append(d.Sections, v.answer())
	figures := v.byLoad()
	if len(figures) > 0 {
		d.Sections = append(d.Sections, Section{ID: "rates", Keys: true, Title: titleRates.Text(), Blocks: []Block{{Figures: figures}}})
	}
	if f, ok := timeline(v.View, traces); ok {
		d.Sections = append(d.Sections, Section{ID: "whole", Title: f.Title, Blocks: []Block{{Figures: []FigureBlock{f}}}})
	}
	if panels := panelsOverTime(v.View, traces, d.Data); len(panels) > 0 {
		d.Sections = append(d.Sections, Section{ID: "stages", Title: titleStages.Text(), Blocks: []Block{{Lines: &Lines{Items: []lang.Text{introStages.Text()}, Plain: true}}, {Stages: panels}}})
	} else if failure == nil && len(run.Stages) > 0 {
		d.Sections = append(d.Sections, Section{ID: "stages", Title: titleStages.Text(), Blocks: []Block{{Lines: &Lines{Items: []lang.Text{noRecords.Text()}, Plain: true}}}})
	}
	if failure != nil {
		d.Sections = append(d.Sections, Section{ID: "damaged", Title: titleDamaged.Text(), Blocks: []Block{{Lines: &Lines{Items: []lang.Text{recordsDamaged.Text(failure.Error())}, Plain: true}}}})
	}
	d.Sections = append(d.Sections, v.tables()...)
	if notes := v.notes(); len(notes.Blocks) > 0 {
		d.Sections = append(d.Sections, notes)
	}
	d.Sections = append(append(d.Sections, v.environment()), v.terms()...)
	return d
}

// view is a run while its page is made.
type view struct {
	*View
	live bool // the run goes on
}

func newView(run *rundir.Run) *view { return &view{View: NewView(run)} }

// state tells how far the run got.
func (v *view) state(l lang.Lang) []string {
	if v.live {
		return []string{liveState.In(l)}
	}
	return findings.State(v.Run, l)
}

// subtitle tells what was measured, and when.
func (v *view) subtitle() lang.Text {
	t := lang.Both(func(l lang.Lang) string { return v.state(l)[0] })
	if !v.Run.Started.IsZero() {
		t = lang.Same(v.Run.Started.Format("2006-01-02 15:04") + " · ").Plus(t)
	}
	return t
}

// answer is the first section: the number, the sentence, what to be careful about.
func (v *view) answer() Section {
	s := Section{ID: "answer", Title: titleAnswer.Text()}
	if v.live {
		s.Title = titleSoFar.Text()
	}
	s.Blocks = append(s.Blocks, Block{Headline: v.headline()})
	lines := lang.Sentences(func(l lang.Lang) []string {
		all := findings.Answer(v.Run, l)
		return all[min(1, len(all)):]
	})
	if len(lines) > 0 {
		s.Blocks = append(s.Blocks, Block{Lines: &Lines{Items: lines, Whole: true}})
	}
	const first = 6
	careful := lang.Sentences(func(l lang.Lang) []string { return v.careful(l) })
	if len(careful) == 0 {
		return s
	}
	s.Blocks = append(s.Blocks, Block{Heading: titleCareful.Text()})
	few := min(first, len(careful))
	s.Blocks = append(s.Blocks, Block{Lines: &Lines{Items: careful[:few], More: careful[few:], Class: "careful"}})
	return s
}

// careful are the sentences that a reader must know before using the numbers, those about the state of the run first.
func (v *view) careful(l lang.Lang) []string {
	var lines []string
	if state := v.state(l); len(state) > 1 {
		lines = append(lines, state...)
	}
	return append(lines, audit.Cautions(v.Run, l)...)
}

// headline is the large number: the saturation rate; without one the verdict on an SLO, or the output of the best stage.
func (v *view) headline() *Headline {
	h := &Headline{}
	a := saturation.AnswerOf(v.Run)
	users := a != nil && a.Carried != nil && !a.Carried.Users.IsZero()
	if a == nil || users || a.Kind == rundir.Sustains || a.Kind == rundir.Accepts || a.Rate.IsZero() { // else the number and its unit say it all
		h.Sentence = v.sentence()
	}
	if users {
		v.usersHeadline(h, a.Carried)
		return h
	}
	if a != nil && !a.Rate.IsZero() {
		v.rateHeadline(h, a)
		return h
	}
	if a != nil && a.Kind == rundir.Between {
		digits := lang.Estimate(a.Low, a.High)
		h.Number, h.Unit = lang.Number(a.Low, digits)+"–"+lang.Number(a.High, digits), unitBetween.Text()
		return h
	}
	if g := v.gate(); g != nil {
		v.gateHeadline(h, g)
		return h
	}
	if best := v.Best(); best != nil {
		output, ci, ok := setup.Output(best)
		h.Number, h.Unit = lang.Number(output, lang.Short), unitOutput.Text(findings.StageName(best))
		h.Interval = noInterval.Text()
		if ok {
			digits := lang.Precision((ci[1] - ci[0]) / 2)
			h.Number = lang.Number(output, digits)
			h.Interval = interval.Text(digits(ci[0], false), digits(ci[1], false))
		}
		h.Add(lang.Number(best.Rates.Completed, lang.Rate), tileDone.Text(), best.Rates.Completed)
		h.Add(lang.Time(best.TTFT.P50), tileTTFT.Text(), best.TTFT.P50)
		h.Add(lang.Time(best.TTFT.P99), tileTTFT99.Text(), best.TTFT.P99)
		return h
	}
	h.Number, h.Unit = lang.Absent, unitNothing.Text()
	return h
}

// gate is the only stage of a run that has an SLO; nil for other runs.
func (v *view) gate() *rundir.Stage {
	if len(v.Rows) != 1 || v.Rows[0].Stage.Goodput == nil {
		return nil
	}
	return v.Rows[0].Stage
}

// gateHeadline makes the verdict on an SLO the large word.
func (v *view) gateHeadline(h *Headline, s *rundir.Stage) {
	h.Verdict = findings.Promised(s.Goodput.Verdict)
	h.Unit = lang.Same(strings.Join(v.Run.Plan.SLO, ", "))
	for _, p := range s.Goodput.Terms {
		if t, err := slo.Parse(p.Term); err == nil && !p.Value.IsZero() {
			value := lang.Time(p.Value)
			if !t.Timed() {
				value = t.Amount(p.Value.Value())
			}
			h.Add(value, lang.Same(t.Name()), p.Value)
		}
	}
	h.Add(lang.Number(s.Rates.Completed, lang.Rate), tileDone.Text(), s.Rates.Completed)
}

// rateHeadline makes the rate of an answer the large number.
func (v *view) rateHeadline(h *Headline, a *rundir.Answer) {
	digits := lang.Estimate(a.Low, a.High)
	h.Interval = noInterval.Text()
	if a.Low.Known() && a.High.Known() {
		h.Interval = interval.Text(lang.Number(a.Low, digits), lang.Number(a.High, digits))
	}
	h.Number, h.Unit = lang.Number(rundir.Exactly(a.Rate.Value()), digits), answerUnits[a.Kind].Text()
	if a.Kind == rundir.AtLeast {
		h.Number, h.Interval = "≥ "+h.Number, noLimit.Text()
	}
	h.Add(lang.Number(a.Output, lang.Short), tileOutput.Text(), a.Output)
	if c := a.Comfortable; c != nil {
		rate := lang.Number(c.Rate, findings.ComfortableDigits(a))
		h.Add(lang.Time(c.TTFTMean), tileComfortable.Text(rate), c.TTFTMean)
		h.Add(lang.Time(c.TTFTP90), tileComfortable90.Text(rate), c.TTFTP90)
		h.Add(lang.Time(c.LatencyMean), tileLatencyAt.Text(rate), c.LatencyMean)
	}
	if p := a.Promise; p != nil && !p.Rate.IsZero() {
		h.Add(lang.Number(p.Rate, lang.Short), tileSLO.Text(), p.Rate)
	}
}

// usersHeadline makes a number of users the large number.
func (v *view) usersHeadline(h *Headline, c *rundir.Carried) {
	h.Number, h.Unit, h.Interval = lang.Shortest(c.Users.Value()), unitUsers.Text(), noInterval.Text()
	switch {
	case c.Users.Bound():
		h.Number, h.Interval = "≥ "+h.Number, noLimit.Text()
	case c.Low.Known() && c.High.Known():
		h.Interval = interval.Text(lang.Shortest(c.Low.Value()), lang.Shortest(c.High.Value()))
	}
	if r := c.Within; r != nil {
		h.Add(lang.Number(r.Output, lang.Short), tileUsersOutput.Text(r.Stage), r.Output)
		h.Add(lang.Number(lang.Scale(r.Hits, 100), lang.Tenths)+" %", tileHits.Text(r.Stage), r.Hits)
	}
}

// answerUnits say what the rate of an answer is.
var answerUnits = map[rundir.AnswerKind]lang.Phrase{
	rundir.Saturates: unitSaturation, rundir.Sustains: unitSustained, rundir.Accepts: unitAccepted, rundir.AtLeast: unitAtLeast,
}

// sentence is the answer in one sentence.
func (v *view) sentence() lang.Text {
	return lang.Both(func(l lang.Lang) string {
		if all := findings.Answer(v.Run, l); len(all) > 0 {
			return all[0]
		}
		if best := v.Best(); best != nil {
			return strings.Join(findings.StageFacts(best, l), lang.Comma.In(l)) + lang.Stop.In(l)
		}
		return nothingMeasured.In(l)
	})
}

// tables are all rows with their numbers, and what belongs to them.
func (v *view) tables() []Section {
	if len(v.Rows) == 0 {
		return nil
	}
	t := v.allRows()
	t.Open = true
	all := []Section{{ID: "rows", Title: titleRows.Text(), Blocks: []Block{{Table: t}}}}
	for i, t := range findings.TurnTables(v.Run) {
		name := "turns" + strconv.Itoa(i+1)
		all = append(all, Section{ID: name + "-section", Title: t.Title, Blocks: []Block{{Table: &Grid{Table: t, Name: name, Open: true}}}})
	}
	for _, t := range findings.AnswerLengths(v.Run) {
		all = append(all, Section{ID: "lengths", Title: t.Title, Blocks: []Block{{Table: &Grid{Table: t, Name: "lengths", Open: true}}}})
	}
	return append(all, v.replicas()...)
}

// allRows is the table of all stages.
func (v *view) allRows() *Grid {
	columns := findings.Pick("name", "rates_offered", "rates_completed", "tokens_per_s_output", "concurrency_mean",
		"ttft_s_mean", "ttft_s_p50", "ttft_s_p90", "ttft_s_p99", "first_answer_s_p50", "first_answer_s_p99",
		"inter_token_s", "itl_s_p50", "itl_s_p99", "latency_s_mean", "latency_s_p50", "latency_s_p99",
		"cache_ideal", "cache_hits", "sessions_hits", "sessions_again", "sessions_good", "turns_good", "requests_due", "remark")
	t := &Grid{Table: findings.TabulateStages(findings.For([]rundir.Run{*v.Run}, columns), v.Rows, findings.UnitBeside), Name: "all"}
	t.Title, t.Notes = titleRows.Text(), findings.Legend(t.Table)
	if v.Open {
		t.Notes = append(t.Notes, noteNames.Text())
	}
	return t
}

// notes are the errors, how far the run got, and what changes nothing. What to be careful about stands in the answer.
func (v *view) notes() Section {
	s := Section{ID: "notes", Title: titleNotes.Text()}
	add := func(heading lang.Text, of func(lang.Lang) []string) {
		if items := lang.Sentences(of); len(items) > 0 {
			s.Blocks = append(s.Blocks, Block{Heading: heading}, Block{Lines: &Lines{Items: items}})
		}
	}
	add(titleErrors.Text(), func(l lang.Lang) []string { return findings.Errors(v.Run, l) })
	if state := v.state(lang.English); len(state) == 1 && !v.live { // else the answer has it
		add(titleState.Text(), func(l lang.Lang) []string { return findings.State(v.Run, l) })
	}
	add(titleRemarks.Text(), func(l lang.Lang) []string { return findings.Notes(v.Run, l) })
	return s
}
