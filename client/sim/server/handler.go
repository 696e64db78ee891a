package server

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"llmsweep/client/sim"
)

// server serves a [sim.Engine] over HTTP.
type server struct {
	*Host
	engine   *sim.Engine
	requests atomic.Uint64 // completion requests so far
	flavor   *flavor
	routes   map[string]route
}

// New returns a handler that serves e over HTTP as one of [Engines] does: with its OpenAI-compatible endpoints, its own
// API, and the pages that identify it. Two request headers are the simulator's own: X-Sim-Fault: KIND injects a fault,
// and X-Sim-Stamps: 1 puts the time of sending into each chunk (sim_sent_ns, Unix time in ns). New panics where
// o.Engine is not one of [Engines].
//
// The role chunk of a chat is sent with the headers, as soon as the request is queued. A client that takes it for the
// first token reports a TTFT near zero.
func New(e *sim.Engine, o Options) http.Handler {
	f := flavorOf(cmp.Or(o.Engine, "vllm"))
	h := &Host{Config: e.Config(), Options: o, Started: time.Now(), Name: f.name, Owner: f.owner, AnyModel: f.anyModel}
	h.Options.ModelID = cmp.Or(o.ModelID, h.Config.Model.Name)
	h.Options.ChunkTokens = cmp.Or(o.ChunkTokens, 1)
	h.Options.ReasoningField = cmp.Or(o.ReasoningField, f.reasoning)
	h.Batches = h.Config.Habits.Bursts != sim.Burst{}
	s := &server{Host: h, engine: e, flavor: f}
	s.routes = s.flavor.routes(s)
	return s
}

// ServeHTTP serves the engine's routes, and answers other requests as the engine's framework does.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.engine.Frozen() {
		hang(r)
		return
	}
	to, ok := s.routes[r.URL.Path]
	refused := s.flavor.admits(r, s.Options.APIKey)
	switch {
	case !ok:
		s.flavor.notFound(w)
	case r.Method != to.Method:
		w.Header().Set("Allow", to.Method)
		writeJSON(w, http.StatusMethodNotAllowed, map[string]string{"detail": "Method Not Allowed"})
	case refused != nil && s.flavor.key != "":
		writeJSON(w, refused.Status, anthropicRefusal(refused))
	case refused != nil:
		writeError(w, refused)
	default:
		to.Serve(w, r)
	}
}

// generate serves a completion endpoint.
func (s *server) generate(w http.ResponseWriter, r *http.Request, to *endpoint) {
	n := s.requests.Add(1)
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	fault := s.Options.Faults.FaultOf(n)
	if asked := r.Header.Get("X-Sim-Fault"); asked != "" {
		if fault, err = parseFault(asked); err != nil {
			to.Refuse(w, badRequest("X-Sim-Fault: %v", err))
			return
		}
	}
	if failInstead(w, r, to, fault) {
		return
	}
	j, err := s.understand(raw, to)
	if err != nil {
		to.Refuse(w, asAPIError(err))
		return
	}
	a := newAnswer(s.Host, w, to, j, n, fault, r.Header.Get("X-Sim-Stamps") == "1")
	a.Running, err = s.engine.Submit(j.Work, a.Emit)
	if err != nil {
		turnAway(r.Context(), w, to, err)
		return
	}
	defer a.Running.Cancel(context.Canceled)
	load := s.engine.Stats()
	a.ChooseText(load.Running+load.Waiting, n)
	if a.Dropped(r.Context()) {
		return
	}
	if j.Stream {
		a.Stream(r.Context())
	} else {
		a.SendWhole(r.Context())
	}
}

// understand parses a request's body. The error is an *apiError.
func (s *server) understand(raw []byte, to *endpoint) (request, error) {
	if s.Options.Strict {
		known := to.KnownFields
		if s.Options.NoLogProbs {
			known = slices.DeleteFunc(slices.Clone(known), func(name string) bool { return strings.Contains(name, "logprob") })
		}
		if err := rejectUnknown(raw, known); err != nil {
			return request{}, err
		}
	}
	r, err := to.Parse(s.Host, raw)
	r.Sum, r.Sums = askedSum(raw)
	return r, err
}

// failInstead injects the faults that replace the answer, and reports whether it did.
func failInstead(w http.ResponseWriter, r *http.Request, to *endpoint, fault Fault) bool {
	switch fault {
	case Fault500:
		to.Refuse(w, &apiError{Status: http.StatusInternalServerError, Kind: "InternalServerError", Message: "Internal server error"})
	case Fault429:
		w.Header().Set("Retry-After", "1")
		to.Refuse(w, &apiError{Status: http.StatusTooManyRequests, Kind: "rate_limit_error", Code: "rate_limit_exceeded",
			Message: "Rate limit reached. Please try again in 1s."})
	case Fault529:
		to.Refuse(w, &apiError{Status: statusOverloaded, Kind: "overloaded_error", Message: "Overloaded"})
	case FaultHTML:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		io.WriteString(w, "<!DOCTYPE html>\n<html><head><title>Welcome</title></head><body><h1>It works!</h1></body></html>\n")
	case FaultHang:
		<-r.Context().Done()
	default:
		return false
	}
	return true
}
