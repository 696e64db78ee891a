package sim

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// ServerOptions are the manners of the HTTP server. The zero value is vLLM's, with the model's own name.
type ServerOptions struct {
	ModelID         string // served name; "": the Config's model
	APIKey          string // if set, /v1 demands it as a bearer token
	Strict          bool   // as hosted APIs: unknown body fields (ignore_eos, min_tokens, ...) are a 400 that names them
	ChunkTokens     int    // tokens to a chunk, after a first chunk of one, as vLLM's --stream-interval; default 1
	NoUsage         bool   // never report usage
	UsageEveryChunk bool   // report it on each chunk and at the end, asked or not
	Think           int    // reasoning tokens at the head of a chat answer, unless enable_thinking is false
	ReasoningField  string // "reasoning_content" (default but for Ollama) or "reasoning"
	IgnoreLength    bool   // answers end at a length of their own even where ignore_eos or min_tokens forbid it
	FullLength      bool   // answers are always as long as allowed, even without ignore_eos
	Faults          Faults
	Engine          string // whose APIs to speak, one of [Engines]; default "vllm"
	Texts           string // of SGLang's and Triton's streams: "pieces" or "cumulative"; "" is the engine's default
	LogProbs        bool   // Triton's TensorRT-LLM sends a list of them with each chunk
}

// server is the HTTP side of a Live.
type server struct {
	live     *Live
	options  ServerOptions
	started  time.Time
	words    [][]byte
	requests atomic.Uint64 // completion requests so far
	engine   *personality
	routes   map[string]route
}

type route struct {
	method string
	serve  http.HandlerFunc
}

// NewHandler serves a Live over HTTP in the manner of an engine: its OpenAI-compatible endpoints, its own, and those
// that tell what it is. Two request headers are the simulator's own: X-Sim-Fault: KIND makes the request go wrong,
// X-Sim-Stamps: 1 puts the instant of sending into each chunk (sim_sent_ns, Unix time in ns). It panics on an engine
// that is not one of [Engines].
//
// The role chunk of a chat goes out with the headers, as soon as the request is queued: a client that takes it for the
// first token shows a TTFT of nothing.
func NewHandler(l *Live, o ServerOptions) http.Handler {
	setDefault(&o.ModelID, l.cfg.Model.Name)
	setDefault(&o.ChunkTokens, 1)
	setDefault(&o.Engine, "vllm")
	s := &server{live: l, options: o, started: time.Now(), words: quotedWords(), engine: personalityOf(o.Engine)}
	setDefault(&s.options.ReasoningField, s.engine.reasoning)
	s.routes = s.engine.routes(s)
	return s
}

// ServeHTTP answers what has no route as the engine's framework does.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.live.Frozen() {
		hang(r)
		return
	}
	to, ok := s.routes[r.URL.Path]
	switch {
	case !ok:
		s.engine.notFound(w)
	case r.Method != to.method:
		w.Header().Set("Allow", to.method)
		writeJSON(w, http.StatusMethodNotAllowed, map[string]string{"detail": "Method Not Allowed"})
	case s.options.APIKey != "" && strings.HasPrefix(r.URL.Path, "/v1/") &&
		r.Header.Get("Authorization") != "Bearer "+s.options.APIKey:
		writeError(w, &apiError{Status: http.StatusUnauthorized, Kind: "invalid_request_error",
			Code: "invalid_api_key", Message: "Incorrect API key provided."})
	default:
		if s.engine.server != "" {
			w.Header().Set("Server", s.engine.server)
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
			"owned_by":      s.engine.owner,
			"root":          s.options.ModelID,
			"parent":        nil,
			"max_model_len": s.live.cfg.MaxModelLen,
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
		"count": len(ids), "max_model_len": s.live.cfg.MaxModelLen, "tokens": ids, "token_strs": nil})
}

// generate serves a completion endpoint.
func (s *server) generate(w http.ResponseWriter, r *http.Request, to *api) {
	n := s.requests.Add(1)
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client went
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
	a.call, err = s.live.submit(j.seq, a.emit)
	if err != nil {
		turnAway(r.Context(), w, to, err)
		return
	}
	defer s.live.abandon(a.call, context.Canceled)
	if a.dropped(r.Context()) {
		return
	}
	if j.stream {
		a.stream(r.Context())
	} else {
		a.whole(r.Context())
	}
}

// understand reads a request's body, or returns an *apiError.
func (s *server) understand(raw []byte, to *api) (job, error) {
	if s.options.Strict {
		if err := rejectUnknown(raw, to.known); err != nil {
			return job{}, err
		}
	}
	return to.parse(s, raw)
}

// failInstead plays the faults that leave no answer.
func failInstead(w http.ResponseWriter, r *http.Request, to *api, fault Fault) bool {
	switch fault {
	case Fault500:
		to.refuse(w, &apiError{Status: http.StatusInternalServerError, Kind: "InternalServerError", Message: "Internal server error"})
	case Fault429:
		w.Header().Set("Retry-After", "1")
		to.refuse(w, &apiError{Status: http.StatusTooManyRequests, Kind: "rate_limit_error", Code: "rate_limit_exceeded",
			Message: "Rate limit reached. Please try again in 1s."})
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

func writeError(w http.ResponseWriter, e *apiError) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(e.Status)
	w.Write(append(e.json(), '\n'))
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}
