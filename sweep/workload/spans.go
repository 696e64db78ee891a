package workload

import (
	"cmp"
	"strings"

	"github.com/tidwall/gjson"
)

// spans takes the requests to models among the spans of OpenTelemetry, as the collector's file exporter writes them: OTLP in JSON, several spans a
// line, with the attributes of the GenAI conventions (opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans). A session is a
// gen_ai.conversation.id, or else a trace, with the sub-agents that the parents of spans tell; see [spanTree]. Spans of other operations, such as
// invoke_agent, whose tokens are those of its requests again, are no requests.
func (t *traceRows) spans(line int, v gjson.Result) (more bool) {
	more = true
	v.Get("resourceSpans").ForEach(func(_, resource gjson.Result) bool {
		resource.Get("scopeSpans").ForEach(func(_, scope gjson.Result) bool {
			scope.Get("spans").ForEach(func(_, span gjson.Result) bool {
				more = t.span(line, span)
				return more
			})
			return more
		})
		return more
	})
	return more
}

// span takes the request of a span, if it is one.
func (t *traceRows) span(line int, span gjson.Result) (more bool) {
	r, operation, trace, name := request{inSession: true}, "", span.Get("traceId").Str, ""
	span.Get("attributes").ForEach(func(_, a gjson.Result) bool {
		switch value := a.Get("value"); a.Get("key").Str {
		case "gen_ai.operation.name":
			operation = value.Get("stringValue").Str
		case "gen_ai.conversation.id":
			name = "conversation " + value.Get("stringValue").Str
		case "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens":
			r.prompt = wholeTokens(value.Get("intValue").String())
		case "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens":
			r.output = wholeTokens(value.Get("intValue").String())
		}
		return true
	})
	t.tree.add(trace, span, operation)
	switch operation {
	case "chat", "text_completion", "generate_content":
	default:
		return true
	}
	start, end := span.Get("startTimeUnixNano").Float(), span.Get("endTimeUnixNano").Float()
	r.talk.took = seconds((end - start) / 1e9)
	why := r.incomplete(start > 0)
	if why.IsZero() {
		r.at, why = t.nano.at(start)
	}
	if why.IsZero() {
		asked := askedSpan{place: len(t.log.talks), trace: strings.Clone(trace), name: strings.Clone(cmp.Or(name, trace)), within: spanID(trace, span.Get("parentSpanId").Str)}
		t.tree.asked = append(t.tree.asked, asked)
	}
	return t.take(line, r, why)
}

// spanTree is the spans of traces. A span ends, and is written, before its parent, so that agents are told apart once all are read: an invoke_agent
// beneath another, or beneath an execute_tool, is a sub-agent of the session of its trace, or of the sub-agent that it lies in.
type spanTree struct {
	spans map[string]spanNode // by [spanID]
	asked []askedSpan
}

type spanNode struct {
	parent      string // its [spanID]; empty for none
	agent, tool bool
}

// askedSpan is a request.
type askedSpan struct {
	place  int // among the talks of the trace
	trace  string
	name   string // of its session, where it belongs to no sub-agent
	within string // the parent's [spanID]
}

// farthestSpan is how far up a parent is looked for: parents of a faulty file may form a circle.
const farthestSpan = 100

// spanID returns a name that no span of another trace has; empty for no span.
func spanID(trace, id string) string {
	if id == "" {
		return ""
	}
	return trace + "/" + id
}

// add takes a span in.
func (n *spanTree) add(trace string, span gjson.Result, operation string) {
	id := spanID(trace, span.Get("spanId").Str)
	if id == "" {
		return
	}
	if n.spans == nil {
		n.spans = map[string]spanNode{}
	}
	n.spans[id] = spanNode{spanID(trace, span.Get("parentSpanId").Str), operation == "invoke_agent", operation == "execute_tool"}
}

// above returns the nearest span, from one on upward, that is wanted; empty for none.
func (n *spanTree) above(id string, wanted func(spanNode) bool) string {
	for range farthestSpan {
		one, known := n.spans[id]
		if !known {
			return ""
		}
		if wanted(one) {
			return id
		}
		id = one.parent
	}
	return ""
}

// subAgent returns the nearest sub-agent, from a span on upward; empty for none.
func (n *spanTree) subAgent(id string) string {
	return n.above(id, func(one spanNode) bool {
		return one.agent && n.above(one.parent, func(up spanNode) bool { return up.agent || up.tool }) != ""
	})
}

// tell sets the sessions of the requests of spans, which are all known.
func (t *traceRows) tell() {
	sessions := map[string]int{} // by trace
	var called []askedSpan
	for _, a := range t.tree.asked {
		if a.within = t.tree.subAgent(a.within); a.within != "" {
			called = append(called, a)
			continue
		}
		session := t.session(a.name)
		t.log.talks[a.place].session = session
		if sessions[a.trace] == 0 {
			sessions[a.trace] = session
		}
	}
	for _, a := range called {
		caller := sessions[a.trace]
		if up := t.tree.subAgent(t.tree.spans[a.within].parent); up != "" {
			caller = t.session("sub-agent " + up)
		}
		talk := &t.log.talks[a.place]
		talk.session, talk.caller = t.session("sub-agent "+a.within), caller
	}
}
