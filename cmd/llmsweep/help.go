package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"llmsweep/client/nearest"
	"llmsweep/cmd/llmsweep/console"
	"llmsweep/cmd/llmsweep/manual"
)

// helpCmd is llmsweep help.
type helpCmd struct {
	Topic string `arg:"" optional:"" name:"topic" predictor:"topic" help:"Topic to explain. Without it: list the topics."`
	Lang  string `default:"" enum:",en,zh" placeholder:"en|zh" help:"Language: en or zh. Default: zh where LANG starts with zh, else en."`
}

// Help returns what --help prints after the purpose.
func (helpCmd) Help() string {
	return `Examples:
  llmsweep help
  llmsweep help metrics
  llmsweep help verdicts --lang zh`
}

// Run prints a topic, or the list of topics.
func (h *helpCmd) Run(c *console.Console) error {
	lang := h.Lang
	if lang == "" {
		lang = "en"
		if strings.HasPrefix(cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_MESSAGES"), os.Getenv("LANG")), "zh") {
			lang = "zh"
		}
	}
	if h.Topic == "" {
		return manual.List(c.Out, lang)
	}
	topic := strings.ToLower(h.Topic)
	if !slices.Contains(manual.Topics(), topic) {
		text := fmt.Sprintf("there is no help topic %q", h.Topic)
		if near, ok := nearest.Name(topic, manual.Topics()); ok {
			return console.Usage(fmt.Errorf("%s; did you mean %q?", text, near))
		}
		return console.Usage(fmt.Errorf("%s; llmsweep help lists the topics", text))
	}
	page, err := manual.Page(lang, topic)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(c.Out, page)
	return err
}
