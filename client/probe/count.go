package probe

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/tidwall/gjson"

	"llmsweep/client"
)

// The sources of a prompt's token count.
const (
	countUsage    = "usage"    // usage.prompt_tokens of a real request, chat template included
	countTokenize = "tokenize" // the server's tokenizer, for the text alone
)

// Count returns how many prompt tokens the server counts for a user message with the given text: from the usage of a real
// request for one token, or else from the server's tokenizer. [Prober.CountSource] returns which. It must be called
// after Preflight, and is not safe for concurrent use.
func (p *Prober) Count(ctx context.Context, text string) (int, error) {
	t, err := p.try(ctx, p.options, text, 1)
	if err != nil {
		return 0, err
	}
	if t.result.Status != client.StatusOK {
		return 0, failed(t)
	}
	if n := t.result.PromptTokens; n > 0 {
		p.source = countUsage
		return n, nil
	}
	if n, err := p.Tokenize(ctx, text); err == nil {
		p.source = countTokenize
		return n, nil
	}
	return 0, &Error{Kind: kindRefused, URL: t.url, What: "the server does not tell how many tokens a prompt has",
		Do: "Lengths cannot be set by its count; name a --tokenizer."}
}

// CountSource returns the source of the last count, countUsage or countTokenize; "" before the first.
func (p *Prober) CountSource() string { return p.source }

// Tokenize returns how many tokens the server's tokenizer makes of a text alone, by the endpoint of vLLM, llama.cpp and
// TGI. It returns an error where the server has none.
func (p *Prober) Tokenize(ctx context.Context, text string) (int, error) {
	body, err := json.Marshal(map[string]any{
		"model": p.options.Params.Model, "prompt": text, "content": text, "inputs": text, "add_special_tokens": false,
	})
	if err != nil {
		return 0, err
	}
	a, err := p.client.Fetch(ctx, p.limit(askTime), http.MethodPost, "/tokenize", body)
	if err != nil {
		return 0, err
	}
	if n := tokenCount(gjson.ParseBytes(a.Body)); n > 0 {
		return n, nil
	}
	return 0, errors.New("the server has no endpoint that tokenizes")
}

// tokenCount returns vLLM's {count}, or the length of llama.cpp's {tokens} or of TGI's list.
func tokenCount(v gjson.Result) int {
	if v.IsArray() {
		return int(v.Get("#").Int())
	}
	if n := v.Get("count"); n.Exists() {
		return int(n.Int())
	}
	return int(v.Get("tokens.#").Int())
}
