package client

import (
	"context"
	"fmt"
	"io"
	"llmsweep/client/redact"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"llmsweep/client/api"
)

// ask is the request of most tests.
var ask = &api.Request{Messages: []api.Message{{Role: "user", Content: "hello"}}, OutputTokens: 4, KeepText: true}

// do sends one request.
func do(t testing.TB, ctx context.Context, o Options) *Result {
	t.Helper()
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseIdle()
	return doWith(t, ctx, c)
}

func doWith(t testing.TB, ctx context.Context, c *Client) *Result {
	t.Helper()
	call, err := c.Prepare(ask)
	if err != nil {
		t.Fatal(err)
	}
	var r Result
	r.Reset(time.Now())
	c.Do(ctx, call, &r)
	return &r
}

// serveAnswer starts a server that gives the same answer to all requests.
func serveAnswer(t testing.TB, status int, header map[string]string, body string) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		for k, v := range header {
			w.Header().Set(k, v)
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// failed is the outcome of a stream that has one chunk of text and then a failure.
func failed(message string) outcome {
	return outcome{Status: StatusError, Class: ClassStreamError, Message: message, Source: SourceChunks, Chunks: 1,
		Answer: true, Prompt: api.Unknown, Output: 1, Text: "A"}
}

// outcome is a result without instants and reads.
type outcome struct {
	Status                            Status
	Class                             Class
	Message                           string
	HTTP                              int
	Finish, Source                    string
	Chunks                            int
	Answer                            bool // text that is no reasoning came
	Prompt, Output, Reasoning, Cached int
	Counts                            []int32
	Text                              string
}

func outcomeOf(r *Result) outcome {
	return outcome{r.Status, r.Class, r.Message, r.HTTP, r.Finish, r.TokenSource, r.Chunks(), r.FirstAnswer != Absent,
		r.PromptTokens, r.OutputTokens, r.ReasoningTokens, r.CachedTokens, r.Counts, string(r.Text)}
}

func checkOutcome(t *testing.T, r *Result, want outcome) {
	t.Helper()
	if d := cmp.Diff(want, outcomeOf(r), cmpopts.EquateEmpty()); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

// vllmChunk is a chunk as vLLM 0.9 sends it.
const vllmChunk = `{"id":"chatcmpl-5f0c6c1c1a3f4a0e","object":"chat.completion.chunk","created":1795246897,` +
	`"model":"Qwen2-7B-Instruct","choices":[{"index":0,"delta":{"content":" word"},"logprobs":null,"finish_reason":null}]}`

// events returns chunks as server-sent events.
func events(chunks ...string) string {
	var b strings.Builder
	for _, c := range chunks {
		fmt.Fprintf(&b, "data: %s\n\n", c)
	}
	return b.String()
}

const (
	chunkRole   = `{"choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]}`
	chunkA      = `{"choices":[{"index":0,"delta":{"content":"A"},"logprobs":null,"finish_reason":null}]}`
	chunkB      = `{"choices":[{"index":0,"delta":{"content":"B"},"logprobs":null,"finish_reason":null}]}`
	chunkFinish = `{"choices":[{"index":0,"delta":{"content":""},"logprobs":null,"finish_reason":"stop"}]}`
	chunkUsage  = `{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":5,"total_tokens":14}}`
	chunkError  = `{"error":{"message":"the engine died","type":"InternalServerError","param":null,"code":500}}`
)

// countedChunk returns a chunk with a running count.
func countedChunk(text string, n int) string {
	return fmt.Sprintf(`{"choices":[{"delta":{"content":%q}}],"usage":{"prompt_tokens":9,"completion_tokens":%d}}`, text,
		n)
}

// oddCases are unusual streams that servers send, or may send.
var oddCases = map[string]struct {
	stream string
	want   outcome
}{
	"vLLM": {events(chunkRole, chunkA, chunkB, chunkFinish, chunkUsage, "[DONE]"),
		outcome{Finish: "stop", Source: SourceServer, Chunks: 2, Answer: true, Prompt: 9, Output: 5, Text: "AB"}},
	"SGLang, nulls all over": {events(
		`{"id":"1","choices":[{"index":0,"delta":{"role":"assistant","content":"","reasoning_content":null,"tool_calls":null},"logprobs":null,"finish_reason":null,"matched_stop":null}],"usage":null}`,
		`{"id":"1","choices":[{"index":0,"delta":{"role":null,"content":"A","reasoning_content":null,"tool_calls":null},"logprobs":null,"finish_reason":null,"matched_stop":null}],"usage":null}`,
		`{"id":"1","choices":[{"index":0,"delta":{"role":null,"content":null,"reasoning_content":null,"tool_calls":null},"logprobs":null,"finish_reason":"length","matched_stop":null}],"usage":null}`,
		`{"id":"1","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":8}}}`, "[DONE]"),
		outcome{Finish: "length", Source: SourceServer, Chunks: 1, Answer: true, Prompt: 9, Output: 1, Cached: 8, Text: "A"}},
	"reasoning under both names": {events(chunkRole, `{"choices":[{"delta":{"reasoning":"hm"}}]}`,
		`{"choices":[{"delta":{"reasoning_content":"so"}}]}`, chunkA, chunkFinish,
		`{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4,"completion_tokens_details":{"reasoning_tokens":2}}}`, "[DONE]"),
		outcome{Finish: "stop", Source: SourceServer, Chunks: 3, Answer: true, Prompt: 9, Output: 4, Reasoning: 2,
			Text: "A"}},
	"tool call": {events(chunkRole, `{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"x","function":{"name":"f","arguments":""}}]}}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}}]}`,
		`{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`, "[DONE]"),
		outcome{Finish: "tool_calls", Source: SourceChunks, Chunks: 2, Answer: true, Prompt: api.Unknown, Output: 2}},
	"refusal": {events(chunkRole, `{"choices":[{"delta":{"refusal":"no"}}]}`, chunkFinish, "[DONE]"),
		outcome{Finish: "stop", Source: SourceChunks, Chunks: 1, Answer: true, Prompt: api.Unknown, Output: 1, Text: "no"}},
	"escapes": {events(`{"choices":[{"text":"\u00e9\n\""}]}`, `{"choices":[{"text":"\ud83d\ude00<&"}]}`, chunkFinish,
		"[DONE]"),
		outcome{Finish: "stop", Source: SourceChunks, Chunks: 2, Answer: true, Prompt: api.Unknown, Output: 2,
			Text: "é\n\"😀<&"}},
	"running counts": {events(chunkRole, countedChunk("a", 1), countedChunk("bcd", 4), countedChunk("", 4),
		countedChunk("e", 6), chunkFinish,
		`{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":7}}`, "[DONE]"),
		outcome{Finish: "stop", Source: SourceServer, Chunks: 3, Answer: true, Prompt: 9, Output: 7,
			Counts: []int32{1, 3, 2}, Text: "abcde"}},
	"the sum on the last text": {events(chunkA, chunkB, countedChunk("C", 9), chunkFinish, "[DONE]"),
		outcome{Finish: "stop", Source: SourceServer, Chunks: 3, Answer: true, Prompt: 9, Output: 9, Text: "ABC"}},
	"zeros and no truth": {events(countedChunk("a", 0), countedChunk("b", 0), chunkFinish, "[DONE]"),
		outcome{Finish: "stop", Source: SourceChunks, Chunks: 2, Answer: true, Prompt: 9, Output: 2, Text: "ab"}},
	"timings for usage": {events(chunkA, `{"choices":[{"delta":{},"finish_reason":"stop"}],"timings":{"cache_n":2,"prompt_n":7,"predicted_n":3}}`, "[DONE]"),
		outcome{Finish: "stop", Source: SourceServer, Chunks: 1, Answer: true, Prompt: 9, Output: 3, Cached: 2, Text: "A"}},
	"an empty answer": {events(chunkRole, chunkFinish, `{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":0}}`,
		"[DONE]"),
		outcome{Finish: "stop", Source: SourceServer, Prompt: 9}},
	"finish and no [DONE]": {events(chunkA, chunkFinish),
		outcome{Finish: "stop", Source: SourceChunks, Chunks: 1, Answer: true, Prompt: api.Unknown, Output: 1, Text: "A"}},
	"[DONE] and no finish": {events(chunkA, "[DONE]"), failed("the stream's terminator came without a finish reason")},
	"[DONE] and counts, no finish": {events(chunkA, `{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":1}}`,
		"[DONE]"),
		outcome{Source: SourceServer, Chunks: 1, Answer: true, Prompt: 5, Output: 1, Text: "A"}},
	"event: error": {events(chunkA) + "event: error\ndata: {\"message\":\"engine died\"}\n\n" +
		events(chunkFinish, "[DONE]"), failed("engine died")},
	"event: error, and nothing": {events(chunkA) + "event:error\n\n" + events("[DONE]"),
		failed("an error without a message")},
	"event: error, and plain text": {events(chunkA) + "event: error\ndata: out of memory\n\n" +
		events(chunkFinish, "[DONE]"), failed("out of memory")},
	"a page in the stream": {events(chunkA) + "<html><title>502 Bad Gateway</title></html>\n\n" +
		events(chunkFinish, "[DONE]"),
		failed("a web page (502 Bad Gateway)")},
	"text in the stream": {events(chunkA) + "upstream connect error: reset\n\n" + events("[DONE]"),
		failed("upstream connect error: reset")},
	"an error and no [DONE]": {events(chunkA, `{"error":{"message":"engine died"}}`), failed("engine died")},
	"an error and finish, [DONE]": {events(chunkA, `{"error":"engine died"}`, chunkFinish, "[DONE]"),
		failed("engine died")},
	"no blank line at the end": {events(chunkA, chunkFinish) + "data: [DONE]",
		outcome{Finish: "stop", Source: SourceChunks, Chunks: 1, Answer: true, Prompt: api.Unknown, Output: 1, Text: "A"}},
	"CRLF, pings, no spaces": {": ping\r\n\r\nevent: x\r\ndata:" + chunkA + "\r\n\r\n:\r\ndata:" + chunkFinish +
		"\r\n\r\ndata:[DONE]\r\n\r\n",
		outcome{Finish: "stop", Source: SourceChunks, Chunks: 1, Answer: true, Prompt: api.Unknown, Output: 1, Text: "A"}},

	"[DONE] alone": {events("[DONE]"), outcome{Status: StatusError, Class: ClassTruncated,
		Message: "the stream's terminator came before any token or finish reason", Prompt: api.Unknown, Output: api.Unknown}},
	"cut after a chunk": {events(chunkA), outcome{Status: StatusError, Class: ClassTruncated, Source: SourceChunks,
		Message: "the stream ended without a finish reason or terminator", Chunks: 1, Answer: true, Prompt: api.Unknown,
		Output: 1, Text: "A"}},
	"cut inside a chunk": {events(chunkA) + "data: " + chunkB[:20], outcome{Status: StatusError, Class: ClassTruncated,
		Source:  SourceChunks,
		Message: "the stream ended in the middle of a chunk", Chunks: 1, Answer: true, Prompt: api.Unknown, Output: 1,
		Text: "A"}},
	"nothing at all": {"", outcome{Status: StatusError, Class: ClassTruncated, Message: "the answer's body is empty",
		Prompt: api.Unknown, Output: api.Unknown}},
	"error, then [DONE]": {events(chunkA, chunkError, "[DONE]"), outcome{Status: StatusError, Class: ClassStreamError,
		Source:  SourceChunks,
		Message: "the engine died", Chunks: 1, Answer: true, Prompt: api.Unknown, Output: 1, Text: "A"}},
	"error after the finish": {events(chunkA, chunkFinish, chunkError),
		outcome{Status: StatusError, Class: ClassStreamError, Source: SourceChunks,
			Message: "the engine died", Finish: "stop", Chunks: 1, Answer: true, Prompt: api.Unknown, Output: 1, Text: "A"}},
	"error as a string": {events(`{"error":"out of memory"}`), outcome{Status: StatusError, Class: ClassStreamError,
		Message: "out of memory", Prompt: api.Unknown, Output: api.Unknown}},
	"error as the object": {events(`{"object":"error","message":"too long","code":400}`),
		outcome{Status: StatusError, Class: ClassStreamError,
			Message: "too long", Prompt: api.Unknown, Output: api.Unknown}},
	"error line of old llama.cpp": {"error: {\"code\":500,\"message\":\"slot lost\"}\n\n",
		outcome{Status: StatusError, Class: ClassStreamError,
			Message: "slot lost", Prompt: api.Unknown, Output: api.Unknown}},
	"finish reason error": {events(chunkA, `{"choices":[{"delta":{},"finish_reason":"error"}]}`),
		outcome{Status: StatusError, Class: ClassStreamError, Source: SourceChunks,
			Message: "the server ended the answer with the finish reason error", Chunks: 1, Answer: true, Prompt: api.Unknown,
			Output: 1, Text: "A"}},
	"a plain error object": {`{"error":{"message":"no such model"}}`, outcome{Status: StatusError, Class: ClassStreamError,
		Message: "no such model", Prompt: api.Unknown, Output: api.Unknown}},
	"one JSON answer": {` {"choices":[{"message":{"content":"AB"}}]}`, outcome{Status: StatusError, Class: ClassMalformed,
		Message: NotStreamed, Prompt: api.Unknown, Output: api.Unknown}},
	"a web page": {"\n<!DOCTYPE html><html><title>Log in</title>", outcome{Status: StatusError, Class: ClassMalformed,
		Message: "HTML instead of an event stream (Log in)", Prompt: api.Unknown, Output: api.Unknown}},
	"garbage in the middle": {events(chunkA, "garb\x01age"), outcome{Status: StatusError, Class: ClassMalformed,
		Source:  SourceChunks,
		Message: "a chunk is not JSON: garbage", Chunks: 1, Answer: true, Prompt: api.Unknown, Output: 1, Text: "A"}},
	"not an object": {events("17"), outcome{Status: StatusError, Class: ClassMalformed,
		Message: "a chunk is not a JSON object: 17", Prompt: api.Unknown, Output: api.Unknown}},
}

func TestOddStreams(t *testing.T) {
	for name, tt := range oddCases {
		t.Run(name, func(t *testing.T) {
			want := tt.want
			want.HTTP = 200
			if want.Status == "" {
				want.Status = StatusOK
			}
			if want.Reasoning == 0 {
				want.Reasoning = api.Unknown
			}
			if want.Cached == 0 {
				want.Cached = api.Unknown
			}
			checkOutcome(t, do(t, t.Context(), Options{URL: serveAnswer(t, 200, nil, tt.stream)}), want)
		})
	}
}

func TestRefusals(t *testing.T) {
	tests := map[string]struct {
		status  int
		header  map[string]string
		body    string
		class   Class
		message string
	}{
		"400 vLLM": {400, nil, `{"object":"error","message":"too long","type":"BadRequestError","param":null,"code":400}`,
			ClassHTTP4xx, "400 Bad Request: too long"},
		"400 OpenAI": {400, nil, `{"error":{"message":"api.Unknown parameter.","param":"ignore_eos"}}`, ClassHTTP4xx,
			"400 Bad Request: api.Unknown parameter. (ignore_eos)"},
		"401":         {401, nil, `{"error":"Unauthorized"}`, ClassHTTP4xx, "401 Unauthorized: Unauthorized"},
		"404 text":    {404, nil, "404 page not found\n", ClassHTTP4xx, "404 Not Found: 404 page not found"},
		"422 FastAPI": {422, nil, `{"detail":[{"type":"extra_forbidden","loc":["body","min_tokens"],"msg":"Extra inputs are not permitted"}]}`, ClassHTTP4xx, "422 Unprocessable Entity: body.min_tokens: Extra inputs are not permitted"},
		"422 Mistral": {422, nil, `{"object":"error","message":{"detail":[{"loc":["body","ignore_eos"],"msg":"forbidden"}]}}`, ClassHTTP4xx, "422 Unprocessable Entity: body.ignore_eos: forbidden"},
		"429": {429, map[string]string{"Retry-After": "7"}, `{"error":{"message":"slow down"}}`, ClassRateLimited,
			"429 Too Many Requests: slow down (retry after 7)"},
		"429 queue": {429, map[string]string{"X-Ratelimit-Remaining-Requests": "3"},
			`{"error":{"message":"the queue is full","code":429}}`, ClassHTTP429, "429 Too Many Requests: the queue is full"},
		"429 OpenAI": {429, nil, `{"error":{"message":"Rate limit reached","type":"tokens","code":"rate_limit_exceeded"}}`,
			ClassRateLimited, "429 Too Many Requests: Rate limit reached"},
		"429 used up": {429, map[string]string{"Anthropic-Ratelimit-Tokens-Remaining": "0"}, ``, ClassRateLimited,
			"429 Too Many Requests"},
		"529": {529, nil, `{"type":"error","error":{"type":"overloaded_error","message":"Busy"}}`, ClassHTTP5xx,
			"529 Overloaded: Busy"},
		"500 nothing": {500, nil, "", ClassHTTP5xx, "500 Internal Server Error"},
		"502 page": {502, nil, "<html><head><title>502 Bad Gateway</title></head>", ClassHTTP5xx,
			"502 Bad Gateway: a web page (502 Bad Gateway)"},
		"503 loading": {503, nil, `{"error":{"message":"Loading model","type":"unavailable_error","code":503}}`,
			ClassHTTP5xx, "503 Service Unavailable: Loading model"},
		"307": {307, map[string]string{"Location": "https://elsewhere/v1"}, "", ClassMalformed,
			"307 Temporary Redirect: redirects to https://elsewhere/v1; give that URL instead"},
		"lines": {400, nil, "{\"detail\":\"one\\ntwo\\u0007\\tthree\"}", ClassHTTP4xx, "400 Bad Request: one two three"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := do(t, t.Context(), Options{URL: serveAnswer(t, tt.status, tt.header, tt.body)})
			checkOutcome(t, r, outcome{Status: StatusError, Class: tt.class, Message: tt.message, HTTP: tt.status,
				Prompt: api.Unknown, Output: api.Unknown, Reasoning: api.Unknown, Cached: api.Unknown})
			if r.End != r.Headers || r.FirstToken != Absent {
				t.Errorf("%+v", r)
			}
		})
	}
}

// A message is one short line, however long the server's is.
func TestLongMessage(t *testing.T) {
	r := do(t, t.Context(), Options{URL: serveAnswer(t, 400, nil, strings.Repeat("é\n", 100000))})
	if len(r.Message) > redact.MaxMessage || !strings.HasSuffix(r.Message, " é...") &&
		!strings.HasSuffix(r.Message, " ...") {
		t.Errorf("%d bytes: %q", len(r.Message), r.Message)
	}
}

// raw starts a server that reads one request on each connection and passes the connection to a function of the test.
func raw(t *testing.T, then func(*net.TCPConn)) (url string, requests *atomic.Int32) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	requests = new(atomic.Int32)
	var wg sync.WaitGroup
	t.Cleanup(func() { l.Close(); wg.Wait() })
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer c.Close()
				b := make([]byte, 1<<16)
				if n, _ := c.Read(b); n > 0 {
					requests.Add(1)
					then(c.(*net.TCPConn))
				}
			})
		}
	})
	return "http://" + l.Addr().String(), requests
}

// Every way for a connection to break has its class, and no request is sent twice.
func TestBrokenConnections(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
	chunked := func(s string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(s), s) }
	say := func(s string) func(*net.TCPConn) { return func(c *net.TCPConn) { io.WriteString(c, s) } }
	reset := func(s string) func(*net.TCPConn) {
		return func(c *net.TCPConn) {
			io.WriteString(c, s)
			c.SetLinger(0)
		}
	}
	tests := map[string]struct {
		then    func(*net.TCPConn)
		status  Status
		class   Class
		message string
	}{
		"closed at once": {say(""), StatusError, ClassReset, "connection closed by the server before it answered"},
		"reset at once":  {reset(""), StatusError, ClassReset, "connection reset by the server"},
		"reset in the stream": {reset(head + chunked(events(chunkA))), StatusError, ClassReset,
			"connection reset by the server"},
		"closed in the stream": {say(head + chunked(events(chunkA))), StatusError, ClassTruncated,
			"the stream ended without a finish reason or terminator"},
		"ended in the stream": {say(head + chunked(events(chunkA)) + "0\r\n\r\n"), StatusError, ClassTruncated,
			"the stream ended without a finish reason or terminator"},
		"closed after finish": {say(head + chunked(events(chunkA, chunkFinish))), StatusOK, "", ""},
		"closed after [DONE]": {say(head + chunked(events(chunkA, chunkFinish, "[DONE]"))), StatusOK, "", ""},
		"reset after [DONE]":  {reset(head + chunked(events(chunkFinish, "[DONE]"))), StatusOK, "", ""},
		"ended by closing":    {say("HTTP/1.0 200 OK\r\n\r\n" + events(chunkA, chunkFinish)), StatusOK, "", ""},
		"shorter than promised": {say("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + events(chunkA)), StatusError,
			ClassTruncated, "the stream ended without a finish reason or terminator"},
		"not HTTP":   {say("SSH-2.0-OpenSSH_9\r\n"), StatusError, ClassMalformed, ""},
		"not chunks": {say(head + "zz\r\n"), StatusError, ClassMalformed, "invalid byte in chunk length"},
		"TLS": {say("\x15\x03\x01\x00\x02\x02\x16"), StatusError, ClassMalformed,
			"the server speaks TLS on this port"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			url, requests := raw(t, tt.then)
			r := do(t, t.Context(), Options{URL: url})
			if r.Status != tt.status || r.Class != tt.class || tt.message != "" && r.Message != tt.message {
				t.Errorf("%s %s %q", r.Status, r.Class, r.Message)
			}
			if r.Sent == Absent || r.End == Absent || requests.Load() != 1 {
				t.Errorf("sent %v, end %v, %d requests", r.Sent, r.End, requests.Load())
			}
		})
	}
}

func TestNoConnection(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	r := do(t, t.Context(), Options{URL: l.Addr().String()})
	if r.Class != ClassConnect || r.Message != "connection refused" || r.Sent != Absent || r.HTTP != 0 || r.End == Absent {
		t.Errorf("%+v", r)
	}
	plain := serveAnswer(t, 200, nil, "")
	r = do(t, t.Context(), Options{URL: strings.Replace(plain, "http:", "https:", 1)})
	if r.Class != ClassConnect || r.Message != "the server does not speak TLS on this port" {
		t.Errorf("%+v", r)
	}
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	r = do(t, t.Context(), Options{URL: s.URL})
	if r.Class != ClassConnect || r.Message != "its certificate is not trusted: it is signed by itself" {
		t.Errorf("%+v", r)
	}
	if r = do(t, t.Context(), Options{URL: s.URL, Insecure: true}); r.Class != ClassHTTP4xx {
		t.Errorf("%+v", r)
	}
}

// A connection is reused after an answer, and after a refusal.
func TestReuse(t *testing.T) {
	var made atomic.Int32
	n := 0
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n++; n%3 == 0 {
			http.Error(w, "no", 500)
			return
		}
		io.WriteString(w, events(chunkA, chunkFinish, "[DONE]")+strings.Repeat(": bye\n", 1000))
	}))
	s.Config.ConnState = func(_ net.Conn, st http.ConnState) {
		if st == http.StateNew {
			made.Add(1)
		}
	}
	s.Start()
	defer s.Close()
	c, err := New(Options{URL: s.URL, MaxConns: 4})
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseIdle()
	for i := range 9 {
		r := doWith(t, t.Context(), c)
		if (r.Dial > 0) != (i == 0) {
			t.Errorf("request %d: dial %v", i, r.Dial)
		}
	}
	if made.Load() != 1 {
		t.Errorf("%d connections", made.Load())
	}
}

// Requests have the expected headers.
func TestRequestHeaders(t *testing.T) {
	var got *http.Request
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { got = r }))
	defer s.Close()
	do(t, t.Context(), Options{URL: s.URL + "/v1", API: "completions", APIKey: " k-1\n", Headers: http.Header{
		"x-team": {"bench"}, "User-Agent": {"other"}, "Host": {"inner"}}})
	type said struct{ Method, Path, Auth, Team, Agent, Type, Host, Encoding string }
	h := got.Header
	want := said{"POST", "/v1/completions", "Bearer k-1", "bench", "other", "application/json", "inner", ""}
	if d := cmp.Diff(want, said{got.Method, got.URL.Path, h.Get("Authorization"), h.Get("X-Team"), h.Get("User-Agent"),
		h.Get("Content-Type"), got.Host, h.Get("Accept-Encoding")}); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

// The number of allocations does not grow with the number of tokens.
func TestTokensAllocateNothing(t *testing.T) {
	allocs := func(tokens int) float64 {
		body := events(append(repeat(chunkA, tokens), chunkFinish, "[DONE]")...)
		// The server is in this process too, and allocates per piece unless it is told the length.
		url := serveAnswer(t, 200, map[string]string{"Content-Length": fmt.Sprint(len(body))}, body)
		c, err := New(Options{URL: url})
		if err != nil {
			t.Fatal(err)
		}
		defer c.CloseIdle()
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

func repeat(chunk string, n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = chunk
	}
	return all
}

// BenchmarkDo is one request of 1000 tokens over loopback, with many events in a read.
func BenchmarkDo(b *testing.B) {
	const tokens = 1000
	url := serveAnswer(b, 200, nil, events(append(repeat(vllmChunk, tokens), chunkFinish, "[DONE]")...))
	c, err := New(Options{URL: url})
	if err != nil {
		b.Fatal(err)
	}
	call, _ := c.Prepare(&api.Request{Messages: ask.Messages})
	var r Result
	b.ReportAllocs()
	for b.Loop() {
		r.Reset(time.Now())
		if c.Do(context.Background(), call, &r); r.OutputTokens != tokens {
			b.Fatalf("%+v", r)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/tokens, "ns/token")
}
