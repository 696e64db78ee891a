package workload

import (
	"strings"

	"github.com/tidwall/gjson"

	"llmsweep/client/note"
	"llmsweep/sweep/grade"
)

// row is one conversation of a dataset, or one request: a conversation of one turn.
type row struct {
	line     int
	shareGPT bool // it comes from conversations, whose answers are recorded
	system   string
	turns    []turn
	task     *grade.Task // what is right; nil where the answer is not graded
}

// turn is a user message and what is known of its answer.
type turn struct {
	user   string
	prompt size
	answer string // as recorded; empty once it has been measured
	length size   // of the recorded answer
	output int    // tokens that the file asks for; 0 for none
}

// clone returns the row with copies of its texts, so that it does not keep the whole document in memory.
func (r row) clone() row {
	r.system = strings.Clone(r.system)
	turns := make([]turn, len(r.turns))
	for i, t := range r.turns {
		t.user, t.answer = strings.Clone(t.user), ""
		turns[i] = t
	}
	r.turns = turns
	return r
}

// bytes returns the memory that the row takes, approximately: overhead is what its slices and strings take besides
// text.
func (r row) bytes() int {
	const overhead = 96
	n := len(r.system) + overhead
	for _, t := range r.turns {
		n += len(t.user) + overhead
	}
	return n
}

type message struct{ role, text string }

// Roles, whatever the format calls them.
const (
	roleUser      = "user"
	roleAssistant = "assistant"
	roleSystem    = "system"
)

// role returns the role for a name in ShareGPT's collections or in OpenAI's API; empty for other names.
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

type object struct {
	prompt, conversations, messages gjson.Result
	output                          gjson.Result
	outputKey                       string
	answer, grade                   gjson.Result
}

// knownFields reads a row in one pass: it may be long.
func knownFields(v gjson.Result) object {
	var o object
	v.ForEach(func(key, value gjson.Result) bool {
		switch key.Str {
		case "prompt":
			o.prompt = value
		case "conversations", "conversation":
			o.conversations = value
		case "messages":
			o.messages = value
		case "answer":
			o.answer = value
		case "grade":
			o.grade = value
		case "output_tokens", "max_tokens", "max_completion_tokens":
			if value.Type != gjson.Null {
				o.output, o.outputKey = value, key.Str
			}
		}
		return true
	})
	return o
}

// parseRow parses one object: {"conversations": [...]} as in ShareGPT's files, {"messages": [...]} as in OpenAI's API,
// or {"prompt": "..."}. output_tokens, max_tokens or max_completion_tokens is the length of the answer. Where the
// object is none of these, why is the reason. With multiTurn off, a ShareGPT conversation is cut to its first turn;
// messages are always sent whole. With graded on, answer is what is right, and grade how answers are compared with it.
func parseRow(v gjson.Result, multiTurn, graded bool) (r row, why note.Note) {
	if v.Type == gjson.String {
		return promptRow(v.Str, 0)
	}
	if !v.IsObject() {
		return row{}, skipNoObject.New()
	}
	o := knownFields(v)
	r, why = o.row(multiTurn)
	if !graded || !why.IsZero() || !o.answer.Exists() || o.answer.Type == gjson.Null {
		return r, why
	}
	return r.graded(o.answer.String(), o.grade.String())
}

func (o *object) row(multiTurn bool) (r row, why note.Note) {
	output := 0
	if o.outputKey != "" {
		output = tokens(o.output)
		if output == 0 {
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

func (r row) graded(answer, kind string) (row, note.Note) {
	if len(r.turns) != 1 {
		return row{}, skipGradedTurns.New()
	}
	t, err := grade.NewTask(joinParagraphs(r.system, r.turns[0].user), strings.Clone(answer),
		grade.TaskKind(strings.ToLower(strings.TrimSpace(kind))))
	if err != nil {
		return row{}, skipGrade.New(err)
	}
	r.task = t
	return r, note.Note{}
}

// tokens returns a whole number of tokens, 0 for anything else.
func tokens(v gjson.Result) int {
	n := v.Num
	if v.Type != gjson.Number || n < 1 || n > maxTokens || n != float64(int(n)) {
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

// shareGPTRow takes the first two messages, as SGLang's and vLLM's benchmarks do (see minTokens): the first is the
// prompt, and the length of the second that of the answer. They take the messages whoever wrote them; here the first
// must be a user's, and messages of a model or a system before it are skipped, which concerns few conversations.
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
			if len(all) < 2 { // after the first turn, such a message only ends the conversation
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
	r := joinMessages(all)
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

// messagesRow reads messages as of chat APIs. output is the length of the last answer.
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
	r := joinMessages(all)
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

// contentText joins the text parts of a message; ok is false where it has other parts.
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
		ok = part.Get("type").Str == "text" && t.Type == gjson.String
		if ok {
			b.WriteString(t.Str)
		}
		return ok
	})
	return b.String(), ok
}

// joinMessages turns messages into turns. Successive messages of one role become one message; messages of a model
// before the first of a user are skipped.
func joinMessages(all []message) row {
	var r row
	for i, m := range all {
		sameRole := i > 0 && all[i-1].role == m.role
		switch {
		case m.role == roleSystem:
			r.system = joinParagraphs(r.system, m.text)
		case m.role == roleUser && sameRole:
			t := &r.turns[len(r.turns)-1]
			t.user = joinParagraphs(t.user, m.text)
		case m.role == roleUser:
			r.turns = append(r.turns, turn{user: m.text})
		case len(r.turns) > 0:
			t := &r.turns[len(r.turns)-1]
			t.answer = joinParagraphs(t.answer, m.text)
		}
	}
	return r
}

func joinParagraphs(a, b string) string {
	if a == "" {
		return b
	}
	return a + "\n\n" + b
}

// withSizes returns the row with the sizes of its texts, in valid UTF-8: a lone surrogate in a JSON string is not a
// character.
func (r row) withSizes() row {
	r.system = strings.ToValidUTF8(r.system, "�")
	for i := range r.turns {
		t := &r.turns[i]
		t.user = strings.ToValidUTF8(t.user, "�")
		t.prompt, t.length = measure(t.user), measure(t.answer)
	}
	return r
}
