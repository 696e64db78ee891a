package measure

import (
	"cmp"
	"slices"

	"llmsweep/sweep/rundir"
)

// findFull returns how well a queue of limited length explains which requests were refused: the share of the refusals that met at least a
// number of accepted requests in flight, or of what passed that met fewer, the smaller one, for the number that explains most. A server
// that sheds refuses at one number; a token bucket does not look at it. Both are absent where nothing was refused or nothing passed.
func findFull(attempts []attempt) (agrees, places rundir.Number) {
	type event struct {
		at     float64
		change int // in flight
		try    *attempt
	}
	var events []event
	for i := range attempts {
		a := &attempts[i]
		events = append(events, event{at: a.at, try: a})
		if a.passed {
			events = append(events, event{at: a.end, change: -1})
		}
	}
	// At one instant those that end come last: a place that is freed with a request's arrival may have been free for it, or not.
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(b.change, a.change)) })
	met := [2]map[int]int{{}, {}} // refused, passed: how many met a number in flight
	inFlight, most := 0, 0
	var all [2]int
	for _, e := range events {
		inFlight += e.change
		if e.try == nil {
			continue
		}
		kind := 0
		if e.try.passed {
			kind = 1
		}
		met[kind][inFlight]++
		all[kind]++
		inFlight += kind
		most = max(most, inFlight)
	}
	if all[0] == 0 || all[1] == 0 {
		return agrees, places
	}
	best, at := -1.0, 0
	refused, passed := all[0], 0 // that met the number or more; fewer
	for n := range most + 1 {
		if share := min(float64(refused)/float64(all[0]), float64(passed)/float64(all[1])); share > best {
			best, at = share, n
		}
		refused -= met[0][n]
		passed += met[1][n]
	}
	return rundir.Exactly(best), rundir.Exactly(float64(at))
}
