package probe

import (
	"context"
	"errors"
	"sync"
	"time"

	"llmsweep/client"
	"llmsweep/client/api"
	"llmsweep/client/note"
)

// Workload is the part of the coming requests that the preflight checks.
type Workload struct {
	PromptTokens int // of a request; 0 where that varies
	OutputTokens int
	Texts        []string // for [Prober.Count] later; they are counted while the preflight goes on
}

// Facts are the results of the preflight.
type Facts struct {
	API             string
	Model           string
	Models          []string // in the server's order
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

func (f *Facts) note(k note.Kind, args ...any) {
	f.Notes = append(f.Notes, k.New(args...))
}

// Preflight finds out what a measurement needs to know, with two to about ten requests, and sets the prober's options
// by it. An error is an [*Error], one line that says what happened and what to do, or the context's.
func (p *Prober) Preflight(ctx context.Context, want Workload) (Facts, error) {
	var f Facts
	l, err := p.negotiateHTTP(ctx, &f)
	if err != nil {
		return f, err
	}
	var identifying sync.WaitGroup
	if !l.identified {
		identifying.Go(func() { p.identify(ctx, &f, l) })
	}
	if p.options.Params.Think != nil { // the field for it depends on the engine
		identifying.Wait()
	}
	if p.client.HTTP2() {
		f.note(noteHTTP2)
	}
	p.texts = want.Texts
	t, err := p.findAPI(ctx, &f)
	identifying.Wait()
	if err != nil {
		return f, err
	}
	p.noPromptUsage = t.result.PromptTokens <= 0
	if n := want.PromptTokens + want.OutputTokens; f.MaxModelLen > 0 && n > f.MaxModelLen {
		f.note(noteTooLong, want.PromptTokens, want.OutputTokens, f.MaxModelLen)
	}
	if p.waited > 0 {
		f.note(noteBusy, p.waited.Seconds())
	}
	p.learn(ctx, &f, t)
	p.findContextLength(ctx, &f, want)
	o := p.options
	o.API, o.Params.Model, o.Params.Fields, o.Bearer = f.API, f.Model, f.Fields, f.Bearer
	return f, p.setOptions(o)
}

// negotiateHTTP finds the model over the version of HTTP that the user named, else over HTTP/1.1, and over HTTP/2 where
// the server may speak nothing else.
func (p *Prober) negotiateHTTP(ctx context.Context, f *Facts) (modelList, error) {
	l, first := p.findModel(ctx, f)
	var failure *client.Failure
	chosen := p.options.HTTP != "" && p.options.HTTP != "auto"
	if first == nil || chosen || !errors.As(first, &failure) {
		return l, first
	}
	if failure.Cause != client.CauseNeedsHTTP2 && failure.Class != client.ClassReset {
		return l, first
	}
	before, o := p.options, p.options
	o.HTTP = "2"
	if err := p.setOptions(o); err != nil {
		return l, err
	}
	var second Facts
	if l, err := p.findModel(ctx, &second); err == nil {
		*f = second
		return l, nil
	}
	return l, errors.Join(p.setOptions(before), first)
}

// findModel chooses from the list of models, or else from what the engine's own pages name.
func (p *Prober) findModel(ctx context.Context, f *Facts) (modelList, error) {
	l, missing, err := p.models(ctx)
	if err != nil {
		return l, err
	}
	if missing == nil {
		return l, p.chooseModel(f, l.names())
	}
	named := p.identify(ctx, f, l)
	l.identified = true
	if f.Engine == "" && p.options.Params.Model == "" {
		return l, missing
	}
	if p.options.Params.Model != "" {
		named = nil // the name on the page may be a path, and requests go without it
	}
	return l, p.chooseModel(f, named)
}
