package flags

import (
	"io"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/report"
	"llmsweep/report/lang"
	"llmsweep/report/page/layout"
	"llmsweep/report/table"
)

// Tables say how tables are written.
type Tables struct {
	Format string `default:"console" enum:"console,markdown,json,html" placeholder:"NAME" help:"Format: console, markdown, json or html (${default})."`
	Lang   string `default:"en" enum:"en,zh" placeholder:"en|zh" help:"Language: en or zh (${default})."`
	Output string `short:"o" placeholder:"FILE" help:"Write to this file."`
	Plain  bool   `help:"No colour."`
}

// Write writes tables in the format, the language and the file of the flags.
func (t *Tables) Write(c *console.Console, asJSON func(io.Writer) error, sections func(lang.Lang) []table.Section, page func(io.Writer, layout.Options) error) error {
	out, options := c.Out, report.Options{Lang: lang.Lang(t.Lang)}
	if t.Output == "" {
		options = c.Options(t.Lang, t.Plain, "")
	} else {
		f, err := console.CreateFile(t.Output)
		if err != nil {
			return console.Usage(err)
		}
		defer f.Close()
		out = f
	}
	switch t.Format {
	case "json":
		return asJSON(out)
	case FormatHTML:
		return page(out, layout.Options{Lang: options.Lang})
	}
	return table.WriteSections(out, t.Format, sections(options.Lang), table.Style{Width: options.Width, Color: options.Color})
}
