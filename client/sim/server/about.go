package server

import (
	"net/http"
)

// aboutOpenAI returns the pages of a service that has only OpenAI's Responses API.
func aboutOpenAI(s *host) map[string]route {
	return map[string]route{"/v1/models": {http.MethodGet, s.models}}
}

func aboutVLLM(s *host) map[string]route {
	return map[string]route{
		"/version":  {http.MethodGet, page(map[string]string{"version": "0.11.0+sim"})},
		"/tokenize": {http.MethodPost, s.tokenize},
	}
}
