package workload

import (
	"bytes"
	"context"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"llmsweep/client/api"
	"llmsweep/client/note"
	"llmsweep/sweep/stats"
)

// litellm takes the request of LiteLLM's standard logging payload (docs.litellm.ai/docs/proxy/logging_spec), or of its spend logs, whose
// times are texts.
// A session is a session_id, or else a trace_id. What LiteLLM answered from its own cache is left out.
func (t *traceRows) litellm(line int, v gjson.Result) (more bool) {
	if payload := v.Get("standard_logging_object"); payload.IsObject() {
		v = payload
	}
	if strings.EqualFold(v.Get("cache_hit").String(), "true") {
		return t.take(line, request{}, skipProxyCache.New())
	}
	start, first, end := instant(v.Get("startTime").String()), instant(v.Get("completionStartTime").String()), instant(v.Get("endTime").String())
	r := request{prompt: tokens(v.Get("prompt_tokens")), output: tokens(v.Get("completion_tokens")), inSession: true}
	r.talk = talk{session: t.session(firstText(v, "session_id", "metadata.session_id", "trace_id")), took: seconds(end - start)}
	if first < end { // they are equal where the answer came as a whole
		r.ttft = seconds(first - start)
	}
	why := r.incomplete(!math.IsNaN(start))
	if why.IsZero() {
		r.at, why = t.epoch.at(start)
	}
	return t.take(line, r, why)
}

// entry is a line of nginx's access log, the values as they stand there.
type entry struct {
	request      string // POST /v1/completions HTTP/1.1
	status       string
	ended        string // $msec, $time_iso8601 or $time_local
	took         string // $request_time in seconds
	head         string // $upstream_header_time in seconds
	prompt, text string // tokens of prompt and answer
}

// nginxObject takes the request of a log_format in JSON, whose fields have the names of nginx's variables.
func (t *traceRows) nginxObject(line int, v gjson.Result) (more bool) {
	e := entry{
		request: v.Get("request").String(), status: v.Get("status").String(),
		ended: firstText(v, "msec", "time_iso8601", "time_local", "@timestamp", "timestamp", "time"),
		took:  v.Get("request_time").String(), head: v.Get("upstream_header_time").String(),
		prompt: firstText(v, "prompt_tokens", "input_tokens"), text: firstText(v, "completion_tokens", "output_tokens"),
	}
	if e.request == "" {
		e.request = v.Get("request_method").String() + " " + firstText(v, "request_uri", "uri")
	}
	return t.logEntry(line, e)
}

// accessLine is a line of nginx's combined format, with what was appended to it.
var accessLine = regexp.MustCompile(`^\S+ \S+ .*?\[([^\]]+)\] "((?:[^"\\]|\\.)*)" (\d{3}) (?:\d+|-) "(?:[^"\\]|\\.)*" "(?:[^"\\]|\\.)*"(.*)$`)

// readAccess reads a log in nginx's combined format with the times of each request appended, with names as in rt=1.2 uht=0.3, or else
// $request_time $upstream_header_time $upstream_response_time in this order.
func (t *traceRows) readAccess(ctx context.Context, in *rowInput) error {
	return eachText(ctx, in, func(line int, b []byte, why note.Note) bool {
		found := accessLine.FindSubmatch(b)
		switch {
		case !why.IsZero():
			return t.take(line, request{}, why)
		case found == nil:
			return t.take(line, request{}, skipNoAccessLine.New())
		}
		e := entry{ended: string(found[1]), request: string(found[2]), status: string(found[3])}
		places := []*string{&e.took, &e.head, new(string)}
		for _, field := range strings.Fields(string(found[4])) {
			name, value, named := strings.Cut(strings.Trim(field, `"`), "=")
			value = strings.Trim(value, `"`)
			if to := map[string]*string{
				"rt": &e.took, "request_time": &e.took, "uht": &e.head, "upstream_header_time": &e.head, "msec": &e.ended,
				"prompt_tokens": &e.prompt, "completion_tokens": &e.text,
			}[name]; named && to != nil {
				*to = value
			} else if _, err := strconv.ParseFloat(name, 64); err == nil && !named && len(places) > 0 {
				*places[0], places = name, places[1:]
			}
		}
		if len(places) == 1 { // of two times, the second may be either
			e.head = ""
		}
		return t.logEntry(line, e)
	})
}

// logEntry takes the request of an entry, unless it asks for no answer of a model. nginx writes an entry when a request ends. Lengths that
// are not in the log are those that replace the trace's.
func (t *traceRows) logEntry(line int, e entry) (more bool) {
	method, path, _ := strings.Cut(e.request, " ")
	path, _, _ = strings.Cut(path, " ")
	if path, _, _ = strings.Cut(path, "?"); method != "POST" || !answering(path) {
		return true
	}
	took, err := strconv.ParseFloat(e.took, 64)
	switch {
	case len(e.status) == 3 && e.status[0] != '2':
		return t.take(line, request{}, skipFailed.New(e.status))
	case err != nil || !(took >= 0):
		return t.take(line, request{}, skipRequestTime.New())
	}
	r := request{prompt: wholeTokens(e.prompt), output: wholeTokens(e.text)}
	if r.prompt == 0 {
		r.prompt = int(math.Round(t.options.Prompt.Mean))
	}
	if r.output == 0 {
		r.output = int(math.Round(t.options.Output.Mean))
	}
	if head, err := strconv.ParseFloat(e.head, 64); err == nil && head <= took { // after several tries, it is a list
		r.ttft, r.head = seconds(head), true
	}
	ended := instant(e.ended)
	why := r.incomplete(!math.IsNaN(ended))
	if why.IsZero() {
		r.at, why = t.epoch.at(ended - took)
		t.logged++
		t.exact = t.exact || ended != math.Trunc(ended)
	}
	return t.take(line, r, why)
}

// answering reports whether a model answers requests for a path.
func answering(path string) bool {
	for _, name := range api.Names() {
		if d, err := api.DialectsByName(name); err == nil && strings.HasSuffix(path, d.Path()) {
			return true
		}
	}
	return false
}

// isAccess reports whether a file begins with a line of nginx's combined format.
func (in *rowInput) isAccess() bool {
	const most = 8 << 10
	b, _ := in.Peek(most)
	first, _, _ := bytes.Cut(b, []byte("\n"))
	return accessLine.Match(first)
}

// instant returns a time in seconds since 1970, given as such a number or as a date and time; NaN for anything else.
func instant(s string) float64 {
	if v, err := strconv.ParseFloat(s, 64); err == nil {
		return v
	}
	at, ok := parseTime(s)
	if !ok {
		return math.NaN()
	}
	return float64(at.Unix()) + float64(at.Nanosecond())/1e9
}

// firstText returns the first of some fields that is there and not empty.
func firstText(v gjson.Result, paths ...string) string {
	for _, path := range paths {
		if s := v.Get(path).String(); s != "" {
			return s
		}
	}
	return ""
}

// times tells the times to the first token in a log; nothing where it has none.
func (q *requests) times(file string) []note.Note {
	if len(q.ttft) == 0 {
		return nil
	}
	slices.Sort(q.ttft)
	var heads any // nil where none ends at the head of the answer
	if q.heads > 0 {
		heads = q.heads
	}
	at := func(p float64) time.Duration { return seconds(stats.Quantile(q.ttft, p)) }
	return []note.Note{noteTTFT.New(file, len(q.ttft), at(0.5), at(0.95), heads)}
}

// seconds returns a time that took a number of seconds; 0 where that is none.
func seconds(s float64) time.Duration {
	if !(s > 0 && s < farthest.Seconds()) {
		return 0
	}
	return time.Duration(math.Round(s * float64(time.Second)))
}
