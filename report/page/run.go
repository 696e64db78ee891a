package page

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"llmsweep/client/note"
	"llmsweep/report/curve"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/page/draw"
	"llmsweep/report/page/trace"
	"llmsweep/report/stages"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
)

// Run writes the page of a run. dir is its directory, whose records the drawings over time are made of; empty for none. Records that cannot be
// read are said in the page.
func Run(w io.Writer, run *rundir.Run, dir string, o Options) error {
	return Write(w, OfRun(run, dir), o)
}

// OfRun returns the page of a run.
func OfRun(run *rundir.Run, dir string) *Document {
	v := newView(run)
	var traces map[string]*trace.Stage
	var failure error
	if dir != "" {
		traces, failure = trace.Read(dir, run, limits(len(run.Stages)))
	}
	d := &Document{Title: draw.Both(func(l lang.Lang) string { return stages.Setup(run, l) }), Subtitle: v.subtitle(), Data: map[string]any{}}
	d.Sections = append(d.Sections, v.answer())
	figures := v.rates()
	if f, ok := speed("speed", alone(run), nil); ok {
		figures = append(figures, f)
	}
	if len(figures) > 0 {
		d.Sections = append(d.Sections, Section{ID: "rates", Title: say(titleRates), Blocks: []Block{{Figures: figures}}})
	}
	if panels := v.panels(traces, d.Data); len(panels) > 0 {
		d.Sections = append(d.Sections, Section{ID: "stages", Title: say(titleStages), Blocks: []Block{{Lines: &Lines{Items: []draw.Text{say(introStages)}, Plain: true}}, {Stages: panels}}})
	} else if failure == nil && len(run.Stages) > 0 {
		d.Sections = append(d.Sections, Section{ID: "stages", Title: say(titleStages), Blocks: []Block{{Lines: &Lines{Items: []draw.Text{say(noRecords)}, Plain: true}}}})
	}
	if failure != nil {
		d.Sections = append(d.Sections, Section{ID: "damaged", Title: say(titleDamaged), Blocks: []Block{{Lines: &Lines{Items: []draw.Text{say(recordsDamaged, failure.Error())}, Plain: true}}}})
	}
	d.Sections = append(d.Sections, v.tables()...)
	d.Sections = append(d.Sections, v.notes(), v.client(), v.environment())
	return d
}

// view is a run while its page is made.
type view struct {
	run    *rundir.Run
	rows   []stages.Row
	open   bool // some stage has an arrival rate: the x axis is the rate
	terms  []slo.Term
	number map[string]int // of stages, in the order of tables
}

func newView(run *rundir.Run) *view {
	v := &view{run: run, rows: stages.All(run), number: map[string]int{}}
	v.open = slices.ContainsFunc(run.Stages, func(s rundir.Stage) bool { return s.Rate.Known() })
	v.terms, _ = slo.ParseAll(run.Plan.SLO) // a term of a newer llmsweep is not drawn
	for i, r := range v.rows {
		v.number[r.Stage.Name] = i
	}
	return v
}

// subtitle tells what was measured, and when.
func (v *view) subtitle() draw.Text {
	t := draw.Both(func(l lang.Lang) string { return findings.State(v.run, l)[0] })
	if !v.run.Started.IsZero() {
		t = draw.Same(v.run.Started.Format("2006-01-02 15:04") + " · ").Plus(t)
	}
	return t
}

// rowName is what a stage is called.
func rowName(s *rundir.Stage) string { return stages.Name(s) }

// answer is the first section: the number, the sentence, what to be careful about.
func (v *view) answer() Section {
	s := Section{ID: "answer", Title: say(titleAnswer)}
	s.Blocks = append(s.Blocks, Block{Headline: v.headline()})
	lines := sentences(func(l lang.Lang) []string {
		all := findings.Answer(v.run, l)
		return all[min(1, len(all)):]
	})
	if len(lines) > 0 {
		s.Blocks = append(s.Blocks, Block{Lines: &Lines{Items: lines, Whole: true}})
	}
	const first = 6
	careful := sentences(func(l lang.Lang) []string { return v.careful(l) })
	s.Blocks = append(s.Blocks, Block{Heading: say(titleCareful)})
	if len(careful) == 0 {
		s.Blocks = append(s.Blocks, Block{Lines: &Lines{Items: []draw.Text{say(nothingCareful)}, Class: "fine"}})
		return s
	}
	few := min(first, len(careful))
	s.Blocks = append(s.Blocks, Block{Lines: &Lines{Items: careful[:few], More: careful[few:], Class: "careful"}})
	return s
}

// careful are the sentences that a reader must know before using the numbers, those about the state of the run first.
func (v *view) careful(l lang.Lang) []string {
	var lines []string
	if state := findings.State(v.run, l); len(state) > 1 {
		lines = append(lines, state...)
	}
	return append(lines, findings.Warnings(v.run, l)...)
}

// headline is the large number: the saturation rate; without one the output of the best stage.
func (v *view) headline() *Headline {
	h := &Headline{Sentence: v.sentence()}
	sat := v.run.Saturation
	if sat != nil && !sat.Rate.IsZero() {
		digits := lang.Printer(lang.Short)
		if sat.Low.Known() && sat.High.Known() {
			digits = lang.Precision((sat.High.Value() - sat.Low.Value()) / 2)
			h.Interval = say(interval, lang.Number(sat.Low, digits), lang.Number(sat.High, digits))
		} else {
			h.Interval = say(noInterval)
		}
		h.Number, h.Unit = lang.Number(rundir.Exactly(sat.Rate.Value()), digits), say(unitSaturation)
		if sat.Rate.Bound() {
			h.Number, h.Unit, h.Interval = "≥ "+h.Number, say(unitAtLeast), say(noLimit)
		}
		h.add(lang.Number(sat.Output, lang.Short), say(tileOutput), sat.Output)
		h.add(lang.Number(sat.Comfortable, lang.Short), say(tileComfortable), sat.Comfortable)
		if p := v.run.SLO; p != nil && !p.Rate.IsZero() {
			h.add(lang.Number(p.Rate, lang.Short), say(tileSLO), p.Rate)
		}
		return h
	}
	if best := v.best(); best != nil {
		output, ci, ok := curve.Output(best)
		h.Number, h.Unit = lang.Number(output, lang.Short), say(unitOutput, rowName(best))
		h.Interval = say(noInterval)
		if ok {
			digits := lang.Precision((ci[1] - ci[0]) / 2)
			h.Number = lang.Number(output, digits)
			h.Interval = say(interval, digits(ci[0], false), digits(ci[1], false))
		}
		h.add(lang.Number(best.Rates.Completed, lang.Rate), say(tileDone), best.Rates.Completed)
		h.add(lang.Time(best.TTFT.P50), say(tileTTFT), best.TTFT.P50)
		h.add(lang.Time(best.TTFT.P99), say(tileTTFT99), best.TTFT.P99)
		return h
	}
	h.Number, h.Unit = lang.Absent, say(unitNothing)
	return h
}

// add adds a number that exists.
func (h *Headline) add(text string, what draw.Text, n rundir.Number) {
	if !n.IsZero() {
		h.Also = append(h.Also, Tile{text, what})
	}
}

// best is the stage with the highest output, of those that are to be relied on.
func (v *view) best() *rundir.Stage {
	var best *rundir.Stage
	for _, r := range v.rows {
		s := r.Stage
		if !s.Invalid.IsZero() || !s.TokensPerS.Output.Known() || s.TokensPerS.Output.Value() <= 0 {
			continue
		}
		if best == nil || s.TokensPerS.Output.Value() > best.TokensPerS.Output.Value() {
			best = s
		}
	}
	return best
}

// sentence is the answer in one sentence.
func (v *view) sentence() draw.Text {
	return draw.Both(func(l lang.Lang) string {
		if all := findings.Answer(v.run, l); len(all) > 0 {
			return all[0]
		}
		if best := v.best(); best != nil {
			return strings.Join(findings.StageFacts(best, l), lang.Comma.In(l)) + lang.Stop.In(l)
		}
		return nothingMeasured.In(l)
	})
}

// tables are all rows with their numbers, and what belongs to them.
func (v *view) tables() []Section {
	if len(v.rows) == 0 {
		return nil
	}
	t := v.allRows()
	t.Open = true
	all := []Section{{ID: "rows", Title: say(titleRows), Blocks: []Block{{Table: t}}}}
	if repeats := findings.Repeats(v.run, lang.English); len(repeats.Rows) > 0 {
		r := bilingual("repeats", say(titleRepeats), func(l lang.Lang) table.Table { return findings.Repeats(v.run, l) })
		r.Open = true
		r.Notes = sentences(func(l lang.Lang) []string { return findings.RepeatNotes(repeats, l) })
		all = append(all, Section{ID: "repeats-section", Title: say(titleRepeats), Blocks: []Block{{Table: r}}})
	}
	return append(all, v.replicas()...)
}

// allRows is the table of all stages.
func (v *view) allRows() *Table {
	t := &Table{Name: "all", Title: say(titleRows)}
	head := func(text draw.Text, left bool) { t.Columns = append(t.Columns, Column{Head: text, Left: left}) }
	head(draw.Say(lang.HeadBenchmark), true)
	head(say(headVerdict), true)
	head(say(headRole), true)
	for _, h := range []draw.Text{
		say(headOffered), say(headDone), say(headOutput), say(headFlight), say(headPercentile, "TTFT", "p50"), say(headPercentile, "TTFT", "p99"),
		say(headPercentile, "ITL", "p50"), say(headPercentile, "ITL", "p99"), say(headLatency, "p50"), say(headLatency, "p99"), say(headRequests), say(headFailed),
	} {
		head(h, false)
	}
	marks := map[string]bool{}
	for _, r := range v.rows {
		s := r.Stage
		name := plain(rowName(s) + stages.Marks(s))
		name.Class = "strong"
		row := Row{Cells: []Cell{name, verdictCell(s), {Text: roleName(s.Role)}}}
		row.Cells = append(row.Cells,
			number(s.Rates.Offered, lang.Rate), number(lang.NonZero(s.Rates.Completed), lang.Rate), number(lang.NonZero(s.TokensPerS.Output), lang.Short),
			number(s.Concurrency.Mean, lang.Tenths), percentile(&s.TTFT, "p50"), percentile(&s.TTFT, "p99"), percentile(&s.ITL, "p50"), percentile(&s.ITL, "p99"),
			percentile(&s.Latency, "p50"), percentile(&s.Latency, "p99"), plain(itoa(s.Requests.Due)), plain(itoa(stages.Failed(s))))
		for _, c := range row.Cells {
			for _, m := range []string{table.MarkUnsupported, table.MarkCut, table.MarkInvalid, table.MarkExceeded} {
				marks[m] = marks[m] || strings.HasSuffix(c.Text.EN, m)
			}
			marks[">"] = marks[">"] || strings.HasPrefix(c.Text.EN, "> ")
		}
		t.Rows = append(t.Rows, row)
	}
	probe := table.Table{Rows: [][]table.Cell{{}}}
	for _, m := range []string{table.MarkUnsupported, table.MarkCut, table.MarkInvalid, table.MarkExceeded} {
		if marks[m] {
			probe.Rows[0] = append(probe.Rows[0], table.Cell{Text: "x", Mark: m})
		}
	}
	if marks[">"] {
		probe.Rows[0] = append(probe.Rows[0], table.Cell{Text: "> 1"})
	}
	t.Notes = sentences(func(l lang.Lang) []string { return findings.Legend([]table.Table{probe}, l) })
	return t
}

// number is a cell with a number.
func number(n rundir.Number, p lang.Printer) Cell {
	if n.IsZero() {
		return Cell{Text: draw.Same(lang.Absent), Class: "soft"}
	}
	return plain(lang.Number(n, p))
}

// duration is a cell with a time.
func duration(n rundir.Number) Cell {
	if n.IsZero() {
		return Cell{Text: draw.Same(lang.Absent), Class: "soft"}
	}
	return plain(lang.Time(n))
}

// percentile is a cell with a percentile, marked where too few samples support it.
func percentile(d *rundir.Dist, name string) Cell {
	c := duration(d.Get(name))
	if c.Text.EN != lang.Absent && !d.Supported(name) {
		c.Text = c.Text.Plus(draw.Same(table.MarkUnsupported))
	}
	return c
}

// verdictCell is a cell with a verdict: its sign and its word.
func verdictCell(s *rundir.Stage) Cell {
	shape, word := shapeOf(s)
	return Cell{Text: word, Class: "verdict " + identifier(s.Verdict), Raw: markup(shape.Key())}
}

// notes are all the notes and errors.
func (v *view) notes() Section {
	s := Section{ID: "notes", Title: say(titleNotes)}
	add := func(heading draw.Text, of func(lang.Lang) []string) {
		if items := sentences(of); len(items) > 0 {
			s.Blocks = append(s.Blocks, Block{Heading: heading}, Block{Lines: &Lines{Items: items}})
		}
	}
	add(say(titleErrors), func(l lang.Lang) []string { return findings.Errors(v.run, l) })
	add(say(titleWarnings), func(l lang.Lang) []string { return findings.Warnings(v.run, l) })
	add(say(titleState), func(l lang.Lang) []string { return findings.State(v.run, l) })
	return s
}

// client is the certificate: whether this program was fit to measure, by its own lag, CPU use and reading.
func (v *view) client() Section {
	s := Section{ID: "client", Title: say(titleClient)}
	bad := 0
	for i := range v.run.Stages {
		if !v.run.Stages[i].Invalid.IsZero() {
			bad++
		}
	}
	line, class := say(clientFit, len(v.run.Stages)), "fine"
	switch {
	case v.run.Source != nil:
		line, class = say(clientUnknown), "careful"
	case bad > 0:
		line, class = say(clientUnfit, bad, len(v.run.Stages)), "careful"
	case len(v.run.Stages) == 0:
		line = say(nothingMeasuredText)
	case v.late() > 0:
		line, class = say(clientLate, len(v.run.Stages), v.late()), "careful"
	}
	s.Blocks = append(s.Blocks, Block{Lines: &Lines{Items: []draw.Text{line}, Class: class}})
	if v.run.Source != nil {
		return s
	}
	facts := sentences(func(l lang.Lang) []string {
		var all []string
		if t := findings.Timestamps(v.run.Client.Timestamps, l); t != "" {
			all = append(all, timesTaken.In(l, t))
		}
		if t := v.run.Client.Selftest; t != nil {
			all = append(all, findings.SelftestVerdict(t, l))
		}
		for _, n := range v.run.Client.Warnings {
			all = append(all, findings.Note(n, l))
		}
		return all
	})
	if len(facts) > 0 {
		s.Blocks = append(s.Blocks, Block{Lines: &Lines{Items: facts}})
	}
	if len(v.rows) == 0 {
		return s
	}
	t := &Table{Name: "clients", Title: say(titleClient)}
	t.Columns = []Column{{Head: draw.Say(lang.HeadBenchmark), Left: true}, {Head: say(headLag)}, {Head: say(headCPU)}, {Head: say(headGC)}, {Head: say(headRead)}, {Head: say(headFit), Left: true}}
	for _, r := range v.rows {
		st := r.Stage
		fit := Cell{Text: say(fitYes), Class: "good"}
		if !st.Invalid.IsZero() {
			fit = Cell{Text: draw.Both(func(l lang.Lang) string { return findings.Phrase(st.Invalid, l) }), Class: "bad"}
		}
		share := func(n rundir.Number) Cell { return number(lang.Scale(n, 100), lang.Short) }
		t.Rows = append(t.Rows, Row{Cells: []Cell{plain(rowName(st)), duration(st.Lag.P99), share(st.ClientCPU), share(st.ClientGC), duration(st.ReadDelay.P99), fit}})
	}
	s.Blocks = append(s.Blocks, Block{Table: t})
	return s
}

// late counts the stages with a note that requests were sent, or tokens read, late.
func (v *view) late() int {
	n := 0
	for i := range v.run.Stages {
		if findings.SentLate(&v.run.Stages[i]) || slices.ContainsFunc(v.run.Stages[i].Warnings, func(w note.Note) bool { return w.Code == "client.sent-late" || w.Code == "client.read-late" }) {
			n++
		}
	}
	return n
}

// environment is what is needed to repeat the run.
func (v *view) environment() Section {
	s := Section{ID: "environment", Title: say(titleEnvironment)}
	en, zh := findings.Environment(v.run, lang.English), findings.Environment(v.run, lang.Chinese)
	t := &Table{Name: "env", Title: say(titleEnvironment), Open: true, Columns: []Column{{Head: say(headWhat), Left: true}, {Head: say(headValue), Left: true}}}
	for i, f := range en {
		t.Rows = append(t.Rows, Row{Cells: []Cell{{Text: draw.Text{EN: f.Name, ZH: zh[i].Name}}, {Text: draw.Text{EN: f.Text, ZH: zh[i].Text}, Class: "wrap"}}})
	}
	s.Blocks = append(s.Blocks, Block{Table: t})
	if args := v.run.Command.Args; len(args) > 0 {
		var words []string
		for _, a := range args {
			words = append(words, quoted(a))
		}
		s.Blocks = append(s.Blocks, Block{Heading: say(titleCommand)}, Block{Code: table.Clean(strings.Join(words, " "))})
	}
	return s
}

// quoted is an argument as a POSIX shell takes it.
func quoted(a string) string {
	if a != "" && !strings.ContainsFunc(a, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=,@%+", r))
	}) {
		return a
	}
	return "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
}

// limits bound what is drawn of each stage, so that the page of any run stays below a megabyte.
func limits(n int) trace.Limits {
	const points, slowest, usual = 3 * trace.Intervals, 4, 20
	share := min(1, usual/float64(max(n, 1)))
	return trace.Limits{Points: int(points * share), Slowest: max(2, int(slowest*share))}
}

// byX orders points along the axis.
func byX(a, b draw.Point) int { return cmp.Compare(a.X, b.X) }

// known reports whether a value can be drawn.
func known(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

func sprint(v float64) string { return fmt.Sprintf("%.4g", v) }
