package report

import (
	"bufio"
	"io"
	"path/filepath"
	"strings"

	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// Console writes what people read at the end of a run: the table, what to know before trusting it, and last, where the
// eye is, the answer.
func Console(w io.Writer, runs []rundir.Run, o Options) error {
	out := bufio.NewWriter(w)
	fields := consoleFields(o.Lang, runs)
	for i := range runs {
		if err := writeRun(out, &runs[i], fields, o); err != nil {
			return err
		}
	}
	if o.Dir != "" {
		files := filesWritten.In(o.Lang, strings.TrimRight(o.Dir, "/")+"/  report.html  report.md  run.json  records.jsonl")
		table.WriteLines(out, "", []string{files}, table.Faint, o.style())
	}
	return out.Flush()
}

func writeRun(w io.Writer, run *rundir.Run, fields []findings.StageField, o Options) error {
	table.WriteLines(w, "", []string{headline(run, o.Lang)}, table.Strong, o.style())
	if len(run.Stages) > 0 {
		tables := []table.Table{findings.TabulateStages("", fields, findings.InTable(run))}
		if probes := findings.ProbeStages(run); len(probes) > 0 {
			tables = append(tables, findings.TabulateStages(wordProbes.In(o.Lang), fields, probes))
		}
		if controls := findings.ControlStages(run); len(controls) > 0 {
			tables = append(tables, findings.TabulateStages(wordControls.In(o.Lang), fields, controls))
		}
		io.WriteString(w, "\n")
		if err := table.Write(w, tables, o.Width, o.Color); err != nil {
			return err
		}
		table.WriteLines(w, "", findings.Legend(tables, o.Lang), table.Faint, o.style())
		if err := writePlot(w, run, o); err != nil {
			return err
		}
		if err := writeRepeats(w, run, o); err != nil {
			return err
		}
		if replicas := findings.ReplicaTable(run, o.Lang); len(replicas) > 0 {
			io.WriteString(w, "\n")
			if err := table.Write(w, replicas, o.Width, o.Color); err != nil {
				return err
			}
		}
	}
	table.WriteLines(w, wordErrors.In(o.Lang), findings.Errors(run, o.Lang), table.Bad, o.style())
	table.WriteLines(w, wordWarnings.In(o.Lang), findings.Warnings(run, o.Lang), table.Caution, o.style())
	if lines := findings.State(run, o.Lang); len(lines) > 1 { // a run that is whole needs no words
		table.WriteLines(w, "", lines, table.Caution, o.style())
	}
	table.WriteLines(w, "", findings.Answer(run, o.Lang), table.Strong, o.style())
	return nil
}

// writeRepeats writes how repetitions differ, where there are any.
func writeRepeats(w io.Writer, run *rundir.Run, o Options) error {
	t := findings.RepeatTable(run, o.Lang)
	if len(t.Rows) == 0 {
		return nil
	}
	io.WriteString(w, "\n"+strings.Repeat(" ", table.Indent)+table.Paint(wordRepeats.In(o.Lang), table.Strong, o.Color)+"\n")
	if err := table.Write(w, []table.Table{t}, o.Width, o.Color); err != nil {
		return err
	}
	table.WriteLines(w, "", findings.RepeatNotes(t, o.Lang), table.Faint, o.style())
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
	prompt, out := findings.LengthText(run.Workload.PromptTokens), findings.LengthText(run.Workload.OutputTokens)
	if prompt != "" && out != "" {
		parts = append(parts, loadBrief.In(l, prompt, out))
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
	out := lang.Shortest(run.Workload.OutputTokens.Mean)
	if p := run.Workload.PromptTokens; p.Mean > 0 {
		parts = append(parts, loadBrief.In(l, lang.Shortest(p.Mean), out))
	} else {
		parts = append(parts, loadFixedBrief.In(l, out))
	}
	return strings.Join(parts, "  ")
}
