package manual

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"llmsweep/client/input"
)

// List prints each topic with its summary.
func List(out io.Writer) error {
	fmt.Fprintln(out, "Topics:")
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, topic := range Topics() {
		page, err := Page(topic)
		if err != nil {
			return err
		}
		line, _, _ := strings.Cut(page, "\n")
		_, summary, _ := strings.Cut(line, ": ")
		fmt.Fprintf(w, "  %s\t%s\n", topic, summary)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(out, "\nllmsweep help TOPIC explains one; llmsweep COMMAND --help lists the flags of a "+
		"command.\nllmsweep help schema prints the JSON Schema of run.json.")
	return err
}

// topicOf has the topics of names that have none of their own: commands, and words that people look for.
var topicOf = map[string]string{
	"run": "loads", "workloads": "loads", "prompts": "loads", "images": "loads", "grading": "loads", "traces": "loads",
	"budget": "sweep", "users": "sweep", "words": "metrics", "errors": "metrics",
	"slo": "verdicts", "troubleshooting": "verdicts", "habits": "client",
	"apis": "servers", "network": "servers", "hosted": "servers", "cost": "servers",
	"label": "files", "resume": "files", "config": "files", "live": "files",
	"import": "report", "audit": "report", "page": "report", "formats": "report",
	"choose": "compare", "history": "compare", "ci": "compare", "exit-codes": "compare",
	"demo": "client", "sim": "client", "simulator": "client", "selftest": "client", "cluster": "client",
}

// Find returns the topic that explains a name. The error names the nearest one.
func Find(name string) (string, error) {
	topic := strings.ToLower(name)
	topic = cmp.Or(topicOf[topic], topic)
	if slices.Contains(Topics(), topic) {
		return topic, nil
	}
	text := fmt.Sprintf("there is no help topic %q", name)
	if near, ok := input.Nearest(topic, Topics()); ok {
		return "", fmt.Errorf("%s; did you mean %q?", text, near)
	}
	return "", fmt.Errorf("%s; llmsweep help lists the topics", text)
}
