package measure

import (
	"llmsweep/client"
	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

// absence is when nothing listened where the server was: it had died, or was started again. Its requests say nothing of
// what the server can do.
type absence struct {
	n           int
	first, last float64
}

func (a *absence) add(r *rundir.Record) {
	if r.Error != string(client.ClassConnect) || !r.Due.Known() {
		return
	}
	at := r.Due.Value()
	if a.n++; a.n == 1 {
		a.first, a.last = at, at
	}
	a.first, a.last = min(a.first, at), max(a.last, at)
}

// awayNote returns why a stage is invalid in which the server was away for more than the tolerated share of the
// requests; a zero note where it was there.
func (s *summary) awayNote(st *rundir.Stage) note.Note {
	a, ended := &s.metrics.absence, st.Requests.OK+st.Requests.Error
	if float64(a.n) <= s.Tolerance*float64(ended) {
		return note.Note{}
	}
	return noteAway.New(a.last-a.first, a.n)
}

// WasAway reports whether a stage is invalid because the server was away.
func WasAway(why note.Note) bool { return why.Is(noteAway) }

// Accident reports whether a stage is invalid because of something that neither the client's speed nor the load caused.
func Accident(why note.Note) bool { return WasStopped(why) || WasAway(why) }
