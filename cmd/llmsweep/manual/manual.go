// Package manual is the reference that "llmsweep help TOPIC" prints.
package manual

import (
	"embed"
	"path"
	"strings"
)

// Files holds the reference: one Markdown file per topic and language. The first line of each is "# topic: summary".
//
//go:embed en zh
var Files embed.FS

// Topics returns the topics of the manual, in the order in which to list them.
func Topics() []string {
	return []string{
		"sweep", "loads", "metrics", "verdicts", "slo", "fidelity", "errors", "client", "servers", "files", "report", "live",
		"import", "record", "compare", "choose", "history", "ci", "simulator", "fit", "cluster", "install", "methods",
	}
}

// Page returns the text of a topic.
func Page(lang, topic string) (string, error) {
	b, err := Files.ReadFile(path.Join(lang, topic+".md"))
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
