package probe

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/tidwall/gjson"

	"llmsweep/client"
)

// Where a prompt's count came from.
const (
	CountUsage    = "usage"    // a real request's usage.prompt_tokens: chat template and all
	CountTokenize = "tokenize" // the server's tokenizer, asked for the text alone
)

// Count is how many prompt tokens the server counts when text is the whole content of the user's message: what a real
// request for one token reports, or else what the server's tokenizer says. [Prober.CountSource] tells which. It
// needs settled options, and is not safe for concurrent use.
func (p *Prober) Count(ctx context.Context, text string) (int, error) {
	t, err := p.try(ctx, p.options, text, 1)
	if err != nil {
		return 0, err
	}
	if t.result.Status != client.StatusOK {
		return 0, failed(t)
	}
	if n := t.result.PromptTokens; n > 0 {
		p.source = CountUsage
		return n, nil
	}
	if n, err := p.Tokenize(ctx, text); err == nil {
		p.source = CountTokenize
		return n, nil
	}
	return 0, &Error{Kind: KindRefused, URL: t.url, What: "the server does not tell how many tokens a prompt has",
		Do: "Lengths cannot be set by its count; name a --tokenizer."}
}

// CountSource is what the last count rested on, [CountUsage] or [CountTokenize]; "" before the first.
func (p *Prober) CountSource() string { return p.source }

// Tokenize is how many tokens the server's tokenizer makes of a text alone, asked in the ways of vLLM, llama.cpp, TGI and
// lmdeploy. It is an error where the server has none to ask.
func (p *Prober) Tokenize(ctx context.Context, text string) (int, error) {
	for _, way := range []struct {
		path string
		ask  map[string]any
		size func(gjson.Result) int
	}{
		{"/tokenize", map[string]any{"model": p.options.Params.Model, "prompt": text, "content": text, "inputs": text, "add_special_tokens": false}, tokenCount},
		{"/v1/encode", map[string]any{"input": text}, func(v gjson.Result) int { return int(v.Get("length").Int()) }},
	} {
		body, err := json.Marshal(way.ask)
		if err != nil {
			return 0, err
		}
		a, err := p.client.Fetch(ctx, p.limit(askTime), http.MethodPost, way.path, body)
		if err != nil {
			continue
		}
		if n := way.size(gjson.ParseBytes(a.Body)); n > 0 {
			return n, nil
		}
	}
	return 0, errors.New("the server has no tokenizer to ask")
}

// tokenCount reads vLLM's {count}, llama.cpp's {tokens} or TGI's list.
func tokenCount(v gjson.Result) int {
	if v.IsArray() {
		return int(v.Get("#").Int())
	}
	if n := v.Get("count"); n.Exists() {
		return int(n.Int())
	}
	return int(v.Get("tokens.#").Int())
}
