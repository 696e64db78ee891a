package api

// Scorer is a way to ask a server how likely it finds a text: for the log-probability of each token of a prompt. Package scoring has those that
// servers understand. The answer is no stream.
type Scorer interface {
	// Path returns the path of requests below the base URL. It may be another one than that of the API.
	Path() string
	// Encode returns the body of a request.
	Encode(model, text string) ([]byte, error)
	// Usage returns the server's own token counts in an answer.
	Usage(answer []byte) Usage
}
