package exchange

import (
	"errors"
	"fmt"
	"net/http"
)

// ApiError is an answer with a status other than 200, in OpenAI's format.
type ApiError struct {
	Status               int
	Message, Kind, Param string
	Code                 string // "": the status, as vLLM has it
}

func (e *ApiError) Error() string { return e.Message }

func BadRequest(format string, args ...any) *ApiError {
	return &ApiError{Status: http.StatusBadRequest, Kind: "BadRequestError", Message: fmt.Sprintf(format, args...)}
}

// Object returns the error object: {"error": {...}}.
func (e *ApiError) Object() any {
	var param, code any = nil, e.Status
	if e.Param != "" {
		param = e.Param
	}
	if e.Code != "" {
		code = e.Code
	}
	return map[string]any{"error": map[string]any{"message": e.Message, "type": e.Kind, "param": param, "code": code}}
}

// AsAPIError returns err as an answer: a 500 where it is not an *apiError.
func AsAPIError(err error) *ApiError {
	var api *ApiError
	if errors.As(err, &api) {
		return api
	}
	return &ApiError{Status: http.StatusInternalServerError, Kind: "InternalServerError", Message: err.Error()}
}
