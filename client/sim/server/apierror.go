package server

import (
	"errors"
	"fmt"
	"net/http"
)

// APIError is an answer with a status other than 200, in OpenAI's format.
type APIError struct {
	Status               int
	Message, Kind, Param string
	Code                 string // "": the status, as vLLM has it
}

func (e *APIError) Error() string { return e.Message }

// BadRequest returns an error with status 400.
func BadRequest(format string, args ...any) *APIError {
	return &APIError{Status: http.StatusBadRequest, Kind: "BadRequestError", Message: fmt.Sprintf(format, args...)}
}

// Object returns the error object: {"error": {...}}.
func (e *APIError) Object() any {
	var param, code any = nil, e.Status
	if e.Param != "" {
		param = e.Param
	}
	if e.Code != "" {
		code = e.Code
	}
	return map[string]any{"error": map[string]any{"message": e.Message, "type": e.Kind, "param": param, "code": code}}
}

// AsAPIError returns err as an answer: a 500 where it is not an *APIError.
func AsAPIError(err error) *APIError {
	var api *APIError
	if errors.As(err, &api) {
		return api
	}
	return &APIError{Status: http.StatusInternalServerError, Kind: "InternalServerError", Message: err.Error()}
}
