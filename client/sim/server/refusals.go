package server

import (
	"net/http"

	"llmsweep/client/sim"
)

// LlamacppRefusal is llama-server's error object.
func LlamacppRefusal(e *APIError) any {
	kind := "server_error"
	if e.Status < 500 {
		kind = "invalid_request_error"
	}
	return map[string]any{"error": map[string]any{"code": e.Status, "message": e.Message, "type": kind}}
}

// Timings are the counts among what llama-server measures.
type Timings struct {
	CacheN     int `json:"cache_n"`
	PromptN    int `json:"prompt_n"`
	PredictedN int `json:"predicted_n"`
}

func TimingsOf(u sim.Usage) *Timings {
	return &Timings{CacheN: u.CachedTokens, PromptN: u.PromptTokens - u.CachedTokens, PredictedN: u.OutputTokens}
}

// TgiRefusal is TGI's error object.
func TgiRefusal(e *APIError) any {
	kind := "generation"
	switch e.Status {
	case http.StatusBadRequest:
		kind = "validation"
	case http.StatusTooManyRequests:
		kind = "overloaded"
	}
	return map[string]string{"error": e.Message, "error_type": kind}
}
