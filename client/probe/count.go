package probe

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/tidwall/gjson"

	"llmsweep/client"
)

const (
	countUsage    = "usage"    // usage.prompt_tokens of a real request, chat template included
	countTokenize = "tokenize" // the server's tokenizer, for the text alone
)

const maxConcurrentCounts = 8

// count is a text's number of tokens, and countUsage or countTokenize.
type count struct {
	tokens int
	source string
}

// Count returns how many prompt tokens the server counts for user messages with the given texts: from the usage of real
// requests for one token, or else from its tokenizer ([Prober.CountSource] returns which). Texts are counted
// concurrently, and once more one after another where the server refuses that. It must be called after Preflight, and
// is not safe for concurrent use.
func (p *Prober) Count(ctx context.Context, texts ...string) ([]int, error) {
	p.counting.Wait()
	errs := make([]error, len(texts))
	slots := make(chan struct{}, maxConcurrentCounts)
	for i, text := range texts {
		if p.storedCount(text).tokens > 0 {
			continue
		}
		p.counting.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			errs[i] = p.count(ctx, text)
		})
	}
	p.counting.Wait()
	tokens := make([]int, len(texts))
	for i, text := range texts {
		if err := p.recount(ctx, text, errs[i], len(texts) > 1); err != nil {
			return nil, err
		}
		c := p.storedCount(text)
		tokens[i], p.source = c.tokens, c.source
	}
	return tokens, nil
}

// recount counts a text until err, of the count before, is nil. The first attempt is not delayed where concurrent
// requests may be the reason of the refusal.
func (p *Prober) recount(ctx context.Context, text string, err error, concurrent bool) error {
	for ; err != nil; concurrent = false {
		var e *Error
		if ctx.Err() != nil || !errors.As(err, &e) {
			return err
		}
		final := e.HTTP/100 == 4 && e.HTTP != http.StatusTooManyRequests || e.Kind == kindUncounted
		if final || !concurrent && !p.wait(ctx, e.HTTP, e.retryAfter) {
			return err
		}
		err = p.count(ctx, text)
	}
	return nil
}

func (p *Prober) storedCount(text string) count {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.counts[text]
}

func (p *Prober) count(ctx context.Context, text string) error {
	if !p.noPromptUsage {
		n, err := p.countByUsage(ctx, p.options, text)
		if err != nil {
			return err
		}
		if n > 0 {
			p.storeCount(text, count{n, countUsage})
			return nil
		}
	}
	n, err := p.Tokenize(ctx, text)
	if err != nil {
		return &Error{
			Kind: kindUncounted, URL: p.client.Endpoint(),
			What: "the server does not tell how many tokens a prompt has",
			Do:   "Lengths cannot be set by its count; name a --tokenizer.",
		}
	}
	p.storeCount(text, count{n, countTokenize})
	return nil
}

func (p *Prober) storeCount(text string, c count) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.counts[text] = c
}

// countByUsage returns the prompt tokens in the usage of a request; 0 where there are none.
func (p *Prober) countByUsage(ctx context.Context, o client.Options, text string) (int, error) {
	t, err := p.try(ctx, o, text, 1)
	if err == nil && t.result.Status != client.StatusOK {
		err = trialError(t)
	}
	return max(0, t.result.PromptTokens), err
}

// countAhead counts texts while the trial goes on, with the same options. Count sees to those that are refused.
func (p *Prober) countAhead(ctx context.Context, o client.Options, texts []string) (drop func()) {
	ctx, cancel := context.WithCancel(ctx)
	for _, text := range texts {
		p.counting.Go(func() {
			if n, err := p.countByUsage(ctx, o, text); err == nil && n > 0 {
				p.storeCount(text, count{n, countUsage})
			}
		})
	}
	return func() {
		cancel()
		p.counting.Wait()
		clear(p.counts)
	}
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
