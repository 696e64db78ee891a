// Finds in text what labels a result: the model and its quantization, the GPU, the engine, and the command that
// started a server.

package published

import (
	"path"
	"regexp"
	"strconv"
	"strings"
)

// engines has the name of a serving engine by how people write it, in lower case.
var engines = map[string]string{
	"vllm": "vLLM", "sglang": "SGLang", "lmdeploy": "lmdeploy", "llama.cpp": "llama.cpp", "llamacpp": "llama.cpp",
	"ollama": "Ollama", "tgi": "TGI", "text-generation-inference": "TGI", "triton": "Triton",
	"tensorrt-llm": "TensorRT-LLM", "trt-llm": "TensorRT-LLM", "mindie": "MindIE", "ktransformers": "KTransformers",
	"xinference": "Xinference",
}

var (
	engineWord = regexp.MustCompile(`(?i)(?:^|[^a-z0-9.])(vllm|sglang|lmdeploy|llama\.?cpp|ollama|tgi|text-generation-inference|triton|tensorrt-llm|trt-llm|mindie|ktransformers|xinference)(?:$|[^a-z0-9])`)
	gpuWord    = regexp.MustCompile(`(?i)(?:(\d{1,4})\s*(?:x|×|\*|张)\s*)?\b((?:A100|A800|H100|H200|H800|H20|B200|GB200|L20|L40S|L40|L4|A10G|A10|A30|A40|(?:RTX )?A6000|V100|T4|RTX ?\d{4}|MI\d{3}X?)(?:[ -]\d{1,3} ?GB?)?)\b`)
	noThink    = regexp.MustCompile(`(?i)\b(no|non|without|disable)[- _]?(think|thinking|reasoning)\b|不思考|非思考|关闭思考`)
	think      = regexp.MustCompile(`(?i)\b(think|thinking|reasoning)\b|思考`)
	modelWord  = regexp.MustCompile(`(?i)\b(?:qwen|llama|meta-llama|mistral|mixtral|deepseek|phi|gemma|yi|glm|chatglm|internlm|baichuan|falcon|gpt-oss|kimi|granite|qwq)[\d.]*-[\w.]+(?:-[\w.]+)*` +
		`|\b[a-z][\w.]*(?:-[\w.]+)*-\d+(?:\.\d+)?(?:x\d+)?B\b(?:-[\w.]+)*`)
	parallelWord = regexp.MustCompile(`(?i)\b(?:TP|tensor[- ]parallel(?:ism)?(?: size)?)\s*[=:x]?\s*(\d{1,3})\b`)
	quantAlone   = regexp.MustCompile(`(?i)^(?:AWQ|GPTQ|Int[48]|FP16|BF16|FP8|FP4|W4A16|W8A8|W4A8|GGUF)(?:-Int[48])?$`)
	quantTail    = regexp.MustCompile(`(?i)^(.+?)[-_ ](AWQ(?:-Int4)?|GPTQ(?:-Int[48])?|BNB-[48]bit|Int[48]|FP16|BF16|FP8|FP4|W4A16|W8A8|W4A8|GGUF|Q\d_[0-9A-Z_]+)$`)
)

func findEngine(text string) (engine string, ok bool) {
	m := engineWord.FindStringSubmatch(text)
	if m == nil {
		return "", false
	}
	return engines[strings.ToLower(m[1])], true
}

// findModelName knows a model by its family or by a number of parameters.
func findModelName(text string) (model string, ok bool) {
	m := modelWord.FindString(text)
	return strings.TrimRight(m, ".-"), m != ""
}

// findGPUs returns a count of 0 where the text has none.
func findGPUs(text string) (gpu string, count int, ok bool) {
	m := gpuWord.FindStringSubmatch(text)
	if m == nil {
		return "", 0, false
	}
	count, _ = strconv.Atoi(m[1]) // empty, or four digits at most
	return m[2], count, true
}

// findThinking returns whether a text says that the model thinks, or that it does not; ok is false where it says
// neither.
func findThinking(text string) (on, ok bool) {
	switch {
	case noThink.MatchString(text):
		return false, true
	case think.MatchString(text):
		return true, true
	}
	return false, false
}

// SplitQuant takes the quantization off a model's name.
func SplitQuant(name string) (model, quant string) {
	if m := quantTail.FindStringSubmatch(name); m != nil {
		return m[1], m[2]
	}
	return name, ""
}

// splitModelPath returns the name at the end of a model's path, with its quantization taken off.
func splitModelPath(name string) (model, quant string) {
	if strings.HasPrefix(name, "/") || strings.HasPrefix(name, "./") || strings.HasPrefix(name, "~") {
		name = path.Base(name)
	}
	return SplitQuant(name)
}

func apiOfURL(url string) string {
	for _, path := range []struct{ suffix, api string }{
		{"/chat/completions", "chat"}, {"/completions", "completions"}, {"/completion", "llamacpp"},
		{"/api/generate", "ollama"}, {"/api/chat", "ollama"}, {"/generate_stream", "tgi"},
	} {
		if strings.HasSuffix(strings.TrimRight(url, "/"), path.suffix) {
			return path.api
		}
	}
	return ""
}
