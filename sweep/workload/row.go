package workload

import (
	"strings"

	"github.com/tidwall/gjson"

	"llmsweep/client/note"
)

// row is one conversation of a dataset, or one request: a conversation of one turn.
type row struct {
	line     int
	shareGPT bool // it comes from conversations, whose answers are recorded
	system   string
	turns    []turn
}

// turn is a user message and what is known of its answer.
type turn struct {
	user   string
	prompt size
	answer string // as recorded; only until it has been measured
	length size   // of the recorded answer
	output int    // tokens asked for by the file itself; 0 where it does not say
}

// own gives a row texts of its own, so that it does not keep the whole document that it was cut from.
func (r row) own() row {
	r.system = strings.Clone(r.system)
	turns := make([]turn, len(r.turns))
	for i, t := range r.turns {
		t.user, t.answer = strings.Clone(t.user), ""
		turns[i] = t
	}
	r.turns = turns
	return r
}

// bytes is about what it holds of memory.
func (r row) bytes() int {
	n := len(r.system) + 96
	for _, t := range r.turns {
		n += len(t.user) + 96
	}
	return n
}

// message is one of a conversation.
type message struct{ role, text string }

// Roles, as all formats' names for them are read.
const (
	roleUser      = "user"
	roleAssistant = "assistant"
	roleSystem    = "system"
)

// role knows the names of ShareGPT's collections and of OpenAI's API; it is empty for others.
func role(name string) string {
	switch name {
	case "human", "user":
		return roleUser
	case "gpt", "assistant", "chatgpt", "bing", "bard", "model":
		return roleAssistant
	case "system", "developer":
		return roleSystem
	}
	return ""
}

// object holds the fields of a row that are known here.
type object struct {
	prompt, conversations, messages gjson.Result
	output                          gjson.Result
	outputKey                       string
}

// fields finds them in one pass: a row may be long.
func fields(v gjson.Result) object {
	var o object
	v.ForEach(func(key, value gjson.Result) bool {
		switch key.Str {
		case "prompt":
			o.prompt = value
		case "conversations", "conversation":
			o.conversations = value
		case "messages":
			o.messages = value
		case "output_tokens", "max_tokens", "max_completion_tokens":
			if value.Type != gjson.Null {
				o.output, o.outputKey = value, key.Str
			}
		}
		return true
	})
	return o
}

// parseRow reads one object: {"conversations": [...]} as in ShareGPT's files, {"messages": [...]} as in OpenAI's API, or
// {"prompt": "..."}; output_tokens, max_tokens or max_completion_tokens says how long the answer shall be. It says why
// where the object is none of them. With multiTurn off, a ShareGPT conversation is cut to its first turn; one in messages
// is meant to be sent whole.
func parseRow(v gjson.Result, multiTurn bool) (r row, why note.Note) {
	if v.Type == gjson.String {
		return promptRow(v.Str, 0)
	}
	if !v.IsObject() {
		return row{}, skipNoObject.New()
	}
	o := fields(v)
	output := 0
	if o.outputKey != "" {
		if output = tokens(o.output); output == 0 {
			return row{}, skipOutput.New(o.outputKey)
		}
	}
	switch {
	case o.conversations.IsArray():
		return shareGPTRow(o.conversations, output, multiTurn)
	case o.messages.IsArray():
		return messagesRow(o.messages, output)
	case o.prompt.Type == gjson.String:
		return promptRow(o.prompt.Str, output)
	}
	return row{}, skipNoPrompt.New()
}

// tokens is a whole number of tokens, 0 where it is none.
func tokens(v gjson.Result) int {
	n := v.Num
	if v.Type != gjson.Number || n < 1 || n > mostTokens || n != float64(int(n)) {
		return 0
	}
	return int(n)
}

func promptRow(prompt string, output int) (row, note.Note) {
	if strings.TrimSpace(prompt) == "" {
		return row{}, skipEmptyPrompt.New()
	}
	return row{turns: []turn{{user: prompt, output: output}}}, note.Note{}
}

// shareGPTRow takes the first two messages, as the published run did (see [SGLangLimits]; vLLM's sharegpt.py has the same
// rule): the prompt is the first, the answer's length that of the second. There they are taken whoever said them; here the
// first must be the user's, and what a model or a system said before is passed over, which is so in few conversations.
func shareGPTRow(c gjson.Result, output int, multiTurn bool) (row, note.Note) {
	var all []message
	var bad note.Note
	c.ForEach(func(_, m gjson.Result) bool {
		text := m.Get("value")
		if !text.Exists() {
			text = m.Get("content")
		}
		from := m.Get("from").Str
		if from == "" {
			from = m.Get("role").Str
		}
		who := role(from)
		if who == "" || text.Type != gjson.String {
			if len(all) < 2 { // what comes after the first turn only ends the conversation there
				bad = skipSpeaker.New()
			}
			return false
		}
		if len(all) > 0 || who == roleUser {
			all = append(all, message{who, text.Str})
		}
		return multiTurn || len(all) < 2
	})
	switch {
	case !bad.IsZero():
		return row{}, bad
	case len(all) < 2:
		return row{}, skipOneTurn.New()
	}
	r := converse(all)
	r.shareGPT = true
	for len(r.turns) > 0 && r.turns[len(r.turns)-1].answer == "" {
		r.turns = r.turns[:len(r.turns)-1] // a question without its answer has no length
	}
	if len(r.turns) == 0 {
		return row{}, skipNoAnswer.New()
	}
	if strings.TrimSpace(r.turns[0].user) == "" {
		return row{}, skipEmptyPrompt.New()
	}
	if output > 0 {
		for i := range r.turns {
			r.turns[i].output = output
		}
	}
	return r, note.Note{}
}

// messagesRow reads a conversation as it is sent to a chat API. The output length is the last answer's.
func messagesRow(m gjson.Result, output int) (row, note.Note) {
	var all []message
	var bad note.Note
	m.ForEach(func(_, m gjson.Result) bool {
		who := role(m.Get("role").Str)
		text, ok := contentText(m.Get("content"))
		switch {
		case who == "":
			bad = skipRole.New()
		case !ok:
			bad = skipNotText.New()
		}
		all = append(all, message{who, text})
		return bad.IsZero()
	})
	if !bad.IsZero() {
		return row{}, bad
	}
	r := converse(all)
	if len(r.turns) == 0 {
		return row{}, skipNoUser.New()
	}
	for _, t := range r.turns {
		if strings.TrimSpace(t.user) == "" {
			return row{}, skipEmptyPrompt.New()
		}
	}
	if output > 0 {
		r.turns[len(r.turns)-1].output = output
	}
	return r, note.Note{}
}

// contentText joins the text parts of a message; ok is false where it has others.
func contentText(v gjson.Result) (text string, ok bool) {
	if v.Type == gjson.String {
		return v.Str, true
	}
	if !v.IsArray() {
		return "", false
	}
	ok = true
	var b strings.Builder
	v.ForEach(func(_, part gjson.Result) bool {
		t := part.Get("text")
		if ok = part.Get("type").Str == "text" && t.Type == gjson.String; ok {
			b.WriteString(t.Str)
		}
		return ok
	})
	return b.String(), ok
}

// converse makes turns of messages. Messages of one side in a row are one message; what a model says before any user is
// passed over.
func converse(all []message) row {
	var r row
	for i, m := range all {
		again := i > 0 && all[i-1].role == m.role
		switch {
		case m.role == roleSystem:
			r.system = join(r.system, m.text)
		case m.role == roleUser && again:
			t := &r.turns[len(r.turns)-1]
			t.user = join(t.user, m.text)
		case m.role == roleUser:
			r.turns = append(r.turns, turn{user: m.text})
		case len(r.turns) > 0:
			t := &r.turns[len(r.turns)-1]
			t.answer = join(t.answer, m.text)
		}
	}
	return r
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "\n\n" + b
}

// measured fills in how long everything is, in valid UTF-8: a lone surrogate in a JSON string is no character.
func (r row) measured() row {
	r.system = strings.ToValidUTF8(r.system, "�")
	for i := range r.turns {
		t := &r.turns[i]
		t.user = strings.ToValidUTF8(t.user, "�")
		t.prompt, t.length = measure(t.user), measure(t.answer)
	}
	return r
}
