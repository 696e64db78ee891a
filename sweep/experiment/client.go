package experiment

import (
	"context"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

// demand is what a plan asks of the client: streams at once, and requests per second, of a number of tokens each. 0 is
// not known.
type demand struct {
	streams      int
	rate, tokens float64
}

// WarnClientLimit warns of a plan that goes beyond what the client was shown to measure well on this machine: now, or
// once that is known.
func (x *Experiment) WarnClientLimit(streams int, rate, tokens float64) {
	d := demand{streams, rate, tokens}
	x.demands = append(x.demands, d)
	x.warnClientLimit(d)
}

func (x *Experiment) warnClientLimit(d demand) {
	t := x.run.Client.Selftest
	if t == nil {
		return
	}
	machines := x.machines()
	rate := d.rate / float64(machines)
	if all := excess(t, (d.streams+machines-1)/machines, rate*d.tokens, rate); len(all) > 0 {
		n := notePlanBeyondClient.New(all)
		x.Warn(n)
		x.planWarnings = append(x.planWarnings, n)
	}
}

// testClient runs after the first stage, so that a measurement begins at once, and the test disturbs none. Its time
// does not count. A run that goes on has the result of its first part.
func (x *Experiment) testClient(ctx context.Context) error {
	if x.config.Selftest == nil || x.clientTested || x.run.Client.Selftest != nil {
		return nil
	}
	x.clientTested = true
	elapsed := x.Elapsed()
	x.run.Client.Selftest = x.config.Selftest(ctx)
	x.setClock(elapsed)
	for _, d := range x.demands {
		x.warnClientLimit(d)
	}
	for i := range x.run.Stages {
		x.warnOverload(&x.run.Stages[i])
	}
	x.judgeClient()
	return x.save()
}

func (x *Experiment) warnOverload(st *rundir.Stage) {
	if w, ok := clientOverload(x.run.Client.Selftest, st, x.machines()); ok {
		st.Warnings = append(st.Warnings, w)
	}
}

// machines takes the others to be like this one.
func (x *Experiment) machines() int { return max(1, x.config.Ranks) }

// excess lists where a load goes beyond what the client was shown to bear. What was never tried is left out.
func excess(t *rundir.Selftest, streams int, tokens, rate float64) []note.Note {
	var all []note.Note
	if streams > t.Streams {
		all = append(all, noteExcessStreams.New(streams, t.Streams))
	}
	if t.TokensPerS.Known() && tokens > t.TokensPerS.Value() {
		all = append(all, noteExcessTokens.New(tokens, t.TokensPerS.Value()))
	}
	if t.ArrivalsPerS.Known() && rate > t.ArrivalsPerS.Value() {
		all = append(all, noteExcessArrivals.New(rate, t.ArrivalsPerS.Value()))
	}
	return all
}

// clientOverload returns a warning where a stage went beyond what the client was shown to bear. Its metrics may be
// right all the same: lag and processor time, which are measured in each stage, make a row invalid.
func clientOverload(t *rundir.Selftest, st *rundir.Stage, machines int) (warning note.Note, ok bool) {
	if t == nil {
		return note.Note{}, false
	}
	chunks := st.TokensPerS.Output
	if k := st.TokensPerChunk; k.Known() && k.Value() > 1 { // the client's work is by the chunk
		chunks = rundir.Exactly(chunks.Value() / k.Value())
	}
	tokens := 0.0
	if chunks.Known() {
		tokens = chunks.Value() / float64(machines)
	}
	all := excess(t, (st.Concurrency.Peak+machines-1)/machines, tokens, 0)
	if len(all) == 0 {
		return note.Note{}, false
	}
	return noteBeyondClient.New(all), true
}
