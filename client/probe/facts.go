package probe

import (
	"context"
	"errors"
	"time"

	"llmsweep/client"
	"llmsweep/client/api"
	"llmsweep/client/note"
)

// Want is the part of the coming requests that the preflight checks.
type Want struct {
	PromptTokens int // of a request; 0 where that varies
	OutputTokens int
}

// Facts are the results of the preflight.
type Facts struct {
	API             string
	Model           string
	Models          []string // all that it lists, in its order
	Engine, Version string   // "" where it does not tell
	MaxModelLen     int      // tokens, prompt and answer together; 0 where it does not tell

	Streams        bool // always true without an error: only streams can be measured
	Usage          bool // it reports token counts
	LengthForced   bool // its answers have exactly as many tokens as asked
	Thinks         bool // it sent reasoning
	TokensPerChunk float64
	Fields         api.Fields // the optional fields that it accepts
	Rejected       []string   // the fields that it rejects

	Latency time.Duration // of the last request of the preflight: first byte sent to last token
	Notes   []note.Note   // what a reader of the results should know

	Bearer bool // see client.Options.Bearer
}

// note adds a note of kind k with the values of its arguments.
func (f *Facts) note(k note.Kind, args ...any) {
	f.Notes = append(f.Notes, k.New(args...))
}

// Preflight finds out what a measurement needs to know, with two to about ten requests, and sets the prober's options by
// it. An error is an [*Error], one line that says what happened and what to do, or the context's.
func (p *Prober) Preflight(ctx context.Context, want Want) (Facts, error) {
	var f Facts
	if err := p.greet(ctx, &f); err != nil {
		return f, err
	}
	if p.client.HTTP2() {
		f.note(noteHTTP2)
	}
	if n := want.PromptTokens + want.OutputTokens; f.MaxModelLen > 0 && n > f.MaxModelLen {
		f.note(noteTooLong, want.PromptTokens, want.OutputTokens, f.MaxModelLen)
	}
	t, err := p.settle(ctx, &f)
	if err != nil {
		return f, err
	}
	if p.waited > 0 {
		f.note(noteBusy, p.waited.Seconds())
	}
	p.learn(ctx, &f, t)
	p.context(ctx, &f, want)
	o := p.options
	o.API, o.Params.Model, o.Params.Fields, o.Bearer = f.API, f.Model, f.Fields, f.Bearer
	return f, p.use(o)
}

// greet meets the server over HTTP/1.1, unless the user asked for HTTP/2, and over HTTP/2 where it may speak nothing else.
func (p *Prober) greet(ctx context.Context, f *Facts) error {
	first := p.meet(ctx, f)
	var failure *client.Failure
	if o := p.options; first == nil || o.HTTP != "" && o.HTTP != "auto" || !errors.As(first, &failure) ||
		failure.Cause != client.CauseNeedsHTTP2 && failure.Class != client.ClassReset {
		return first
	}
	before, o := p.options, p.options
	o.HTTP = "2"
	if err := p.use(o); err != nil {
		return err
	}
	var second Facts
	if p.meet(ctx, &second) == nil {
		*f = second
		return nil
	}
	return errors.Join(p.use(before), first)
}

// meet finds out the engine and chooses the model.
func (p *Prober) meet(ctx context.Context, f *Facts) error {
	l, missing, err := p.models(ctx)
	if err != nil {
		return err
	}
	if missing == nil {
		if err := p.choose(f, l.names()); err != nil {
			return err
		}
		p.identify(ctx, f, l)
		return nil
	}
	named := p.identify(ctx, f, l)
	if f.Engine == "" && p.options.Params.Model == "" {
		return missing
	}
	if p.options.Params.Model != "" {
		named = nil // the name on the page may be a path, and requests go without it
	}
	return p.choose(f, named)
}
