package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/report/audit"
	"llmsweep/report/imported"
	"llmsweep/report/lang"
	"llmsweep/sweep/answer"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
)

// auditCmd is llmsweep audit.
type auditCmd struct {
	Paths  []string `arg:"" optional:"" name:"path" help:"Documents with published results, run directories, or directories of run directories."`
	Format string   `default:"text" enum:"text,json" placeholder:"NAME" help:"text or json (${default})."`
	Lang   string   `default:"en" enum:"en,zh" placeholder:"en|zh" help:"Language: en or zh (${default})."`
	Rules  bool     `help:"List the rules, their tolerances and the reasons for them."`
}

// Help returns what --help prints after the purpose.
func (auditCmd) Help() string {
	return `Exit codes: 0 nothing found, or remarks only; 1 something impossible or doubtful found; 2 a path could not be read.

Examples:
  llmsweep audit results.md
  llmsweep audit llmsweep-run --format json
  llmsweep audit --rules

More: llmsweep help audit`
}

// Run audits.
func (a *auditCmd) Run(c *console.Console) error {
	if a.Rules {
		return audit.TextRules(c.Out, lang.Lang(a.Lang))
	}
	if len(a.Paths) == 0 {
		return console.Usage(errors.New("audit needs a document or a run directory; llmsweep audit --help has examples"))
	}
	var look inspection
	for _, path := range a.Paths {
		if err := look.add(path); err != nil {
			return console.Usage(err)
		}
	}
	all := look.results()
	write := func() error { return audit.Text(c.Out, all, lang.Lang(a.Lang)) }
	if a.Format == "json" {
		write = func() error { return audit.JSON(c.Out, all) }
	}
	err := write()
	if err != nil {
		return err
	}
	if slices.ContainsFunc(all, func(f audit.Audited) bool {
		return slices.ContainsFunc(f.Findings, func(f audit.Finding) bool { return f.Grade != audit.Remark })
	}) {
		return console.Exit(console.Failed, errors.New("")) // everything has been printed
	}
	return nil
}

// inspection collects the results to audit, by file in the order given.
type inspection struct {
	files    []audit.Audited
	subjects []audit.Subject
	found    []audit.Finding // in records
}

// add reads a document, a run directory, or a directory of run directories.
func (n *inspection) add(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return n.document(path)
	}
	if _, err := os.Stat(filepath.Join(path, rundir.RunFile)); err == nil {
		return n.dir(path)
	}
	inside, err := filepath.Glob(filepath.Join(path, "*", rundir.RunFile))
	if err != nil || len(inside) == 0 {
		return fmt.Errorf("%s is not a run directory and holds none; audit takes documents and run directories", path)
	}
	for _, file := range inside {
		if err := n.dir(filepath.Dir(file)); err != nil {
			return err
		}
	}
	return nil
}

func (n *inspection) document(path string) error {
	doc, err := imported.Read(path)
	if err != nil {
		return err
	}
	for i := range doc.Runs {
		n.subject(path, &doc.Runs[i])
	}
	f := n.file(path)
	for _, r := range doc.Remarks {
		if r.Unread {
			f.Unread = append(f.Unread, fmt.Sprintf("line %d: %s", r.Line, r.Text))
		}
	}
	return nil
}

// dir reads a run directory. An imported run is listed under the document that it came from.
func (n *inspection) dir(path string) error {
	run, err := answer.Reopen(path)
	if err != nil {
		return err
	}
	if run.Source != nil {
		n.subject(run.Source.File, run)
		return nil
	}
	n.subject(path, run)
	records := filepath.Join(path, rundir.RecordsFile)
	if _, err := os.Stat(records); err != nil {
		return nil // records are optional
	}
	found, err := audit.Records(run, records, store.Records(path))
	if err != nil {
		return err
	}
	n.found = append(n.found, found...)
	return nil
}

// subject adds a run.
func (n *inspection) subject(file string, run *rundir.Run) {
	n.subjects = append(n.subjects, audit.Subject{File: file, Run: run})
	f := n.file(file)
	f.Results++
	f.Rows += len(run.Stages)
}

// file returns the entry of a file. The next call may move it.
func (n *inspection) file(name string) *audit.Audited {
	i := slices.IndexFunc(n.files, func(f audit.Audited) bool { return f.File == name })
	if i < 0 {
		n.files = append(n.files, audit.Audited{File: name})
		i = len(n.files) - 1
	}
	return &n.files[i]
}

// results audits everything.
func (n *inspection) results() []audit.Audited {
	for _, f := range append(audit.Runs(n.subjects), n.found...) {
		name := f.File
		if filepath.Base(name) == rundir.RecordsFile {
			name = filepath.Dir(name)
		}
		to := n.file(name)
		to.Findings = append(to.Findings, f)
	}
	return n.files
}
