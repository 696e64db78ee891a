package probe

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"llmsweep/client"
	"llmsweep/client/api"
	"llmsweep/client/note"
)

// trialTokens is how many tokens the trial asks for: enough to recognise a forced length and chunks of several tokens.
// It is no engine's default (16, 100, 128, 256), so a server that ignores the length is recognised.
const trialTokens = 24

// trialPrompt has a short natural answer. An answer of the full length was therefore forced.
const trialPrompt = "Answer with the single word yes."

// packedChunk is the mean number of tokens in a chunk above which running counts are asked for. Streams whose last
// token has no text are below it.
const packedChunk = 1.05

type trial struct {
	options client.Options
	result  client.Result
	url     string
}

func (p *Prober) try(ctx context.Context, o client.Options, prompt string, n int) (trial, error) {
	c, err := client.New(o)
	if err != nil {
		return trial{}, err
	}
	defer c.CloseIdle()
	return p.ask(ctx, c, o, prompt, n)
}

// Usual numbers, for an estimate of a prompt's tokens.
const (
	templateTokens = 32
	bytesPerToken  = 4
)

// ask is try with a client that has options o.
func (p *Prober) ask(ctx context.Context, c *client.Client, o client.Options, prompt string, n int) (trial, error) {
	prepared, err := c.Prepare(&api.Request{
		Messages: []api.Message{{Role: "user", Content: prompt}}, OutputTokens: n,
	})
	if err != nil {
		return trial{}, err
	}
	t := trial{options: o, url: c.Endpoint()}
	if p.Pace != nil {
		p.Pace(ctx, templateTokens+(len(prompt)+bytesPerToken-1)/bytesPerToken+n)
	}
	t.result.Reset(time.Now())
	c.Do(ctx, prepared, &t.result)
	if t.result.Unpaid {
		return t, &Error{
			Kind: kindSpent,
			URL:  t.url,
			What: "--max-cost does not allow the requests that find out how to measure",
			Do:   "Raise it: see llmsweep help servers.",
		}
	}
	if t.result.Status == client.StatusIncomplete {
		return t, ctx.Err()
	}
	return t, nil
}

func (p *Prober) findAPI(ctx context.Context, f *Facts) (trial, error) {
	o := p.options
	o.Params.Model = f.Model
	o.Timeout = min(cmp.Or(o.Timeout, client.DefaultTimeout), trialTime)
	if o.API != api.Auto {
		return p.tryAPI(ctx, f, o)
	}
	o.API = api.Default()
	first, err := p.tryAPI(ctx, f, o)
	if err == nil || !refusedAPI(err) {
		return first, err
	}
	p.blameModel(f, err)
	for _, d := range api.Dialects()[1:] {
		traits := d.Traits()
		if !traits.Auto || !traits.Common && first.result.HTTP != http.StatusNotFound {
			continue
		}
		o.API = d.Name()
		t, e := p.tryAPI(ctx, f, o)
		switch {
		case e != nil:
			continue
		case traits.Common:
			f.note(noteCompletions, first.result.Message)
		default:
			f.note(noteNewerAPI, first.result.Message, o.API)
		}
		return t, nil
	}
	return first, err // the error of the default says more
}

// blameModel adds to a refusal which model was chosen: the first that the server lists may be an embedding model.
func (p *Prober) blameModel(f *Facts, err error) {
	var e *Error
	if p.options.Params.Model == "" && len(f.Models) > 1 && errors.As(err, &e) &&
		(e.Kind == kindNotFound || e.Kind == kindRefused) {
		others := enumerate(f.Models[1:])
		e.Do = "The model was " + f.Model + ", the first in the list: name one that chats with --model (" + others + ")."
	}
}

// refusedAPI reports whether another API may work: the path does not exist, or the model has no chat template.
func refusedAPI(err error) bool {
	var e *Error
	return errors.As(err, &e) && (e.HTTP == 400 || e.HTTP == 404 || e.HTTP == 405 || e.HTTP == 422 || e.HTTP == 501)
}

// tryAPI leaves out fields while the server rejects them.
func (p *Prober) tryAPI(ctx context.Context, f *Facts, o client.Options) (trial, error) {
	d, err := api.DialectByName(o.API)
	if err != nil {
		return trial{}, err
	}
	o.Params.Fields = d.Traits().Fields
	if o.Params.Natural {
		o.Params.Fields.IgnoreEOS, o.Params.Fields.MinTokens = false, false
	}
	o.Params.Fields.ReasoningEffort = d.Traits().OnDemand.ReasoningEffort && o.Params.Think != nil && f.Engine == "Ollama"
	var first *trial
	var rejected []string
	var notes []note.Note
	concurrent, dropCounts := len(p.texts) > 0, func() {}
	if concurrent {
		dropCounts = p.countAhead(ctx, o, p.texts)
		p.texts = nil
	}
	for {
		t, err := p.try(ctx, o, trialPrompt, trialTokens)
		if concurrent && refusedForLoad(&t, err) { // it may take one request at a time
			p.counting.Wait()
			concurrent = false
			continue
		}
		if err != nil {
			dropCounts()
			return t, err
		}
		if t.result.HTTP == http.StatusUnauthorized && d.Traits().Key != "" && o.APIKey != "" && !o.Bearer {
			o.Bearer = true // vLLM takes a bearer token also here
			continue
		}
		if t.result.Status == client.StatusOK {
			f.API, f.Fields, f.Rejected, f.Bearer = o.API, o.Params.Fields, rejected, o.Bearer
			f.Notes = append(f.Notes, notes...)
			return t, nil
		}
		if p.wait(ctx, t.result.HTTP, t.result.RetryAfter) {
			continue
		}
		dropCounts() // their fields, or API, are not those that will be used
		if first == nil {
			first = &t
		}
		name := dropRejected(&o.Params, d.Traits().Thinks, &t.result)
		if name == "" {
			return *first, trialError(*first)
		}
		rejected = append(rejected, name)
		notes = append(notes, noteRejected.New(name, t.result.Message))
	}
}

// refusedForLoad reports whether a trial may succeed once no other requests run.
func refusedForLoad(t *trial, err error) bool {
	var e *Error
	return t.result.HTTP == http.StatusTooManyRequests || t.result.HTTP == http.StatusServiceUnavailable ||
		errors.As(err, &e) && e.Kind == kindSpent
}

// dropRejected changes or leaves out a field that may be the reason of a refusal, and returns its name; "" for none.
func dropRejected(p *api.Params, thinks bool, r *client.Result) string {
	if thinks && p.Think != nil {
		if name := dropThinkField(&p.Fields, r); name != "" {
			return name
		}
	}
	return dropField(&p.Fields, r)
}

// dropThinkField changes the field that controls reasoning, or leaves it out, where a refusal names it.
func dropThinkField(f *api.Fields, r *client.Result) string {
	mentions := func(s string) bool { return r.HTTP/100 == 4 && strings.Contains(r.Message, s) }
	switch {
	case f.NoThinking:
	case !f.ReasoningEffort && mentions("chat_template_kwargs"):
		f.ReasoningEffort = true
		return "chat_template_kwargs"
	case f.ReasoningEffort && mentions("reasoning_effort"), mentions("think"), mentions("reasoning"):
		f.NoThinking = true
		if f.ReasoningEffort {
			return "reasoning_effort"
		}
		return "think"
	}
	return ""
}

// dropField leaves out the field that a refusal names, or else the least common one.
func dropField(f *api.Fields, r *client.Result) string {
	if r.HTTP != http.StatusBadRequest && r.HTTP != http.StatusUnprocessableEntity {
		return ""
	}
	mentions := func(s string) bool { return strings.Contains(r.Message, s) }
	if !f.MaxCompletionTokens && mentions("max_completion_tokens") {
		f.MaxCompletionTokens = true
		return "max_tokens"
	}
	droppable := []struct {
		name  string
		field *bool
	}{
		{"min_tokens", &f.MinTokens}, {"ignore_eos", &f.IgnoreEOS}, {"stream_options", &f.StreamUsage},
	}
	for _, named := range []bool{true, false} {
		for _, d := range droppable {
			if *d.field && (!named || mentions(d.name)) {
				*d.field = false
				f.MinTokens = f.MinTokens && f.IgnoreEOS // is sent only with it
				return d.name
			}
		}
	}
	return ""
}

func trialError(t trial) error {
	r := &t.result
	if r.Message == client.NotStreamed {
		return &Error{Kind: kindNoStream, URL: t.url, HTTP: r.HTTP,
			What: "the server answers in one piece although it was asked to stream, so tokens have no times",
			Do:   "Use a server that streams, or make the proxy in front of it pass on \"stream\": true."}
	}
	err := remedy(t.url, &client.Failure{Class: r.Class, HTTP: r.HTTP, Message: r.Message})
	var e *Error
	if errors.As(err, &e) {
		e.retryAfter = r.RetryAfter
	}
	if d, _ := api.DialectByName(t.options.API); errors.As(err, &e) && e.Kind == kindNotFound && !d.Traits().Common {
		e.Do = "The server does not speak that API (" + d.Name() +
			"), or not for that model: --api auto finds out which it speaks."
	}
	return err
}

func (p *Prober) learn(ctx context.Context, f *Facts, t trial) {
	r := &t.result
	f.Streams = true
	f.Usage = r.TokenSource == client.SourceServer
	// The count matters too: chunks received together have the same instant.
	f.Thinks = r.ReasoningTokens > 0 || r.FirstToken < r.FirstAnswer ||
		r.FirstAnswer == client.Absent && r.FirstToken != client.Absent
	if n := r.Chunks(); n > 0 {
		f.TokensPerChunk = float64(r.OutputTokens) / float64(n)
	}
	f.Latency = r.LastToken - r.Sent
	learnLength(f, r, t.options.Params.Natural)
	p.learnChunks(ctx, f, t)
	learnThinking(f, t.options.Params)
	if n := r.Chunks(); inOneReceive(r) && p.confirmOneReceive(ctx, t.options) {
		f.note(noteHeldBack, n)
	}
}

func inOneReceive(r *client.Result) bool { return r.Chunks() > 3 && r.SharedReads == r.Chunks()-1 }

// confirmOneReceive tries once more: on a busy machine a fast server's chunks can be received together by chance.
func (p *Prober) confirmOneReceive(ctx context.Context, o client.Options) bool {
	t, err := p.try(ctx, o, trialPrompt, trialTokens)
	return err == nil && t.result.Status == client.StatusOK && inOneReceive(&t.result)
}

func (p *Prober) learnChunks(ctx context.Context, f *Facts, t trial) {
	r := &t.result
	switch {
	case !f.Usage:
		f.note(noteChunksCounted)
	case f.TokensPerChunk <= packedChunk:
	case len(r.Counts) > 0:
		f.note(noteCountsEach, f.TokensPerChunk)
	default:
		p.tryRunningCounts(ctx, f, t.options)
	}
}

// canForceLength reports whether API and engine can be told to continue after a natural end. Ollama and TGI accept any
// field on their /v1, and ignore these.
func canForceLength(f *Facts) bool {
	d, err := api.DialectByName(f.API)
	return err == nil && d.Traits().Fields.IgnoreEOS && f.Engine != "Ollama" && f.Engine != "TGI"
}

// learnLength finds whether the requested length was obeyed, and forced. Natural answers may be shorter.
func learnLength(f *Facts, r *client.Result, natural bool) {
	exact := r.OutputTokens == trialTokens
	f.LengthForced = exact && f.Fields.IgnoreEOS && canForceLength(f)
	switch {
	case r.OutputTokens > trialTokens && r.Chunks() == trialTokens && r.TokenSource == client.SourceServer:
		f.note(noteCountDoubtful, trialTokens, r.Chunks(), r.OutputTokens)
	case r.OutputTokens > trialTokens:
		f.note(noteLengthIgnored, trialTokens, r.OutputTokens)
	case natural:
	case !canForceLength(f):
		f.note(noteNotForced, f.Engine)
	case !f.Fields.IgnoreEOS:
		f.note(noteNoIgnoreEOS)
	case !exact && r.TokenSource != client.SourceChunks: // a chunk may hold several tokens
		f.note(noteShorter, trialTokens, r.OutputTokens)
	}
}

func learnThinking(f *Facts, p api.Params) {
	d, err := api.DialectByName(f.API)
	switch {
	case err != nil || p.Think == nil:
	case !d.Traits().Thinks:
		f.note(noteThinkNoAPI, f.API)
	case f.Fields.NoThinking:
		f.note(noteThinkRefused)
	case *p.Think && !f.Thinks:
		f.note(noteThinkNone)
	case !*p.Think && f.Thinks:
		f.note(noteThinkUnbidden)
	}
}

// tryRunningCounts asks for running counts, which give the number of tokens in each chunk.
func (p *Prober) tryRunningCounts(ctx context.Context, f *Facts, o client.Options) {
	if d, err := api.DialectByName(o.API); err == nil && d.Traits().OnDemand.ContinuousUsage {
		o.Params.Fields.ContinuousUsage = true
		t, err := p.try(ctx, o, trialPrompt, trialTokens)
		if err == nil && t.result.Status == client.StatusOK && len(t.result.Counts) > 0 {
			f.Fields.ContinuousUsage = true
			f.note(noteCountsRunning, f.TokensPerChunk)
			return
		}
	}
	f.note(noteCountsNone, f.TokensPerChunk)
}
