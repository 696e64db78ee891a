package main

import (
	"errors"
	"fmt"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/report/inputs"
	"llmsweep/report/lang"
	"llmsweep/report/published"
	"llmsweep/sweep/rundir/store"
)

type importCmd struct {
	Files []string `arg:"" name:"file" help:"Documents with tables, or files of GuideLLM and vllm bench serve."`
	Out   string   `type:"path" default:"llmsweep-import" placeholder:"DIR" help:"Directory of the run directories (${default})."`
	Label []string `sep:"," placeholder:"K=V" help:"Labels in place of those that were read (help files)."`
	Split bool     `help:"Do not join the tables of one configuration to one run."`
	All   bool     `help:"Print also each label, with the line that it is from."`
	Lang  string   `default:"en" enum:"en,zh" placeholder:"en|zh" help:"Language of the reports (that of LANG)."`
}

func (importCmd) Help() string {
	return `Examples:
  llmsweep import results.md --out published
  llmsweep import block.txt --label gpu="L20 48GB",gpus=2

More: llmsweep help import`
}

// Run reads all documents, then writes the run directories.
func (i *importCmd) Run(c *console.Console) error {
	labels, err := store.ParseLabels(i.Label)
	if err != nil {
		return console.Usage(err)
	}
	docs, err := inputs.ReadDocuments(i.Files)
	if err != nil {
		return console.Usage(err)
	}
	if !i.Split {
		for n, doc := range docs {
			docs[n] = published.Join(doc)
		}
	}
	to := inputs.Importer{Out: i.Out, Version: console.VersionNumber, Labels: labels, Lang: lang.Lang(i.Lang),
		ListLabels: i.All}
	for n, doc := range docs {
		if n > 0 {
			fmt.Fprintln(c.Out)
		}
		if err := to.Import(c.Out, doc); err != nil {
			var dir *inputs.DirError
			if errors.As(err, &dir) {
				return console.Usage(err)
			}
			return err
		}
	}
	for _, doc := range docs {
		if doc.Broken() {
			return &inputs.UnreadError{Path: doc.Name, Doc: doc}
		}
	}
	return nil
}
