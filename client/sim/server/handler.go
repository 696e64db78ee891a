package server

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"llmsweep/client/sim"
	"llmsweep/client/sim/habit"
)

// Options say how the HTTP server behaves. The zero value behaves as vLLM, and serves the model under its own name.
type Options struct {
	ModelID         string // served name; empty for the name of the configured model
	APIKey          string // if set, /v1 requires it as a bearer token
	Strict          bool   // reject unknown body fields (ignore_eos, min_tokens, ...) with a 400 that names them, as hosted APIs do
	ChunkTokens     int    // tokens in each chunk but the first, which has one (vLLM's --stream-interval); 0 for 1
	NoUsage         bool   // never report usage
	UsageEveryChunk bool   // report usage on each chunk and at the end, asked or not
	Think           int    // reasoning tokens at the head of a chat answer, unless enable_thinking is false
	ReasoningField  string // "reasoning_content" or "reasoning"; empty for the engine's own
	IgnoreLength    bool   // answers end at a natural length even where ignore_eos or min_tokens forbid it
	FullLength      bool   // answers are as long as allowed, even without ignore_eos
	Faults          Faults
	NoLogProbs      bool   // log-probabilities are never sent; a strict server refuses to be asked for them
	Engine          string // which engine's APIs to serve, one of [Engines]; empty for "vllm"
	Texts           string // texts in SGLang's and Triton's streams: "pieces" or "cumulative"; empty for the engine's default
	LogProbs        bool   // Triton with TensorRT-LLM sends a list of log-probs with each chunk
}

// server serves a [sim.Engine] over HTTP.
type server struct {
	engine   *sim.Engine
	config   sim.Config // the engine's
	options  Options
	started  time.Time
	requests atomic.Uint64 // completion requests so far
	flavor   *flavor
	routes   map[string]route
	batches  bool // habit
}

type route struct {
	method string
	serve  http.HandlerFunc
}

// New returns a handler that serves e over HTTP as one of [Engines] does: with its OpenAI-compatible endpoints, its own
// API, and the pages that identify it. Two request headers are the simulator's own: X-Sim-Fault: KIND injects a fault,
// and X-Sim-Stamps: 1 puts the time of sending into each chunk (sim_sent_ns, Unix time in ns). New panics where
// o.Engine is not one of [Engines].
//
// The role chunk of a chat is sent with the headers, as soon as the request is queued. A client that takes it for the
// first token reports a TTFT near zero.
func New(e *sim.Engine, o Options) http.Handler {
	s := &server{engine: e, config: e.Config(), options: o, started: time.Now()}
	s.flavor = flavorOf(cmp.Or(o.Engine, "vllm"))
	s.options.ModelID = cmp.Or(o.ModelID, s.config.Model.Name)
	s.options.ChunkTokens = cmp.Or(o.ChunkTokens, 1)
	s.options.ReasoningField = cmp.Or(o.ReasoningField, s.flavor.reasoning)
	s.routes = s.flavor.routes(s)
	_, s.batches = habit.Find[habit.Batches](s.config.Habits)
	return s
}

// ServeHTTP serves the engine's routes, and answers other requests as the engine's framework does.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.engine.Frozen() {
		hang(r)
		return
	}
	to, ok := s.routes[r.URL.Path]
	refused := s.flavor.admits(r, s.options.APIKey)
	switch {
	case !ok:
		s.flavor.notFound(w)
	case r.Method != to.method:
		w.Header().Set("Allow", to.method)
		writeJSON(w, http.StatusMethodNotAllowed, map[string]string{"detail": "Method Not Allowed"})
	case refused != nil && s.flavor.key != "":
		writeJSON(w, refused.Status, anthropicRefusal(refused))
	case refused != nil:
		writeError(w, refused)
	default:
		if s.flavor.server != "" {
			w.Header().Set("Server", s.flavor.server)
		}
		to.serve(w, r)
	}
}

func (s *server) models(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{
		"object": "list",
		"data": []map[string]any{{
			"id":            s.options.ModelID,
			"object":        "model",
			"created":       s.started.Unix(),
			"owned_by":      s.flavor.owner,
			"root":          s.options.ModelID,
			"parent":        nil,
			"max_model_len": s.config.MaxModelLen,
			"permission":    []any{},
		}},
	})
}

func (s *server) tokenize(w http.ResponseWriter, r *http.Request) {
	var b body
	if err := json.NewDecoder(r.Body).Decode(&b); err != nil {
		writeError(w, badRequest("the body is not a valid request: %v", err))
		return
	}
	err := s.checkModel(b.Model)
	var ids []uint32
	if err == nil {
		ids, err = s.promptTokens(&b, b.Messages != nil)
	}
	if err != nil {
		writeError(w, asAPIError(err))
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"count": len(ids), "max_model_len": s.config.MaxModelLen, "tokens": ids, "token_strs": nil})
}

// generate serves a completion endpoint.
func (s *server) generate(w http.ResponseWriter, r *http.Request, to *endpoint) {
	n := s.requests.Add(1)
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	fault := s.options.Faults.strike(n)
	if asked := r.Header.Get("X-Sim-Fault"); asked != "" {
		if fault, err = parseFault(asked); err != nil {
			to.refuse(w, badRequest("X-Sim-Fault: %v", err))
			return
		}
	}
	if failInstead(w, r, to, fault) {
		return
	}
	j, err := s.understand(raw, to)
	if err != nil {
		to.refuse(w, asAPIError(err))
		return
	}
	a := newAnswer(s, w, to, j, n, fault, r.Header.Get("X-Sim-Stamps") == "1")
	a.running, err = s.engine.Submit(j.seq, a.emit)
	if err != nil {
		turnAway(r.Context(), w, to, err)
		return
	}
	defer a.running.Cancel(context.Canceled)
	a.said = s.speech(&j, n)
	if a.dropped(r.Context()) {
		return
	}
	if j.stream {
		a.stream(r.Context())
	} else {
		a.whole(r.Context())
	}
}

// understand parses a request's body. The error is an *apiError.
func (s *server) understand(raw []byte, to *endpoint) (request, error) {
	if s.options.Strict {
		known := to.known
		if s.options.NoLogProbs {
			known = slices.DeleteFunc(slices.Clone(known), func(name string) bool { return strings.Contains(name, "logprob") })
		}
		if err := rejectUnknown(raw, known); err != nil {
			return request{}, err
		}
	}
	return to.parse(s, raw)
}

// failInstead injects the faults that replace the answer, and reports whether it did.
func failInstead(w http.ResponseWriter, r *http.Request, to *endpoint, fault Fault) bool {
	switch fault {
	case Fault500:
		to.refuse(w, &apiError{Status: http.StatusInternalServerError, Kind: "InternalServerError", Message: "Internal server error"})
	case Fault429:
		w.Header().Set("Retry-After", "1")
		to.refuse(w, &apiError{Status: http.StatusTooManyRequests, Kind: "rate_limit_error", Code: "rate_limit_exceeded",
			Message: "Rate limit reached. Please try again in 1s."})
	case Fault529:
		to.refuse(w, &apiError{Status: statusOverloaded, Kind: "overloaded_error", Message: "Overloaded"})
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

func writeError(w http.ResponseWriter, e *apiError) { writeJSON(w, e.Status, e.object()) }

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}
