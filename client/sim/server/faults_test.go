package server

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestFaultsInsteadOfAnAnswer checks the faults that replace the answer.
func TestFaultsInsteadOfAnAnswer(t *testing.T) {
	inBubble(t, demoConfig(t), Options{}, func(t *testing.T, b *bubble) {
		for fault, want := range map[Fault]struct {
			status       int
			header, body string
		}{
			Fault500:   {500, "Content-Type: application/json", `{"error":{"code":500,`},
			Fault429:   {429, "Retry-After: 1", `{"error":{"code":"rate_limit_exceeded"`},
			FaultHTML:  {200, "Content-Type: text/html; charset=utf-8", "<!DOCTYPE html>"},
			"nonsense": {400, "Content-Type: application/json", "no fault is called"},
		} {
			resp := b.do("POST", "/v1/chat/completions", ask+`,"stream":true}`, "X-Sim-Fault: "+string(fault))
			text, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			key, value, _ := strings.Cut(want.header, ": ")
			if resp.StatusCode != want.status || resp.Header.Get(key) != value || !strings.HasPrefix(string(text), want.body) &&
				!strings.Contains(string(text), want.body) {
				t.Errorf("%s: %s %v %s", fault, resp.Status, resp.Header, text)
			}
		}
	})
}

// TestFaultsInAStream checks the faults that occur after 4 of 8 tokens.
func TestFaultsInAStream(t *testing.T) {
	inBubble(t, demoConfig(t), Options{}, func(t *testing.T, b *bubble) {
		for fault, want := range map[Fault]struct {
			texts    int
			finished bool
			last     string
		}{
			FaultTruncate: {4, false, `"finish_reason":null}]}`},
			FaultError:    {4, false, "[DONE]"},
			FaultGarbage:  {8, true, "[DONE]"},
		} {
			events, err := b.stream("/v1/chat/completions", ask+`,"stream":true}`, "X-Sim-Fault: "+string(fault))
			texts, finished, broken, failed := 0, false, 0, 0
			for _, e := range events {
				if e.text() != "" {
					texts++
				}
				finished = finished || e.finish() != ""
				if e.Error != nil {
					failed++
				}
				if e.data != "[DONE]" && !json.Valid([]byte(e.data)) {
					broken++
				}
			}
			if err != nil || texts != want.texts || finished != want.finished || !strings.HasSuffix(events[len(events)-1].data,
				want.last) ||
				(broken == 1) != (fault == FaultGarbage) || (failed == 1) != (fault == FaultError) {
				t.Errorf("%s: %v, %d texts, finished %v, %d not JSON, %d errors, last %s", fault, err, texts, finished, broken,
					failed, events[len(events)-1].data)
			}
		}
	})
}

// TestSilentFaults waits a virtual hour for a server that sends nothing more.
func TestSilentFaults(t *testing.T) {
	for fault, whole := range map[Fault]bool{FaultHang: false, FaultStall: true} {
		inBubble(t, demoConfig(t), Options{}, func(t *testing.T, b *bubble) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			req, err := http.NewRequestWithContext(ctx, "POST", "http://sim/v1/chat/completions",
				strings.NewReader(ask+`,"stream":true}`))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("X-Sim-Fault", string(fault))
			resp, err := b.client.Do(req)
			if (err == nil) != whole {
				t.Fatalf("%s: headers: %v", fault, err)
			}
			if err == nil {
				var text []byte
				text, err = io.ReadAll(resp.Body)
				resp.Body.Close()
				if got := strings.Count(string(text), "data: "); got != 5 {
					t.Errorf("%s: %d events before the silence, want 5", fault, got)
				}
			}
			if !errors.Is(err, context.DeadlineExceeded) || time.Since(b.began) != time.Hour {
				t.Errorf("%s: %v after %v, want an hour", fault, err, time.Since(b.began))
			}
		})
	}
}

// TestResetIsAReset needs a real connection.
func TestResetIsAReset(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	rules, err := ParseFaults("reset:1/1")
	if err != nil {
		t.Fatal(err)
	}
	url, _, err := Serve(ctx, "127.0.0.1:0", New(start(t, demoConfig(t)), Options{Faults: rules}))
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{`,"stream":true}`, "}"} {
		resp, err := http.Post(url+"/v1/chat/completions", "application/json", strings.NewReader(ask+mode))
		if err == nil {
			_, err = io.ReadAll(resp.Body)
			resp.Body.Close()
		}
		if !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%s: %v, want a reset connection", mode, err)
		}
	}
}

// TestFaultsOfWholeAnswers checks the stream's faults on requests that do not stream.
func TestFaultsOfWholeAnswers(t *testing.T) {
	inBubble(t, demoConfig(t), Options{}, func(t *testing.T, b *bubble) {
		for fault, want := range map[Fault]int{FaultTruncate: 200, FaultGarbage: 200, FaultError: 500} {
			status, text := b.fetch("POST", "/v1/chat/completions", ask+"}", "X-Sim-Fault: "+string(fault))
			if status != want || json.Valid([]byte(text)) != (status == 500) {
				t.Errorf("%s: %d %s", fault, status, text)
			}
		}
	})
}
