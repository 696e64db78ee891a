package progress

import (
	"fmt"
	"net/http"
	"time"
)

// Limits of the streams of events.
const (
	mostStreams = mostConnections / 2 // so that pages and metrics are answered too
	reconnect   = 3 * time.Second     // after a connection was lost
	tellEvery   = time.Second
	endOfEvents = "event: end\ndata: \n\n"
)

// serveEvents sends the version of the page that is served, and each later one, as server-sent events: "page" with a version, each second "now"
// with what [present.tell] tells, and "end" when the run has ended.
func (s *LiveServer) serveEvents(w http.ResponseWriter, r *http.Request) {
	if s.streams.Add(1) > mostStreams {
		s.streams.Add(-1)
		http.Error(w, "too many pages are open", http.StatusServiceUnavailable)
		return
	}
	defer s.streams.Add(-1)
	w.Header().Set("Content-Type", "text/event-stream")
	connection := http.NewResponseController(w)
	connection.SetReadDeadline(time.Time{}) // that of a request ends a stream after it
	send := func(event string) bool {
		connection.SetWriteDeadline(time.Now().Add(answerTime))
		_, err := w.Write([]byte(event))
		return err == nil && connection.Flush() == nil
	}
	if r.Method == http.MethodHead || !send(fmt.Sprintf("retry: %d\n\n", reconnect.Milliseconds())) {
		return
	}
	second := time.NewTicker(tellEvery)
	defer second.Stop()
	sent := ""
	for {
		s.mu.Lock()
		version, changed := s.version, s.changed
		s.mu.Unlock()
		event := "event: now\ndata: " + s.present.tell() + "\n\n"
		if version != sent {
			event, sent = "event: page\ndata: "+version+"\n\n"+event, version
		}
		if !send(event) {
			return
		}
		select {
		case <-changed:
		case <-second.C:
		case <-s.closing:
			send(endOfEvents)
			return
		case <-r.Context().Done():
			return
		}
	}
}
