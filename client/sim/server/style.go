package server

// style has the properties in which the OpenAI APIs of engines differ. vLLM's follows its
// vllm/entrypoints/openai/serving_chat.py and serving_completion.py; SGLang's follows
// python/sglang/srt/entrypoints/openai/serving_chat.py and was not checked against a running engine.
type style struct {
	opening    *openAIDelta // delta of the chunk that opens a chat; nil for no such chunk
	delta      openAIDelta  // what each other delta has besides its text
	choice     openAIChoice // what each choice has besides its text
	stopReason any          // stop_reason, beside the finish reason

	finishWithText func(chat bool, finish string) bool // whether the finish reason comes with the last text
	nulls          bool                                // "usage":null on all chunks; else where usage was asked for
}

// Whether the finish reason comes with the last text.
func never(bool, string) bool                    { return false }
func lengthOfText(chat bool, finish string) bool { return !chat && finish == "length" }

func vllmStyle() *style {
	return &style{
		opening:    &openAIDelta{Role: "assistant", Content: ""},
		choice:     openAIChoice{LogProbs: jsonNull()},
		stopReason: jsonNull(), finishWithText: lengthOfText,
	}
}

func sglangStyle() *style {
	return &style{
		opening: &openAIDelta{Role: "assistant", Content: "", ReasoningContent: jsonNull(), ToolCalls: jsonNull()},
		delta:   openAIDelta{Role: jsonNull(), ToolCalls: jsonNull()},
		choice:  openAIChoice{LogProbs: jsonNull(), MatchedStop: jsonNull()}, finishWithText: never, nulls: true,
	}
}
