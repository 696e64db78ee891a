package client

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"llmsweep/client/api"
	"llmsweep/client/redact"
)

const ms = time.Millisecond

// ask is the request of most tests.
var ask = &api.Request{Messages: []api.Message{{Role: "user", Content: "hello"}}, OutputTokens: 4, KeepText: true}

// do sends one request with a client of its own.
func do(t testing.TB, o Options) *Result {
	t.Helper()
	return send(t, newClient(t, o), t.Context(), ask)
}

// doWith sends one request.
func doWith(t testing.TB, ctx context.Context, c *Client) *Result {
	t.Helper()
	return send(t, c, ctx, ask)
}

func send(t testing.TB, c *Client, ctx context.Context, request *api.Request) *Result {
	t.Helper()
	call, err := c.Prepare(request)
	if err != nil {
		t.Fatal(err)
	}
	var r Result
	r.Reset(time.Now())
	c.Do(ctx, call, &r)
	return &r
}

// summary is a result without instants and reads, in a line.
func summary(r *Result) string {
	parts := []string{string(r.Status)}
	if r.Status == StatusError {
		parts[0] = string(r.Class)
	}
	add := func(known bool, format string, v ...any) {
		if known {
			parts = append(parts, fmt.Sprintf(format, v...))
		}
	}
	add(r.HTTP != 200, "HTTP %d", r.HTTP)
	add(r.Finish != "", "%s", r.Finish)
	add(r.Chunks() > 0, "%d chunks", r.Chunks())
	add(r.Chunks() > 0 && r.FirstAnswer == Absent, "no answer")
	add(r.TokenSource != "" || r.OutputTokens != api.Unknown, "%s %d", r.TokenSource, r.OutputTokens)
	add(r.PromptTokens != api.Unknown, "prompt %d", r.PromptTokens)
	add(r.ReasoningTokens != api.Unknown, "reasoning %d", r.ReasoningTokens)
	add(r.CachedTokens != api.Unknown, "cached %d", r.CachedTokens)
	add(len(r.Counts) > 0, "%v", r.Counts)
	add(len(r.Text) > 0, "%q", r.Text)
	s := strings.Join(parts, ", ")
	if r.Message != "" {
		s += ": " + r.Message
	}
	return s
}

func checkSummary(t *testing.T, r *Result, want string) {
	t.Helper()
	if got := summary(r); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// serveAnswer starts a server that gives the same answer to all requests. The header is NAME: VALUE, or empty.
func serveAnswer(t testing.TB, status int, header, body string) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if name, value, ok := strings.Cut(header, ": "); ok {
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// named are the chunks of most streams.
var named = map[string]string{
	"role":   `{"choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]}`,
	"A":      `{"choices":[{"index":0,"delta":{"content":"A"},"logprobs":null,"finish_reason":null}]}`,
	"B":      `{"choices":[{"index":0,"delta":{"content":"B"},"logprobs":null,"finish_reason":null}]}`,
	"finish": `{"choices":[{"index":0,"delta":{"content":""},"logprobs":null,"finish_reason":"stop"}]}`,
	"usage":  `{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":5,"total_tokens":14}}`,
	"error":  `{"error":{"message":"the engine died","type":"InternalServerError","param":null,"code":500}}`,
	"hm":     `{"choices":[{"delta":{"reasoning":"hm"}}]}`,
}

// events returns chunks as server-sent events: JSON as it stands, or names of chunks.
func events(chunks ...string) string {
	var b strings.Builder
	for _, c := range chunks {
		words := []string{c}
		if !strings.Contains(c, `{"`) {
			words = strings.Fields(c)
		}
		for _, word := range words {
			if n, ok := named[word]; ok {
				word = n
			}
			fmt.Fprintf(&b, "data: %s\n\n", word)
		}
	}
	return b.String()
}

// counted returns a chunk with a running count.
func counted(text string, n int) string {
	return fmt.Sprintf(`{"choices":[{"delta":{"content":%q}}],"usage":{"prompt_tokens":9,"completion_tokens":%d}}`,
		text, n)
}

// usage returns a chunk with counts and no choice; more is of the usage object.
func usage(output int, more string) string {
	return fmt.Sprintf(`{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":%d%s}}`, output, more)
}

// sglangChunk is a chunk as SGLang sends it, with nulls all over.
func sglangChunk(content, finish string) string {
	return `{"id":"1","choices":[{"index":0,"delta":{"role":null,"content":` + content + `,"reasoning_content":null,` +
		`"tool_calls":null},"logprobs":null,"finish_reason":` + finish + `,"matched_stop":null}],"usage":null}`
}

// Unusual streams that servers send, or may send.
func TestOddStreams(t *testing.T) {
	const (
		one     = `ok, stop, 1 chunks, chunks 1, "A"`
		failed  = `stream_error, 1 chunks, chunks 1, "A": `
		cut     = `truncated, 1 chunks, chunks 1, "A": `
		noToken = `stream_error: `
	)
	call := func(function string) string {
		return `{"choices":[{"delta":{"tool_calls":[{"index":0,"function":` + function + `}]}}]}`
	}
	for _, tt := range []struct{ name, stream, want string }{
		{"vLLM", events("role A B finish usage [DONE]"), `ok, stop, 2 chunks, server 5, prompt 9, "AB"`},
		{"SGLang", events(sglangChunk(`""`, "null"), sglangChunk(`"A"`, "null"), sglangChunk("null", `"length"`),
			usage(1, `,"prompt_tokens_details":{"cached_tokens":8}`), "[DONE]"),
			`ok, length, 1 chunks, server 1, prompt 9, cached 8, "A"`},
		{"reasoning under both names", events("role hm", `{"choices":[{"delta":{"reasoning_content":"so"}}]}`, "A finish",
			usage(4, `,"completion_tokens_details":{"reasoning_tokens":2}`), "[DONE]"),
			`ok, stop, 3 chunks, server 4, prompt 9, reasoning 2, "A"`},
		{"tool call", events("role", call(`{"name":"f","arguments":""}`), call(`{"arguments":"{}"}`),
			`{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`, "[DONE]"), `ok, tool_calls, 2 chunks, chunks 2`},
		{"refusal", events("role", `{"choices":[{"delta":{"refusal":"no"}}]}`, "finish [DONE]"),
			`ok, stop, 1 chunks, chunks 1, "no"`},
		{"escapes", events(`{"choices":[{"text":"\u00e9\n\""}]}`, `{"choices":[{"text":"\ud83d\ude00<&"}]}`, "finish [DONE]"),
			`ok, stop, 2 chunks, chunks 2, "é\n\"😀<&"`},
		{"running counts", events("role", counted("a", 1), counted("bcd", 4), counted("", 4), counted("e", 6), "finish",
			usage(7, ""), "[DONE]"), `ok, stop, 3 chunks, server 7, prompt 9, [1 3 2], "abcde"`},
		{"the sum on the last text", events("A B", counted("C", 9), "finish [DONE]"),
			`ok, stop, 3 chunks, server 9, prompt 9, "ABC"`},
		{"zeros and no truth", events(counted("a", 0), counted("b", 0), "finish [DONE]"),
			`ok, stop, 2 chunks, chunks 2, prompt 9, "ab"`},
		{"timings for usage", events("A", `{"choices":[{"delta":{},"finish_reason":"stop"}],`+
			`"timings":{"cache_n":2,"prompt_n":7,"predicted_n":3}}`, "[DONE]"),
			`ok, stop, 1 chunks, server 3, prompt 9, cached 2, "A"`},
		{"an empty answer", events("role finish", usage(0, ""), "[DONE]"), `ok, stop, server 0, prompt 9`},
		{"finish and no [DONE]", events("A finish"), one},
		{"no blank line at the end", events("A finish") + "data: [DONE]", one},
		{"CRLF, pings, no spaces", ": ping\r\n\r\nevent: x\r\ndata:" + named["A"] + "\r\n\r\n:\r\ndata:" + named["finish"] +
			"\r\n\r\ndata:[DONE]\r\n\r\n", one},
		{"[DONE] and counts, no finish", events("A", usage(1, ""), "[DONE]"), `ok, 1 chunks, server 1, prompt 9, "A"`},

		{"[DONE] and no finish", events("A [DONE]"), failed + "the stream's terminator came without a finish reason"},
		{"event: error", events("A") + "event: error\ndata: {\"message\":\"it died\"}\n\n" + events("finish [DONE]"),
			failed + "it died"},
		{"event: error, and nothing", events("A") + "event:error\n\n" + events("[DONE]"),
			failed + "an error without a message"},
		{"event: error, plain text", events("A") + "event: error\ndata: no memory\n\n" + events("finish [DONE]"),
			failed + "no memory"},
		{"a page in the stream", events("A") + "<html><title>502 Bad Gateway</title></html>\n\n" + events("finish [DONE]"),
			failed + "a web page (502 Bad Gateway)"},
		{"text in the stream", events("A") + "upstream connect error: reset\n\n" + events("[DONE]"),
			failed + "upstream connect error: reset"},
		{"an error and no [DONE]", events("A", `{"error":{"message":"it died"}}`), failed + "it died"},
		{"error, then [DONE]", events("A error [DONE]"), failed + "the engine died"},
		{"error, finish, [DONE]", events("A", `{"error":"it died"}`, "finish [DONE]"), failed + "it died"},
		{"error after the finish", events("A finish error"),
			`stream_error, stop, 1 chunks, chunks 1, "A": the engine died`},
		{"finish reason error", events("A", `{"choices":[{"delta":{},"finish_reason":"error"}]}`),
			failed + "the server ended the answer with the finish reason error"},
		{"error as a string", events(`{"error":"out of memory"}`), noToken + "out of memory"},
		{"error as the object", events(`{"object":"error","message":"too long","code":400}`), noToken + "too long"},
		{"old llama.cpp", "error: {\"code\":500,\"message\":\"slot lost\"}\n\n", noToken + "slot lost"},
		{"a plain error object", `{"error":{"message":"no such model"}}`, noToken + "no such model"},

		{"cut after a chunk", events("A"), cut + "the stream ended without a finish reason or terminator"},
		{"cut inside a chunk", events("A") + "data: " + named["B"][:20], cut + "the stream ended in the middle of a chunk"},
		{"[DONE] alone", events("[DONE]"), `truncated: the stream's terminator came before any token or finish reason`},
		{"nothing at all", "", `truncated: the answer's body is empty`},
		{"garbage in the middle", events("A garb\x01age"),
			`malformed, 1 chunks, chunks 1, "A": a chunk is not JSON: garbage`},
		{"not an object", events("17"), `malformed: a chunk is not a JSON object: 17`},
		{"one JSON answer", ` {"choices":[{"message":{"content":"AB"}}]}`, `malformed: ` + NotStreamed},
		{"a web page", "\n<!DOCTYPE html><html><title>Log in</title>",
			`malformed: HTML instead of an event stream (Log in)`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			checkSummary(t, do(t, Options{URL: serveAnswer(t, 200, "", tt.stream)}), tt.want)
		})
	}
}

func TestRefusals(t *testing.T) {
	for _, tt := range []struct {
		status             int
		header, body, want string
	}{
		{400, "", `{"object":"error","message":"too long","type":"BadRequestError","param":null,"code":400}`,
			"http_4xx: 400 Bad Request: too long"}, // vLLM
		{400, "", `{"error":{"message":"Unknown parameter.","param":"ignore_eos"}}`,
			"http_4xx: 400 Bad Request: Unknown parameter. (ignore_eos)"}, // OpenAI
		{400, "", "{\"detail\":\"one\\ntwo\\u0007\\tthree\"}", "http_4xx: 400 Bad Request: one two three"},
		{401, "", `{"error":"Unauthorized"}`, "http_4xx: 401 Unauthorized: Unauthorized"},
		{404, "", "404 page not found\n", "http_4xx: 404 Not Found: 404 page not found"},
		{422, "", `{"detail":[{"type":"extra_forbidden","loc":["body","min_tokens"],"msg":"Not permitted"}]}`,
			"http_4xx: 422 Unprocessable Entity: body.min_tokens: Not permitted"}, // FastAPI
		{422, "", `{"object":"error","message":{"detail":[{"loc":["body","ignore_eos"],"msg":"forbidden"}]}}`,
			"http_4xx: 422 Unprocessable Entity: body.ignore_eos: forbidden"}, // Mistral
		{429, "Retry-After: 7", `{"error":{"message":"slow down"}}`,
			"rate_limited: 429 Too Many Requests: slow down (retry after 7)"},
		{429, "X-Ratelimit-Remaining-Requests: 3", `{"error":{"message":"the queue is full","code":429}}`,
			"http_429: 429 Too Many Requests: the queue is full"},
		{429, "", `{"error":{"message":"Rate limit reached","type":"tokens","code":"rate_limit_exceeded"}}`,
			"rate_limited: 429 Too Many Requests: Rate limit reached"}, // OpenAI
		{429, "Anthropic-Ratelimit-Tokens-Remaining: 0", "", "rate_limited: 429 Too Many Requests"},
		{529, "", `{"type":"error","error":{"type":"overloaded_error","message":"Busy"}}`, "http_5xx: 529 Overloaded: Busy"},
		{500, "", "", "http_5xx: 500 Internal Server Error"},
		{502, "", "<html><head><title>502 Bad Gateway</title></head>",
			"http_5xx: 502 Bad Gateway: a web page (502 Bad Gateway)"},
		{503, "", `{"error":{"message":"Loading model","type":"unavailable_error","code":503}}`,
			"http_5xx: 503 Service Unavailable: Loading model"},
		{307, "Location: https://elsewhere/v1", "",
			"malformed: 307 Temporary Redirect: redirects to https://elsewhere/v1; give that URL instead"},
	} {
		r := do(t, Options{URL: serveAnswer(t, tt.status, tt.header, tt.body)})
		checkSummary(t, r, strings.Replace(tt.want, ":", fmt.Sprintf(", HTTP %d:", tt.status), 1))
		if r.End != r.Headers {
			t.Errorf("%s: ended at %v, headers at %v", tt.want, r.End, r.Headers)
		}
	}
	r := do(t, Options{URL: serveAnswer(t, 400, "", strings.Repeat("é\n", 100000))})
	if n := len(r.Message); n > redact.MaxMessage || !strings.HasSuffix(r.Message, "...") {
		t.Errorf("a message of %d bytes: %q", n, r.Message)
	}
}

func TestRequestHeaders(t *testing.T) {
	var got *http.Request
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { got = r }))
	defer s.Close()
	user := http.Header{"x-team": {"bench"}, "User-Agent": {"other"}, "Host": {"inner"}}
	for _, tt := range []struct {
		o    Options
		want string
	}{
		{Options{API: "completions", APIKey: " k-1\n", Headers: user},
			`["/v1/completions" "inner" "Bearer k-1" "" "bench" "other" "application/json" ""]`},
		{Options{API: "messages", APIKey: "k-1"}, `["/v1/messages" "h" "" "k-1" "" "llmsweep" "application/json" ""]`},
		{Options{API: "messages", APIKey: "k-1", Bearer: true},
			`["/v1/messages" "h" "Bearer k-1" "" "" "llmsweep" "application/json" ""]`},
	} {
		tt.o.URL = s.URL + "/v1"
		do(t, tt.o)
		said := []string{got.URL.Path, strings.Replace(got.Host, strings.TrimPrefix(s.URL, "http://"), "h", 1)}
		for _, n := range strings.Fields("Authorization X-Api-Key X-Team User-Agent Content-Type Accept-Encoding") {
			said = append(said, got.Header.Get(n))
		}
		if got := fmt.Sprintf("%q", said); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}

// The number of allocations does not grow with the number of tokens.
func TestTokensAllocateNothing(t *testing.T) {
	allocs := func(tokens int) float64 {
		body := events(strings.Repeat("A ", tokens) + "finish [DONE]")
		// The server is in this process too, and allocates per piece unless it is told the length.
		c := newClient(t, Options{URL: serveAnswer(t, 200, fmt.Sprint("Content-Length: ", len(body)), body)})
		call, _ := c.Prepare(&api.Request{Messages: ask.Messages})
		var r Result
		r.Gaps = make([]time.Duration, 0, tokens)
		return testing.AllocsPerRun(20, func() {
			r.Reset(time.Now())
			if c.Do(context.Background(), call, &r); r.Status != StatusOK || r.OutputTokens != tokens {
				t.Fatalf("%+v", r)
			}
		})
	}
	few, many := allocs(10), allocs(5000)
	if many > few+50 { // pools lose things now and then
		t.Errorf("%v allocations for 10 tokens, %v for 5000", few, many)
	}
}
