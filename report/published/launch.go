package published

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

type launchCommand struct {
	text       string // one line, without prompt
	engine     string
	model      string // a name or a path; empty where the command has none
	quant      string
	maxLen     string
	gpus       int
	gpusStated bool // the command has an option for the number of GPUs; else it is 1 by default
	line       int
	depth      int // of the heading that it stands beneath
}

var (
	// A prompt, variables and wrappers may stand before a command.
	launchLine = regexp.MustCompile(`^(?:[$>#]\s+)?(?:\w+=\S*\s+)*(?:(?:sudo|nohup|exec|time|env)\s+(?:\w+=\S*\s+)*)*(?:\S*python[\d.]*\s+-m\s+)?(vllm\s+serve|vllm\.entrypoints\.openai\.api_server|vllm\.entrypoints\.api_server|sglang\.launch_server|sglang\s+serve|lmdeploy\s+serve\s+api_server|lmdeploy\s+serve)\s+(.*)$`)
	dockerLine = regexp.MustCompile(`^(?:[$>#]\s+)?(?:sudo\s+)?docker\s+run\s.*?(vllm/vllm-openai\S*|lmsysorg/sglang\S*(?:\s+\S*python[\d.]*\s+-m\s+sglang\.launch_server)?|openmmlab/lmdeploy\S*\s+lmdeploy\s+serve\s+api_server)\s+(.*)$`)
	modelLike  = regexp.MustCompile(`[/\d]`)
)

func parseLaunch(text string) *launchCommand {
	m := launchLine.FindStringSubmatch(text)
	if m == nil {
		m = dockerLine.FindStringSubmatch(text)
	}
	if m == nil {
		return nil
	}
	l := &launchCommand{text: strings.TrimLeft(text, "$># ")}
	l.engine, _ = findEngine(strings.NewReplacer("/", " ", ".", " ", "-", " ").Replace(m[1]))
	options, free := commandOptions(m[2])
	value := func(names ...string) string {
		for _, n := range names {
			if v := options[n]; v != "" {
				return v
			}
		}
		return ""
	}
	l.model = value("served-model-name", "model-name", "model-path", "model")
	if l.model == "" && len(free) > 0 {
		l.model = free[0]
	}
	if l.model == "" || len(options) == 0 && !modelLike.MatchString(l.model) { // a sentence that begins with the words
		return nil
	}
	l.quant = value("quantization", "q", "model-format")
	l.maxLen = value("max-model-len", "context-length", "session-len", "max-context-len")
	l.gpus = 1
	multiply := func(names ...string) {
		if n, err := strconv.Atoi(value(names...)); err == nil && n > 0 && n <= 1<<16 {
			l.gpus, l.gpusStated = l.gpus*n, true
		}
	}
	multiply("tensor-parallel-size", "tp-size", "tp")
	multiply("pipeline-parallel-size", "pp-size", "pp")
	if _, shared := options["enable-dp-attention"]; !shared { // SGLang then splits the tensor-parallel GPUs
		multiply("data-parallel-size", "dp-size", "dp")
	}
	if l.gpus > 1<<16 {
		l.gpus, l.gpusStated = 0, false
	}
	return l
}

// commandOptions splits arguments into options, as --name value, --name=value or -name value, and those without a name.
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
		name, value, hasValue := strings.Cut(strings.TrimPrefix(name, "-"), "=")
		if !hasValue && i+1 < len(words) && !strings.HasPrefix(words[i+1], "-") {
			i++
			value = words[i]
		}
		options[strings.ReplaceAll(name, "_", "-")] = strings.Trim(value, `"'`)
	}
	return options, free
}

// The longest command that is read, in lines that end in a backslash.
const maxLaunchLines = 40

// readLaunch returns how many lines the command has that begins at a line (from 0); 0 where none begins there.
func (c *preamble) readLaunch(at int) int {
	line := c.lines[at]
	if !strings.Contains(line, "serve") && !strings.Contains(line, "api_server") && !strings.Contains(line, "docker") {
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
	l.line, l.depth = at+1, c.depth()
	c.launch = l
	return min(last+1, len(c.lines)) - at
}
