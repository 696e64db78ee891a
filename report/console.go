package report

import (
	"bufio"
	"io"
	"strconv"
	"strings"

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
		files := filesWritten.in(o.Lang, strings.TrimRight(o.Dir, "/")+"/  report.md  run.json  records.jsonl")
		writeLines(out, "", []string{files}, Faint, o)
	}
	return out.Flush()
}

func writeRun(w io.Writer, run *rundir.Run, fields []field, o Options) error {
	writeLines(w, "", []string{headline(run, o.Lang)}, Strong, o)
	if len(run.Stages) > 0 {
		tables := []Table{tabulate("", fields, tableRows(run))}
		if probes := probeRows(run); len(probes) > 0 {
			tables = append(tables, tabulate(wordProbes.in(o.Lang), fields, probes))
		}
		io.WriteString(w, "\n")
		if err := writeTables(w, tables, o.Width, o.Color); err != nil {
			return err
		}
		writeLines(w, "", legend(tables, o.Lang), Faint, o)
		if err := writePlot(w, run, o); err != nil {
			return err
		}
		if err := writeRepeats(w, run, o); err != nil {
			return err
		}
	}
	writeLines(w, wordErrors.in(o.Lang), errorLines(run, o.Lang), Bad, o)
	writeLines(w, wordWarnings.in(o.Lang), warnings(run, o.Lang), Caution, o)
	if lines := progress(run, o.Lang); len(lines) > 1 { // a run that is whole needs no words
		writeLines(w, "", lines, Caution, o)
	}
	writeLines(w, "", answer(run, o.Lang), Strong, o)
	return nil
}

// writeRepeats writes how repetitions differ, where there are any.
func writeRepeats(w io.Writer, run *rundir.Run, o Options) error {
	t := repeats(run, o.Lang)
	if len(t.Rows) == 0 {
		return nil
	}
	io.WriteString(w, "\n"+strings.Repeat(" ", indent)+paint(wordRepeats.in(o.Lang), Strong, o.Color)+"\n")
	if err := writeTables(w, []Table{t}, o.Width, o.Color); err != nil {
		return err
	}
	writeLines(w, "", repeatNotes(t, o.Lang), Faint, o)
	return nil
}

// writeLines writes a paragraph of lines after a blank line, or a list where it has a heading; nothing for no lines.
// Errors surface when the writer beneath is flushed.
func writeLines(w io.Writer, heading string, lines []string, t Tone, o Options) {
	if len(lines) == 0 {
		return
	}
	margin, bullet := strings.Repeat(" ", indent), ""
	io.WriteString(w, "\n")
	if heading != "" {
		io.WriteString(w, margin+paint(heading, t, o.Color)+"\n")
		bullet, t = "- ", Plain
	}
	for i, s := range lines {
		if i > 0 && t == Strong { // the first sentence is the answer
			t = Plain
		}
		text := wrap(margin+bullet+clean(s), o.Width, indent+len(bullet))
		for line := range strings.Lines(text) {
			io.WriteString(w, paint(strings.TrimRight(line, "\n"), t, o.Color)+"\n")
		}
	}
}

// headline says in a line what was measured.
func headline(run *rundir.Run, l Lang) string {
	parts := []string{setup(run, l)}
	switch t := run.Target; {
	case t.Version == "":
	case t.Engine == engineName(run):
		parts[0] += " " + t.Version
	default: // the label says otherwise, so show both
		parts = append(parts, t.Engine+" "+t.Version)
	}
	prompt, out := lengthText(run.Workload.PromptTokens), lengthText(run.Workload.OutputTokens)
	if prompt != "" && out != "" {
		parts = append(parts, loadBrief.in(l, prompt, out))
	}
	return strings.Join(append(parts, run.Target.URL), "   ")
}

// legend explains the marks that a table shows, and only those.
func legend(tables []Table, l Lang) []string {
	var lines []string
	for _, e := range []struct {
		say  phrase
		test func(Cell) bool
	}{
		{legendBound, func(c Cell) bool { return strings.HasPrefix(c.Text, ">") }},
		{legendUnsupported, func(c Cell) bool { return strings.Contains(c.Mark, markUnsupported) }},
		{legendCut, func(c Cell) bool { return strings.Contains(c.Mark, markCut) }},
		{legendInvalid, func(c Cell) bool { return strings.Contains(c.Mark, markInvalid) }},
	} {
		if shows(tables, e.test) {
			lines = append(lines, e.say.in(l))
		}
	}
	return lines
}

// setup names the model, the hardware and the engine, as far as they are known.
func setup(run *rundir.Run, l Lang) string {
	var parts []string
	for _, s := range []string{modelName(run), hardware(run, l, ""), engineName(run)} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	if len(parts) == 0 {
		return nounServer.in(l)
	}
	return strings.Join(parts, comma.in(l))
}

// hardware is how many of which GPU, each set off by bold; empty where no GPU was named.
func hardware(run *rundir.Run, l Lang, bold string) string {
	gpu, n := run.Labels.GPU, run.Labels.GPUs
	switch {
	case gpu == "":
		return ""
	case n == 0:
		return bold + gpu + bold
	case l == Chinese:
		return bold + strconv.Itoa(n) + bold + "张" + bold + gpu + bold
	}
	return bold + strconv.Itoa(n) + bold + " x " + bold + gpu + bold
}
