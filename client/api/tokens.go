package api

import (
	"bytes"
)

// runningCount turns a running count of tokens into the number that came with each chunk.
type runningCount struct{ counted int }

// Grow returns how many tokens have come since the last count.
func (t *runningCount) Grow(total int) int {
	n := max(total-t.counted, 0)
	t.counted += n
	return n
}

// texts finds what is new in a stream's texts. Each text may be a piece, or repeat all texts before it (cumulative).
// Servers do not say which, so the texts decide: a text that does not begin with the whole of the one before it is a
// piece, and so is the second of two equal ones at the start.
type texts struct {
	said   []byte // the text so far, while texts may be cumulative
	grew   bool   // a text repeated the one before it and continued it
	Pieces bool
}

// Reset prepares for the next answer.
func (t *texts) Reset() { *t = texts{said: t.said[:0]} }

// News returns the part of a text that was not there before. Both are as they stand in the JSON string.
func (t *texts) News(raw []byte) []byte {
	if t.Pieces || len(raw) == 0 {
		return raw
	}
	again := len(t.said) > 0 && len(raw) == len(t.said) && !t.grew
	if again || !bytes.HasPrefix(raw, t.said) {
		t.Pieces = true
		return raw
	}
	fresh := raw[len(t.said):]
	t.grew = t.grew || len(t.said) > 0 && len(fresh) > 0
	t.said = append(t.said, fresh...)
	return fresh
}

// finishReason returns a finish reason as text. The usual ones allocate nothing.
func finishReason(raw []byte) string {
	switch string(raw) {
	case "":
		return ""
	case "length":
		return "length"
	case "stop":
		return "stop"
	case "tool_calls":
		return "tool_calls"
	}
	return string(Unescape(bytes.Clone(raw)))
}
