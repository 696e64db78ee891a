package report

import (
	"io"
	"slices"
	"strconv"
	"strings"

	"llmsweep/report/audit"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	write "llmsweep/report/published"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// Markdown writes a document: the answer, then for each run the six-column table as others publish it, and beneath it
// what that format has no room for.
func Markdown(w io.Writer, runs []rundir.Run, l lang.Lang) error { return markdown(w, runs, l, nil) }

// Drawing is a drawing in a file beside a document.
type Drawing struct {
	Name string
	File string
}

// Illustrated writes the document of one run, which shows drawings after the answer.
func Illustrated(w io.Writer, run *rundir.Run, l lang.Lang, drawings []Drawing) error {
	return markdown(w, []rundir.Run{*run}, l, drawings)
}

func markdown(w io.Writer, runs []rundir.Run, l lang.Lang, drawings []Drawing) error {
	d := document{table.NewMarkdown(w, l), l}
	title, level := titleSeveral.In(l, strconv.Itoa(len(runs))), "####"
	if len(runs) == 1 {
		title, level = titleLoad.In(l, findings.SetupName(&runs[0], l)), "###"
	}
	d.Heading("#", title)
	d.Heading("##", wordSummary.In(l))
	for i := range runs {
		lines := summary(&runs[i], l)
		if len(runs) == 1 {
			d.List("", lines)
			continue
		}
		d.List("", []string{findings.SetupName(&runs[i], l)})
		d.List("  ", lines)
	}
	for i, f := range drawings {
		if i == 0 {
			d.W.WriteString("\n")
		}
		d.W.WriteString("![" + table.Escape(f.Name) + "](<" + f.File + ">)\n")
	}
	d.Heading("##", wordDetails.In(l))
	for i := range runs {
		if len(runs) > 1 {
			d.Heading("###", strconv.Itoa(i+1)+". "+findings.SetupName(&runs[i], l))
		}
		d.run(&runs[i], level)
	}
	d.terms(runs)
	return d.Flush()
}

// document writes a run as Markdown, in one language.
type document struct {
	*table.Markdown
	l lang.Lang
}

// summary is the answer; where there is none, how far the run got and what each stage found.
func summary(run *rundir.Run, l lang.Lang) []string {
	lines := findings.Answer(run, l)
	if len(lines) == 0 {
		for _, r := range findings.InTable(run) {
			lines = append(lines, strings.Join(findings.StageFacts(r.Stage, l), lang.Comma.In(l))+lang.Stop.In(l))
		}
	}
	if far := findings.State(run, l); len(far) > 1 {
		lines = append(far[:1:1], lines...)
	}
	return lines
}

// run writes one run: the published table, and what it has no room for.
func (d document) run(run *rundir.Run, level string) {
	write.WriteSixColumn(d.Markdown, run, d.l)
	published := append(write.SixColumns(run), findings.Pick("verdict")...)
	if probes := findings.ProbeStages(run); len(probes) > 0 {
		d.Heading(level, wordProbes.In(d.l))
		d.Table(findings.TabulateStages(published, probes, findings.UnitWithin))
	}
	if len(run.Stages) > 0 {
		high := func(id string) string { return findings.HighestSupported([]rundir.Run{*run}, id) }
		columns := findings.Pick("name", "requests_ok", "failed", "rates_offered", "concurrency_mean", "ttft_s_p50", high("ttft_s"))
		columns = append(columns, findings.For([]rundir.Run{*run}, findings.Pick("first_answer_s_p50", high("first_answer_s")))...)
		columns = append(columns, findings.Pick("itl_s_p50", high("itl_s"), "latency_s_p50", high("latency_s"), "length", "verdict")...)
		columns = append(columns, findings.For([]rundir.Run{*run}, findings.Pick("cache_ideal", "cache_hits", "sessions_hits", "sessions_again", "sessions_good", "turns_good", "goodput_rate", "goodput_tokens_per_s", "goodput_verdict"))...)
		t := findings.TabulateStages(columns, findings.AllStages(run), findings.UnitWithin)
		if run.Source != nil {
			t = known(t)
		}
		if len(t.Columns) > 2 { // more than the name and the rate
			d.Heading(level, wordRows.In(d.l))
			d.Table(t)
			d.List("", lang.In(findings.Legend(t), d.l))
		}
	}
	if t := findings.RepeatTable(run); len(t.Rows) > 0 {
		d.Heading(level, wordRepeats.In(d.l))
		d.Table(t)
		d.List("", lang.In(findings.RepeatNotes(t), d.l))
	}
	for _, t := range slices.Concat(findings.AnswerLengths(run), findings.ReplicaTable(run), findings.TurnTables(run)) {
		d.Heading(level, t.Title.In(d.l))
		d.Table(t)
	}
	if own := findings.For([]rundir.Run{*run}, findings.Pick(ownView()...)); len(own) > 0 {
		d.Heading(level, wordServer.In(d.l))
		d.Table(findings.TabulateStages(append(findings.Pick("name"), own...), findings.AllStages(run), findings.UnitWithin))
	}
	if lines := findings.Errors(run, d.l); len(lines) > 0 {
		d.Heading(level, wordErrors.In(d.l))
		d.List("", lines)
	}
	if lines := audit.Cautions(run, d.l); len(lines) > 0 {
		d.Heading(level, wordWarnings.In(d.l))
		d.List("", lines)
	}
	if lines := findings.Notes(run, d.l); len(lines) > 0 {
		d.Heading(level, wordNotes.In(d.l))
		d.List("", lines)
	}
	d.Heading(level, wordState.In(d.l))
	d.List("", findings.State(run, d.l))
	d.Heading(level, wordEnvironment.In(d.l))
	var facts []string
	for _, f := range findings.EnvironmentOf(run, d.l) {
		facts = append(facts, f.Name+lang.Colon.In(d.l)+f.Text)
	}
	d.List("", facts)
}

// terms writes what the words of the tables mean.
func (d document) terms(runs []rundir.Run) {
	var stages []rundir.Stage
	for i := range runs {
		stages = append(stages, runs[i].Stages...)
	}
	var lines []string
	for _, t := range findings.Glossary(stages) {
		lines = append(lines, t.Name.In(d.l)+lang.Colon.In(d.l)+t.Means.In(d.l))
	}
	if len(lines) > 0 {
		d.Heading("##", wordTerms.In(d.l))
		d.List("", lines)
	}
}

// ownView returns the columns with the server's own metrics.
func ownView() []string {
	return []string{
		"server_running", "server_waiting", "server_kv_usage_max", "server_preemptions", "server_prefix_hit_rate",
		"server_accept_rate", "server_accept_length", "tokens_per_chunk",
		"server_steps_per_s", "server_ttft_s", "server_queue_s", "server_itl_s", "server_latency_s",
	}
}

// known returns a table without the columns of which nothing is known.
func known(t table.Table) table.Table {
	var columns []table.Column
	rows := make([][]table.Cell, len(t.Rows))
	for j, c := range t.Columns {
		if j > 0 && !slices.ContainsFunc(t.Rows, func(row []table.Cell) bool {
			return !slices.Contains([]string{lang.Absent, "-"}, row[j].In(lang.English))
		}) {
			continue
		}
		columns = append(columns, c)
		for i := range rows {
			rows[i] = append(rows[i], t.Rows[i][j])
		}
	}
	t.Columns, t.Rows = columns, rows
	return t
}
