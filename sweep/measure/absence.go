package measure

import (
	"llmsweep/client"
	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

// absence is the time in which nothing listened at the server's address: it had died, or was started again.
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

// absenceNote is zero where the server was there for all but the tolerated share of the requests.
func (s *summary) absenceNote(st *rundir.Stage) note.Note {
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
