package published

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// launch is a command that starts a server.
type launch struct {
	line   int
	text   string // one line, without prompt
	depth  int    // of the heading that it stands beneath
	engine string
	model  string // a name or a path; empty where the command has none
	quant  string
	maxLen string
	gpus   int
	told   bool // the command has an option for the number of GPUs; else gpus is 1 by default
}

var (
	// launchLine knows commands by their beginning: a prompt, variables and wrappers may stand before them.
	launchLine = regexp.MustCompile(`^(?:[$>#]\s+)?(?:\w+=\S*\s+)*(?:(?:sudo|nohup|exec|time|env)\s+(?:\w+=\S*\s+)*)*(?:\S*python[\d.]*\s+-m\s+)?(vllm\s+serve|vllm\.entrypoints\.openai\.api_server|vllm\.entrypoints\.api_server|sglang\.launch_server|sglang\s+serve|lmdeploy\s+serve\s+api_server|lmdeploy\s+serve)\s+(.*)$`)
	dockerLine = regexp.MustCompile(`^(?:[$>#]\s+)?(?:sudo\s+)?docker\s+run\s.*?(vllm/vllm-openai\S*|lmsysorg/sglang\S*(?:\s+\S*python[\d.]*\s+-m\s+sglang\.launch_server)?|openmmlab/lmdeploy\S*\s+lmdeploy\s+serve\s+api_server)\s+(.*)$`)
	modelLike  = regexp.MustCompile(`[/\d]`)
)

// The longest command that is read, in lines that end in a backslash.
const maxLaunchLines = 40

// launchCommand reads the command that begins on the next line, which may go on for several lines; false where none does.
func (p *parser) launchCommand(line string) bool {
	if !strings.Contains(line, "serve") && !strings.Contains(line, "api_server") && !strings.Contains(line, "docker") {
		return false
	}
	last := p.at
	var parts []string
	for ; last < len(p.lines) && last-p.at < maxLaunchLines; last++ {
		text := strings.TrimSpace(p.lines[last])
		if len(text) > maxLine {
			return false
		}
		rest, more := strings.CutSuffix(text, `\`)
		parts = append(parts, strings.TrimSpace(rest))
		if !more {
			break
		}
	}
	l := parseLaunch(strings.Join(parts, " "))
	if l == nil {
		return false
	}
	l.line, l.depth = p.at+1, p.ctx.depth()
	if p.ctx.launch != nil { // a remark that stands between two commands is on the second
		p.ctx.gpusSaid = said{}
	}
	p.ctx.launch = l
	for p.at < len(p.lines) && p.at <= last {
		p.take(Context)
	}
	return true
}

// parseLaunch reads a command; nil where it starts no server that is known.
func parseLaunch(text string) *launch {
	m := launchLine.FindStringSubmatch(text)
	if m == nil {
		m = dockerLine.FindStringSubmatch(text)
	}
	if m == nil {
		return nil
	}
	l := &launch{text: strings.TrimLeft(text, "$># ")}
	l.engine, _ = engineIn(strings.NewReplacer("/", " ", ".", " ", "-", " ").Replace(m[1]))
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
	parallel := func(names ...string) {
		if n, err := strconv.Atoi(value(names...)); err == nil && n > 0 && n <= 1<<16 {
			l.gpus, l.told = l.gpus*n, true
		}
	}
	parallel("tensor-parallel-size", "tp-size", "tp")
	parallel("pipeline-parallel-size", "pp-size", "pp")
	if _, shared := options["enable-dp-attention"]; !shared { // SGLang then splits the tensor-parallel GPUs
		parallel("data-parallel-size", "dp-size", "dp")
	}
	if l.gpus > 1<<16 {
		l.gpus, l.told = 0, false
	}
	return l
}

// commandOptions splits the arguments of a command: --name value, --name=value and -name value; and those without a name.
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

// baseModel returns the name at the end of a model's path, with its quantization taken off.
func baseModel(name string) (model, quant string) {
	if strings.HasPrefix(name, "/") || strings.HasPrefix(name, "./") || strings.HasPrefix(name, "~") {
		name = path.Base(name)
	}
	return splitQuant(name)
}
