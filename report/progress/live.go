// Serves the page of a run while it is measured, and its numbers for Prometheus. It only reads, answers only to this
// machine, and draws the page between stages, when nothing is measured.

package progress

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"llmsweep/client/note"
	"llmsweep/report/lang"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
)

// Limits of the server.
const (
	maxConnections = 32
	maxHeaderBytes = 16 << 10
	headerTime     = 5 * time.Second
	answerTime     = 30 * time.Second
	idleTime       = time.Minute
)

// LiveServer serves one run. It is an [experiment.Observer] that passes all events to another one first.
type LiveServer struct {
	experiment.Observer
	// Render writes the page of the run so far; nil for none. The goroutine that measures calls it before the first
	// stage and between stages. version differs each time: the page loads itself again when it reads another one as
	// ETag.
	Render func(w io.Writer, version string) error

	address net.Addr
	http    *http.Server
	metrics metrics
	failure sync.Once // notes the first failure to draw the page

	mu      sync.Mutex
	page    []byte
	at      time.Time // when the page was drawn
	version string
}

// ListenLive begins to serve at an address of this machine alone, such as ":0", "127.0.0.1:8089" or "[::1]:0".
func ListenLive(address string) (*LiveServer, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("--live %s: write HOST:PORT or :PORT, such as :8089", address)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	if host != "localhost" && !net.ParseIP(host).IsLoopback() { // a name that is looked up may be anything
		return nil, fmt.Errorf("--live %s: other machines could read the run there; give :%s, and reach it by ssh -L "+
			"%s:localhost:%s", address, port, port, port)
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, fmt.Errorf("--live %s: %w", address, err)
	}
	s := &LiveServer{Observer: experiment.NoObserver{}, address: l.Addr()}
	s.metrics.began, s.metrics.low, s.metrics.high, s.metrics.now = time.Now(), -1, -1, load.Snapshot{TTFT: -1, ITL: -1}
	s.http = &http.Server{
		Handler:           s.Handler(),
		ReadHeaderTimeout: headerTime,
		ReadTimeout:       headerTime,
		WriteTimeout:      answerTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHeaderBytes,
	}
	go s.http.Serve(&limitedListener{Listener: l, free: make(chan struct{}, maxConnections)})
	return s, nil
}

// URL returns the address of the page.
func (s *LiveServer) URL() string { return "http://" + s.address.String() + "/" }

// Close stops to serve. Answers that have begun may end within a second.
func (s *LiveServer) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	return errors.Join(s.http.Shutdown(ctx), s.http.Close())
}

// Handler returns the handler of all requests.
func (s *LiveServer) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", s.servePage)
	mux.HandleFunc("/metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		s.metrics.writePrometheus(w)
	})
	return refuseForeign(mux)
}

// framePolicy has what the meta element of a page cannot have: that no other page may frame it.
const framePolicy = "frame-ancestors 'none'; object-src 'none'; base-uri 'none'; form-action 'none'"

// refuseForeign refuses methods that may change something, and requests from pages of other sites.
func refuseForeign(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Content-Security-Policy", framePolicy)
		switch {
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			h.Set("Allow", "GET, HEAD")
			http.Error(w, "this server only reads", http.StatusMethodNotAllowed)
		case !isLocalHost(r.Host):
			http.Error(w, "this server is not known by that name", http.StatusMisdirectedRequest)
		case !sameOrigin(r):
			http.Error(w, "requests of other sites are refused", http.StatusForbidden)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// isLocalHost accepts addresses and localhost. A name that another site lets point here (DNS rebinding) is refused.
func isLocalHost(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	ip := host
	if n := len(host); n > 2 && host[0] == '[' && host[n-1] == ']' {
		ip = host[1 : n-1]
	}
	return host == "localhost" || net.ParseIP(ip).IsLoopback()
}

// sameOrigin reports whether a request comes from no page, from one of this server, or from a link on another site.
func sameOrigin(r *http.Request) bool {
	if origin := r.Header.Get("Origin"); origin != "" {
		u, err := url.Parse(origin)
		return err == nil && u.Scheme == "http" && u.Host == r.Host
	}
	site := r.Header.Get("Sec-Fetch-Site")
	return site == "" || site == "same-origin" || site == "none" || r.Header.Get("Sec-Fetch-Mode") == "navigate"
}

func (s *LiveServer) servePage(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	page, at, version := s.page, s.at, s.version
	s.mu.Unlock()
	if page == nil {
		w.Header().Set("Refresh", "2")
		http.Error(w, "The run has not begun.", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(page)))
	w.Header().Set("ETag", `"`+version+`"`)
	w.Header().Set("Last-Modified", at.UTC().Format(http.TimeFormat))
	if r.Method == http.MethodGet {
		w.Write(page)
	}
}

// noteNotDrawn is written once a run.
var noteNotDrawn = note.Kind{Code: "page.not-drawn", Args: []string{"error"}}

// Draw draws the page anew. Where that fails, the page stays as it was, and the first failure is noted: people look at a
// page that is older than they think.
func (s *LiveServer) Draw() {
	if s.Render == nil {
		return
	}
	began := time.Now()
	var b bytes.Buffer
	const base = 36
	version := strconv.FormatInt(began.UnixNano(), base)
	if err := s.Render(&b, version); err != nil {
		s.failure.Do(func() {
			if s.Observer != nil {
				s.Observer.Note(noteNotDrawn.New(err))
			}
		})
		return
	}
	s.metrics.change(func() { s.metrics.drawn = time.Since(began) })
	s.mu.Lock()
	defer s.mu.Unlock()
	s.page, s.at, s.version = b.Bytes(), time.Now(), version
}

// StageBegins counts the stage.
func (s *LiveServer) StageBegins(st *rundir.Stage, planned time.Duration) {
	s.Observer.StageBegins(st, planned)
	m := &s.metrics
	m.change(func() {
		m.addStage()
		m.begun++
		m.rate = st.Rate.Value()
	})
}

// Left keeps the estimate of the time left.
func (s *LiveServer) Left(low, high time.Duration) {
	s.Observer.Left(low, high)
	s.metrics.change(func() { s.metrics.low, s.metrics.high = low, high })
}

// Progress keeps how the stage stands.
func (s *LiveServer) Progress(now load.Snapshot) {
	s.Observer.Progress(now)
	s.metrics.progress(now)
}

// StageEnds draws the page with the stage.
func (s *LiveServer) StageEnds(st *rundir.Stage) {
	s.Observer.StageEnds(st)
	s.metrics.change(func() {
		s.metrics.ended++
		s.metrics.last = *st
	})
	s.Draw()
}

// Served says where the run is served.
func (s *LiveServer) Served(l lang.Lang) string { return sayServed.In(l, s.URL(), s.URL()) }

// limitedListener accepts a limited number of connections at once; others wait for one to be closed.
type limitedListener struct {
	net.Listener
	free chan struct{}
}

func (l *limitedListener) Accept() (net.Conn, error) {
	l.free <- struct{}{}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.free
		return nil, err
	}
	return &limitedConn{Conn: c, free: sync.OnceFunc(func() { <-l.free })}, nil
}

type limitedConn struct {
	net.Conn
	free func()
}

func (c *limitedConn) Close() error {
	defer c.free()
	return c.Conn.Close()
}
