package report

import (
	"bufio"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"llmsweep/report/audit"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// console writes what people read at the end of a run: the table, what to know before trusting it, and last, where the
// eye is, the answer.
func console(w io.Writer, runs []rundir.Run, o Options) error {
	out := bufio.NewWriter(w)
	columns := consoleColumns(runs)
	for i := range runs {
		if err := writeRun(out, &runs[i], columns, o); err != nil {
			return err
		}
	}
	if o.Dir != "" {
		files := filesWritten.In(o.Lang, strings.TrimRight(o.Dir, "/")+"/  report.html  report.md  run.json  records.jsonl")
		table.WriteLines(out, "", []string{files}, table.Faint, o.style())
	}
	return out.Flush()
}

// consoleColumns are the columns of the console table, without those that say nothing of the runs.
func consoleColumns(runs []rundir.Run) []findings.Column {
	if !slices.ContainsFunc(runs, func(run rundir.Run) bool { return run.Plan.Kind != rundir.KindUsers }) {
		return findings.For(runs, findings.Pick("name", "rates_completed", "refused", "failed", "cache_ideal", "cache_hits", "sessions_hits", "sessions_again",
			"sessions_good", "turns_good",
			"ttft_s_p50", "ttft_s_p95", "inter_token_s", "tokens_per_s_output", "concurrency_mean", "goodput_tokens_per_s", "goodput_verdict", "grades", "length"))
	}
	columns := findings.Pick("name", "rates_offered", "rates_completed", "refused", "failed", "latency_s_mean", "ttft_s_mean", findings.HighestSupported(runs, "ttft_s"),
		"first_answer_s_mean", "inter_token_s", findings.HighestSupported(runs, "itl_s"), "tokens_per_s_output", "server_accept_rate", "server_accept_length",
		"tokens_per_chunk", "concurrency_mean", "cache_ideal",
		"cache_hits", "sessions_hits", "sessions_again", "sessions_good", "turns_good",
		"goodput_rate", "goodput_tokens_per_s", "goodput_verdict",
		"grades", "length", "verdict")
	for i := range columns {
		if c := &columns[i]; c.ID == "concurrency_mean" { // there is room for it in the second line
			c.Sub = lang.SubMean.Text()
		}
	}
	return findings.For(runs, columns)
}

// console returns a table of rows for the terminal: where its width is short, it says which columns go first.
func consoleTable(title lang.Text, columns []findings.Column, rows []findings.StageRow) table.Table {
	order := map[string]int{
		"concurrency_mean": 1, "rates_offered": 2, "goodput_tokens_per_s": 1, "goodput_rate": 2, "itl_s_p90": 3, "itl_s_p95": 3, "itl_s_p99": 3, "latency_s_mean": 4, "verdict": 5, "inter_token_s": 6, "ttft_s_mean": 7,
	}
	t := findings.TabulateStages(columns, rows, findings.UnitBelow)
	t.Title = title
	for i := range columns {
		t.Columns[i].Drop = order[columns[i].ID]
	}
	return t
}

func writeRun(w io.Writer, run *rundir.Run, columns []findings.Column, o Options) error {
	table.WriteLines(w, "", []string{headline(run, o.Lang)}, table.Strong, o.style())
	if len(run.Stages) > 0 {
		tables := []table.Table{consoleTable(lang.Text{}, columns, findings.InTable(run))}
		if probes := findings.ProbeStages(run); len(probes) > 0 {
			tables = append(tables, consoleTable(wordProbes.Text(), columns, probes))
		}
		io.WriteString(w, "\n")
		if err := table.Write(w, tables, o.style()); err != nil {
			return err
		}
		table.WriteLines(w, "", lang.In(findings.Legend(tables...), o.Lang), table.Faint, o.style())
		if err := writePlot(w, run, o); err != nil {
			return err
		}
		if err := writeRepeats(w, run, o); err != nil {
			return err
		}
		turns := findings.TurnTables(run) // one is enough here; the other reports have both
		if more := slices.Concat(findings.AnswerLengths(run), findings.ReplicaTable(run), turns[:min(1, len(turns))]); len(more) > 0 {
			io.WriteString(w, "\n")
			if err := table.Write(w, more, o.style()); err != nil {
				return err
			}
		}
	}
	table.WriteLines(w, wordErrors.In(o.Lang), findings.Errors(run, o.Lang), table.Bad, o.style())
	table.WriteLines(w, wordNotes.In(o.Lang), findings.Notes(run, o.Lang), table.Faint, o.style())
	table.WriteLines(w, wordWarnings.In(o.Lang), audit.Cautions(run, o.Lang), table.Caution, o.style())
	if lines := findings.State(run, o.Lang); len(lines) > 1 { // a run that is whole needs no words
		table.WriteLines(w, "", lines, table.Caution, o.style())
	}
	table.WriteLines(w, "", findings.Answer(run, o.Lang), table.Strong, o.style())
	return nil
}

// writeRepeats writes how repetitions differ, where there are any.
func writeRepeats(w io.Writer, run *rundir.Run, o Options) error {
	t := findings.RepeatTable(run)
	if len(t.Rows) == 0 {
		return nil
	}
	io.WriteString(w, "\n"+strings.Repeat(" ", table.Indent)+table.Paint(wordRepeats.In(o.Lang), table.Strong, o.Color)+"\n")
	if err := table.Write(w, []table.Table{t}, o.style()); err != nil {
		return err
	}
	table.WriteLines(w, "", lang.In(findings.RepeatNotes(t), o.Lang), table.Faint, o.style())
	return nil
}

// headline returns in a line what was measured.
func headline(run *rundir.Run, l lang.Lang) string {
	parts := []string{findings.SetupName(run, l)}
	switch t := run.Target; {
	case t.Version == "":
	case t.Engine == findings.EngineName(run):
		parts[0] += " " + t.Version
	default: // the label says otherwise, so show both
		parts = append(parts, t.Engine+" "+t.Version)
	}
	if brief := findings.LoadBrief(&run.Workload, l); brief != "" {
		parts = append(parts, brief)
	}
	return strings.Join(append(parts, run.Target.URL), "   ")
}

// Target returns in a line what is measured, before it is: the server, the model and the lengths.
func Target(run *rundir.Run, l lang.Lang) string {
	t := run.Target
	parts := []string{t.URL, t.Model}
	if engine := strings.TrimSpace(t.Engine + " " + t.Version); engine != "" {
		parts[1] = strings.TrimSpace(t.Model + targetOn.In(l, engine))
	}
	if d := run.Workload.Dataset; d != "" {
		parts = append(parts, filepath.Base(d))
	}
	if brief := findings.LoadBrief(&run.Workload, l); brief != "" {
		parts = append(parts, brief)
	} else {
		parts = append(parts, loadFixedBrief.In(l, lang.Shortest(run.Workload.OutputTokens.Mean)))
	}
	return strings.Join(parts, "  ")
}
