package main

import (
	"cmp"
	"fmt"
	"strings"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/cmd/llmsweep/manual"
	"llmsweep/sweep/rundir"

	"github.com/alecthomas/kong"
)

type helpCmd struct {
	Topic string `arg:"" optional:"" name:"topic" help:"A topic, a command, or schema (a JSON Schema)."`
	Name  string `arg:"" optional:"" name:"name" help:"Of schema: run (the default), records or pair."`
}

func (helpCmd) Help() string {
	return `Examples:
  llmsweep help
  llmsweep help metrics
  llmsweep help schema records`
}

func (h *helpCmd) Run(c *console.Console) error {
	switch {
	case h.Topic == "":
		return manual.List(c.Out)
	case h.Topic == "schema":
		schema, err := rundir.SchemaOf(cmp.Or(h.Name, "run"))
		if err != nil {
			return console.Usage(err)
		}
		_, err = c.Out.Write(schema)
		return err
	case h.Name != "":
		return console.Usage(fmt.Errorf("unexpected argument %s", h.Name))
	}
	topic, err := manual.Find(h.Topic)
	if err != nil {
		return console.Usage(err)
	}
	page, err := manual.Page(topic)
	if err != nil {
		return err
	}
	parser, _ := newParser(c, &cli{})
	command := strings.ToLower(h.Topic)
	if command == "compare" {
		page += failIfMetrics()
	}
	page += otherFlags(parser.Model, command)
	return c.Page(func(width int) string { return manual.Terminal(page, width) }, page)
}

// otherFlags lists the flags of a command that its --help leaves out, in Markdown; nothing where there are none.
func otherFlags(grammar *kong.Application, command string) string {
	var rows strings.Builder
	for _, node := range grammar.Children {
		if node.Name != command {
			continue
		}
		for _, f := range node.Flags {
			if !f.Hidden {
				continue
			}
			name := "--" + f.Name
			if !f.IsBool() {
				name += "=" + f.FormatPlaceHolder()
			}
			fmt.Fprintf(&rows, "| `%s` | %s |\n", name, f.Help)
		}
	}
	if rows.Len() == 0 {
		return ""
	}
	return "\n## Other flags of llmsweep " + command + "\n\n| flag | meaning |\n|---|---|\n" + rows.String()
}
