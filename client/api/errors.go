package api

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"
)

const maxMessage = 64 << 10 // bytes of an error's body that are read

// isErrorObject reports whether an object is an error, by its members "error" and "object": servers send an "error"
// that says something, or an "object" named "error".
func isErrorObject(errorMember, objectMember []byte) bool {
	switch string(errorMember) {
	case "", "null", "false", `""`:
		return string(objectMember) == `"error"`
	}
	return true
}

// IsError reports whether a JSON object, which may be cut short, is an error object.
func IsError(body []byte) bool {
	v := gjson.ParseBytes(body)
	return isErrorObject([]byte(v.Get("error").Raw), []byte(v.Get("object").Raw))
}

// NamesRateLimit reports whether the error object of a refusal names a rate limit as its type or code.
func NamesRateLimit(body []byte) bool {
	v := gjson.ParseBytes(body)
	for _, at := range []string{"error.type", "error.code", "type", "code"} {
		if strings.Contains(v.Get(at).String(), "rate_limit") {
			return true
		}
	}
	return false
}

// Title returns a web page's title in brackets, for error messages; empty where it has none.
func Title(page []byte) string {
	_, rest, ok := bytes.Cut(page, []byte("<title>"))
	if !ok {
		return ""
	}
	t, _, _ := bytes.Cut(rest, []byte("</"))
	return fmt.Sprintf(" (%s)", bytes.TrimSpace(t))
}

// ErrorText returns the server's message in the body of a refusal or in an error object: {"error": {"message"}},
// {"error": ".."}, {"message"}, {"detail": ".."}, FastAPI's {"detail": [{"loc", "msg"}]}, or plain text.
func ErrorText(body []byte) string {
	body = bytes.TrimSpace(body)
	if len(body) > maxMessage {
		body = body[:maxMessage]
	}
	if len(body) > 0 && body[0] == '<' {
		return "a web page" + Title(body)
	}
	v := gjson.ParseBytes(body)
	if !v.IsObject() {
		return string(body)
	}
	for _, at := range []gjson.Result{v.Get("error"), v} {
		if text := errorText(at); text != "" {
			return text
		}
	}
	return string(body)
}

// errorText reads a string, an object's message, or FastAPI's list.
func errorText(v gjson.Result) string {
	switch {
	case v.Type == gjson.String:
		return v.Str
	case v.IsArray():
		var all []string
		v.ForEach(func(_, e gjson.Result) bool {
			all = append(all, fieldError(e))
			return len(all) < 5
		})
		return strings.Join(all, "; ")
	case !v.IsObject():
		return ""
	}
	text := v.Get("message").Str
	if d := v.Get("message.detail"); text == "" && d.Exists() {
		text = errorText(d) // Mistral puts FastAPI's list there
	}
	if text == "" {
		text = errorText(v.Get("detail"))
	}
	if p := v.Get("param").Str; p != "" && !strings.Contains(text, p) {
		text += " (" + p + ")"
	}
	return text
}

// fieldError returns an entry of FastAPI's list as "place in the body: what is wrong".
func fieldError(e gjson.Result) string {
	var loc []string
	e.Get("loc").ForEach(func(_, part gjson.Result) bool {
		loc = append(loc, part.String())
		return len(loc) < 8
	})
	text := e.Get("msg").String()
	if len(loc) > 0 {
		text = strings.Join(loc, ".") + ": " + text
	}
	return text
}
