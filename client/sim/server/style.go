package server

// Style has the properties in which the OpenAI APIs of engines differ. vLLM's follows its
// vllm/entrypoints/openai/serving_chat.py and serving_completion.py; llama.cpp's and Ollama's follow captures of
// llama-server b11669 and Ollama 0.17.4. The others were not checked against a running engine: SGLang's follows
// python/sglang/srt/entrypoints/openai/serving_chat.py, lmdeploy's lmdeploy/serve/openai/api_server.py, TGI's
// docs/openapi.json.
type Style struct {
	fingerprint string       // system_fingerprint of each chunk
	opening     *openAIDelta // delta of the chunk that opens a chat; nil for no such chunk
	delta       openAIDelta  // what each other delta has besides its text
	choice      openAIChoice // what each choice has besides its text
	stopReason  any          // stop_reason, beside the finish reason
	emptyDelta  bool         // a chat's chunk with the finish reason has an empty delta

	finishWithText func(chat bool, finish string) bool // whether the finish reason comes with the last text
	nulls, noNulls bool                                // "usage":null on all chunks, or on none; else where usage was asked for
	zeros          bool                                // completions have a usage of zeros on each chunk
	usageOnFinish  bool                                // completions have their usage beside the finish reason, asked or not
	timings        bool                                // llama.cpp's timings follow the usage
	scores         bool                                // completions know echo with log-probabilities, and prompt_logprobs
	refusal        func(*APIError) any
	doneAfterError bool
}

// Whether the finish reason comes with the last text.
func never(bool, string) bool                    { return false }
func always(bool, string) bool                   { return true }
func lengthOfText(chat bool, finish string) bool { return !chat && finish == "length" }

func VllmStyle() *Style {
	return &Style{
		opening:    &openAIDelta{Role: "assistant", Content: ""},
		choice:     openAIChoice{LogProbs: JSONNull()},
		stopReason: JSONNull(), finishWithText: lengthOfText, refusal: (*APIError).Object, doneAfterError: true,
		scores: true,
	}
}

func SglangStyle() *Style {
	return &Style{
		opening: &openAIDelta{Role: "assistant", Content: "", ReasoningContent: JSONNull(), ToolCalls: JSONNull()},
		delta:   openAIDelta{Role: JSONNull(), ToolCalls: JSONNull()},
		choice:  openAIChoice{LogProbs: JSONNull(), MatchedStop: JSONNull()}, finishWithText: never, nulls: true,
		refusal: (*APIError).Object, doneAfterError: true,
	}
}

func LmdeployStyle() *Style {
	return &Style{
		delta:  openAIDelta{Role: "assistant", ToolCalls: JSONNull()},
		choice: openAIChoice{LogProbs: JSONNull()}, finishWithText: never, nulls: true,
		refusal: (*APIError).Object, doneAfterError: true,
	}
}

func LlamacppStyle() *Style {
	return &Style{
		fingerprint: "b0-sim", opening: &openAIDelta{Role: "assistant", Content: JSONNull()},
		emptyDelta: true, finishWithText: never, noNulls: true, usageOnFinish: true, timings: true, refusal: LlamacppRefusal,
	}
}

func OllamaStyle() *Style {
	return &Style{
		fingerprint: "fp_ollama", delta: openAIDelta{Role: "assistant"}, finishWithText: never, noNulls: true, zeros: true,
		refusal: func(e *APIError) any {
			return map[string]any{"error": map[string]any{
				"message": e.Message, "type": "api_error", "param": nil, "code": nil}}
		},
	}
}

func TgiStyle() *Style {
	return &Style{
		fingerprint: "2.4.1-sim", delta: openAIDelta{Role: "assistant"}, choice: openAIChoice{LogProbs: JSONNull()},
		finishWithText: always, nulls: true, refusal: TgiRefusal,
	}
}
