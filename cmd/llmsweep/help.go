package main

import (
	"cmp"
	"embed"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"text/tabwriter"
)

// manual holds the reference: one Markdown file per topic and language. The first line of each is "# topic: summary".
//
//go:embed manual
var manual embed.FS

// topics returns the topics of the manual, in the order in which to list them.
func topics() []string {
	return []string{
		"words", "sweep", "loads", "workloads", "metrics", "verdicts", "slo", "budget", "troubleshooting", "errors", "client-fitness",
		"apis", "network", "hosted", "files", "page", "formats", "audit", "compare", "choose", "simulator", "fit", "config", "exit-codes", "ci", "live", "cluster", "install",
	}
}

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
func (h *helpCmd) Run(c *console) error {
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
	if !slices.Contains(topics(), topic) {
		text := fmt.Sprintf("there is no help topic %q", h.Topic)
		if near, ok := nearest(topic, topics()); ok {
			return usage(fmt.Errorf("%s; did you mean %q?", text, near))
		}
		return usage(fmt.Errorf("%s; llmsweep help lists the topics", text))
	}
	page, err := manualPage(lang, topic)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(c.out, page)
	return err
}

// manualPage returns the text of a topic.
func manualPage(lang, topic string) (string, error) {
	b, err := manual.ReadFile(path.Join("manual", lang, topic+".md"))
	return string(b), err
}

// listTopics prints each topic with its summary.
func listTopics(c *console, lang string) error {
	head, foot := "Topics:", "llmsweep help TOPIC explains one; llmsweep COMMAND --help lists the flags of a command."
	if lang == "zh" {
		head, foot = "主题：", "llmsweep help 主题 --lang zh 显示说明；llmsweep 命令 --help 列出该命令的参数。"
	}
	fmt.Fprintln(c.out, head)
	w := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
	for _, topic := range topics() {
		page, err := manualPage(lang, topic)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "  %s\t%s\n", topic, summary(page))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(c.out, "\n%s\n", foot)
	return err
}

// summary returns what the first line of a page says after the topic.
func summary(page string) string {
	line, _, _ := strings.Cut(page, "\n")
	for _, colon := range []string{": ", "："} {
		if _, text, ok := strings.Cut(line, colon); ok {
			return text
		}
	}
	return strings.TrimPrefix(line, "# ")
}
