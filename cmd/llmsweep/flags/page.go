package flags

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/report/inputs"
	"llmsweep/report/lang"
	html "llmsweep/report/page"
	"llmsweep/report/table"
)

// Page holds the flag of the page of a result, which is written beside its tables.
type Page struct {
	HTML string `name:"html" placeholder:"FILE" help:"Write also the page with drawings here (beside -o)." group:"Result"`
}

// WriteWithPage writes tables as t does, and the page beside them. Where the page would replace somebody else's file,
// nothing is written.
func (p *Page) WriteWithPage(c *console.Console, t *Tables, asJSON func(io.Writer) error, sections []table.Section,
	page func(io.Writer, html.WriteOptions) error) error {
	path := p.path(t)
	if path != "" {
		if err := inputs.CheckOutput(path, t.Force); err != nil {
			return console.Usage(err)
		}
	}
	if err := t.Write(c, asJSON, sections, page); err != nil {
		return err
	}
	if path == "" {
		if t.Output == "" && t.Format == "console" && console.IsTerminal(c.Out) { // no file is written that was not asked for
			fmt.Fprintln(c.Err, html.FlagHint(lang.Lang(t.Lang)))
		}
		return nil
	}
	var b bytes.Buffer
	if err := page(&b, html.WriteOptions{Lang: lang.Lang(t.Lang)}); err != nil {
		return err
	}
	if err := console.WriteFiles(t.Force, inputs.OutputFile{Path: path, Content: b.Bytes(),
		Comment: inputs.XMLMark}); err != nil {
		return err
	}
	fmt.Fprintln(c.Err, html.PathNote(path, lang.Lang(t.Lang)))
	return nil
}

// CheckFiles returns an error where the file of -o or the page may not be overwritten. A command that takes minutes
// asks before it begins.
func (p *Page) CheckFiles(t *Tables) error {
	if path := p.path(t); path != "" {
		if err := inputs.CheckOutput(path, t.Force); err != nil {
			return console.Usage(err)
		}
	}
	return t.CheckFile()
}

// path returns where the page is written; empty where there is none, as with JSON and with --format html.
func (p *Page) path(t *Tables) string {
	switch {
	case p.HTML != "":
		return p.HTML
	case t.Output == "" || t.Format == "json" || t.Format == FormatHTML ||
		filepath.Clean(html.PagePath(t.Output)) == filepath.Clean(t.Output):
		return ""
	}
	return html.PagePath(t.Output)
}
