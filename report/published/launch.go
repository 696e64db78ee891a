package published

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// LaunchLabels is a command that starts a server.
type LaunchLabels struct {
	Text        string // one line, without prompt
	Engine      string
	Model       string // a name or a path; empty where the command has none
	Quant       string
	MaxLen      string
	GPUs        int
	CountStated bool // the command has an option for the number of GPUs; else GPUs is 1 by default
}

var (
	// launchLine knows commands by their beginning: a prompt, variables and wrappers may stand before them.
	launchLine = regexp.MustCompile(`^(?:[$>#]\s+)?(?:\w+=\S*\s+)*(?:(?:sudo|nohup|exec|time|env)\s+(?:\w+=\S*\s+)*)*(?:\S*python[\d.]*\s+-m\s+)?(vllm\s+serve|vllm\.entrypoints\.openai\.api_server|vllm\.entrypoints\.api_server|sglang\.launch_server|sglang\s+serve|lmdeploy\s+serve\s+api_server|lmdeploy\s+serve)\s+(.*)$`)
	dockerLine = regexp.MustCompile(`^(?:[$>#]\s+)?(?:sudo\s+)?docker\s+run\s.*?(vllm/vllm-openai\S*|lmsysorg/sglang\S*(?:\s+\S*python[\d.]*\s+-m\s+sglang\.launch_server)?|openmmlab/lmdeploy\S*\s+lmdeploy\s+serve\s+api_server)\s+(.*)$`)
	modelLike  = regexp.MustCompile(`[/\d]`)
)

// parseLaunch reads a command; nil where it starts no server that is known.
func parseLaunch(text string) *LaunchLabels {
	m := launchLine.FindStringSubmatch(text)
	if m == nil {
		m = dockerLine.FindStringSubmatch(text)
	}
	if m == nil {
		return nil
	}
	l := &LaunchLabels{Text: strings.TrimLeft(text, "$># ")}
	l.Engine, _ = labelEngine(strings.NewReplacer("/", " ", ".", " ", "-", " ").Replace(m[1]))
	options, free := commandOptions(m[2])
	value := func(names ...string) string {
		for _, n := range names {
			if v := options[n]; v != "" {
				return v
			}
		}
		return ""
	}
	l.Model = value("served-model-name", "model-name", "model-path", "model")
	if l.Model == "" && len(free) > 0 {
		l.Model = free[0]
	}
	if l.Model == "" || len(options) == 0 && !modelLike.MatchString(l.Model) { // a sentence that begins with the words
		return nil
	}
	l.Quant = value("quantization", "q", "model-format")
	l.MaxLen = value("max-model-len", "context-length", "session-len", "max-context-len")
	l.GPUs = 1
	parallel := func(names ...string) {
		if n, err := strconv.Atoi(value(names...)); err == nil && n > 0 && n <= 1<<16 {
			l.GPUs, l.CountStated = l.GPUs*n, true
		}
	}
	parallel("tensor-parallel-size", "tp-size", "tp")
	parallel("pipeline-parallel-size", "pp-size", "pp")
	if _, shared := options["enable-dp-attention"]; !shared { // SGLang then splits the tensor-parallel GPUs
		parallel("data-parallel-size", "dp-size", "dp")
	}
	if l.GPUs > 1<<16 {
		l.GPUs, l.CountStated = 0, false
	}
	return l
}

// commandOptions splits the arguments of a command: --name value, --name=value and -name value; and those without a
// name.
func commandOptions(text string) (options map[string]string, free []string) {
	options = map[string]string{}
	words := strings.Fields(text)
	if i := slices.IndexFunc(words, func(w string) bool { return strings.ContainsAny(w, "|&>;") }); i >= 0 {
		words = words[:i]
	}
	for i := 0; i < len(words); i++ {
		word := strings.Trim(words[i], `"'`)
		name, dashed := strings.CutPrefix(word, "-")
		if !dashed {
			free = append(free, word)
			continue
		}
		name, value, given := strings.Cut(strings.TrimPrefix(name, "-"), "=")
		if !given && i+1 < len(words) && !strings.HasPrefix(words[i+1], "-") {
			i++
			value = words[i]
		}
		options[strings.ReplaceAll(name, "_", "-")] = strings.Trim(value, `"'`)
	}
	return options, free
}

// launchCommand is a command that starts a server, and where it stands.
type launchCommand struct {
	*LaunchLabels
	line  int
	depth int // of the heading that it stands beneath
}

// The longest command that is read, in lines that end in a backslash.
const maxLaunchLines = 40

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
		if len(text) > maxTextLine {
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
