package cluster

import (
	"slices"

	"llmsweep/sweep/rundir"
)

// shorten returns what rank 0 has to know of a request while the stage runs.
func shorten(r *rundir.Record, tokens int) Ended {
	e := Ended{
		Status: r.Status, Error: r.Error, HTTP: r.HTTP, Sent: value(r.Sent), Headers: value(r.Headers),
		FirstToken: value(r.FirstToken), LastToken: value(r.LastToken), End: value(r.End),
		OutputTokens: -1, Tokens: tokens, Grouped: len(r.Counts) > 0,
	}
	if r.OutputTokens.Known() {
		e.OutputTokens = int(r.OutputTokens.Value())
	}
	if r.FirstToken.Known() {
		e.Chunks = len(r.GapsUS) + 1
	}
	return e
}

// lengthen returns a record of what Shorten kept: enough for an account of a running stage.
func lengthen(e *Ended, into *rundir.Record) {
	*into = rundir.Record{
		Status: e.Status, Error: e.Error, HTTP: e.HTTP, Sent: number(e.Sent), Headers: number(e.Headers),
		FirstToken: number(e.FirstToken), LastToken: number(e.LastToken), End: rundir.Exactly(e.End),
		GapsUS: into.GapsUS[:0],
	}
	if e.OutputTokens >= 0 {
		into.OutputTokens = rundir.Exactly(float64(e.OutputTokens))
	}
	if n := e.Chunks - 1; n > 0 { // only their number counts
		into.GapsUS = slices.Grow(into.GapsUS, n)[:n]
	}
	if e.Grouped {
		into.Counts = oneCount
	}
}

var oneCount = []int32{1}

// value returns an instant or a length, -1 where there is none.
func value(n rundir.Number) float64 {
	if !n.Known() {
		return -1
	}
	return n.Value()
}

// number is the reverse of value.
func number(v float64) rundir.Number {
	if v < 0 {
		return rundir.Number{}
	}
	return rundir.Exactly(v)
}
