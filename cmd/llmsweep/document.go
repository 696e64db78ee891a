package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/report/document"
	"llmsweep/report/inputs"
	"llmsweep/report/lang"
	html "llmsweep/report/page"
	"llmsweep/report/setup"
)

func (r *reportCmd) document(c *console.Console) error {
	if r.Output == "" {
		return console.Usage(errors.New("--document needs a file to write, -o report.md: drawings go beside it"))
	}
	for _, key := range r.Order {
		if !slices.Contains(document.OrderKeys(), key) {
			return console.Usage(fmt.Errorf("--order %s: there are %s", key, strings.Join(document.OrderKeys(), ", ")))
		}
	}
	written, _ := os.Stat(r.Output)
	sources := slices.DeleteFunc(slices.Clone(r.Dirs), func(path string) bool {
		source, _ := os.Stat(path)
		return os.SameFile(source, written) // *.md names the document, too, where it is written again
	})
	found, err := inputs.Read(c.Err, sources)
	if err != nil {
		return console.Usage(err)
	}
	if len(found) == 0 {
		return console.Usage(errors.New("--document needs results: run directories, or documents with published tables"))
	}
	o := document.Options{
		Lang: lang.Lang(r.Lang), Base: strings.TrimSuffix(filepath.Base(r.Output), filepath.Ext(r.Output)),
		From: document.SourceNames(r.Output, setup.Names(found)), AnyWorkload: r.AnyWorkload, Order: r.Order,
		Source: r.Source,
	}
	if len(r.SLO) > 0 || r.Demand != "" {
		options, err := r.Requirements.Options()
		if err != nil {
			return console.Usage(err)
		}
		options.AnyWorkload, o.Choice = r.AnyWorkload, &options
		if err := inputs.Assess(found, options.Terms); err != nil {
			return console.Usage(err)
		}
	}
	out, err := document.Write(setup.LoadWith(found, setup.Options{Show: o.From, Lang: o.Lang}), o)
	if err != nil {
		return console.Usage(fmt.Errorf("%s: %w", r.Output, err))
	}
	files := []inputs.OutputFile{{Path: r.Output, Content: out.Document, Comment: inputs.XMLMark}}
	if out.Page != nil {
		files = append(files, inputs.OutputFile{Path: html.PagePath(r.Output), Content: out.Page, Comment: inputs.XMLMark})
	}
	for name, b := range out.Drawings {
		files = append(files, inputs.OutputFile{Path: filepath.Join(filepath.Dir(r.Output), name), Content: b,
			Comment: inputs.XMLMark})
	}
	return console.WriteFiles(r.Force, files...)
}
