package sweep

import (
	"runtime/metrics"
	"time"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

// A row that the client spoiled says as much of the client as of the server. Beyond these it is invalid, and is left out of the
// answer: a lateness that people would notice in a TTFT, a machine with no core left, and so many chunks received together, by
// a client that reads late, that the time between tokens is the client's.
const (
	maxLate   = 0.050 // seconds, p99: of sending, and of reading
	maxCPU    = 0.95  // of all cores
	maxShared = 0.2   // of the token-bearing chunks
)

// unfit says why a row says more of the client than of the server; empty where it does not.
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

// reading sums up how late the client was to read what had arrived, and what it read together.
type reading struct {
	delay          sample
	chunks, shared float64
}

func (c *reading) add(r *rundir.Record) {
	if r.ReadDelay.Known() {
		c.delay.of(r.Due.Value()).know(r.ReadDelay.Value())
	}
	if r.FirstToken.Known() {
		c.chunks += float64(len(r.GapsUS) + 1)
		c.shared += float64(len(r.Shared))
	}
}

func (c *reading) fill(st *rundir.Stage) {
	st.ReadDelay, st.SharedChunks = rundir.Dist{}, rundir.Number{}
	if c.delay.values() > 0 {
		st.ReadDelay = c.delay.dist()
	}
	if c.chunks > 0 {
		st.SharedChunks = rundir.Exactly(c.shared / c.chunks)
	}
}

// clientMeter measures what this process itself takes of the machine.
type clientMeter struct {
	cpu   cpuMeter
	gc    float64 // core-seconds
	began time.Time
}

func startMeter() clientMeter { return clientMeter{startCPU(), collecting(), time.Now()} }

// collected is the share of all cores that collecting garbage took since the start, as the runtime estimates it.
func (m clientMeter) collected(cores int) float64 {
	return (collecting() - m.gc) / time.Since(m.began).Seconds() / float64(cores)
}

func collecting() float64 {
	s := []metrics.Sample{{Name: "/cpu/classes/gc/total:cpu-seconds"}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindFloat64 {
		return 0
	}
	return s[0].Value.Float64()
}
