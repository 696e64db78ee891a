package rundir

import "encoding/json"

// Command is the command line of a run, and the settings that change each request. Secrets are redacted, in
// Args and in Body alike.
type Command struct {
	// Args is the command line, the program's name first.
	Args []string `json:"args"`
	// Body is the JSON object that was merged into each request.
	Body json.RawMessage `json:"body,omitempty"`
	// Headers are the names of the HTTP headers that were added to each request; values are not kept.
	Headers []string `json:"headers,omitempty"`
	// Timeout is the longest time that a request may take, in seconds.
	Timeout float64 `json:"timeout_s,omitempty"`
	// Proxy is the URL of the HTTP proxy; empty where there was none.
	Proxy string `json:"proxy,omitempty"`
}

// IsZero reports whether nothing was recorded, as in runs of an older llmsweep; encoding/json's omitzero asks it.
func (c Command) IsZero() bool {
	return len(c.Args) == 0 && len(c.Body) == 0 && len(c.Headers) == 0 && c.Timeout == 0 && c.Proxy == ""
}
