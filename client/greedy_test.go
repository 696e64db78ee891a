package client

import (
	"encoding/json"
	"testing"

	"llmsweep/client/api"
)

// TestGreedyBody: a request for the most likely answer has none of the user's members that take another token.
func TestGreedyBody(t *testing.T) {
	c, err := New(Options{URL: "h", API: "chat", Params: api.Params{Model: "m", Fields: api.AllFields,
		Extra: []byte(`{"top_p":0.5,"user":"u"}`)}})
	if err != nil {
		t.Fatal(err)
	}
	r := *request24
	r.Greedy = true
	call, err := c.Prepare(&r)
	var body map[string]any
	if err != nil || json.Unmarshal(call.Body, &body) != nil {
		t.Fatal(err, string(call.Body))
	}
	_, top := body["top_p"]
	_, forced := body["ignore_eos"]
	if top || forced || body["temperature"] != 0.0 || body["user"] != "u" {
		t.Errorf("%s", call.Body)
	}
}
