// Package page makes pages of HTML: of a run, of a comparison, of a choice, and an index of many runs. A page is one
// file: its style and its script are in it, drawings are SVG, and nothing is loaded from anywhere. Both languages are
// in the file.
//
// It computes no metric and decides no verdict. Begin with run.go, the page of a run. Parts of a page are in block.go,
// table.go and figure.go; layout.go and template.go write it. Drawings against the load are in view.go, rates.go and
// speed.go, those over time in overtime.go. Package draw makes the SVG.
package page

import (
	"io"
	"math"
	"strconv"
	"strings"

	"llmsweep/report/audit"
	"llmsweep/report/draw"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
	"llmsweep/sweep/slo"
)

// Run writes the page of a run. Drawings over time are made of the records in dir, which is empty for none. Records
// that cannot be read are named in the page.
func Run(w io.Writer, run *rundir.Run, dir string, o WriteOptions) error {
	return writeHTML(w, runDocument(run, dir, o.Live != ""), o)
}

func runDocument(run *rundir.Run, dir string, live bool) *Document {
	v := &runPage{newView(run), live}
	var traces map[string]*traceStage
	var failure error
	if dir != "" {
		traces, failure = readTrace(dir, run, overTimeLimits(len(run.Stages)))
	}
	d := &Document{
		Title:    lang.Both(func(l lang.Lang) string { return findings.SetupName(run, l) }),
		Subtitle: lang.Both(func(l lang.Lang) string { return v.state(l)[0] }),
		Data:     map[string]any{},
	}
	if !run.Started.IsZero() {
		d.Subtitle = lang.Same(run.Started.Format("2006-01-02 15:04") + " · ").Plus(d.Subtitle)
	}
	d.Sections = append(d.Sections, v.answer())
	d.Sections = append(d.Sections, v.rows()...)
	figures := v.loadFigures()
	if f, ok := timeline(v.view, traces); ok {
		figures = append(figures, f)
	}
	if len(figures) > 0 {
		title := titleRates.Text()
		d.Sections = append(d.Sections,
			Section{ID: "rates", Markers: v.markers(), Title: title, Blocks: []Block{{Figures: figures}}})
	}
	if panels := stagePanels(v.view, traces, d.Data); len(panels) > 0 {
		d.Sections = append(d.Sections,
			Section{ID: "stages", Title: titleOverTime.Text(), Blocks: []Block{{Stages: panels}}})
	}
	d.Sections = append(d.Sections, v.tables()...)
	if failure != nil {
		lines := &Lines{Items: []lang.Text{recordsDamaged.Text(failure.Error())}, Plain: true}
		d.Sections = append(d.Sections, Section{ID: "damaged", Title: titleDamaged.Text(), Blocks: []Block{{Lines: lines}}})
	}
	for _, part := range []struct {
		id    string
		title lang.Phrase
		of    func(*rundir.Run, lang.Lang) []string
	}{{"errors", titleErrors, findings.Errors}, {"notes", titleRemarks, findings.Notes}} {
		lines := lang.Sentences(func(l lang.Lang) []string { return part.of(run, l) })
		if len(lines) > 0 {
			d.Sections = append(d.Sections,
				Section{ID: part.id, Title: part.title.Text(), Blocks: []Block{{Lines: &Lines{Items: lines}}}})
		}
	}
	d.Sections = append(append(d.Sections, v.environment()), v.terms()...)
	return d
}

type runPage struct {
	*view
	live bool // the run goes on
}

func (v *runPage) state(l lang.Lang) []string {
	if v.live {
		return []string{liveState.In(l)}
	}
	return findings.State(v.Run, l)
}

func (v *runPage) answer() Section {
	s := Section{ID: "answer", Title: titleAnswer.Text()}
	if v.live {
		s.Title = titleSoFar.Text()
	}
	add := func(class string, lines []lang.Text, first int) {
		if n := min(first, len(lines)); n > 0 {
			s.Blocks = append(s.Blocks,
				Block{Lines: &Lines{Items: lines[:n], More: lines[n:], Class: class, Whole: class == ""}})
		}
	}
	const most = 6
	before, main, rest := findings.AnswerParts(v.Run)
	add("careful", before, most)
	s.Blocks = append(s.Blocks, Block{Headline: v.headline(main)})
	add("", rest, math.MaxInt)
	if cautions := lang.Sentences(v.cautions); len(cautions) > 0 {
		s.Blocks = append(s.Blocks, Block{Heading: titleCareful.Text()})
		add("careful", cautions, most)
	}
	return s
}

func (v *runPage) cautions(l lang.Lang) []string {
	var lines []string
	if state := v.state(l); len(state) > 1 {
		lines = append(lines, state...)
	}
	return append(lines, audit.Cautions(v.Run, l)...)
}

// headline is the saturation rate; without one the verdict on an SLO, or the output of the best stage.
func (v *runPage) headline(main lang.Text) *Headline {
	h := &Headline{Sentence: v.sentence(main)}
	a := saturation.AnswerOf(v.Run)
	if number := draw.AnswerNumber(a); number != "" {
		h.Number, h.Unit = number, lang.Same("req/s")
		if a.Carried != nil {
			h.Unit = axisUsers.Text()
		}
		return h
	}
	if len(v.Rows) == 1 && v.Rows[0].Stage.Goodput != nil {
		v.addSLOVerdict(h, v.Rows[0].Stage.Goodput)
		return h
	}
	h.Number, h.Unit = lang.Absent, unitNothing.Text()
	if best := v.best(); best != nil {
		h.Number, h.Unit = lang.Number(best.TokensPerS.Output, lang.Short), unitOutput.Text(findings.StageName(best))
	}
	return h
}

func (v *runPage) addSLOVerdict(h *Headline, g *rundir.Goodput) {
	h.Verdict = findings.SLOCell(g.Verdict)
	h.Unit = lang.Same(strings.Join(v.Run.Plan.SLO, ", "))
	for _, p := range g.Terms {
		if t, err := slo.Parse(p.Term); err == nil && !p.Value.IsZero() {
			value := lang.Time(p.Value)
			if !t.Timed() {
				value = t.Amount(p.Value.Value())
			}
			h.Add(value, lang.Same(t.Name()), p.Value)
		}
	}
}

func (v *view) sentence(main lang.Text) lang.Text {
	if !main.IsZero() {
		return main
	}
	best := v.best()
	if best == nil {
		return nothingMeasured.Text()
	}
	return lang.Both(func(l lang.Lang) string {
		return strings.Join(findings.StageFacts(best, l), lang.Comma.In(l)) + lang.Stop.In(l)
	})
}

func (v *runPage) rows() []Section {
	if len(v.Rows) == 0 {
		return nil
	}
	t := v.allRows()
	t.Open = true
	return []Section{{ID: "rows", Title: titleRows.Text(), Blocks: []Block{{Table: t}}}}
}

func (v *runPage) tables() (all []Section) {
	add := func(name string, t table.Table, notes []lang.Text) {
		all = append(all, Section{
			ID:     name + "-section",
			Title:  t.Title,
			Blocks: []Block{{Table: &Grid{Table: t, Name: name, Open: true, Notes: notes}}},
		})
	}
	for i, t := range findings.TurnTables(v.Run) {
		add("turns"+strconv.Itoa(i+1), t, nil)
	}
	for i, t := range findings.AnswerLengths(v.Run) {
		add("lengths"+strconv.Itoa(i+1), t, nil)
	}
	return append(all, v.replicas()...)
}

func (v *runPage) allRows() *Grid {
	columns := findings.Pick("name", "rates_offered", "rates_completed", "tokens_per_s_output", "concurrency_mean",
		"ttft_s_mean", "ttft_s_p50", "ttft_s_p90", "ttft_s_p99", "first_answer_s_p50", "first_answer_s_p99",
		"inter_token_s", "itl_s_p50", "itl_s_p99", "tpot_s_mean", "tpot_s_p50", "tpot_s_p99", "latency_s_mean",
		"latency_s_p50", "latency_s_p99", "cache_ideal", "cache_hits", "sessions_hits", "sessions_again",
		"sessions_good", "turns_good", "requests_due", "remark")
	columns = findings.SelectColumns([]rundir.Run{*v.Run}, columns)
	t := &Grid{Table: findings.TabulateStages(columns, v.Rows, findings.UnitInHead), Name: "all"}
	t.Title, t.Notes = titleRows.Text(), findings.Legend(t.Table)
	if v.Open {
		t.Notes = append(t.Notes, noteNames.Text())
	}
	return t
}
