package sweep

import (
	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

// foresee warns of a plan that goes beyond what the client was shown to measure well on this machine: so many streams at
// once, and so many requests a second, of so many tokens each. 0 is what nobody knows.
func (x *experiment) foresee(streams int, rate, tokens float64) {
	if t := x.run.Client.Selftest; t != nil {
		x.foreseen(beyond(t, streams, rate*tokens, rate))
	}
}

func (x *experiment) foreseen(beyond []note.Note) {
	if len(beyond) == 0 {
		return
	}
	x.warn(notePlanBeyondClient.New(beyond))
	x.plan = append(x.plan, x.run.Warnings[len(x.run.Warnings)-1])
}

// beyond lists what a load is that the client was not shown to bear. What was never tried is left out.
func beyond(t *rundir.Selftest, streams int, tokens, rate float64) []note.Note {
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

// overreached says of a stage that it went there. Its figures may be right all the same: lag and processor time, which are
// measured in each stage, make a row invalid.
func overreached(t *rundir.Selftest, st *rundir.Stage) (warning note.Note, ok bool) {
	if t == nil {
		return note.Note{}, false
	}
	chunks := st.TokensPerS.Output
	if k := st.TokensPerChunk; k.Known() && k.Value() > 1 { // the client's work is by the chunk
		chunks = rundir.Exactly(chunks.Value() / k.Value())
	}
	tokens := 0.0
	if chunks.Known() {
		tokens = chunks.Value()
	}
	all := beyond(t, st.Concurrency.Peak, tokens, 0)
	if len(all) == 0 {
		return note.Note{}, false
	}
	return noteBeyondClient.New(all), true
}
