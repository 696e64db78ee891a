package main

import (
	"encoding/json"
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
	old, err := os.ReadFile(r.Output)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return console.Usage(err)
	}
	// The document's own tables are not new results: it names where they came from.
	doc := document.RenewDocument{Path: r.Output}
	found, err := inputs.Read(c.Err, slices.DeleteFunc(r.Dirs, doc.IsDocument))
	if err != nil {
		return console.Usage(err)
	}
	doc.Names = setup.Names(found)
	if found, err = doc.AddStored(c.Err, found, old); err != nil {
		return console.Usage(fmt.Errorf("%s: %w", r.Output, err))
	}
	if len(found) == 0 {
		return console.Usage(errors.New("--document needs results: run directories, or documents with published tables"))
	}
	o := document.Options{
		Lang: lang.Lang(r.Lang), Force: r.Force, Base: strings.TrimSuffix(filepath.Base(r.Output), filepath.Ext(r.Output)),
		From: doc.SourceName, AnyWorkload: r.AnyWorkload, Order: r.Order, Source: r.Source,
	}
	if err := r.choice(&o, old); err != nil {
		return console.Usage(err)
	}
	if o.Choice != nil {
		if err := inputs.Assess(found, o.Choice.Terms); err != nil {
			return console.Usage(err)
		}
	}
	setups := setup.LoadWith(found, setup.Options{Show: doc.SourceName, Lang: lang.Lang(r.Lang)})
	out, err := document.Write(setups, old, o)
	if err != nil {
		return console.Usage(fmt.Errorf("%s: %w", r.Output, err))
	}
	page, err := document.RenewPage(setups, o)
	if err != nil {
		return console.Usage(err)
	}
	if page != nil {
		out.Files[filepath.Base(html.PagePath(r.Output))] = page
	}
	return r.keep(out)
}

// keep writes a document and its drawings. The document is replaced as a whole, because people write in it.
func (r *reportCmd) keep(out document.Output) error {
	var drawings []inputs.OutputFile
	for name, b := range out.Files {
		drawings = append(drawings, inputs.OutputFile{Path: filepath.Join(filepath.Dir(r.Output), name), Content: b,
			Comment: inputs.XMLMark})
	}
	if err := console.WriteFiles(r.Force, drawings...); err != nil {
		return err
	}
	const force = true // the parts that people may have changed were checked one by one
	return console.WriteFiles(force, inputs.OutputFile{Path: r.Output, Content: out.Document})
}

// choice sets the options of choose: those of the flags, or else those that the document was written with.
func (r *reportCmd) choice(o *document.Options, old []byte) error {
	needs := r.Requirements
	if len(needs.SLO) == 0 && needs.Demand == "" {
		text := document.ChoiceNote(old)
		if text == "" {
			return nil
		}
		prices := needs.Price
		if err := json.Unmarshal([]byte(text), &needs); err != nil {
			return fmt.Errorf("%s: the comment that holds its --slo and --demand is damaged (%s); give them again", r.Output,
				text)
		}
		needs.Price = append(needs.Price, prices...)
	}
	options, err := needs.Options()
	if err != nil {
		return err
	}
	options.AnyWorkload = r.AnyWorkload
	needs.Price, needs.Prices = options.Prices.Texts(), "" // the prices, and not a path of this machine
	o.Choice, o.ChoiceNote = &options, needs
	return nil
}
