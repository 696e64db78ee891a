package flags

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/report"
	"llmsweep/report/inputs"
	"llmsweep/report/lang"
	html "llmsweep/report/page"
	"llmsweep/report/table"
)

// Tables holds the flags of how tables are written.
type Tables struct {
	Format string `default:"console" enum:"${formats}" placeholder:"NAME" help:"${formats} (by -o)." group:"Result"`
	Output string `short:"o" placeholder:"FILE" help:"Write to this file." group:"Result"`
	All    bool   `help:"Show all columns and sections on the console." group:"Result"`
	Lang   string `default:"en" enum:"en,zh" placeholder:"en|zh" help:"Language (that of LANG)." group:"Result"`
	Force  bool   `help:"Overwrite files that llmsweep did not write, or that were changed since." hidden:"" group:"Result"`
	Plain  bool   `help:"No colour." hidden:"" group:"Result"`
}

// Write writes tables in the format, the language and the file of the flags.
func (t *Tables) Write(c *console.Console, asJSON func(io.Writer) error, sections []table.Section,
	page func(io.Writer, html.WriteOptions) error) error {
	if t.Output == "" {
		return t.print(c.Out, c.Options(t.Lang, t.Plain, ""), asJSON, sections, page)
	}
	var b bytes.Buffer
	if err := t.print(&b, report.Options{Lang: lang.Lang(t.Lang)}, asJSON, sections, page); err != nil {
		return err
	}
	return console.WriteFiles(t.Force, inputs.OutputFile{Path: t.Output, Content: b.Bytes(),
		Comment: inputs.CommentOf(t.Format)})
}

// Names returns the language of the names of configurations: that of the text, and English in JSON, which is
// the same in every language.
func (t *Tables) Names() lang.Lang {
	if t.Format == "json" {
		return lang.English
	}
	return lang.Lang(t.Lang)
}

// CheckFile returns an error where the file of -o may not be overwritten. A command that takes minutes asks before it
// begins.
func (t *Tables) CheckFile() error {
	if t.Output == "" {
		return nil
	}
	return console.Usage(inputs.CheckOutput(t.Output, t.Force))
}

func (t *Tables) print(out io.Writer, o report.Options, asJSON func(io.Writer) error, sections []table.Section,
	page func(io.Writer, html.WriteOptions) error) error {
	switch t.Format {
	case "json":
		return asJSON(out)
	case FormatHTML:
		if page == nil {
			return console.Usage(fmt.Errorf("-o %s: this command writes no page: use .md or .json", filepath.Base(t.Output)))
		}
		return page(out, html.WriteOptions{Lang: o.Lang})
	}
	return table.WriteSections(out, t.Format, sections, table.Style{Width: o.Width, All: t.All, Color: o.Color,
		Lang: o.Lang})
}
