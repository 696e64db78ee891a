package api

import (
	"bytes"
	"strconv"
)

// responses is OpenAI's Responses API, which vLLM, SGLang, llama.cpp, Ollama and hosted services have too. It follows
// OpenAI's reference, and captured answers of vLLM 0.32.0 and llama-server b11434.
type responses struct{}

var _ Dialect = responses{}

func (responses) Name() string        { return "responses" }
func (responses) Path() string        { return "/v1/responses" }
func (responses) NewDecoder() Decoder { return &responsesDecoder{} }

// Traits: neither OpenAI nor vLLM has "min_tokens" here.
func (responses) Traits() Traits {
	return Traits{Auto: true, Model: true, Thinks: true, Fields: Fields{IgnoreEOS: true}}
}

// Encode asks not to store the answer, which OpenAI otherwise does.
func (responses) Encode(r *Request, p *Params) ([]byte, error) {
	e := newEncoder(p)
	e.Text("model", p.Model)
	e.Messages("input", r.Messages)
	e.Flag("stream", true)
	e.Flag("store", false)
	e.Count("max_output_tokens", r.OutputTokens)
	if r.OutputTokens > 0 && p.Fields.IgnoreEOS {
		e.Flag("ignore_eos", true)
	}
	e.Temperature(p.Temperature)
	if p.Think != nil && !p.Fields.NoThinking {
		effort := "none"
		if *p.Think {
			effort = "medium"
		}
		e.Literal("reasoning", `{"effort":`+strconv.Quote(effort)+`}`)
	}
	return e.Finish()
}

// responsesDecoder reads events such as
//
//	{"type":"response.output_text.delta","item_id":"msg_1","output_index":0,"content_index":0,"delta":" a","sequence_number":4}
//
// All events whose type ends in "delta" bring text: of the answer, of reasoning or its summary, of a refusal, or of a
// tool call. The event that opens a tool call brings its name, which is text too. Events that end in "done" repeat it.
// The last event has the counts, and is the terminator.
type responsesDecoder struct {
	template   template
	reader     fieldReader
	toolCalled bool
	done       bool
}

func (d *responsesDecoder) Reset() {
	d.template.Reset()
	*d = responsesDecoder{reader: d.reader, template: d.template}
}

func (d *responsesDecoder) Complete() bool { return d.done }

type responsesEvent struct {
	kind  []byte // "type"
	delta []byte
	name  []byte // of the tool that the new item calls
	whole response
}

type response struct {
	status, reason []byte // reason: of an incomplete one
	fault          []byte
	usage          Usage
}

func (d *responsesDecoder) Decode(frame []byte, c *Chunk) error {
	if d.template.Fits(frame, c) {
		return nil
	}
	if isDone(frame) { // some gateways add it
		*c = Chunk{Usage: noUsage, Done: true}
		return nil
	}
	e := responsesEvent{whole: response{usage: noUsage}}
	r := &d.reader
	for m := r.Open(frame, c); m.Next(); {
		switch string(m.Key()) {
		case "type":
			e.kind = r.Text()
		case "delta":
			e.delta = r.Text()
		case "item":
			e.name = readCalledName(r)
		case "response":
			e.whole = readResponse(r)
		}
	}
	if done, err := r.Close(c); done {
		return err
	}
	d.fill(frame, &e, c)
	return nil
}

func (d *responsesDecoder) fill(frame []byte, e *responsesEvent, c *Chunk) {
	switch string(e.kind) { // never a variable: it would be allocated
	case "response.output_item.added":
		c.Text = len(e.name) > 0
		d.toolCalled = d.toolCalled || c.Text
	case "response.completed", "response.incomplete":
		d.end(&e.whole, c)
	case "response.failed", "response.cancelled", "error":
		switch {
		case string(e.kind) == "error":
			c.Error = ErrorText(frame)
		case len(e.whole.fault) > 0:
			c.Error = ErrorText(e.whole.fault)
		default:
			c.Error = "the server ended the answer with the event " + string(e.kind)
		}
	default:
		if !bytes.HasSuffix(e.kind, []byte(".delta")) || len(e.delta) == 0 {
			return
		}
		c.Text = true
		c.Reasoning = bytes.HasPrefix(e.kind, []byte("response.reasoning"))
		d.toolCalled = d.toolCalled || bytes.HasPrefix(e.kind, []byte("response.function_call"))
		switch string(e.kind) {
		case "response.output_text.delta", "response.refusal.delta":
			c.Raw = e.delta
		}
		d.template.Learn(frame, e.delta, c)
	}
}

// end decides by the response's status, not by the type of its event: vLLM names both kinds "completed".
func (d *responsesDecoder) end(r *response, c *Chunk) {
	c.Done, d.done = true, true
	c.Usage = r.usage
	switch {
	case string(r.reason) == "max_output_tokens", string(r.reason) == "max_tokens":
		c.Finish = "length"
	case len(r.reason) > 0:
		c.Finish = finishReason(r.reason)
	case string(r.status) == "incomplete":
		c.Finish = "incomplete"
	case d.toolCalled:
		c.Finish = "tool_calls"
	default:
		c.Finish = "stop"
	}
}

// readCalledName returns the name of the tool that an output item calls; nil for any other item.
func readCalledName(r *fieldReader) []byte {
	var kind, name []byte
	for m := r.Object(); m.Next(); {
		switch string(m.Key()) {
		case "type":
			kind = r.Text()
		case "name":
			name = r.Text()
		}
	}
	if !bytes.HasSuffix(kind, []byte("_call")) {
		return nil
	}
	return name
}

func readResponse(r *fieldReader) response {
	w := response{usage: noUsage}
	for m := r.Object(); m.Next(); {
		switch string(m.Key()) {
		case "status":
			w.status = r.Text()
		case "incomplete_details":
			for m := r.Object(); m.Next(); {
				if string(m.Key()) == "reason" {
					w.reason = r.Text()
				}
			}
		case "error":
			if v := r.Value(); isErrorObject(v, nil) {
				w.fault = v
			}
		case "usage":
			w.usage = readResponseUsage(r)
		}
	}
	return w
}

func readResponseUsage(r *fieldReader) Usage {
	u := noUsage
	for m := r.Object(); m.Next(); {
		switch string(m.Key()) {
		case "input_tokens":
			u.Prompt = r.Count()
		case "output_tokens":
			u.Output = r.Count()
		case "input_tokens_details":
			u.Cached = readDetail(r, "cached_tokens")
		case "output_tokens_details":
			u.Reasoning = readDetail(r, "reasoning_tokens")
		}
	}
	return u
}
