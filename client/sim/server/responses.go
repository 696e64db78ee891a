package server

import (
	"encoding/json"
	"math"
	"strings"

	"llmsweep/client/sim"
)

// responsesEndpoint is OpenAI's Responses API, after a capture of vLLM 0.32.0.
func responsesEndpoint() *endpoint {
	return &endpoint{
		Path: "/v1/responses", Refusal: (*apiError).Object, Parse: parseResponses,
		KnownFields: strings.Fields("model input instructions stream store max_output_tokens temperature top_p reasoning tools tool_choice " +
			"parallel_tool_calls metadata text truncation user include previous_response_id service_tier"),
		Encoder: func(a *AnswerState) encoder { return &responsesEncoder{AnswerState: a} },
	}
}

func parseResponses(s *Host, raw []byte) (request, error) {
	var b struct {
		Model           string          `json:"model"`
		Input           json.RawMessage `json:"input"`
		Instructions    string          `json:"instructions"`
		MaxOutputTokens *int            `json:"max_output_tokens"`
		IgnoreEOS       bool            `json:"ignore_eos"`
		Stream          bool            `json:"stream"`
		Reasoning       struct {
			Effort string `json:"effort"`
		} `json:"reasoning"`
		Tools
	}
	if err := json.Unmarshal(raw, &b); err != nil {
		return request{}, badRequest("the body is not a valid request: %v", err)
	}
	if err := s.CheckModel(b.Model); err != nil {
		return request{}, err
	}
	var conversation []chatMessage
	if b.Instructions != "" {
		conversation = append(conversation, chatMessage{Role: "system", Content: marshal(b.Instructions)})
	}
	var items []chatMessage
	if json.Unmarshal(b.Input, &items) != nil {
		items = []chatMessage{{Role: "user", Content: b.Input}}
	}
	ids, err := s.ChatTokens(append(conversation, items...))
	if err != nil {
		return request{}, err
	}
	j := request{Chat: true, Stream: b.Stream, Tool: b.Called()}
	w := lengthLimits{Max: b.MaxOutputTokens, Exact: b.IgnoreEOS, Default: naturalLimit, Think: b.Reasoning.Effort != "none"}
	if b.IgnoreEOS {
		w.Default = math.MaxInt
	}
	if err := s.SetWork(&j, ids, w); err != nil {
		return request{}, err
	}
	return j, nil
}

// responsesEncoder sends the answer as output items: reasoning, then a message or a call of a function.
type responsesEncoder struct {
	*AnswerState
	sent    int            // events
	item    map[string]any // the one that is open; nil for none
	from    int            // its first token
	outputs []any          // the items that are closed
}

// next returns the next event.
func (e *responsesEncoder) next(kind string, members map[string]any) any {
	members["sequence_number"] = e.sent
	e.sent++
	return e.Event(kind, members)
}

// within returns an event about the open item.
func (e *responsesEncoder) within(kind string, members map[string]any) any {
	members["item_id"] = e.item["id"]
	members["output_index"], members["content_index"] = len(e.outputs), 0
	return e.next(kind, members)
}

func (e *responsesEncoder) Opening() any {
	return e.next("response.created", map[string]any{"response": e.response("in_progress")})
}

// response returns the whole response as far as it is known.
func (e *responsesEncoder) response(status string) map[string]any {
	return map[string]any{
		"id": "resp_" + e.ID, "object": "response", "created_at": e.Created.Unix(), "model": e.Host.Options.ModelID,
		"status": status, "output": append([]any{}, e.outputs...), "error": nil, "incomplete_details": nil, "usage": nil,
	}
}

func (e *responsesEncoder) Tokens(from, to int) (all []any) {
	if e.sent == 1 {
		all = append(all, e.next("response.in_progress", map[string]any{"response": e.response("in_progress")}))
	}
	if from == e.Request.Work.ReasoningTokens {
		all = append(all, e.close(from)...)
	}
	if e.item == nil {
		all = append(all, e.open(from)...)
	}
	delta := e.Text(from, to)
	if e.IsToolCall(to) {
		delta = e.Arguments(from, to)
	}
	if delta == "" {
		return all // the name of the function
	}
	return append(all, e.within("response."+e.textKind()+".delta", map[string]any{"delta": delta}))
}

// open opens the item that begins after a token.
func (e *responsesEncoder) open(from int) []any {
	e.from = from
	part := map[string]any{"type": "output_text", "text": "", "annotations": []any{}}
	switch {
	case from < e.Request.Work.ReasoningTokens:
		e.item = map[string]any{"id": "rs_" + e.ID, "type": "reasoning", "summary": []any{}, "status": "in_progress"}
		part = map[string]any{"type": "reasoning_text", "text": ""}
	case e.Request.Tool != "":
		e.item = map[string]any{"id": "fc_" + e.ID, "call_id": "call_" + e.ID, "type": "function_call", "name": e.Request.Tool,
			"arguments": "", "status": "in_progress"}
		return []any{e.added()}
	default:
		e.item = map[string]any{"id": "msg_" + e.ID, "type": "message", "role": "assistant", "content": []any{}, "status": "in_progress"}
	}
	return []any{e.added(), e.within("response.content_part.added", map[string]any{"part": part})}
}

// added returns the event that opens the item.
func (e *responsesEncoder) added() any {
	return e.next("response.output_item.added", map[string]any{"item": e.item, "output_index": len(e.outputs)})
}

// textKind names the text of the open item in the types of events.
func (e *responsesEncoder) textKind() string {
	return map[any]string{"reasoning": "reasoning_text", "function_call": "function_call_arguments", "message": "output_text"}[e.item["type"]]
}

// close closes the open item, if any, after a token. Its events repeat its whole text.
func (e *responsesEncoder) close(to int) (all []any) {
	if e.item == nil {
		return nil
	}
	kind, text := e.textKind(), e.Text(e.from, to)
	closed := map[string]any{}
	for name, v := range e.item {
		closed[name] = v
	}
	closed["status"] = "completed"
	if e.item["type"] == "function_call" {
		closed["arguments"] = e.Arguments(e.from, to)
		all = append(all, e.within("response."+kind+".done", map[string]any{"arguments": closed["arguments"]}))
	} else {
		part := map[string]any{"type": kind, "text": text}
		closed["content"] = []any{part}
		all = append(all, e.within("response."+kind+".done", map[string]any{"text": text}),
			e.within("response.content_part.done", map[string]any{"part": part}))
	}
	all = append(all, e.next("response.output_item.done", map[string]any{"item": closed, "output_index": len(e.outputs)}))
	e.outputs, e.item = append(e.outputs, closed), nil
	return all
}

func (e *responsesEncoder) Closing(u sim.Usage) []any {
	return append(e.close(u.OutputTokens), e.next("response.completed", map[string]any{"response": e.ended(u)}))
}

// ended returns the whole response at its end. vLLM calls the event of a cut one "completed", too.
func (e *responsesEncoder) ended(u sim.Usage) map[string]any {
	r := e.response("completed")
	if e.Request.Finish == "length" {
		r["status"], r["incomplete_details"] = "incomplete", map[string]string{"reason": "max_output_tokens"}
	}
	if !e.Host.Options.NoUsage {
		r["usage"] = map[string]any{
			"input_tokens": u.PromptTokens, "input_tokens_details": map[string]int{"cached_tokens": e.Cached()},
			"output_tokens": u.OutputTokens, "output_tokens_details": map[string]int{"reasoning_tokens": e.Request.Work.ReasoningTokens},
			"total_tokens": u.PromptTokens + u.OutputTokens,
		}
	}
	return r
}

func (e *responsesEncoder) Whole(u sim.Usage) any {
	if n := e.Request.Work.ReasoningTokens; n > 0 {
		e.open(0)
		e.close(n)
	}
	e.open(e.Request.Work.ReasoningTokens)
	e.close(u.OutputTokens)
	return e.ended(u)
}
