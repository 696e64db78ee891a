package main

import (
	"io"

	"llmsweep/report"
	"llmsweep/report/lang"
	html "llmsweep/report/page"
	"llmsweep/report/table"
)

// tableFlags say how tables are written.
type tableFlags struct {
	Format string `default:"console" enum:"console,markdown,json,html" placeholder:"NAME" help:"Format: console, markdown, json or html (${default})."`
	Lang   string `default:"en" enum:"en,zh" placeholder:"en|zh" help:"Language: en or zh (${default})."`
	Output string `short:"o" placeholder:"FILE" help:"Write to this file."`
	Plain  bool   `help:"No colour."`
}

// write writes tables in the format, the language and the file of the flags.
func (t *tableFlags) write(c *console, asJSON func(io.Writer) error, sections func(lang.Lang) []table.Section, page func(io.Writer, html.Options) error) error {
	out, options := c.out, report.Options{Lang: lang.Lang(t.Lang)}
	if t.Output == "" {
		options = c.options(t.Lang, t.Plain, "")
	} else {
		f, err := createFile(t.Output)
		if err != nil {
			return usage(err)
		}
		defer f.Close()
		out = f
	}
	switch t.Format {
	case "json":
		return asJSON(out)
	case formatHTML:
		return page(out, html.Options{Lang: options.Lang})
	}
	return table.WriteSections(out, t.Format, sections(options.Lang), table.Style{Width: options.Width, Color: options.Color})
}
