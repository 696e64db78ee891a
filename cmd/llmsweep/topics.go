package main

import (
	"embed"
	"path"
	"strings"
)

// manual holds the reference: one Markdown file per topic and language. The first line of each is "# topic: summary".
//
//go:embed manual
var manual embed.FS

// topics returns the topics of the manual, in the order in which to list them.
func topics() []string {
	return []string{
		"words", "sweep", "loads", "workloads", "metrics", "verdicts", "slo", "budget", "troubleshooting", "errors", "client-fitness",
		"apis", "network", "hosted", "files", "page", "formats", "audit", "compare", "choose", "simulator", "fit", "config", "exit-codes", "ci", "live", "install",
	}
}

// manualPage returns the text of a topic.
func manualPage(lang, topic string) (string, error) {
	b, err := manual.ReadFile(path.Join("manual", lang, topic+".md"))
	return string(b), err
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
