package server

import (
	"net/http"
)

// aboutOpenAI returns the pages of a service that has only OpenAI's Responses API.
func aboutOpenAI(s *Host) map[string]route {
	return map[string]route{"/v1/models": {Method: http.MethodGet, Serve: s.Models}}
}

func aboutVLLM(s *Host) map[string]route {
	return map[string]route{
		"/version":  {Method: http.MethodGet, Serve: fixedPage(map[string]string{"version": "0.11.0+sim"})},
		"/tokenize": {Method: http.MethodPost, Serve: s.Tokenize},
	}
}
