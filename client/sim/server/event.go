package server

import (
	"encoding/json"
	"maps"
)

// NamedEvent is an event of an API whose events have types: the type stands in its "event:" line and in its data.
type NamedEvent struct {
	Kind    string
	Members map[string]any
	Stamp
}

// MarshalJSON returns the event's data.
func (e NamedEvent) MarshalJSON() ([]byte, error) {
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
func (a *AnswerState) Event(kind string, members map[string]any) NamedEvent {
	return NamedEvent{kind, members, a.Stamp()}
}

// appendObject appends a frame with an object.
func (f Framing) appendObject(buf []byte, v any) []byte {
	if e, ok := v.(NamedEvent); ok {
		buf = append(buf, "event: "+e.Kind+"\n"...)
	}
	return f.appendFrame(buf, Marshal(v))
}
