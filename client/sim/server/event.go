package server

import (
	"encoding/json"
	"maps"
)

// namedEvent is an event of an API whose events have types: the type stands in its "event:" line and in its data.
type namedEvent struct {
	Kind    string
	Members map[string]any
	Stamp
}

// MarshalJSON returns the event's data.
func (e namedEvent) MarshalJSON() ([]byte, error) {
	all := maps.Clone(e.Members)
	if all == nil {
		all = map[string]any{}
	}
	all["type"] = e.Kind
	if e.SentNS != 0 {
		all["sim_sent_ns"] = e.SentNS
	}
	return json.Marshal(all)
}

// Event returns an event of this answer.
func (a *AnswerState) Event(kind string, members map[string]any) namedEvent {
	return namedEvent{kind, members, a.Stamp()}
}

// appendObject appends an event with an object.
func appendObject(buf []byte, v any) []byte {
	if e, ok := v.(namedEvent); ok {
		buf = append(buf, "event: "+e.Kind+"\n"...)
	}
	if encoded, ok := v.(json.RawMessage); ok {
		return appendFrame(buf, encoded)
	}
	return appendFrame(buf, marshal(v))
}
