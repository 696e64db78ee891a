package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"llmsweep/client/sim"
)

// The engines that Options.Engine names.
const (
	vllm      = "vllm"
	sglang    = "sglang"
	anthropic = "anthropic"
)

// Engines returns the names that Options.Engine takes.
func Engines() []string { return []string{vllm, sglang, anthropic} }

// Options say how the HTTP server behaves. The zero value behaves as vLLM.
type Options struct {
	Engine         string // one of [Engines]; empty for vllm
	APIKey         string // if set, /v1 requires it: as a bearer token, or with anthropic in X-Api-Key
	Strict         bool   // reject unknown body fields (ignore_eos, min_tokens, ...) with a 400, as hosted APIs do
	ChunkTokens    int    // tokens in each chunk but the first, which has one (vLLM's --stream-interval); 0 for 1
	NoUsage        bool   // never report usage
	Think          int    // reasoning tokens at the head of a chat answer, unless the request forbids them
	ReasoningField string // "reasoning_content" (the default) or "reasoning"
	Natural        NaturalLength
	FullLength     bool // answers are as long as allowed, even without ignore_eos
	Faults         Faults
	Texts          string // "pieces" or "cumulative" (the default) texts in SGLang's own streams
}

type server struct {
	Options
	config   sim.MachineConfig
	engine   *sim.Engine
	started  time.Time
	requests atomic.Uint64 // completion requests so far
	mux      *http.ServeMux
}

// New returns a handler that serves e as one of [Engines] does. A request header X-Sim-Fault: KIND injects a fault.
//
// The role chunk of a chat is sent with the headers, as soon as the request is queued. A client that takes it for the
// first token reports a TTFT near zero.
func New(e *sim.Engine, o Options) http.Handler {
	o.Engine = cmp.Or(o.Engine, vllm)
	if !slices.Contains(Engines(), o.Engine) {
		panic("simulated server: no engine is called " + o.Engine)
	}
	o.ChunkTokens = cmp.Or(o.ChunkTokens, 1)
	o.ReasoningField = cmp.Or(o.ReasoningField, "reasoning_content")
	s := &server{Options: o, config: e.Config(), engine: e, started: time.Now(), mux: http.NewServeMux()}
	s.mux.HandleFunc("GET /health", func(http.ResponseWriter, *http.Request) {})
	s.mux.HandleFunc("GET /v1/models", s.models)
	if o.Engine != sglang {
		s.handleEndpoint("/v1/messages", messagesEndpoint())
	}
	if o.Engine != anthropic {
		s.handleEndpoint("/v1/chat/completions", openAIEndpoint(true))
		s.handleEndpoint("/v1/completions", openAIEndpoint(false))
		s.mux.HandleFunc("GET /metrics", s.metrics)
		s.mux.HandleFunc("POST /tokenize", s.tokenize)
	}
	switch o.Engine {
	case vllm:
		s.mux.HandleFunc("POST /reset_prefix_cache", s.resetCache)
		s.handleEndpoint("/v1/responses", responsesEndpoint())
		s.handlePage("/version", map[string]any{"version": "0.11.0+sim"})
	case sglang:
		s.mux.HandleFunc("POST /flush_cache", s.flushCache)
		s.handleEndpoint("/generate", sglangEndpoint())
		s.handlePage("/get_model_info", map[string]any{"model_path": s.model(), "is_generation": true})
		s.handlePage("/get_server_info", map[string]any{"version": "0.5.2+sim", "served_model_name": s.model(),
			"max_total_num_tokens": s.config.KVTokens})
	}
	return s
}

type endpoint struct {
	fields  string // body fields that a strict server accepts
	parse   func(s *server, raw []byte) (request, error)
	encoder func(a *answer) encoder
	refusal func(e *apiError) any // the error object
	done    bool                  // [DONE] ends a stream, also after an error
}

// encoder writes one answer. All but whole append events to a buffer that is sent in one write.
type encoder interface {
	opening(b []byte) []byte              // before the first token
	tokens(b []byte, from, to int) []byte // the tokens after from, up to to
	closing(b []byte, u sim.Usage) []byte // after the last token
	whole(u sim.Usage) any                // the answer in one piece
}

func (s *server) handleEndpoint(path string, e *endpoint) {
	s.mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) { s.generate(w, r, e) })
}

func (s *server) handlePage(path string, v any) {
	s.mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, v) })
}

func (s *server) model() string { return s.config.Model.Name }

// ServeHTTP hangs while the engine is frozen, and checks the key.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.engine.Frozen() {
		hang(r)
		return
	}
	refusal, header, key := (*apiError).object, "Authorization", "Bearer "+s.APIKey
	if s.Engine == anthropic {
		refusal, header, key = anthropicRefusal, "X-Api-Key", s.APIKey
	}
	switch {
	case !strings.HasPrefix(r.URL.Path, "/v1/"):
	case s.APIKey != "" && r.Header.Get(header) != key:
		writeJSON(w, http.StatusUnauthorized, refusal(&apiError{Status: http.StatusUnauthorized,
			Kind: "invalid_request_error",
			Code: "invalid_api_key", Message: "Incorrect API key provided."}))
		return
	case s.Engine == anthropic && r.Header.Get("Anthropic-Version") == "":
		writeJSON(w, http.StatusBadRequest, refusal(badRequest("anthropic-version: header is required")))
		return
	}
	s.mux.ServeHTTP(w, r)
}

func hang(r *http.Request) {
	io.Copy(io.Discard, r.Body) // or the server would not notice that the client left
	<-r.Context().Done()
}

func (s *server) models(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []any{map[string]any{
		"id": s.model(), "object": "model", "created": s.started.Unix(), "owned_by": s.Engine,
		"max_model_len": s.config.MaxModelLen,
	}}})
}

// resetCache is vLLM's, in development mode.
func (s *server) resetCache(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{"success": s.engine.EmptyCache()})
}

// flushCache is SGLang's.
func (s *server) flushCache(w http.ResponseWriter, _ *http.Request) {
	if !s.engine.EmptyCache() {
		http.Error(w, "Flush cache failed.", http.StatusBadRequest)
		return
	}
	io.WriteString(w, "Cache flushed.\n")
}

func (s *server) tokenize(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	var b body
	err := s.read(raw, &b)
	var ids []uint32
	if err == nil {
		ids, err = s.promptTokens(&b, b.Messages != nil)
	}
	if err != nil {
		e := asAPIError(err)
		writeJSON(w, e.Status, e.object())
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"count": len(ids), "max_model_len": s.config.MaxModelLen, "tokens": ids})
}

func (s *server) generate(w http.ResponseWriter, r *http.Request, e *endpoint) {
	n := s.requests.Add(1)
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	fault := s.Faults.FaultOf(n)
	if kind := r.Header.Get("X-Sim-Fault"); kind != "" {
		if fault, err = parseFault(kind); err != nil {
			e.refuse(w, badRequest("X-Sim-Fault: %v", err))
			return
		}
	}
	if injectFault(w, r, e, fault) {
		return
	}
	if s.Strict {
		err = rejectUnknown(raw, strings.Fields(e.fields))
	}
	var req request
	if err == nil {
		req, err = e.parse(s, raw)
	}
	if err != nil {
		e.refuse(w, asAPIError(err))
		return
	}
	a := newAnswer(s, w, e, req, n, fault)
	a.running, err = s.engine.Submit(req.work, a.emit)
	if err != nil {
		refuseSubmit(r.Context(), w, e, err)
		return
	}
	defer a.running.Cancel(context.Canceled)
	load := s.engine.Stats()
	a.setSum(lastSum(raw), load.Running+load.Waiting > 1, n)
	switch {
	case a.running.Dropped():
		a.drop(r.Context())
	case req.stream:
		a.sendStream(r.Context())
	default:
		a.sendWhole(r.Context())
	}
}

// injectFault injects a fault that replaces the answer; false where it does not.
func injectFault(w http.ResponseWriter, r *http.Request, e *endpoint, fault Fault) bool {
	switch fault {
	case Fault500:
		e.refuse(w, &apiError{Status: http.StatusInternalServerError, Kind: "InternalServerError",
			Message: "Internal server error"})
	case Fault429:
		w.Header().Set("Retry-After", "1")
		e.refuse(w, &apiError{Status: http.StatusTooManyRequests, Kind: "rate_limit_error", Code: "rate_limit_exceeded",
			Message: "Rate limit reached. Please try again in 1s."})
	case Fault529:
		e.refuse(w, &apiError{Status: statusOverloaded, Kind: overloaded, Message: "Overloaded"})
	case FaultHTML:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		io.WriteString(w, "<!DOCTYPE html>\n<html><head><title>Welcome</title></head><body><h1>It "+
			"works!</h1></body></html>\n")
	case FaultHang:
		<-r.Context().Done()
	default:
		return false
	}
	return true
}

func refuseSubmit(ctx context.Context, w http.ResponseWriter, e *endpoint, err error) {
	err = sim.AwaitRefusal(ctx, err)
	var refusal *sim.Refusal
	if !errors.As(err, &refusal) {
		e.refuse(w, asAPIError(err))
		return
	}
	if refusal.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(refusal.RetryAfter.Seconds()))))
	}
	apiErr := &apiError{
		Status: refusal.Status, Kind: "rate_limit_error", Code: "rate_limit_exceeded", Message: refusal.Reason,
	}
	if refusal.Busy {
		apiErr.Kind, apiErr.Code = overloaded, ""
	}
	e.refuse(w, apiErr)
}

func (e *endpoint) refuse(w http.ResponseWriter, err *apiError) {
	writeJSON(w, err.Status, e.refusal(err))
}

type apiError struct {
	Status               int
	Message, Kind, Param string
	Code                 string // "": the status, as vLLM has it
}

func (e *apiError) Error() string { return e.Message }

func badRequest(format string, args ...any) *apiError {
	return &apiError{Status: http.StatusBadRequest, Kind: "BadRequestError", Message: fmt.Sprintf(format, args...)}
}

// object is OpenAI's error object.
func (e *apiError) object() any {
	var param, code any = nil, e.Status
	if e.Param != "" {
		param = e.Param
	}
	if e.Code != "" {
		code = e.Code
	}
	return map[string]any{"error": map[string]any{"message": e.Message, "type": e.Kind, "param": param, "code": code}}
}

// asAPIError returns a 500 for an err that is no *apiError.
func asAPIError(err error) *apiError {
	var api *apiError
	if errors.As(err, &api) {
		return api
	}
	return &apiError{Status: http.StatusInternalServerError, Kind: "InternalServerError", Message: err.Error()}
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}

// marshal is for values that can always be encoded.
func marshal(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}
