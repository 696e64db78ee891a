package server

import (
	"encoding/json"
	"math"
	"strings"

	"llmsweep/client/sim"
)

// responsesStyle has the properties in which engines differ, after captures of vLLM 0.32.0 and llama-server b11434, and
// OpenAI's reference.
type responsesStyle struct {
	numbered   bool // events have a sequence number, and the indices of their item and part; reasoning is counted
	incomplete bool // a cut answer has the status "incomplete"
	named      bool // its last event is then "response.incomplete"; vLLM's is "response.completed"
}

// responsesEndpoint is OpenAI's Responses API in an engine's style.
func responsesEndpoint(style responsesStyle, refusal func(*apiError) any) func() *endpoint {
	return func() *endpoint {
		return &endpoint{
			path: "/v1/responses", framing: events(), refusal: refusal, parse: parseResponses,
			known: strings.Fields("model input instructions stream store max_output_tokens temperature top_p reasoning tools tool_choice " +
				"parallel_tool_calls metadata text truncation user include previous_response_id service_tier"),
			encoder: func(a *answer) encoder { return &responsesEncoder{answer: a, style: style} },
		}
	}
}

func parseResponses(s *host, raw []byte) (request, error) {
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
		tools
	}
	if err := json.Unmarshal(raw, &b); err != nil {
		return request{}, badRequest("the body is not a valid request: %v", err)
	}
	if err := s.checkModel(b.Model); err != nil {
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
	ids, err := s.chatTokens(append(conversation, items...))
	if err != nil {
		return request{}, err
	}
	j := request{chat: true, stream: b.Stream, tool: b.called()}
	w := wish{most: b.MaxOutputTokens, forced: b.IgnoreEOS, otherwise: naturalLimit}
	if b.IgnoreEOS {
		w.otherwise = math.MaxInt
	}
	if err := s.settle(&j, ids, w); err != nil {
		return request{}, err
	}
	if b.Reasoning.Effort != "none" {
		j.seq.ReasoningTokens = min(s.options.Think, j.seq.OutputTokens)
	}
	return j, nil
}

// responsesEncoder sends the answer as output items: reasoning, then a message or a call of a function.
type responsesEncoder struct {
	*answer
	style   responsesStyle
	sent    int            // events
	item    map[string]any // the one that is open; nil for none
	from    int            // its first token
	outputs []any          // the items that are closed
}

// next returns the next event.
func (e *responsesEncoder) next(kind string, members map[string]any) any {
	if e.style.numbered {
		members["sequence_number"] = e.sent
	}
	e.sent++
	return e.event(kind, members)
}

// within returns an event about the open item.
func (e *responsesEncoder) within(kind string, members map[string]any) any {
	members["item_id"] = e.item["id"]
	if e.style.numbered {
		members["output_index"], members["content_index"] = len(e.outputs), 0
	}
	return e.next(kind, members)
}

func (e *responsesEncoder) opening() any {
	return e.next("response.created", map[string]any{"response": e.response("in_progress")})
}

// response returns the whole response as far as it is known.
func (e *responsesEncoder) response(status string) map[string]any {
	return map[string]any{
		"id": "resp_" + e.id, "object": "response", "created_at": e.created.Unix(), "model": e.host.options.ModelID,
		"status": status, "output": append([]any{}, e.outputs...), "error": nil, "incomplete_details": nil, "usage": nil,
	}
}

func (e *responsesEncoder) tokens(from, to int) (all []any) {
	if e.sent == 1 {
		all = append(all, e.next("response.in_progress", map[string]any{"response": e.response("in_progress")}))
	}
	if from == e.request.seq.ReasoningTokens {
		all = append(all, e.close(from)...)
	}
	if e.item == nil {
		all = append(all, e.open(from)...)
	}
	delta := e.text(from, to)
	if e.calls(to) {
		delta = e.arguments(from, to)
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
	case from < e.request.seq.ReasoningTokens:
		e.item = map[string]any{"id": "rs_" + e.id, "type": "reasoning", "summary": []any{}, "status": "in_progress"}
		part = map[string]any{"type": "reasoning_text", "text": ""}
	case e.request.tool != "":
		e.item = map[string]any{"id": "fc_" + e.id, "call_id": "call_" + e.id, "type": "function_call", "name": e.request.tool,
			"arguments": "", "status": "in_progress"}
		return []any{e.added()}
	default:
		e.item = map[string]any{"id": "msg_" + e.id, "type": "message", "role": "assistant", "content": []any{}, "status": "in_progress"}
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
	kind, text := e.textKind(), e.text(e.from, to)
	closed := map[string]any{}
	for name, v := range e.item {
		closed[name] = v
	}
	closed["status"] = "completed"
	if e.item["type"] == "function_call" {
		closed["arguments"] = e.arguments(e.from, to)
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

func (e *responsesEncoder) closing(u sim.Usage) []any {
	all := e.close(u.OutputTokens)
	kind := "response.completed"
	if e.style.named && e.request.finish == "length" {
		kind = "response.incomplete"
	}
	return append(all, e.next(kind, map[string]any{"response": e.ended(u)}))
}

// ended returns the whole response at its end.
func (e *responsesEncoder) ended(u sim.Usage) map[string]any {
	r := e.response("completed")
	if e.style.incomplete && e.request.finish == "length" {
		r["status"], r["incomplete_details"] = "incomplete", map[string]string{"reason": "max_output_tokens"}
	}
	if !e.host.options.NoUsage {
		usage := map[string]any{
			"input_tokens": u.PromptTokens, "input_tokens_details": map[string]int{"cached_tokens": e.cached()},
			"output_tokens": u.OutputTokens, "total_tokens": u.PromptTokens + u.OutputTokens,
		}
		if e.style.numbered {
			usage["output_tokens_details"] = map[string]int{"reasoning_tokens": e.request.seq.ReasoningTokens}
		}
		r["usage"] = usage
	}
	return r
}

func (e *responsesEncoder) whole(u sim.Usage) any {
	if n := e.request.seq.ReasoningTokens; n > 0 {
		e.open(0)
		e.close(n)
	}
	e.open(e.request.seq.ReasoningTokens)
	e.close(u.OutputTokens)
	return e.ended(u)
}
