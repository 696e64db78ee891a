package findings

import (
	"strconv"
	"strings"

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

// ranks names the ranks of a run; empty where one process sent.
func ranks(run *rundir.Run, l lang.Lang) string {
	if run.Cluster == nil {
		return ""
	}
	var all []string
	for _, r := range run.Cluster.Ranks {
		all = append(all, r.Host)
	}
	return sayRanks.In(l, strconv.Itoa(len(all)), strings.Join(all, lang.Comma.In(l)))
}
