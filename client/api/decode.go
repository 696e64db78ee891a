package api

import (
	"bytes"
	"errors"
	"fmt"
	"unsafe"

	"github.com/tidwall/gjson"
)

// openAIDecoder reads the chunks of chat and of plain completions: servers differ only in which keys they leave out
// and how they order them.
type openAIDecoder struct {
	mould mould

	finish  bool // a finish reason was seen
	done    bool // the terminator was
	text    bool // text was
	counts  bool // counts were
	running bool // counts have come along with the text since its first chunk
	counted int  // tokens up to the last text
}

func (d *openAIDecoder) Reset() {
	*d = openAIDecoder{mould: mould{head: d.mould.head[:0], tail: d.mould.tail[:0]}}
}

// Complete reports whether the stream may end: the finish reason was seen, or the terminator after something.
func (d *openAIDecoder) Complete() bool { return d.finish || d.done && (d.text || d.counts) }

var (
	errNotJSON   = errors.New("a chunk is not JSON")
	errNotObject = errors.New("a chunk is not a JSON object")
)

// Decode reads one chunk, or the terminator.
func (d *openAIDecoder) Decode(frame []byte, c *Chunk) error {
	if d.mould.fits(frame, c) {
		return nil
	}
	*c = Chunk{Usage: NoUsage}
	if string(bytes.TrimSpace(frame)) == "[DONE]" {
		c.Done, d.done = true, true
		return nil
	}
	if !validJSON(frame) {
		return fmt.Errorf("%w: %s", errNotJSON, frame[:min(len(frame), maxMessage)])
	}
	// The parser reads strings; what it cuts out of this one is not kept beyond this call.
	v := gjson.Parse(unsafe.String(unsafe.SliceData(frame), len(frame)))
	if !v.IsObject() {
		return fmt.Errorf("%w: %s", errNotObject, frame[:min(len(frame), maxMessage)])
	}
	d.read(v, frame, c)
	return nil
}

// read fills c from a parsed chunk.
func (d *openAIDecoder) read(v gjson.Result, frame []byte, c *Chunk) {
	f := parseFields(v)
	switch {
	case f.failed:
		c.Error = ErrorText(frame)
		return
	case f.finish == "error" || f.finish == "abort":
		c.Error = "the server ended the answer with the finish reason " + f.finish
		return
	}
	c.Text = f.texts > 0
	c.Reasoning = c.Text && f.texts == f.reasons
	if f.answer.Exists() {
		c.Raw = inside(frame, f.answer)
	}
	if f.finish != "" {
		c.Finish, d.finish = finishName(f.finish), true
	}
	c.Usage = f.counts()
	d.count(c)
	if f.texts == 1 && f.finish == "" && c.Usage == NoUsage {
		d.mould.cast(frame, f.only, c)
	}
}

// count notes what a chunk's usage says about the chunk itself. Counts that go along with the text from its first
// chunk on are running counts; one that comes late is the sum.
func (d *openAIDecoder) count(c *Chunk) {
	known := c.Usage.Output != Unknown
	d.counts = d.counts || known
	if !c.Text {
		return
	}
	if !d.text {
		d.text, d.running = true, known && c.Usage.Output > 0
	}
	if d.running && known {
		c.Tokens = max(c.Usage.Output-d.counted, 0)
		d.counted = c.Usage.Output
	}
}

// inside is a string's content as it stands in the frame, escapes and all.
func inside(frame []byte, s gjson.Result) []byte {
	return frame[s.Index+1 : s.Index+len(s.Raw)-1]
}

// finishName is a copy of a finish reason; the usual ones cost nothing.
func finishName(s string) string {
	for _, name := range []string{"stop", "length", "tool_calls"} {
		if s == name {
			return name
		}
	}
	return string([]byte(s))
}

// mould is the shape of a chunk that has nothing to say but one piece of text. The chunks of an answer are alike but
// for a few bytes of text: a frame with the same bytes before it and behind, and in between something that may stand
// inside a JSON string, says the same with another text, whatever the server's order of keys. That proof costs a
// tenth of parsing.
type mould struct {
	head, tail []byte
	chunk      Chunk
	answer     bool // the text is the answer's
}

// cast takes the shape of a frame whose only text is the given string.
func (m *mould) cast(frame []byte, text gjson.Result, c *Chunk) {
	in := inside(frame, text)
	m.head = append(m.head[:0], frame[:text.Index+1]...)
	m.tail = append(m.tail[:0], frame[text.Index+1+len(in):]...)
	m.chunk, m.answer = *c, c.Raw != nil
	m.chunk.Raw = nil
}

// fits reads a frame of the mould's shape into c.
func (m *mould) fits(frame []byte, c *Chunk) bool {
	if len(m.head) == 0 || len(frame) <= len(m.head)+len(m.tail) ||
		!bytes.HasPrefix(frame, m.head) || !bytes.HasSuffix(frame, m.tail) {
		return false
	}
	text := frame[len(m.head) : len(frame)-len(m.tail)]
	if !insideString(text) {
		return false
	}
	*c = m.chunk
	if m.answer {
		c.Raw = text
	}
	return true
}
