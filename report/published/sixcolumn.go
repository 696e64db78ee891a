// Renders runs in the formats of other tools: six-column tables, stress tables, serving blocks, and the JSON of
// GuideLLM. Package published reads them. The two share no code, so that the tests that read what was written expose errors of
// either.

package published

import (
	"fmt"
	"strings"

	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// SixColumnFields are the six columns of the published tables. Their headings and units are a format that others read,
// so they are the same in every language.
func SixColumnFields() []findings.StageField {
	perSecond := func(unit string, f findings.TakeStages) func(findings.StageRow) table.Cell {
		return func(r findings.StageRow) table.Cell { return table.Number(lang.NonZero(f(r.Stage)), unit, lang.Rate) }
	}
	milliseconds := func(f findings.TakeStages) func(findings.StageRow) table.Cell {
		return func(r findings.StageRow) table.Cell {
			return table.Number(lang.Scale(f(r.Stage), 1e3), "ms", lang.Rate)
		}
	}
	return []findings.StageField{
		findings.NewStageField(table.Column{Head: "Benchmark", Left: true}, func(r findings.StageRow) table.Cell { return table.Cell{Text: sixColumnName(r.Stage)} }),
		findings.NewStageField(table.Column{Head: "Requests per Second"}, perSecond("req/sec", findings.CompletedCell)),
		findings.NewStageField(table.Column{Head: "Request Latency"}, func(r findings.StageRow) table.Cell { return table.Number(r.Stage.Latency.Mean, "sec", lang.Rate) }),
		findings.NewStageField(table.Column{Head: "Time to First Token"}, milliseconds(func(s *rundir.Stage) rundir.Number { return s.TTFT.Mean })),
		findings.NewStageField(table.Column{Head: "Inter Token Latency"}, milliseconds(func(s *rundir.Stage) rundir.Number { return s.InterToken })),
		findings.NewStageField(table.Column{Head: "Output Token Throughput"}, perSecond("tokens/sec", findings.Output)),
	}
}

// sixColumnName is a stage's name in the six-column table, which has the unit behind a rate.
func sixColumnName(s *rundir.Stage) string {
	if !s.Rate.Known() {
		return findings.BaseName(s)
	}
	return findings.BaseName(s) + " req/sec"
}

// WriteSixColumn writes a run as the six-column format has it: its heading line, its table, and what a reader of it must know.
func WriteSixColumn(d *table.Markdown, run *rundir.Run, l lang.Lang) {
	fmt.Fprintf(d.W, "\n- %s\n", strings.Join(sixColumnHeading(run, l), ", "))
	if len(run.Stages) == 0 {
		return
	}
	t := findings.TabulateStages("", SixColumnFields(), findings.InTable(run))
	d.Table(t)
	notes := findings.Legend([]table.Table{t}, l)
	if table.Shows([]table.Table{t}, func(c table.Cell) bool { return c.Text == lang.Absent }) {
		notes = append(notes, legendAbsent.In(l))
	}
	d.List("", notes)
}

// sixColumnHeading returns the parts of the heading line of the published format, as far as they are known.
func sixColumnHeading(run *rundir.Run, l lang.Lang) []string {
	var parts []string
	if model := findings.ModelName(run); model != "" {
		parts = append(parts, "**"+strings.TrimSpace(table.Escape(model))+"**")
	}
	escaped := *run
	escaped.Labels.GPU = strings.TrimSpace(table.Escape(run.Labels.GPU)) // a space before ** would end no bold
	if gpus := findings.HardwareName(&escaped, l, "**"); gpus != "" {
		parts = append(parts, gpus)
	}
	if engine := findings.EngineName(run); engine != "" {
		parts = append(parts, "**"+strings.TrimSpace(table.Escape(engine))+"**")
	}
	var tokens []string
	if p := run.Workload.PromptTokens.Mean; p > 0 {
		tokens = append(tokens, "prompt_tokens="+lang.Shortest(p))
	}
	if g := run.Workload.OutputTokens.Mean; g > 0 {
		tokens = append(tokens, "generated_tokens="+lang.Shortest(g))
	}
	if len(tokens) > 0 {
		separator := ", "
		if l == lang.Chinese { // as it is published
			separator = ","
		}
		parts = append(parts, strings.Join(tokens, separator))
	}
	return parts
}
