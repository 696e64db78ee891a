// The files write_*.go share no code with those that read, so that tests that read what was written expose errors of
// either.

package published

import (
	"bufio"
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// sixColumns have headings and units that others read, so they are the same in every language.
func sixColumns(run *rundir.Run, tokens string) []findings.Column {
	const ms = 1e3
	columns := findings.Pick("name", "rates_completed", "latency_s_mean", "ttft_s_mean", "inter_token_s",
		"tokens_per_s_output")
	for i, f := range []struct {
		head, unit string
		scale      float64
		rate       bool // 0 is none
		key        string
	}{
		{"Benchmark", "", 0, false, ""}, {"Requests per Second", "req/sec", 1, true, "rates.completed"},
		{"Request Latency", "sec", 1, false, "latency_s.mean"},
		{"Time to First Token", "ms", ms, false, "ttft_s.mean"}, {"Inter Token Latency", "ms", ms, false, "inter_token_s"},
		{"Output Token Throughput", tokens, 1, true, "tokens_per_s.output"},
	} {
		c := &columns[i]
		c.Head, c.Sub, c.Unit = lang.Same(f.head), lang.Text{}, ""
		c.Cell = func(r findings.StageRow) table.Cell {
			if c.Number == nil {
				return table.Literal(sixColumnName(r.Stage))
			}
			if printed, ok := printedFigure(r.Stage, f.key); ok {
				return table.Literal(printed)
			}
			n := lang.Scale(c.Number(r.Stage), f.scale)
			if s := r.Stage; f.key == "inter_token_s" && n.IsZero() && s.Source != nil &&
				s.Source.Printed["itl_s.mean"].Line > 0 { // serving blocks have this mean
				n = lang.Scale(s.ITL.Mean, f.scale)
			}
			if f.rate {
				n = lang.NonZero(n)
			}
			return table.Number(n, f.unit, lang.Rate)
		}
	}
	return columns
}

// printedFigure returns a figure as its six-column table has it, so that what is wrong with it can be found again. One
// without its own unit is written anew.
func printedFigure(s *rundir.Stage, key string) (text string, ok bool) {
	p, ok := s.Source.At(key)
	if !ok || s.Source.Format != SixColumn || table.Escape(p.Text) != p.Text {
		return "", false
	}
	q, err := ParseQuantity(p.Text)
	return p.Text, err == nil && q.Unit != ""
}

// sixColumnName is a stage's name in the six-column table, which has the unit behind a rate, and one word for arrivals
// at a rate, however long they were held.
func sixColumnName(s *rundir.Stage) string {
	name := findings.BaseName(s)
	if rate, ok := strings.CutPrefix(name, rundir.HoldPrefix); ok {
		name = "asynchronous@" + rate
	}
	if s.Rate.Known() {
		name = strings.TrimRight(name, "+") + " req/sec"
	}
	return name
}

// SixColumnOptions say how a six-column table is written.
type SixColumnOptions struct {
	OnlyGrid bool   // without the rows that only the answer of a sweep needs
	Tokens   string // the unit of the last column; empty for tokens/sec
}

// Tables returns a run as results are published: its heading line, and beneath it the six-column table. Stress tables
// and serving blocks keep their form, as they have figures that the six columns have no place for, and lack others.
func Tables(run *rundir.Run, o SixColumnOptions) table.Section {
	s := table.Section{Markdown: lang.Both(func(l lang.Lang) string {
		return "\n- " + strings.Join(sixColumnHeading(run, l), ", ") + "\n" + blockText(run, l)
	})}
	if isBlockFormat(run) {
		return s
	}
	rows := findings.AllStages(run)
	if o.OnlyGrid {
		rows = findings.GridStages(run)
	}
	if len(rows) == 0 {
		return s
	}
	if src := run.Source; src != nil && src.Format == SixColumn { // as they are published
		slices.SortStableFunc(rows, func(a, b findings.StageRow) int {
			return cmp.Compare(a.Stage.Source.Line, b.Stage.Source.Line)
		})
	}
	s.Table = findings.TabulateStages(sixColumns(run, cmp.Or(o.Tokens, "tokens/sec")), rows, findings.UnitInCells)
	s.Table.Centered = true
	s.Notes = findings.Legend(s.Table)
	return s
}

// isBlockFormat reports whether a run was read from stress tables or serving blocks.
func isBlockFormat(run *rundir.Run) bool {
	return run.Source != nil && (run.Source.Format == Stress || run.Source.Format == Serving)
}

func blockText(run *rundir.Run, l lang.Lang) string {
	if !isBlockFormat(run) {
		return ""
	}
	var b strings.Builder
	out := bufio.NewWriter(&b)
	for _, r := range run.Source.Responses {
		out.WriteString(responseText(r) + "\n")
	}
	for i, r := range findings.AllStages(run) {
		if i > 0 {
			out.WriteString("\n")
		}
		if r.Stage.Role == rundir.WarmUp {
			out.WriteString("// warm-up\n")
		}
		if run.Source.Format == Stress {
			writeStress(out, r, false, l)
		} else {
			writeServing(out, r, l)
		}
	}
	out.Flush() // a strings.Builder takes everything
	return "\n```\n" + b.String() + "```\n"
}

// responseText returns an answer of the server as Python prints it.
func responseText(r rundir.Response) string {
	parts := []string{fmt.Sprintf("'completion_tokens': %d", r.CompletionTokens)}
	if r.PromptTokens > 0 {
		parts = append(parts, fmt.Sprintf("'prompt_tokens': %d", r.PromptTokens))
	}
	if r.Finish != "" {
		parts = append(parts, fmt.Sprintf("'finish_reason': '%s'", r.Finish))
	}
	if r.Latency.Known() {
		parts = append(parts, "'e2e_latency': "+lang.Shortest(r.Latency.Value()))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func sixColumnHeading(run *rundir.Run, l lang.Lang) []string {
	escape := func(s string) string {
		s = strings.TrimSpace(table.Escape(s)) // a space before ** would end no bold
		if s != "" && strings.Contains("-+#>", s[:1]) {
			return `\` + s // which would begin a list or heading in the item
		}
		return s
	}
	mark := func(escaped string) string {
		if first, _ := utf8.DecodeRuneInString(escaped); unicode.IsLetter(first) || unicode.IsDigit(first) {
			return "**"
		}
		return "" // beside another sign, ** would begin no bold
	}
	bold := func(s string) string {
		s = escape(s)
		return mark(s) + s + mark(s)
	}
	var parts []string
	if model := findings.ModelName(run); model != "" {
		parts = append(parts, bold(model))
	}
	escaped := *run
	escaped.Labels.GPU = escape(run.Labels.GPU)
	if gpus := findings.HardwareName(&escaped, l, mark(escaped.Labels.GPU)); gpus != "" {
		parts = append(parts, gpus)
	}
	if engine := findings.EngineName(run); engine != "" {
		parts = append(parts, bold(engine))
	}
	var tokens []string
	if p := run.Workload.PromptTokens.Mean; p > 0 {
		tokens = append(tokens, "prompt_tokens="+lang.Shortest(p))
	}
	if g := run.Workload.OutputTokens.Mean; g > 0 && run.Workload.Capped {
		tokens = append(tokens, "max_tokens="+lang.Shortest(g))
	} else if g > 0 {
		tokens = append(tokens, "generated_tokens="+lang.Shortest(g))
	}
	if len(tokens) > 0 {
		separator := ", "
		if l == lang.Chinese { // as it is published
			separator = ","
		}
		parts = append(parts, strings.Join(tokens, separator))
	}
	if think := run.Workload.Think; think != nil {
		answer := "no"
		if *think {
			answer = "yes"
		}
		parts = append(parts, "think="+answer)
	}
	add := func(key, value string) {
		if value != "" {
			parts = append(parts, key+"="+bold(value))
		}
	}
	if run.Workload.Dataset != "" {
		add("dataset", filepath.Base(run.Workload.Dataset))
	}
	for _, key := range run.Labels.FreeKeys() {
		add(key, run.Labels.Free[key])
	}
	if isBlockFormat(run) {
		add("name", HeadingName(run.Source))
		add("launch", run.Target.Launch)
	}
	return parts
}
