package server

import (
	"errors"
	"fmt"
	"net/http"
)

// apiError is an answer with a status other than 200, in OpenAI's format.
type apiError struct {
	Status               int
	Message, Kind, Param string
	Code                 string // "": the status, as vLLM has it
}

func (e *apiError) Error() string { return e.Message }

// badRequest returns an error with status 400.
func badRequest(format string, args ...any) *apiError {
	return &apiError{Status: http.StatusBadRequest, Kind: "BadRequestError", Message: fmt.Sprintf(format, args...)}
}

// Object returns the error object: {"error": {...}}.
func (e *apiError) Object() any {
	var param, code any = nil, e.Status
	if e.Param != "" {
		param = e.Param
	}
	if e.Code != "" {
		code = e.Code
	}
	return map[string]any{"error": map[string]any{"message": e.Message, "type": e.Kind, "param": param, "code": code}}
}

// asAPIError returns err as an answer: a 500 where it is not an *apiError.
func asAPIError(err error) *apiError {
	var api *apiError
	if errors.As(err, &api) {
		return api
	}
	return &apiError{Status: http.StatusInternalServerError, Kind: "InternalServerError", Message: err.Error()}
}
