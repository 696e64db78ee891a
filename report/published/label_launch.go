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
