package main

import (
	"cmp"
	"fmt"
	"llmsweep/client/nearest"
	"llmsweep/cmd/llmsweep/console"
	"llmsweep/cmd/llmsweep/manual"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
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
		return listTopics(c, lang)
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

// listTopics prints each topic with its summary.
func listTopics(c *console.Console, lang string) error {
	head, foot := "Topics:", "llmsweep help TOPIC explains one; llmsweep COMMAND --help lists the flags of a command."
	if lang == "zh" {
		head, foot = "主题：", "llmsweep help 主题 --lang zh 显示说明；llmsweep 命令 --help 列出该命令的参数。"
	}
	fmt.Fprintln(c.Out, head)
	w := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
	for _, topic := range manual.Topics() {
		page, err := manual.Page(lang, topic)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "  %s\t%s\n", topic, manual.Summary(page))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(c.Out, "\n%s\n", foot)
	return err
}
