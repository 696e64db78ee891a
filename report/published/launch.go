package published

import (
	"strings"
)

// launchCommand is a command that starts a server, and where it stands.
type launchCommand struct {
	*LaunchLabels
	line  int
	depth int // of the heading that it stands beneath
}

// The longest command that is read, in lines that end in a backslash.
const maxLaunchLines = 40

// maxLaunchLine is the longest line of a command, in bytes.
const maxLaunchLine = 64 << 10

// readLaunch reads the command that begins at a line (from 0), and returns how many lines it has; 0 where none begins
// there.
func (c *preamble) readLaunch(at int) int {
	if line := c.lines[at]; !strings.Contains(line, "serve") && !strings.Contains(line, "api_server") &&
		!strings.Contains(line, "docker") {
		return 0
	}
	last := at
	var parts []string
	for ; last < len(c.lines) && last-at < maxLaunchLines; last++ {
		text := strings.TrimSpace(c.lines[last])
		if len(text) > maxLaunchLine {
			return 0
		}
		rest, more := strings.CutSuffix(text, `\`)
		parts = append(parts, strings.TrimSpace(rest))
		if !more {
			break
		}
	}
	l := parseLaunch(strings.Join(parts, " "))
	if l == nil {
		return 0
	}
	if c.launch != nil { // a remark that stands between two commands is about the second
		c.gpuMention = mention{}
	}
	c.launch = &launchCommand{LaunchLabels: l, line: at + 1, depth: c.depth()}
	return min(last+1, len(c.lines)) - at
}
