package inputs

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"

	"llmsweep/client/note"
	"llmsweep/report"
	"llmsweep/report/audit"
	"llmsweep/report/lang"
	"llmsweep/report/published"
	"llmsweep/report/setup"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
)

// Importer writes the results of documents as run directories.
type Importer struct {
	Out        string        // directory for the run directories
	Version    string        // of llmsweep, for run.json
	Labels     rundir.Labels // replace those that a document has
	Lang       lang.Lang     // of the reports and of the list
	ListLabels bool          // the list has the labels, with the lines that they were read from
}

// DirError is the error of a run directory that cannot be made.
type DirError struct{ Err error }

func (e *DirError) Error() string { return e.Err.Error() }
func (e *DirError) Unwrap() error { return e.Err }

// ReadDocuments reads documents; one without a result is an error.
func ReadDocuments(files []string) ([]*published.Document, error) {
	var docs []*published.Document
	for _, file := range files {
		doc, err := parseDocument(file)
		if err != nil {
			return nil, err
		}
		auditDocument(file, doc)
		docs = append(docs, doc)
	}
	return docs, nil
}

func parseDocument(file string) (*published.Document, error) {
	doc, err := published.ParseFile(file)
	switch {
	case err != nil:
		return nil, err
	case len(doc.Runs) == 0 && len(doc.Remarks) > 0:
		r := doc.MainRemark()
		return nil, fmt.Errorf("%s: no result could be read; line %d: %s%s", file, r.Line, r.Text, published.KnownColumns(r))
	case len(doc.Runs) == 0:
		return nil, fmt.Errorf("%s is no document that llmsweep reads: it has no six-column table, stress table, serving "+
			"block or JSON of %s", file, strings.Join(published.ResultTools(), " or "))
	}
	return doc, nil
}

// auditDocument marks the figures that the audit doubts, and then derives from the rows where each result saturates.
func auditDocument(file string, doc *published.Document) {
	var subjects []audit.Subject
	for i := range doc.Runs {
		subjects = append(subjects, audit.Subject{File: file, Run: &doc.Runs[i]})
	}
	setup.EstimateStageTime(doc.Runs)
	audit.Mark(subjects)
	for i := range doc.Runs {
		setup.SetSaturation(&doc.Runs[i])
	}
}

// Import writes a run directory for each result of a document, and prints a list of them.
func (i *Importer) Import(w io.Writer, doc *published.Document) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%s\n\n", sayResults.In(i.Lang, table.Clean(doc.Name), len(doc.Runs), i.Out))
	fmt.Fprintln(t, sayHead.In(i.Lang))
	for j := range doc.Runs {
		run := &doc.Runs[j]
		published.Override(run, i.Labels)
		run.Tool = rundir.Tool{Version: i.Version, Go: runtime.Version(), OS: runtime.GOOS + "/" + runtime.GOARCH}
		dir, err := makeDir(filepath.Join(i.Out, dirName(run)), run)
		if err != nil {
			return &DirError{err}
		}
		if err := i.writeDir(dir, run); err != nil {
			return err
		}
		fmt.Fprintf(t, "  %d\t%s\t%d\t%d\t%s\n", run.Source.Line, run.Source.Format, len(run.Stages), countNumbers(run),
			filepath.Base(dir.Path))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if err := i.listLabels(w, doc); err != nil {
		return err
	}
	return i.listRemarks(w, doc)
}

// listLabels prints only the notes on labels unless ListLabels is set.
func (i *Importer) listLabels(w io.Writer, doc *published.Document) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	hidden := false
	for j := range doc.Runs {
		run := &doc.Runs[j]
		if len(run.Source.Labels) == 0 || run.Source.Format == published.SixColumn {
			continue
		}
		hidden = !i.ListLabels
		if i.ListLabels {
			fmt.Fprintln(t, "\n"+sayLabels.In(i.Lang, run.Source.Line))
			i.listSources(t, run)
		}
		for _, n := range published.ImportNotes(run) {
			fmt.Fprintln(t, "    "+i.remarkText(run.Source.Line, n))
		}
	}
	if hidden {
		fmt.Fprintln(t, "\n"+sayLeft.In(i.Lang))
	}
	return t.Flush()
}

func (i *Importer) listSources(w io.Writer, run *rundir.Run) {
	values := map[string]string{"model": run.Labels.Model, "gpu": run.Labels.GPU, "gpus": strconv.Itoa(run.Labels.GPUs),
		"engine": run.Labels.Engine, "quant": run.Labels.Quant}
	for _, key := range slices.Sorted(maps.Keys(run.Source.Labels)) {
		l := run.Source.Labels[key]
		origin := wordRead
		switch {
		case l.Line == 0:
			origin = wordGiven
		case l.Inferred:
			origin = wordInferred
		}
		fmt.Fprintf(w, "    %s\t%s\t%s\t%s\t%s\n", key, table.Clean(cmp.Or(values[key], "-")), origin.In(i.Lang),
			sayLine.In(i.Lang, l.Line), table.Clean(l.Text))
	}
}

func (i *Importer) listRemarks(w io.Writer, doc *published.Document) error {
	for _, part := range []struct {
		title  lang.Phrase
		unread bool
	}{{titleUnread, true}, {titleAssumed, false}} {
		var lines []string
		for _, r := range doc.Remarks {
			if r.Unread == part.unread {
				lines = append(lines, "  "+i.remarkText(r.Line, r.Note)+"\n")
			}
		}
		if len(lines) > 0 {
			if _, err := fmt.Fprintf(w, "\n%s\n%s", part.title.In(i.Lang), strings.Join(lines, "")); err != nil {
				return err
			}
		}
	}
	return nil
}

func (i *Importer) remarkText(line int, n note.Note) string {
	return sayLine.In(i.Lang, line) + lang.Colon.In(i.Lang) + table.Clean(published.Words().Say(n, i.Lang))
}

func (i *Importer) writeDir(dir *store.Dir, run *rundir.Run) error {
	defer dir.Close()
	var doc bytes.Buffer
	if err := report.Markdown(&doc, []rundir.Run{*run}, i.Lang); err != nil {
		return err
	}
	if err := dir.WriteFile(rundir.ReportFile, MarkedOutput(doc.Bytes(), XMLMark)); err != nil {
		return err
	}
	return dir.Save(run)
}

// makeDir makes the next free directory of that name, or replaces a result of the same line of the same file, unless
// somebody changed its report.
func makeDir(path string, run *rundir.Run) (*store.Dir, error) {
	for n, p := 2, path; ; n++ {
		if _, err := os.Stat(filepath.Join(p, rundir.RunFile)); err != nil {
			return store.Create(p)
		}
		old, err := store.Open(p)
		if err == nil && old.Source != nil && old.Source.File == run.Source.File &&
			old.Source.Line == run.Source.Line && CheckOutput(filepath.Join(p, rundir.ReportFile), false) == nil {
			return store.Replace(p)
		}
		p = fmt.Sprintf("%s-%d", path, n)
	}
}

func dirName(run *rundir.Run) string {
	l := run.Labels
	gpu := l.GPU
	if l.GPUs > 0 {
		gpu = fmt.Sprintf("%dx%s", l.GPUs, l.GPU)
	}
	parts := []string{l.Model, l.Quant, gpu, l.Engine}
	if run.Source.Format != published.SixColumn {
		name := run.Stages[0].Name
		if len(run.Stages) > 1 {
			name = run.Plan.Kind
		}
		if run.Source.Tool != "" { // results of several tools are often compared
			parts = append(parts, run.Source.Format)
		}
		parts = append(parts, run.Target.API, name)
		if n := run.Workload.OutputTokens.Mean; n > 0 && run.Source.Format == published.Stress {
			parts = append(parts, fmt.Sprintf("max%.0f", n))
		}
		if think := run.Workload.Think; think != nil {
			mode := "no-think"
			if *think {
				mode = "think"
			}
			parts = append(parts, mode)
		}
	}
	return SafeName(strings.Join(parts, "-"))
}

// deviceName matches the names that Windows keeps for devices, with any extension.
var deviceName = regexp.MustCompile(`^(con|prn|aux|nul|com[0-9]|lpt[0-9])$`)

// SafeName keeps the characters that all file systems take, and puts dashes for the rest.
func SafeName(s string) string {
	var b strings.Builder
	gap := false
	for _, r := range s {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '_', r == '.' && b.Len() > 0:
			if gap && b.Len() > 0 {
				b.WriteByte('-')
			}
			b.WriteRune(r)
			gap = false
		default:
			gap = true
		}
		if b.Len() >= 100 {
			break
		}
	}
	name := cmp.Or(strings.TrimRight(b.String(), "."), "result")
	if device, _, _ := strings.Cut(strings.ToLower(name), "."); deviceName.MatchString(device) {
		return "_" + name
	}
	return name
}

func countNumbers(run *rundir.Run) int {
	n := len(run.Source.Printed)
	for i := range run.Stages {
		n += len(run.Stages[i].Source.Printed)
	}
	return n
}
