package dialect

import (
	"llmsweep/client/sim/server/exchange"
	"net/http"
)

// AboutOpenAI returns the pages of a service that has only OpenAI's Responses API.
func AboutOpenAI(s *exchange.Host) map[string]exchange.Route {
	return map[string]exchange.Route{"/v1/models": {Method: http.MethodGet, Serve: s.Models}}
}

func AboutVLLM(s *exchange.Host) map[string]exchange.Route {
	return map[string]exchange.Route{
		"/version":  {Method: http.MethodGet, Serve: exchange.FixedPage(map[string]string{"version": "0.11.0+sim"})},
		"/tokenize": {Method: http.MethodPost, Serve: s.Tokenize},
	}
}
