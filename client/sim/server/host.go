package server

import (
	"encoding/json"
	"net/http"
	"time"

	"llmsweep/client/sim"
)

// route is a path that is no completion: its method and what serves it.
type route struct {
	Method string
	Serve  http.HandlerFunc
}

// Models serves the list of models.
func (s *Host) Models(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{
		"object": "list",
		"data": []map[string]any{{
			"id":            s.Options.ModelID,
			"object":        "model",
			"created":       s.Started.Unix(),
			"owned_by":      s.Owner,
			"root":          s.Options.ModelID,
			"parent":        nil,
			"max_model_len": s.Config.MaxModelLen,
			"permission":    []any{},
		}},
	})
}

// Tokenize serves the tokens of a text.
func (s *Host) Tokenize(w http.ResponseWriter, r *http.Request) {
	var b body
	if err := json.NewDecoder(r.Body).Decode(&b); err != nil {
		writeError(w, badRequest("the body is not a valid request: %v", err))
		return
	}
	err := s.CheckModel(b.Model)
	var ids []uint32
	if err == nil {
		ids, err = s.promptTokens(&b, b.Messages != nil)
	}
	if err != nil {
		writeError(w, asAPIError(err))
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"count": len(ids), "max_model_len": s.Config.MaxModelLen, "tokens": ids, "token_strs": nil})
}

// writeError answers with an error in OpenAI's format.
func writeError(w http.ResponseWriter, e *apiError) { writeJSON(w, e.Status, e.Object()) }

// writeJSON answers with a status and an object.
func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}

// fixedPage returns a handler that always sends v.
func fixedPage(v any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, v) }
}

// Host is the server as its endpoints see it.
type Host struct {
	Config   sim.MachineConfig // the engine's
	Options  Options
	Started  time.Time
	Name     string // of the engine
	Owner    string // owned_by in the list of models
	AnyModel bool   // it ignores the model's name
	Batches  bool   // habit
}
