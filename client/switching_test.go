package client

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// switching starts a server that answers 101 and keeps the connection open without another byte.
func switching(t *testing.T) string {
	quit := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
		<-quit
	}))
	t.Cleanup(s.Close)
	t.Cleanup(func() { close(quit) })
	return s.URL
}

// An answer 101 ends the request, though its connection stays open: no time limit would end the reading of it.
func TestSwitchingProtocolsFails(t *testing.T) {
	url := switching(t)
	if r := do(t, t.Context(), Options{URL: url, Timeout: time.Hour}); r.Status != StatusError || r.HTTP != 101 ||
		r.Class != ClassMalformed {
		t.Errorf("%s, HTTP %d, class %q: %s", r.Status, r.HTTP, r.Class, r.Message)
	}
	c, err := New(Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseIdle()
	if _, err := c.Fetch(t.Context(), time.Hour, http.MethodGet, "/metrics", nil); err == nil {
		t.Error("101 is no answer")
	}
}
