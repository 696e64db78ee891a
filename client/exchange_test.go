package client

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"llmsweep/client/api"
	"llmsweep/client/redact"
	"llmsweep/client/testkit"
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

// What the client makes of streams and refusals.
func TestAnswers(t *testing.T) {
	testkit.CheckCases(t, "cases/*.txt", func(t *testing.T, text string, _ bool) string {
		status, header, body := 200, "", ""
		for line := range strings.Lines(text) {
			rest := strings.TrimSuffix(line[1:], "\n")
			switch head, isHead := strings.CutPrefix(line, "HTTP "); {
			case isHead:
				code, value, _ := strings.Cut(strings.TrimSpace(head), " ")
				status, _ = strconv.Atoi(code)
				header = value
			case line[0] == '|':
				body += rest + "\n"
			case line[0] == '^':
				body += rest
			default:
				body += events(strings.TrimSpace(line))
			}
		}
		r := do(t, Options{URL: serveAnswer(t, status, header, body)})
		if status != 200 && r.End != r.Headers {
			t.Errorf("%s: ended at %v, headers at %v", text, r.End, r.Headers)
		}
		return "  " + summary(r) + "\n"
	})
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
