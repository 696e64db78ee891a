package server

// style has the properties in which the OpenAI APIs of engines differ. vLLM's follows its
// vllm/entrypoints/openai/serving_chat.py and serving_completion.py; llama.cpp's and Ollama's follow captures of
// llama-server b11669 and Ollama 0.17.4. The others were not checked against a running engine: SGLang's follows
// python/sglang/srt/entrypoints/openai/serving_chat.py, lmdeploy's lmdeploy/serve/openai/api_server.py, TGI's
// docs/openapi.json.
type style struct {
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
	refusal        func(*apiError) any
	doneAfterError bool
}

// Whether the finish reason comes with the last text.
func never(bool, string) bool                    { return false }
func always(bool, string) bool                   { return true }
func lengthOfText(chat bool, finish string) bool { return !chat && finish == "length" }

func vllmStyle() *style {
	return &style{
		opening:    &openAIDelta{Role: "assistant", Content: ""},
		choice:     openAIChoice{LogProbs: jsonNull()},
		stopReason: jsonNull(), finishWithText: lengthOfText, refusal: (*apiError).Object, doneAfterError: true,
	}
}

func sglangStyle() *style {
	return &style{
		opening: &openAIDelta{Role: "assistant", Content: "", ReasoningContent: jsonNull(), ToolCalls: jsonNull()},
		delta:   openAIDelta{Role: jsonNull(), ToolCalls: jsonNull()},
		choice:  openAIChoice{LogProbs: jsonNull(), MatchedStop: jsonNull()}, finishWithText: never, nulls: true,
		refusal: (*apiError).Object, doneAfterError: true,
	}
}

func lmdeployStyle() *style {
	return &style{
		delta:  openAIDelta{Role: "assistant", ToolCalls: jsonNull()},
		choice: openAIChoice{LogProbs: jsonNull()}, finishWithText: never, nulls: true,
		refusal: (*apiError).Object, doneAfterError: true,
	}
}

func llamacppStyle() *style {
	return &style{
		fingerprint: "b0-sim", opening: &openAIDelta{Role: "assistant", Content: jsonNull()},
		emptyDelta: true, finishWithText: never, noNulls: true, usageOnFinish: true, timings: true, refusal: llamacppRefusal,
	}
}

func ollamaStyle() *style {
	return &style{
		fingerprint: "fp_ollama", delta: openAIDelta{Role: "assistant"}, finishWithText: never, noNulls: true, zeros: true,
		refusal: func(e *apiError) any {
			return map[string]any{"error": map[string]any{
				"message": e.Message, "type": "api_error", "param": nil, "code": nil}}
		},
	}
}

func tgiStyle() *style {
	return &style{
		fingerprint: "2.4.1-sim", delta: openAIDelta{Role: "assistant"}, choice: openAIChoice{LogProbs: jsonNull()},
		finishWithText: always, nulls: true, refusal: tgiRefusal,
	}
}
