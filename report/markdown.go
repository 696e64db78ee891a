package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"llmsweep/sweep/rundir"
)

// Markdown writes a document: the answer, then for each run the six-column table as others publish it, and beneath it
// what that format has no room for.
func Markdown(w io.Writer, runs []rundir.Run, l Lang) error {
	d := document{newMDWriter(w), l}
	title, level := titleSeveral.in(l, strconv.Itoa(len(runs))), "####"
	if len(runs) == 1 {
		title, level = titleLoad.in(l, setup(&runs[0], l)), "###"
	}
	d.heading("#", title)
	d.heading("##", wordSummary.in(l))
	for i := range runs {
		lines := summary(&runs[i], l)
		if len(runs) == 1 {
			d.list("", lines)
			continue
		}
		d.list("", []string{setup(&runs[i], l)})
		d.list("  ", lines)
	}
	d.heading("##", wordDetails.in(l))
	for i := range runs {
		if len(runs) > 1 {
			d.heading("###", strconv.Itoa(i+1)+". "+setup(&runs[i], l))
		}
		d.run(&runs[i], level)
	}
	return d.flush()
}

// document writes a run as Markdown, in one language.
type document struct {
	*mdWriter
	l Lang
}

// summary is the answer; where there is none, how far the run got and what each stage found.
func summary(run *rundir.Run, l Lang) []string {
	lines := answer(run, l)
	if len(lines) == 0 {
		for _, r := range tableRows(run) {
			lines = append(lines, strings.Join(stageFacts(r.stage, l), comma.in(l))+stop.in(l))
		}
	}
	if far := progress(run, l); len(far) > 1 {
		lines = append(far[:1:1], lines...)
	}
	return lines
}

// run writes one run: the published table, and what it has no room for.
func (d document) run(run *rundir.Run, level string) {
	d.published(run)
	if probes := probeRows(run); len(probes) > 0 {
		d.heading(level, wordProbes.in(d.l))
		d.table(tabulate("", append(publishedFields(), verdictField(d.l)), probes))
	}
	if len(run.Stages) > 0 {
		t := tabulate("", append(rowFields(d.l), sloFields(d.l, []rundir.Run{*run})...), append(tableRows(run), probeRows(run)...))
		d.heading(level, wordRows.in(d.l))
		d.table(t)
		d.list("", legend([]Table{t}, d.l))
	}
	if t := repeats(run, d.l); len(t.Rows) > 0 {
		d.heading(level, wordRepeats.in(d.l))
		d.table(t)
		d.list("", repeatNotes(t, d.l))
	}
	if anyServer(run) {
		d.heading(level, wordServer.in(d.l))
		d.table(tabulate("", serverFields(d.l), append(tableRows(run), probeRows(run)...)))
	}
	if lines := errorLines(run, d.l); len(lines) > 0 {
		d.heading(level, wordErrors.in(d.l))
		d.list("", lines)
	}
	if lines := warnings(run, d.l); len(lines) > 0 {
		d.heading(level, wordWarnings.in(d.l))
		d.list("", lines)
	}
	d.heading(level, wordState.in(d.l))
	d.list("", progress(run, d.l))
	d.heading(level, wordEnvironment.in(d.l))
	var facts []string
	for _, f := range environment(run, d.l) {
		facts = append(facts, f.name+colon.in(d.l)+f.text)
	}
	d.list("", facts)
}

// published writes the heading line and the six-column table.
func (d document) published(run *rundir.Run) {
	fmt.Fprintf(d.w, "\n- %s\n", strings.Join(d.labels(run), ", "))
	if len(run.Stages) == 0 {
		return
	}
	t := tabulate("", publishedFields(), tableRows(run))
	d.table(t)
	notes := legend([]Table{t}, d.l)
	if shows([]Table{t}, func(c Cell) bool { return c.Text == absent }) {
		notes = append(notes, legendAbsent.in(d.l))
	}
	d.list("", notes)
}

// labels are the parts of the heading line of the published format, as far as they are known.
func (d document) labels(run *rundir.Run) []string {
	var parts []string
	if model := modelName(run); model != "" {
		parts = append(parts, "**"+escape(model)+"**")
	}
	escaped := *run
	escaped.Labels.GPU = escape(run.Labels.GPU)
	if gpus := hardware(&escaped, d.l, "**"); gpus != "" {
		parts = append(parts, gpus)
	}
	if engine := engineName(run); engine != "" {
		parts = append(parts, "**"+escape(engine)+"**")
	}
	var tokens []string
	if p := run.Workload.PromptTokens.Mean; p > 0 {
		tokens = append(tokens, "prompt_tokens="+plain(p))
	}
	if g := run.Workload.OutputTokens.Mean; g > 0 {
		tokens = append(tokens, "generated_tokens="+plain(g))
	}
	if len(tokens) > 0 {
		separator := ", "
		if d.l == Chinese { // as it is published
			separator = ","
		}
		parts = append(parts, strings.Join(tokens, separator))
	}
	return parts
}
