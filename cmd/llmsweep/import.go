package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"text/tabwriter"
	"unicode"

	"llmsweep/report"
	"llmsweep/report/published"
	"llmsweep/sweep/rundir"
)

// importCmd is llmsweep import.
type importCmd struct {
	Files []string `arg:"" name:"file" help:"Documents with results that other tools printed: six-column tables, stress tables, serving blocks; and the JSON files of GuideLLM, AIPerf, vllm bench serve, SGLang bench_serving, evalscope perf and InferenceX."`
	Out   string   `type:"path" default:"llmsweep-import" placeholder:"DIR" help:"Directory for the run directories (${default})."`
	Label []string `sep:"," placeholder:"K=V" help:"Overrides what the headings say: model=..,gpu=..,gpus=..,engine=..,quant=..,price=.. (price: per GPU-hour)."`
	Lang  string   `default:"en" enum:"en,zh" help:"Language of the reports: en, zh."`
}

// Help is what --help says at its end.
func (importCmd) Help() string {
	return `Examples:
  llmsweep import results.md --out published
  llmsweep import block.txt --label gpu="L20 48GB",gpus=2`
}

// Run reads the documents, all of them before anything is written.
func (i *importCmd) Run(c *console) error {
	labels, err := (&outFlags{Label: i.Label}).labels()
	if err != nil {
		return usage(err)
	}
	var docs []*published.Document
	for _, file := range i.Files {
		doc, err := readPublished(file)
		if err != nil {
			return usage(err)
		}
		docs = append(docs, doc)
	}
	for n, doc := range docs {
		if n > 0 {
			fmt.Fprintln(c.out)
		}
		if err := i.keep(c.out, doc, labels); err != nil {
			return err
		}
	}
	return nil
}

// readPublished reads a document, and refuses one that holds no result.
func readPublished(file string) (*published.Document, error) {
	doc, err := published.ParseFile(file)
	switch {
	case err != nil:
		return nil, err
	case len(doc.Runs) == 0 && len(doc.Remarks) > 0:
		r := doc.Remarks[0]
		return nil, fmt.Errorf("%s: no result could be read; line %d: %s", file, r.Line, r.Text)
	case len(doc.Runs) == 0:
		return nil, fmt.Errorf("%s: holds no six-column table, stress table, serving block or JSON result of %s", file, strings.Join(published.Tools(), ", "))
	}
	return doc, nil
}

// keep writes a run directory for each result of a document, and says what was read.
func (i *importCmd) keep(w io.Writer, doc *published.Document, labels rundir.Labels) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%s\n\n", doc.Name)
	fmt.Fprintln(t, "  line\tformat\trows\tfigures\trun directory")
	for j := range doc.Runs {
		run := &doc.Runs[j]
		override(&run.Labels, labels)
		run.Tool = rundir.Tool{Version: version, Go: runtime.Version(), OS: runtime.GOOS + "/" + runtime.GOARCH}
		dir, err := importDir(filepath.Join(i.Out, importName(run)), run)
		if err != nil {
			return usage(err)
		}
		if err := i.write(dir, run); err != nil {
			return err
		}
		fmt.Fprintf(t, "  %d\t%s\t%d\t%d\t%s\n", run.Source.Line, run.Source.Format, len(run.Stages), figures(run), filepath.Base(dir.Path))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w, "\n%d results in %s\n", len(doc.Runs), i.Out)
	return remarks(w, doc)
}

// remarks prints what could not be read, and what was read on an assumption.
func remarks(w io.Writer, doc *published.Document) error {
	for _, part := range []struct {
		title  string
		unread bool
	}{{"Not read", true}, {"Read on an assumption, or passed over", false}} {
		var lines []string
		for _, r := range doc.Remarks {
			if r.Unread == part.unread {
				lines = append(lines, fmt.Sprintf("  line %d: %s\n", r.Line, r.Text))
			}
		}
		if len(lines) > 0 {
			if _, err := fmt.Fprintf(w, "\n%s:\n%s", part.title, strings.Join(lines, "")); err != nil {
				return err
			}
		}
	}
	return nil
}

// write fills a run directory.
func (i *importCmd) write(dir *rundir.Dir, run *rundir.Run) error {
	defer dir.Close()
	var doc bytes.Buffer
	if err := report.Markdown(&doc, []rundir.Run{*run}, report.Lang(i.Lang)); err != nil {
		return err
	}
	if err := dir.WriteFile(rundir.ReportFile, doc.Bytes()); err != nil {
		return err
	}
	return dir.Save(run)
}

// override replaces the labels that were given.
func override(l *rundir.Labels, by rundir.Labels) {
	*l = rundir.Labels{
		Model: cmp.Or(by.Model, l.Model), GPU: cmp.Or(by.GPU, l.GPU), GPUs: cmp.Or(by.GPUs, l.GPUs),
		Engine: cmp.Or(by.Engine, l.Engine), Quant: cmp.Or(by.Quant, l.Quant), Price: cmp.Or(by.Price, l.Price),
	}
}

// importDir makes the directory, or the next free one of its name. What was read from the same line before is replaced.
func importDir(path string, run *rundir.Run) (*rundir.Dir, error) {
	for n, p := 2, path; ; n++ {
		there, err := rundir.Open(p)
		if _, missing := os.Stat(filepath.Join(p, rundir.RunFile)); missing != nil {
			return rundir.Create(p)
		}
		if err == nil && there.Source != nil && there.Source.File == run.Source.File && there.Source.Line == run.Source.Line {
			return rundir.Replace(p)
		}
		p = fmt.Sprintf("%s-%d", path, n)
	}
}

// importName is a directory name made of what a result is labelled with.
func importName(run *rundir.Run) string {
	l := run.Labels
	parts := []string{l.Model, l.Quant}
	if l.GPU != "" {
		parts = append(parts, fmt.Sprintf("%dx%s", max(l.GPUs, 1), l.GPU))
	}
	parts = append(parts, l.Engine)
	if run.Source.Format != published.SixColumn {
		parts = append(parts, run.Target.API, run.Stages[0].Name)
		if n := run.Workload.OutputTokens.Mean; n > 0 && run.Source.Format == published.Stress {
			parts = append(parts, fmt.Sprintf("max%.0f", n))
		}
		if think := run.Workload.Think; think != nil {
			parts = append(parts, map[bool]string{true: "think", false: "no-think"}[*think])
		}
	}
	return safeName(strings.Join(parts, "-"))
}

// safeName keeps what every file system takes.
func safeName(s string) string {
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
	return cmp.Or(strings.TrimRight(b.String(), "."), "result")
}

// figures counts what was read.
func figures(run *rundir.Run) int {
	n := len(run.Source.Figures)
	for i := range run.Stages {
		n += len(run.Stages[i].Source.Figures)
	}
	return n
}
