package server

import (
	"net/http"
)

// AboutOpenAI returns the pages of a service that has only OpenAI's Responses API.
func AboutOpenAI(s *Host) map[string]Route {
	return map[string]Route{"/v1/models": {Method: http.MethodGet, Serve: s.Models}}
}

func AboutVLLM(s *Host) map[string]Route {
	return map[string]Route{
		"/version":  {Method: http.MethodGet, Serve: FixedPage(map[string]string{"version": "0.11.0+sim"})},
		"/tokenize": {Method: http.MethodPost, Serve: s.Tokenize},
	}
}
