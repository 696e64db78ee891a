package server

import (
	"net/http"

	"llmsweep/client/sim"
)

// llamacppRefusal is llama-server's error object.
func llamacppRefusal(e *apiError) any {
	kind := "server_error"
	if e.Status < 500 {
		kind = "invalid_request_error"
	}
	return map[string]any{"error": map[string]any{"code": e.Status, "message": e.Message, "type": kind}}
}

// timings are the counts among what llama-server measures.
type timings struct {
	CacheN     int `json:"cache_n"`
	PromptN    int `json:"prompt_n"`
	PredictedN int `json:"predicted_n"`
}

func timingsOf(u sim.Usage) *timings {
	return &timings{CacheN: u.CachedTokens, PromptN: u.PromptTokens - u.CachedTokens, PredictedN: u.OutputTokens}
}

// tgiRefusal is TGI's error object.
func tgiRefusal(e *apiError) any {
	kind := "generation"
	switch e.Status {
	case http.StatusBadRequest:
		kind = "validation"
	case http.StatusTooManyRequests:
		kind = "overloaded"
	}
	return map[string]string{"error": e.Message, "error_type": kind}
}
