package cluster

import (
	"hash/fnv"
	"strconv"

	"llmsweep/sweep/arrival"
	"llmsweep/sweep/load"
)

// Of a stage, these many arrivals and sessions are compared.
const (
	comparedArrivals = 64
	comparedSessions = 4
)

// fingerprint sums up when the first requests of a stage are due and what they ask, so that ranks can find out that theirs differ.
func fingerprint(schedule arrival.Schedule, source load.Source) uint64 {
	h := fnv.New64a()
	write := func(n int) { h.Write(strconv.AppendInt(nil, int64(n), 10)); h.Write([]byte{0}) }
	for range comparedArrivals {
		if schedule == nil {
			break
		}
		due, ok := schedule.Next()
		if !ok {
			break
		}
		write(int(due))
	}
	for range comparedSessions {
		s, ok := source.Next()
		if !ok {
			break
		}
		h.Write([]byte(s.System))
		for t := range s.All() {
			h.Write([]byte(t.User))
			write(t.OutputTokens)
			write(int(t.Think))
		}
	}
	return h.Sum64()
}
