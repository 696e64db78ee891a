package measure

import (
	"time"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/sample"
)

// unfit returns why a stage says more of the client than of the server.
func unfit(st *rundir.Stage) note.Note {
	late, read := st.Lag.P99, st.ReadDelay.P99
	switch {
	case late.Known() && late.Value() > maxLate:
		return noteSentLate.New(late.Value())
	case read.Known() && read.Value() > maxLate && st.SharedChunks.Value() > maxShared:
		return noteReadLate.New(read.Value(), st.SharedChunks.Value())
	case st.ClientCPU.Known() && st.ClientCPU.Value() > maxCPU:
		return noteNoCPULeft.New(st.ClientCPU.Value(), max(0, st.ClientGC.Value()/st.ClientCPU.Value()))
	}
	return note.Note{}
}

// leastStop is the shortest stop of the client that counts: a busy machine makes shorter ones.
const leastStop = time.Second

// Stopped returns why a stage is invalid in which the client did not run for some time; a zero note where it did.
func Stopped(d time.Duration) note.Note {
	if d < leastStop {
		return note.Note{}
	}
	return noteStopped.New(d.Seconds())
}

// WasStopped reports whether a stage is invalid because the client did not run for some time.
func WasStopped(why note.Note) bool { return why.Is(noteStopped) }

// readLate reports whether the client may be why tokens arrived together: it was too slow for the whole stage, or let a
// tenth of the reads wait for longer than there is between two tokens.
func readLate(st *rundir.Stage) bool {
	waited, gap := st.ReadDelay.P90, st.InterToken
	return !unfit(st).IsZero() || waited.Known() && gap.Known() && waited.Value() > gap.Value()
}

// ByClient reports whether a note of why a stage is invalid says that the client was too slow.
func ByClient(why note.Note) bool {
	return why.Is(noteSentLate) || why.Is(noteReadLate) || why.Is(noteNoCPULeft)
}

type reading struct {
	delay          sample.Sample
	chunks, shared float64 // shared: read together with the next
}

func (c *reading) add(r *rundir.Record) {
	if r.ReadDelay.Known() {
		c.delay.Add(r.Due.Value(), r.ReadDelay.Value())
	}
	if r.FirstToken.Known() {
		c.chunks += chunks(r)
		c.shared += float64(len(r.Shared))
	}
}

func (c *reading) fill(st *rundir.Stage) {
	st.ReadDelay, st.SharedChunks = rundir.Dist{}, rundir.Number{}
	if c.delay.Known() > 0 {
		st.ReadDelay = c.delay.Dist()
	}
	if c.chunks > 0 {
		st.SharedChunks = rundir.Exactly(c.shared / c.chunks)
	}
}
