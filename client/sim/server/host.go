package server

import (
	"encoding/json"
	"net/http"
	"time"

	"llmsweep/client/sim"
)

type route struct {
	method string
	serve  http.HandlerFunc
}

func (s *host) models(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{
		"object": "list",
		"data": []map[string]any{{
			"id":            s.options.ModelID,
			"object":        "model",
			"created":       s.started.Unix(),
			"owned_by":      s.owner,
			"root":          s.options.ModelID,
			"parent":        nil,
			"max_model_len": s.config.MaxModelLen,
			"permission":    []any{},
		}},
	})
}

func (s *host) tokenize(w http.ResponseWriter, r *http.Request) {
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

func writeError(w http.ResponseWriter, e *apiError) { writeJSON(w, e.Status, e.object()) }

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}

// page returns a handler that always sends v.
func page(v any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, v) }
}

// host is the server as its endpoints see it.
type host struct {
	config   sim.Config // the engine's
	options  Options
	started  time.Time
	name     string // of the engine
	owner    string // owned_by in the list of models
	natural  bool   // answers always end naturally: it has no ignore_eos
	anyModel bool   // it ignores the model's name
	batches  bool   // habit
}
