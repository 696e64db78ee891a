package api

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"
)

// maxMessage is how many bytes of an error's body are read.
const maxMessage = 64 << 10

// IsError reports whether a JSON document, which may be cut short, is an error object.
func IsError(body []byte) bool {
	v := gjson.ParseBytes(body)
	return isError(last(v, "error"), last(v, "object"))
}

// isError tells an error object inside a 200 in the shapes that servers use: an "error" that says something, or the
// whole being one.
func isError(err, object gjson.Result) bool {
	switch err.Type {
	case gjson.Null, gjson.False: // or not there
		return object.Str == "error"
	case gjson.String:
		return err.Str != ""
	}
	return true
}

// Title is a web page's title, for people to see where they ended up.
func Title(page []byte) string {
	_, rest, ok := bytes.Cut(page, []byte("<title>"))
	if !ok {
		return ""
	}
	t, _, _ := bytes.Cut(rest, []byte("</"))
	return fmt.Sprintf(" (%s)", bytes.TrimSpace(t))
}

// ErrorText finds a server's own words in the body of a refusal or in an error object: {"error": {"message"}},
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
		if text := words(at); text != "" {
			return text
		}
	}
	return string(body)
}

// words are an error value's words: a string, an object's message, or a list of complaints about fields.
func words(v gjson.Result) string {
	switch {
	case v.Type == gjson.String:
		return v.Str
	case v.IsArray():
		var all []string
		v.ForEach(func(_, e gjson.Result) bool {
			all = append(all, complaint(e))
			return len(all) < 5
		})
		return strings.Join(all, "; ")
	case !v.IsObject():
		return ""
	}
	text := v.Get("message").Str
	if d := v.Get("message.detail"); text == "" && d.Exists() {
		text = words(d) // Mistral puts FastAPI's list there
	}
	if text == "" {
		text = words(v.Get("detail"))
	}
	if p := v.Get("param").Str; p != "" && !strings.Contains(text, p) {
		text += " (" + p + ")"
	}
	return text
}

// complaint is one entry of FastAPI's list: where in the body, and what about it.
func complaint(e gjson.Result) string {
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
