package workload

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// agents are two sessions in the format of kv-cache-tester: with a sub-agent whose times count from its call, and with one whose times count from the
// beginning.
const agents = `{"id": "a", "block_size": 64, "hash_id_scope": "local", "requests": [{"t": 0, "type": "s", "in": 130, "out": 20, "hash_ids": [1, 2, 3], "api_time": 1.5}, {"t": 3, "type": "subagent", "agent_id": "x", "requests": [{"t": 0.5, "type": "n", "in": 64, "out": 8, "hash_ids": [9]}]}, {"t": 4, "type": "s", "in": 200, "out": 10, "hash_ids": [1, 2, 3, 4], "api_time": 1}]}
{"id": "b", "block_size": 64, "hash_id_scope": "local", "requests": [{"t": 0, "type": "n", "in": 130, "out": 20, "hash_ids": [1, 2, 3]}, {"t": 2, "type": "subagent", "requests": [{"t": 2.5, "type": "n", "in": 50, "out": 4}]}, {"t": 3, "type": "n", "in": 130}]}
`

// spans are lines of the OpenTelemetry collector's file exporter: a conversation of two requests, an agent whose tokens are those of its requests again, a
// request to a tool, and a request of another trace.
const spans = `{"resourceSpans":[{"resource":{},"scopeSpans":[{"scope":{},"spans":[{"traceId":"t1","spanId":"1","name":"chat m","startTimeUnixNano":"1700000000000000000","endTimeUnixNano":"1700000002000000000","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}},{"key":"gen_ai.conversation.id","value":{"stringValue":"c"}},{"key":"gen_ai.usage.input_tokens","value":{"intValue":"100"}},{"key":"gen_ai.usage.output_tokens","value":{"intValue":"10"}}]},{"traceId":"t1","name":"invoke_agent","startTimeUnixNano":"1700000000000000000","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"invoke_agent"}},{"key":"gen_ai.usage.input_tokens","value":{"intValue":"230"}}]}]}]}]}
{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"t2","startTimeUnixNano":"1700000005000000000","endTimeUnixNano":"1700000006000000000","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}},{"key":"gen_ai.conversation.id","value":{"stringValue":"c"}},{"key":"gen_ai.usage.input_tokens","value":{"intValue":130}},{"key":"gen_ai.usage.output_tokens","value":{"intValue":12}}]},{"traceId":"t2","startTimeUnixNano":"1700000001000000000","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"execute_tool"}}]}]}]}]}
{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"t3","startTimeUnixNano":"1700000001000000000","endTimeUnixNano":"1700000001500000000","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"text_completion"}},{"key":"gen_ai.usage.prompt_tokens","value":{"intValue":"7"}},{"key":"gen_ai.usage.completion_tokens","value":{"intValue":"3"}}]},{"traceId":"t3","startTimeUnixNano":"1700000001000000000","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}}]}]}]}]}
`

// TestSessionsOfAgentsAndSpans reads sessions with their lengths and pauses, as counted by hand.
func TestSessionsOfAgentsAndSpans(t *testing.T) {
	type turn struct {
		Prompt, Output int
		Pause          time.Duration
	}
	for name, c := range map[string]struct {
		content string
		at      []time.Duration
		want    [][]turn
		skipped []SkipRows
	}{
		"agents": {agents, []time.Duration{0, 0, 2500 * time.Millisecond, 3500 * time.Millisecond}, [][]turn{
			{{130, 20, 0}, {50, 10, 2500 * time.Millisecond}}, {{130, 20, 0}}, {{50, 4, 0}}, {{64, 8, 0}},
		}, []SkipRows{{Why: skipOutputTokens.New(), Count: 1, Lines: []int{2}}}},
		"spans": {spans, []time.Duration{0, time.Second}, [][]turn{{{100, 10, 0}, {20, 12, 3 * time.Second}}, {{7, 3, 0}}},
			[]SkipRows{{Why: skipPromptTokens.New(), Count: 1, Lines: []int{3}}}},
	} {
		tr, err := readTrace(t.Context(), text(t, c.content), TraceOptions{Share: true})
		if err != nil {
			t.Fatal(name, err)
		}
		var at []time.Duration
		var got [][]turn
		all, _ := tr.visits(2)
		for _, v := range all {
			var turns []turn
			for _, u := range v.turns {
				turns = append(turns, turn{u.prompt, u.output, u.pause})
			}
			at, got = append(at, v.at), append(got, turns)
			if len(v.shared) > 0 {
				t.Errorf("%s: sessions share %v, but their hash ids are their own", name, v.shared)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" || !cmp.Equal(at, c.at) {
			t.Errorf("%s begin at %v (-want +got):\n%s", name, at, diff)
		}
		if diff := cmp.Diff(c.skipped, tr.Skipped()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	tr, err := readTrace(t.Context(), text(t, agents), TraceOptions{Share: true})
	if err != nil || tr.Block() != 64 {
		t.Fatalf("blocks of %d, %v", tr.Block(), err)
	}
	all, _ := tr.visits(2)
	whole := joined(all)
	if len(whole) != 2 {
		t.Fatalf("%d sessions, want 2 with a sub-agent each", len(whole))
	}
	// Of the first session, the answer ends after 1.5 s, the sub-agent runs at 3.5 s, and the next turn is sent at 4 s.
	caller := whole[0].turns[0]
	if len(caller.agents) != 1 || caller.agents[0].turns[0].pause != 2*time.Second || whole[0].turns[1].pause != 500*time.Millisecond || whole[0].requests() != 3 {
		t.Errorf("the sub-agent begins and ends otherwise than recorded: %+v", whole[0])
	}
	if w := describeVisits(whole); w.Turns() != 2.5 {
		t.Errorf("%v requests in a session, want 3 and 2", w.Turns())
	}
	slow := []visit{{talk: talk{session: 1}, turns: []visitTurn{{to: 1}, {from: 5, to: 6}}}, {talk: talk{session: 2, caller: 1}, at: 2, turns: []visitTurn{{from: 2, to: 7}}}}
	if len(joined(slow)) != 2 {
		t.Error("a sub-agent that the next turn did not wait for is a part of its session")
	}
	source, ids, repeats := tr.Stage("a"), map[uint64]int{}, 0
	for s, ok := source.Next(); ok; s, ok = source.Next() {
		ids[s.ID]++
		repeats += s.Repeats
	}
	if len(ids) != 4 || ids[0] > 0 || repeats != 3*64 {
		t.Errorf("numbers of sessions: %v; %d tokens were sent before", ids, repeats)
	}
	for content, want := range map[string]string{
		`{"requests": []}`:                                                "data has no rows",
		`{"requests": [{"t": 1, "out": 5}]}`:                              "data:1: no usable row in 1; the first fault: skip.no-prompt-tokens",
		`{"requests": [{"in": 1, "out": 5}]}`:                             "data:1: no usable row in 1; the first fault: skip.no-timestamp",
		`{"resourceSpans": [{"scopeSpans": [{"spans": []}]}]}`:            "data has no rows",
		strings.Repeat(`{"requests": [`, 200) + strings.Repeat(`]}`, 200): "data has no rows",
	} {
		if _, err := readTrace(t.Context(), text(t, content), TraceOptions{}); err == nil || err.Error() != want {
			t.Errorf("%.60s: %v, want %s", content, err, want)
		}
	}
}

// forked are the spans of one trace, each before its parent: an agent asks once, calls two sub-agents by tools, of which the first asks twice and calls
// one of its own in between, and asks again once both have ended. The parents of x and y form a circle.
func forked() string {
	var all []string
	span := func(id, parent, operation, from, to string, prompt int) {
		all = append(all, fmt.Sprintf(`{"traceId":"t","spanId":%q,"parentSpanId":%q,"startTimeUnixNano":"17000000%s00000000","endTimeUnixNano":"17000000%s00000000","attributes":[`+
			`{"key":"gen_ai.operation.name","value":{"stringValue":%q}},{"key":"gen_ai.conversation.id","value":{"stringValue":"of %s"}},`+
			`{"key":"gen_ai.usage.input_tokens","value":{"intValue":"%d"}},{"key":"gen_ai.usage.output_tokens","value":{"intValue":"10"}}]}`,
			id, parent, from, to, operation, parent, prompt))
	}
	span("1", "main", "chat", "000", "010", 100) // tenths of a second
	span("b1", "b", "chat", "012", "020", 200)
	span("d1", "d", "chat", "021", "024", 400)
	span("d", "b", "invoke_agent", "021", "024", 400)
	span("c1", "c", "chat", "015", "025", 300)
	span("c", "tool c", "invoke_agent", "015", "025", 300)
	span("tool c", "main", "execute_tool", "014", "025", 1)
	span("b2", "b", "chat", "026", "030", 240)
	span("b", "tool b", "invoke_agent", "012", "030", 440)
	span("tool b", "main", "execute_tool", "011", "030", 1)
	span("2", "main", "chat", "035", "040", 150)
	span("main", "http", "invoke_agent", "000", "040", 250)
	span("3", "x", "chat", "050", "051", 500)
	span("x", "y", "", "050", "051", 1)
	span("y", "x", "", "050", "051", 1)
	return `{"resourceSpans":[{"scopeSpans":[{"spans":[` + strings.Join(all, ",") + `]}]}]}`
}

// TestSubAgentsOfSpans reads one session with two sub-agents that it waits for, one of which has a sub-agent of its own.
func TestSubAgentsOfSpans(t *testing.T) {
	tr, err := readTrace(t.Context(), text(t, forked()), TraceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	all, _ := tr.visits(2)
	var got []string
	var list func(place string, v *visit)
	list = func(place string, v *visit) {
		for i, u := range v.turns {
			name := fmt.Sprintf("%s.%d", place, i)
			got = append(got, fmt.Sprintf("%s: %d -> %d after %v", name, u.prompt, u.output, u.pause))
			for j := range u.agents {
				list(fmt.Sprintf("%s[%d]", name, j), &u.agents[j])
			}
		}
	}
	for i, v := range joined(all) {
		list(fmt.Sprint(i), &v)
	}
	slices.Sort(got)
	want := []string{
		"0.0: 100 -> 10 after 0s", "0.0[0].0: 300 -> 10 after 500ms", "0.0[1].0: 200 -> 10 after 200ms", "0.0[1].0[0].0: 400 -> 10 after 100ms",
		"0.0[1].1: 30 -> 10 after 200ms", "0.1: 40 -> 10 after 500ms", "1.0: 500 -> 10 after 0s",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
