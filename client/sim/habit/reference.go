package habit

import (
	"fmt"
	"strings"
)

// Reference lists the habits, for the end of sim --help.
func Reference() string {
	var b strings.Builder
	b.WriteString("Habits (--habit): TIME is 500ms, 20s or 3m; SHARE is 0.3 or 30%.\n")
	for _, k := range Kinds() {
		fmt.Fprintf(&b, "  %s\n", k.Form)
		const width = 76
		line := "     "
		for word := range strings.FieldsSeq(k.About + ". Example: " + k.Example) {
			if len(line)+len(word) >= width {
				b.WriteString(line + "\n")
				line = "     "
			}
			line += " " + word
		}
		b.WriteString(line + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}
