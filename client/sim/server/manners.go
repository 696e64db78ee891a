package server

// manners are how an engine speaks OpenAI's APIs, in what engines differ. vLLM's follow its
// vllm/entrypoints/openai/serving_chat.py and serving_completion.py, llama.cpp's and Ollama's captures of llama-server
// b11669 and Ollama 0.17.4; the others' were not seen on a running engine: SGLang's follow
// python/sglang/srt/entrypoints/openai/serving_chat.py, lmdeploy's lmdeploy/serve/openai/api_server.py, TGI's
// docs/openapi.json.
type manners struct {
	head           string // what a chunk has before its choices
	role           string // the choice that opens a chat; "" for none
	delta          string // what a delta has before its text
	extra          string // what a choice has after its text
	finished       string // what a choice has after its finish reason
	bare           bool   // the chat chunk with the finish reason has an empty delta
	rides          func(chat bool, finish string) bool
	nulls, noNulls bool // chunks have "usage":null always, or never; else where usage was asked for
	zeros          bool // completions have a usage of zeros on each chunk
	usageOnFinish  bool // completions' usage goes with the finish reason, asked or not
	timings        bool
	refusal        func(*apiError) []byte
	doneAfterError bool
}

// Whether the finish reason goes along with the last text.
func never(bool, string) bool                    { return false }
func always(bool, string) bool                   { return true }
func lengthOfText(chat bool, finish string) bool { return !chat && finish == "length" }

func vllmManners() *manners {
	return &manners{
		role:  `{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null`,
		extra: `,"logprobs":null`, finished: `,"stop_reason":null`, rides: lengthOfText,
		refusal: (*apiError).json, doneAfterError: true,
	}
}

func sglangManners() *manners {
	return &manners{
		role: `{"index":0,"delta":{"role":"assistant","content":"","reasoning_content":null,"tool_calls":null},"logprobs":null,` +
			`"matched_stop":null`,
		delta: `"role":null,"tool_calls":null,`,
		extra: `,"logprobs":null,"matched_stop":null`, rides: never, nulls: true,
		refusal: (*apiError).json, doneAfterError: true,
	}
}

func lmdeployManners() *manners {
	return &manners{
		delta: `"role":"assistant","tool_calls":null,`, extra: `,"logprobs":null`, rides: never, nulls: true,
		refusal: (*apiError).json, doneAfterError: true,
	}
}

func llamacppManners() *manners {
	return &manners{
		head: `"system_fingerprint":"b0-sim",`, role: `{"index":0,"delta":{"role":"assistant","content":null}`,
		bare: true, rides: never, noNulls: true, usageOnFinish: true, timings: true, refusal: llamacppRefusal,
	}
}

func ollamaManners() *manners {
	return &manners{
		head: `"system_fingerprint":"fp_ollama",`, delta: `"role":"assistant",`, rides: never, noNulls: true, zeros: true,
		refusal: func(e *apiError) []byte {
			return asJSON(map[string]any{"error": map[string]any{
				"message": e.Message, "type": "api_error", "param": nil, "code": nil}})
		},
	}
}

func tgiManners() *manners {
	return &manners{
		head: `"system_fingerprint":"2.4.1-sim",`, delta: `"role":"assistant",`, extra: `,"logprobs":null`, rides: always,
		nulls: true, refusal: tgiRefusal,
	}
}
