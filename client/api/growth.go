package api

import "bytes"

// tally turns running counts into how many tokens came with each chunk.
type tally struct{ counted int }

// grow is how many tokens have come since the last count.
func (t *tally) grow(total int) int {
	n := max(total-t.counted, 0)
	t.counted += n
	return n
}

// texts finds what is new in a stream's texts, which may each repeat all before (cumulative) or be pieces. Servers
// do not say which, so the texts do: one that does not begin with all of the one before it is a piece, and so is the
// second of two equal ones at the start.
type texts struct {
	said   []byte // all of the text so far, while texts may be cumulative
	grew   bool   // a text was seen to repeat the one before it and to go on
	pieces bool
}

func (t *texts) reset() { *t = texts{said: t.said[:0]} }

// news is the part of a text that was not there before. Both are as they stand in the JSON string.
func (t *texts) news(raw []byte) []byte {
	if t.pieces || len(raw) == 0 {
		return raw
	}
	again := len(t.said) > 0 && len(raw) == len(t.said) && !t.grew
	if again || !bytes.HasPrefix(raw, t.said) {
		t.pieces = true
		return raw
	}
	fresh := raw[len(t.said):]
	t.grew = t.grew || len(t.said) > 0 && len(fresh) > 0
	t.said = append(t.said, fresh...)
	return fresh
}

// finishOf is a finish reason as text; the usual ones cost nothing.
func finishOf(raw []byte) string {
	switch string(raw) {
	case "length":
		return "length"
	case "stop":
		return "stop"
	}
	return string(Unescape(bytes.Clone(raw)))
}
