package workload

import (
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"llmsweep/client/note"
)

// traceRows reads the JSON values of a trace, each of which has one request or those of whole sessions.
type traceRows struct {
	*Trace
	milli, nano clock
	epoch       clock          // of seconds since 1970
	named       map[string]int // sessions by name
	tree        spanTree
	sessions    int
	logged      int  // requests of nginx's logs
	exact       bool // one of them has a fraction of a second in its time
}

// rowFormats are the formats of rows other than Mooncake's, by a field that only they have.
var rowFormats = []struct {
	field string
	visit func(*traceRows, int, gjson.Result) bool
}{
	{"requests", (*traceRows).agent},
	{"resourceSpans", (*traceRows).spans},
	{"startTime", (*traceRows).litellm},
	{"standard_logging_object", (*traceRows).litellm},
	{"request_time", (*traceRows).nginxObject},
}

// visit takes the requests of a value.
func (t *traceRows) visit(line int, v gjson.Result, why note.Note) (more bool) {
	if !why.IsZero() {
		return t.take(line, request{}, why)
	}
	r, why := parseRequest(v, &t.milli, t.options.Share)
	if !why.IsZero() && v.IsObject() {
		for _, f := range rowFormats {
			if v.Get(f.field).Exists() {
				return f.visit(t, line, v)
			}
		}
	}
	return t.take(line, r, why)
}

// deepest is how many agents may have called each other.
const deepest = 16

// agent takes the requests of a session of an agent, in the format of kv-cache-tester (github.com/callanjfox/kv-cache-tester), as the cc-traces-weka
// data sets on Hugging Face have it, a session a line: {"block_size": 64, "hash_id_scope": "local", "requests": [{"t": 0, "type": "s", "in": 9000,
// "out": 120, "hash_ids": [1, 2], "api_time": 1.5}, {"t": 2, "type": "subagent", "requests": [...]}]}. Times are in seconds since the session began,
// so that sessions that are replayed begin together. A sub-agent has a number of its own, and that of the session that called it.
func (t *traceRows) agent(line int, v gjson.Result) (more bool) {
	if n := tokens(v.Get("block_size")); t.log.blockSize == 0 {
		t.log.blockSize = n
	}
	own := int64(0) // keeps the hash ids of a session apart from those of others
	if v.Get("hash_id_scope").Str != "global" {
		own = int64(t.sessions+1) << 32
	}
	return t.agents(line, v.Get("requests"), 0, 0, own, deepest)
}

// agents takes the requests of an agent and of those that it calls. Their times count from an instant of the session in seconds.
func (t *traceRows) agents(line int, list gjson.Result, caller int, from float64, own int64, depth int) (more bool) {
	t.sessions++
	session, clock := t.sessions, clock{unit: time.Second, set: true}
	more = depth > 0
	list.ForEach(func(_, v gjson.Result) bool {
		at := v.Get("t")
		if called := v.Get("requests"); called.IsArray() {
			start := from
			if called.Get("0.t").Num < at.Num { // times since the call; else since the session began
				start += at.Num
			}
			more = t.agents(line, called, session, start, own, depth-1)
			return more
		}
		r := request{prompt: tokens(v.Get("in")), output: tokens(v.Get("out")), inSession: true, talk: talk{session: session, caller: caller, took: seconds(v.Get("api_time").Num)}}
		if t.options.Share {
			v.Get("hash_ids").ForEach(func(_, id gjson.Result) bool { r.hashes = append(r.hashes, own+id.Int()); return true })
		}
		why := r.incomplete(at.Type == gjson.Number)
		if why.IsZero() {
			r.at, why = clock.at(from + at.Num)
		}
		more = t.take(line, r, why)
		return more
	})
	return more
}

// session returns the number of the session of a name; a new one where there is no name.
func (t *traceRows) session(name string) int {
	if n := t.named[name]; n > 0 {
		return n
	}
	t.sessions++
	if name != "" {
		t.named[strings.Clone(name)] = t.sessions
	}
	return t.sessions
}

// incomplete returns what a request lacks; timed is set where it has a time.
func (r *request) incomplete(timed bool) note.Note {
	switch {
	case !timed:
		return skipTime.New()
	case r.prompt == 0:
		return skipPromptTokens.New()
	case r.output == 0:
		return skipOutputTokens.New()
	}
	return note.Note{}
}
