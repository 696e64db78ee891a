package findings

import (
	"strconv"

	"llmsweep/client/note"
	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
)

// Waiting returns a line about ranks that have not joined yet.
func Waiting(missing string, l lang.Lang) string { return sayWaiting.In(l, missing) }

// StillConnecting returns a line about a rank that cannot reach rank 0 yet.
func StillConnecting(rank int, why string, l lang.Lang) string {
	return sayConnecting.In(l, strconv.Itoa(rank), why)
}

// Joined returns a line with the number of ranks that send.
func Joined(c *rundir.Cluster, l lang.Lang) string {
	return sayJoined.In(l, strconv.Itoa(len(c.Ranks)))
}

// DerivedToken warns of a token that others may be able to guess.
func DerivedToken(l lang.Lang) string { return sayDerived.In(l) }

// SelftestFailed returns that the self-test could not be run.
func SelftestFailed(err error, l lang.Lang) string { return saySelftestFailed.In(l, err.Error()) }

// Interrupted returns the error message of a measurement that was interrupted, whose results are in the directory dir.
func Interrupted(dir string, l lang.Lang) string { return stateSaved.In(l, dir) }

// PairInterrupted returns that of a comparison of two servers.
func PairInterrupted(dir string, l lang.Lang) string { return statePairSaved.In(l, dir) }

// Failed returns the error message of a measurement that failed, whose results are in the directory dir. The kind is
// that of [rundir.Plan], or empty for a comparison of two servers.
func Failed(kind string, why note.Note, dir string, l lang.Lang) string {
	say := statePairFailed
	switch kind {
	case rundir.KindSweep, rundir.KindUsers:
		say = stateSweepFailed
	case rundir.KindRun:
		say = stateRunFailed
	}
	return say.In(l, Phrase(why, l), dir)
}
