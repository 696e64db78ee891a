package published

import (
	"path"
	"regexp"
	"strconv"
	"strings"
)

// engines are how serving engines are written, by how people write them.
func engines() map[string]string {
	return map[string]string{
		"vllm": "vLLM", "sglang": "SGLang", "lmdeploy": "lmdeploy", "llama.cpp": "llama.cpp", "llamacpp": "llama.cpp",
		"ollama": "Ollama", "tgi": "TGI", "text-generation-inference": "TGI", "triton": "Triton",
		"tensorrt-llm": "TensorRT-LLM", "trt-llm": "TensorRT-LLM", "mindie": "MindIE", "ktransformers": "KTransformers",
		"xinference": "Xinference",
	}
}

var (
	engineWord = regexp.MustCompile(`(?i)(?:^|[^a-z0-9.])(vllm|sglang|lmdeploy|llama\.?cpp|ollama|tgi|text-generation-inference|triton|tensorrt-llm|trt-llm|mindie|ktransformers|xinference)(?:$|[^a-z0-9])`)
	gpuWord    = regexp.MustCompile(`(?i)(?:(\d{1,4})\s*(?:x|×|\*|张)\s*)?\b((?:A100|A800|H100|H200|H800|H20|B200|GB200|L20|L40S|L40|L4|A10G|A10|A30|A40|V100|T4|RTX ?\d{4}|MI\d{3}X?)(?:[ -]\d{1,3} ?GB?)?)\b`)
	noThink    = regexp.MustCompile(`(?i)\b(no|non|without|disable)[- _]?(think|thinking|reasoning)\b|不思考|非思考|关闭思考`)
	think      = regexp.MustCompile(`(?i)\b(think|thinking|reasoning)\b|思考`)
	quantTail  = regexp.MustCompile(`(?i)^(.+?)[-_ ](AWQ(?:-Int4)?|GPTQ(?:-Int[48])?|BNB-[48]bit|Int[48]|FP16|BF16|FP8|FP4|W4A16|W8A8|W4A8|GGUF|Q\d_[0-9A-Z_]+)$`)
)

func engineIn(text string) (string, bool) {
	m := engineWord.FindStringSubmatch(text)
	if m == nil {
		return "", false
	}
	return engines()[strings.ToLower(m[1])], true
}

// gpu is hardware as a heading names it.
type gpu struct {
	name  string
	count int // 0 where none was named
}

func gpuIn(text string) (gpu, bool) {
	m := gpuWord.FindStringSubmatch(text)
	if m == nil {
		return gpu{}, false
	}
	n, _ := strconv.Atoi(m[1]) // empty, or four digits at most
	return gpu{m[2], n}, true
}

func thinkIn(text string) (on, said bool) {
	switch {
	case noThink.MatchString(text):
		return false, true
	case think.MatchString(text):
		return true, true
	}
	return false, false
}

// splitQuant takes the quantization off a model's name.
func splitQuant(name string) (model, quant string) {
	if m := quantTail.FindStringSubmatch(name); m != nil {
		return m[1], m[2]
	}
	return name, ""
}

// setModel labels the result with a model that may be named by its path on disk, with its quantization at the end.
func (r *reading) setModel(name string) {
	base := name
	if strings.HasPrefix(name, "/") || strings.HasPrefix(name, "./") || strings.HasPrefix(name, "~") {
		base = path.Base(name)
	}
	r.run.Labels.Model, r.run.Labels.Quant = splitQuant(base)
}

// modelHeading is the line above a six-column table, and its number.
type modelHeading struct {
	line int
	text string
}

var (
	listItem   = regexp.MustCompile(`^(?:[-+]\s*|\*\s+)`)
	tokensPart = regexp.MustCompile(`(?i)^(prompt|input|generated|output)_tokens\s*[=:：]\s*([\d,.]+)$`)
	countPart  = regexp.MustCompile(`(?i)^(\d{1,6})\s*(?:张|块|卡|x|×|\*)\s*(.+)$`)
)

// isModelHeading knows lines such as "- **MODEL**, **N** x **GPU**, **ENGINE**, prompt_tokens=P, generated_tokens=G".
func isModelHeading(line string) bool {
	if strings.Contains(line, "prompt_tokens=") || strings.Contains(line, "generated_tokens=") {
		return listItem.MatchString(line) || strings.HasPrefix(line, "**")
	}
	item := listItem.FindString(line)
	return item != "" && strings.HasPrefix(line[len(item):], "**") && strings.Contains(line, ",")
}

// heading labels the result by its heading line, as far as the parts can be told apart.
func (r *reading) readHeading(h *modelHeading) {
	var names []string
	for _, part := range headingParts(h.text) {
		if m := tokensPart.FindStringSubmatch(part); m != nil {
			r.askedLength(strings.ToLower(m[1]), m[2])
		} else if m := countPart.FindStringSubmatch(part); m != nil {
			r.run.Labels.GPUs, _ = strconv.Atoi(m[1]) // six digits at most
			r.run.Labels.GPU = m[2]
		} else if strings.Contains(part, "_tokens") {
			r.remark(h.line, true, "%q is no length", short(part))
		} else if part != "" {
			names = append(names, part)
		}
	}
	if len(names) > 0 {
		r.setModel(names[0])
	}
	for _, name := range names[min(1, len(names)):] {
		_, known := engineIn(name)
		switch _, hardware := gpuIn(name); {
		case r.run.Labels.GPU == "" && !known && (hardware || len(names) > 2):
			r.run.Labels.GPU = name
		case r.run.Labels.Engine == "":
			r.run.Labels.Engine = name
		default:
			r.remark(h.line, true, "cannot tell what %q is", short(name))
		}
	}
}

// askedLength is the length of prompts or answers in a heading line.
func (r *reading) askedLength(what, text string) {
	q, err := ParseQuantity(text)
	if err != nil || !q.Figure.Known() {
		r.remark(r.run.Source.Line, true, "%s_tokens: %q is no length", what, short(text))
		return
	}
	key := "workload.prompt_tokens"
	if what == "prompt" || what == "input" {
		r.run.Workload.PromptTokens.Mean = q.Figure.Value()
	} else {
		key = "workload.output_tokens"
		r.run.Workload.OutputTokens.Mean = q.Figure.Value()
	}
	r.run.Source.Printed[key] = printedAt(r.run.Source.Line, text)
}

// headingParts cuts a heading line at the commas outside of bold text, and takes the bold off.
func headingParts(line string) []string {
	line = line[len(listItem.FindString(line)):]
	var parts []string
	var b strings.Builder
	bold := false
	end := func() {
		parts = append(parts, strings.TrimSpace(b.String()))
		b.Reset()
	}
	for i := 0; i < len(line); {
		switch rest := line[i:]; {
		case strings.HasPrefix(rest, "**"):
			bold = !bold
			i += 2
		case rest[0] == '\\' && len(rest) > 1:
			b.WriteByte(rest[1])
			i += 2
		case !bold && rest[0] == ',':
			end()
			i++
		case !bold && strings.HasPrefix(rest, "，"):
			end()
			i += len("，")
		default:
			b.WriteByte(rest[0])
			i++
		}
	}
	end()
	for i, s := range parts {
		parts[i] = unescapeHTML(s)
	}
	return parts
}

// unescapeHTML undoes what Markdown writers do to < and &.
func unescapeHTML(s string) string {
	return strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(s)
}
