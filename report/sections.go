package report

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"llmsweep/report/audit"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/published"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// section is a part of what people see of a run, empty where the run has nothing for it.
type section func(run *rundir.Run, o *Options) []table.Section

func consoleSections(all bool) []section {
	if all {
		return []section{opening, allRows, ratePlot, tables, errorList, warningList, noteList, files}
	}
	return []section{opening, mainRows, topNotes, nextStep, files}
}

func markdownSections(all bool) []section {
	short := []section{title, drawings, sixColumns, topNotes, percentiles}
	if all {
		return append(short, titledRows, tables, errorList, warningList, noteList, stateList, environmentList, terms)
	}
	return append(short, environment)
}

func texts(lines []string) (all []lang.Text) {
	for _, s := range lines {
		all = append(all, lang.Same(s))
	}
	return all
}

func (o *Options) list(title lang.Phrase, lines []string) []table.Section {
	if len(lines) == 0 {
		return nil
	}
	return []table.Section{{Title: title.Text(), Level: o.level(), Lines: texts(lines)}}
}

func (o *Options) level() int {
	if o.several {
		return 3
	}
	return 2
}

func answerLines(run *rundir.Run, l lang.Lang) []string {
	return append(findings.Unfinished(run, l), findings.Answer(run, l)...)
}

func opening(run *rundir.Run, o *Options) []table.Section {
	return []table.Section{{Title: lang.Same(headline(run, o.Lang)), Lines: texts(answerLines(run, o.Lang))}}
}

func title(run *rundir.Run, o *Options) []table.Section {
	lines := answerLines(run, o.Lang)
	name := findings.SetupName(run, o.Lang)
	if o.several {
		return []table.Section{{Title: lang.Same(name), Level: 2, Lines: texts(lines)}}
	}
	return []table.Section{{Title: titleLoad.Text(name), Level: 1, Lines: texts(lines)}}
}

func drawings(_ *rundir.Run, o *Options) []table.Section {
	var b strings.Builder
	for _, f := range o.Drawings {
		b.WriteString("\n![" + table.Escape(f.Alt) + "](<" + f.File + ">)\n\n*" + table.Escape(f.Alt) + "*\n")
	}
	return []table.Section{{Markdown: lang.Same(b.String())}}
}

func mainRows(run *rundir.Run, o *Options) []table.Section {
	return o.rows(findings.MainStages(run), findings.MainColumns(o.Percentiles))
}

func allRows(run *rundir.Run, o *Options) []table.Section {
	columns := findings.MainColumns(o.Percentiles)
	remark := len(columns) - 1
	more := findings.SelectColumns([]rundir.Run{*run}, findings.Pick("whole_run_rates_completed",
		"whole_run_tokens_per_s_output", "first_answer_s_mean", "itl_s_p99", "tpot_s_mean", "tpot_s_p99", "goodput_rate",
		"goodput_tokens_per_s", "tokens_per_chunk", "cache_ideal", "cache_hits", "sessions_hits", "sessions_again",
		"sessions_good", "turns_good", "grades", "length"))
	for i := range more {
		c := &more[i]
		c.Head, c.Sub = table.Column{Head: c.Head, Sub: c.Sub}.Heading(), lang.Text{}
	}
	return o.rows(findings.AllStages(run), slices.Concat(columns[:remark], more, columns[remark:]))
}

func titledRows(run *rundir.Run, o *Options) []table.Section {
	all := allRows(run, o)
	for i := range all {
		all[i].Title, all[i].Level = wordRows.Text(), o.level()
	}
	return all
}

func (o *Options) rows(rows []findings.StageRow, columns []findings.Column) []table.Section {
	if len(rows) == 0 {
		return nil
	}
	order := map[string]int{ // where a terminal is narrow, the columns go first that matter least
		"concurrency_mean": 1, "rates_offered": 2, "ttft_s_p99": 3, "latency_s_mean": 4, "ttft_s_p90": 5, "inter_token_s": 6,
	}
	t := findings.TabulateStages(columns, rows, findings.UnitUnderHead)
	for i := range columns {
		t.Columns[i].Drop = order[columns[i].ID]
	}
	return []table.Section{{Table: t, Notes: findings.Legend(t)}}
}

func ratePlot(run *rundir.Run, o *Options) []table.Section {
	return []table.Section{{Lines: texts(terminalPlot(run, *o))}}
}

func sixColumns(run *rundir.Run, o *Options) []table.Section {
	return []table.Section{published.Tables(run, o.SixColumn)}
}

func percentiles(run *rundir.Run, o *Options) []table.Section {
	t := findings.TabulateStages(findings.PercentileColumns(o.Percentiles), findings.AllStages(run), findings.UnitInCells)
	t = findings.DropConstants(t)
	if len(t.Columns) < 2 {
		return nil
	}
	return []table.Section{{Title: wordPercentiles.Text(), Level: o.level(), Table: t, Notes: findings.Legend(t)}}
}

func tables(run *rundir.Run, o *Options) (all []table.Section) {
	found := slices.Concat(findings.AnswerLengths(run), findings.ReplicaTable(run), findings.TurnTables(run))
	columns := findings.SelectColumns([]rundir.Run{*run}, findings.Pick("server_running", "server_waiting",
		"server_kv_usage_max", "server_preemptions", "server_prefix_hit_rate", "server_accept_rate", "server_accept_length",
		"server_steps_per_s", "server_ttft_s", "server_queue_s", "server_itl_s", "server_latency_s"))
	if len(columns) > 0 {
		columns = append(findings.Pick("name"), columns...)
		t := findings.TabulateStages(columns, findings.AllStages(run), findings.UnitUnderHead)
		t.Title = wordServer.Text()
		found = append(found, t)
	}
	for _, t := range found {
		s := table.Section{Title: t.Title, Level: o.level(), Table: t}
		s.Table.Title = lang.Text{}
		all = append(all, s)
	}
	return all
}

const maxNotes = 3 // people read no more

func topNotes(run *rundir.Run, o *Options) []table.Section {
	lines := slices.Concat(findings.Errors(run, o.Lang), audit.Cautions(run, o.Lang))
	if more := len(lines) - maxNotes; more > 1 { // one more takes no more room than the line that says so
		lines = append(lines[:maxNotes:maxNotes], sayMoreNotes.In(o.Lang, strconv.Itoa(more)))
	}
	if len(lines) == 0 {
		return nil
	}
	return []table.Section{{Lines: texts(lines)}}
}

func errorList(run *rundir.Run, o *Options) []table.Section {
	return o.list(wordErrors, findings.Errors(run, o.Lang))
}

func warningList(run *rundir.Run, o *Options) []table.Section {
	return o.list(wordWarnings, audit.Cautions(run, o.Lang))
}

func noteList(run *rundir.Run, o *Options) []table.Section {
	return o.list(wordNotes, findings.Notes(run, o.Lang))
}

func stateList(run *rundir.Run, o *Options) []table.Section {
	return o.list(wordState, findings.State(run, o.Lang))
}

func environment(run *rundir.Run, o *Options) []table.Section {
	return o.list(wordEnvironment, findings.Environment(run, o.Lang))
}

func environmentList(run *rundir.Run, o *Options) []table.Section {
	var facts []string
	for _, f := range findings.EnvironmentFacts(run, o.Lang) {
		facts = append(facts, f.Name+lang.Colon.In(o.Lang)+f.Text)
	}
	return o.list(wordEnvironment, facts)
}

func terms(run *rundir.Run, o *Options) []table.Section {
	var lines []string
	for _, t := range findings.Glossary(run) {
		lines = append(lines, t.Name.In(o.Lang)+lang.Colon.In(o.Lang)+t.Means.In(o.Lang))
	}
	return o.list(wordTerms, lines)
}

func nextStep(run *rundir.Run, o *Options) []table.Section {
	a := run.Answer
	if o.Dir == "" || a == nil || !a.Rate.Known() || len(findings.Answer(run, o.Lang)) == 0 {
		return nil
	}
	say := sayNextChoose
	if a.Promise == nil {
		say = sayNextSLO
	}
	return []table.Section{{Lines: texts([]string{say.In(o.Lang, o.Dir)})}}
}

func files(_ *rundir.Run, o *Options) []table.Section {
	if o.Dir == "" {
		return nil
	}
	dir := strings.TrimRight(o.Dir, "/")
	line := dir + "/report.html   " + dir + "/report.md"
	if !o.All {
		line += "   " + sayAllRows.In(o.Lang, cmp.Or(dir, "."))
	}
	return []table.Section{{Lines: texts([]string{line})}}
}
