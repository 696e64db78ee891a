package probe

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"llmsweep/client"
)

// trialTokens is how many tokens the trial asks for: enough to tell a forced length, and several tokens in a chunk.
const trialTokens = 16

// trialPrompt has a short natural answer, so that sixteen tokens mean that the length was forced.
const trialPrompt = "Answer with the single word yes."

// packed is how many tokens a chunk must hold on average for running counts to be asked for. Below it lie streams
// whose last token had no text.
const packed = 1.05

// trial is one short request and what became of it.
type trial struct {
	options client.Options
	result  client.Result
	url     string
}

// try sends one short request with the options as they stand.
func (p *Prober) try(ctx context.Context, o client.Options, prompt string, n int) (trial, error) {
	c, err := client.New(o)
	if err != nil {
		return trial{}, err
	}
	defer c.CloseIdle()
	call, err := c.Prepare(&client.Request{
		Messages: []client.Message{{Role: "user", Content: prompt}}, OutputTokens: n,
	})
	if err != nil {
		return trial{}, err
	}
	t := trial{options: o, url: c.Endpoint()}
	t.result.Reset(time.Now())
	c.Do(ctx, call, &t.result)
	if t.result.Status == client.StatusIncomplete {
		return t, ctx.Err()
	}
	return t, nil
}

// settle finds an API and fields that the server takes, and sends a request that succeeds with them.
func (p *Prober) settle(ctx context.Context, f *Facts) (trial, error) {
	o := p.options
	o.Params.Model = f.Model
	if o.API != "auto" {
		return p.fit(ctx, f, o)
	}
	o.API = "chat"
	chat, err := p.fit(ctx, f, o)
	if err == nil || !refusedAPI(err) {
		return chat, err
	}
	o.API = "completions"
	t, second := p.fit(ctx, f, o)
	if second != nil {
		return chat, err // what chat said is the more telling
	}
	f.note("chat completions do not work here (%s): plain completions are measured", chat.result.Message)
	return t, nil
}

// refusedAPI says that another API may fare better: the path is not there, or the model has no chat template.
func refusedAPI(err error) bool {
	var e *Error
	return errors.As(err, &e) && (e.HTTP == 400 || e.HTTP == 404 || e.HTTP == 405 || e.HTTP == 422 || e.HTTP == 501)
}

// fit tries one API, leaving out fields for as long as the server rejects them.
func (p *Prober) fit(ctx context.Context, f *Facts, o client.Options) (trial, error) {
	o.Params.Fields = client.AllFields
	var first *trial
	var rejected, notes []string
	for {
		t, err := p.try(ctx, o, trialPrompt, trialTokens)
		if err != nil {
			return t, err
		}
		if t.result.Status == client.StatusOK {
			f.API, f.Fields, f.Rejected = o.API, o.Params.Fields, rejected
			f.Notes = append(f.Notes, notes...)
			return t, nil
		}
		if first == nil {
			first = &t
		}
		name := drop(&o.Params.Fields, &t.result)
		if name == "" {
			return *first, failed(*first)
		}
		rejected = append(rejected, name)
		notes = append(notes, fmt.Sprintf("the server rejects %s: left out (%s)", name, t.result.Message))
	}
}

// drop leaves out the field that a refusal names, or the least known one that is left; "" where no field can be to
// blame.
func drop(f *client.Fields, r *client.Result) string {
	if r.HTTP != http.StatusBadRequest && r.HTTP != http.StatusUnprocessableEntity {
		return ""
	}
	said := func(s string) bool { return strings.Contains(r.Message, s) }
	if !f.MaxCompletionTokens && said("max_completion_tokens") {
		f.MaxCompletionTokens = true
		return "max_tokens"
	}
	droppable := []struct {
		name string
		on   *bool
	}{
		{"min_tokens", &f.MinTokens}, {"ignore_eos", &f.IgnoreEOS}, {"stream_options", &f.StreamUsage},
	}
	for _, named := range []bool{true, false} {
		for _, d := range droppable {
			if *d.on && (!named || said(d.name)) {
				*d.on = false
				f.MinTokens = f.MinTokens && f.IgnoreEOS // goes with it
				return d.name
			}
		}
	}
	return ""
}

// failed is the error for a trial that did not succeed.
func failed(t trial) error {
	r := &t.result
	if r.Message == client.NotStreamed {
		return &Error{Kind: KindNoStream, URL: t.url, HTTP: r.HTTP,
			What: "the server answers in one piece although asked to stream, so no token's time can be told",
			Do:   "Ask a server that streams, or have the proxy before it pass \"stream\": true on."}
	}
	return remedy(t.url, &client.Failure{Class: r.Class, HTTP: r.HTTP, Message: r.Message})
}

// learn takes from a trial what it showed.
func (p *Prober) learn(ctx context.Context, f *Facts, t trial) {
	r := &t.result
	f.Streams = true
	f.Usage = r.TokenSource == client.SourceServer
	f.Thinks = r.FirstToken < r.FirstAnswer || r.FirstAnswer == client.Absent && r.FirstToken != client.Absent
	if n := r.Chunks(); n > 0 {
		f.TokensPerChunk = float64(r.OutputTokens) / float64(n)
	}
	f.Latency = r.LastToken - r.Sent
	learnLength(f, r)
	switch {
	case !f.Usage:
		f.note("the server does not count tokens: chunks are counted instead, and a chunk may hold several")
	case f.TokensPerChunk > packed:
		p.unpack(ctx, f, t.options)
	}
	if n := r.Chunks(); n > 3 && r.SharedReads == n-1 {
		f.note("all %d chunks came at once: is a proxy holding the stream back? Inter-token times mean nothing then", n)
	}
}

// learnLength tells whether the answer's length was forced. Ollama takes any field and honours none of these.
func learnLength(f *Facts, r *client.Result) {
	exact := r.OutputTokens == trialTokens
	f.LengthForced = exact && f.Fields.IgnoreEOS && f.Engine != "Ollama"
	switch {
	case r.OutputTokens > trialTokens:
		f.note("asked for %d tokens, the server sent %d: it does not heed the length", trialTokens, r.OutputTokens)
	case f.Engine == "Ollama":
		f.note("Ollama cannot be told to go on after a natural end: answers may be shorter than asked")
	case !f.Fields.IgnoreEOS:
		f.note("the server does not take ignore_eos: answers may be shorter than asked")
	case !exact:
		f.note("asked for exactly %d tokens, the server sent %d: answers may be shorter than asked", trialTokens, r.OutputTokens)
	}
}

// unpack asks for running counts, which tell how many tokens each chunk holds, where chunks hold several.
func (p *Prober) unpack(ctx context.Context, f *Facts, o client.Options) {
	o.Params.Fields.ContinuousUsage = true
	t, err := p.try(ctx, o, trialPrompt, trialTokens)
	if err == nil && t.result.Status == client.StatusOK && len(t.result.Counts) > 0 {
		f.Fields.ContinuousUsage = true
		f.note("chunks hold %.1f tokens on average: running counts tell how many each", f.TokensPerChunk)
		return
	}
	f.note("chunks hold %.1f tokens on average, and the server does not tell how many each", f.TokensPerChunk)
}
