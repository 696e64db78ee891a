// Package manual is the reference that "llmsweep help TOPIC" prints.
package manual

import (
	"embed"
	"path"
)

// Files holds the reference: one Markdown file per topic. The first line of each is "# topic: summary".
//
//go:embed topics
var Files embed.FS

// Topics returns the topics of the manual, in the order in which to list them.
func Topics() []string {
	return []string{"sweep", "loads", "metrics", "verdicts", "servers", "files", "report", "compare", "client", "methods"}
}

// Page returns the text of a topic.
func Page(topic string) (string, error) {
	b, err := Files.ReadFile(path.Join("topics", topic+".md"))
	return string(b), err
}
