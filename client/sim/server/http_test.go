package server

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"llmsweep/client/sim"
	"llmsweep/client/testkit"
)

func demoConfig(t testing.TB) sim.MachineConfig {
	t.Helper()
	c := testkit.Must(sim.Preset("demo"))
	return c
}

func start(t testing.TB, c sim.MachineConfig) *sim.Engine {
	t.Helper()
	e := testkit.Must(sim.Start(c))
	t.Cleanup(e.Close)
	return e
}

// bubble is a server in virtual time and its client.
type bubble struct {
	t      *testing.T
	engine *sim.Engine
	client *http.Client
	began  time.Time
}

// inBubble runs a test against a server in a synctest bubble.
func inBubble(t *testing.T, c sim.MachineConfig, o Options, test func(t *testing.T, b *bubble)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		engine := start(t, c)
		transport := &http.Transport{DialContext: testkit.ServePipes(t, New(engine, o))}
		test(t, &bubble{t, engine, &http.Client{Transport: transport}, time.Now()})
		transport.CloseIdleConnections()
		engine.Close()
	})
}

// do sends a request; header is KEY: VALUE or empty.
func (b *bubble) do(method, path, body, header string) *http.Response {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), method, "http://sim"+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	if key, value, ok := strings.Cut(header, ": "); ok {
		req.Header.Set(key, value)
	}
	resp, err := b.client.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	return resp
}

// fetch returns the status and the body of a whole answer.
func (b *bubble) fetch(method, path, body, header string) (int, string) {
	b.t.Helper()
	resp := b.do(method, path, body, header)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Errorf("%s: %v", path, err)
	}
	return resp.StatusCode, string(text)
}

// event is one data line of a stream.
type event struct {
	at   time.Duration
	data string
	chunk
}

// chunk is what the tests look at in an event.
type chunk struct {
	Choices []struct {
		Text  string
		Delta struct {
			Role, Content    string
			Reasoning        string
			ReasoningContent string `json:"reasoning_content"`
		}
		FinishReason string `json:"finish_reason"`
	}
	Usage *struct {
		PromptTokens     int `json:"prompt_tokens"`
		CompletionTokens int `json:"completion_tokens"`
		PromptDetails    struct {
			CachedTokens int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	}
	Error *struct{ Message string }
}

func (e event) text() string {
	if len(e.Choices) == 0 {
		return ""
	}
	c := e.Choices[0]
	return c.Text + c.Delta.Content + c.Delta.ReasoningContent + c.Delta.Reasoning
}

// stream reads a stream to its end, and records when each event arrived.
func (b *bubble) stream(path, body, header string) ([]event, error) {
	b.t.Helper()
	resp := b.do("POST", path, body, header)
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		text, _ := io.ReadAll(resp.Body)
		b.t.Fatalf("%s: %s %s: %s", path, resp.Status, resp.Header.Get("Content-Type"), text)
	}
	var events []event
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			e := event{at: time.Since(b.began), data: data}
			json.Unmarshal([]byte(data), &e.chunk) // not all are JSON
			events = append(events, e)
		}
	}
	return events, lines.Err()
}

// mustStream is stream where no error is expected, and checks that the stream is whole.
func (b *bubble) mustStream(path, body, header string) []event {
	b.t.Helper()
	events, err := b.stream(path, body, header)
	if err != nil {
		b.t.Fatalf("%s: %v", path, err)
	}
	if len(events) == 0 || events[len(events)-1].data != "[DONE]" {
		b.t.Fatalf("%s: no [DONE] after %d events", path, len(events))
	}
	return events[:len(events)-1]
}
