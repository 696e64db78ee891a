package manual

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// List prints each topic with its summary.
func List(out io.Writer, lang string) error {
	head, foot := "Topics:", "llmsweep help TOPIC explains one; llmsweep COMMAND --help lists the flags of a command."
	if lang == "zh" {
		head, foot = "主题：", "llmsweep help 主题 --lang zh 显示说明；llmsweep 命令 --help 列出该命令的参数。"
	}
	fmt.Fprintln(out, head)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, topic := range Topics() {
		page, err := Page(lang, topic)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "  %s\t%s\n", topic, Summary(page))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "\n%s\n", foot)
	return err
}
