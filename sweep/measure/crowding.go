package measure

import (
	"math"

	"llmsweep/sweep/arrival"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
	"llmsweep/sweep/stats"
)

// Where requests wait for each other, the share beyond a limit is higher in a stage whose arrivals happen to be crowded: some Poisson arrivals
// are, others are not. That chance is most of what a stage is off by, and it can be computed, since the instants are known: how many of the
// arrivals would find a long queue at a simple server, compared with how many do on average. It is a control variate (Lavenberg and Welch,
// Management Science 27 (1981)).

// crowding returns by how much more of the arrivals come when it is crowded than of Poisson arrivals at the same rate, on average: in log-odds, to first order, for
// simple servers (M/D/1) with the loads of [slo.Loads], and for waits that as many exceed as may exceed the term's limit. It is nil where
// arrivals are not independent: outside of Poisson stages, and in conversations.
func (b *beyond) crowding(st *rundir.Stage) []float64 {
	n := len(b.kept)
	if st.Kind != arrival.KindPoisson || b.conversation || n < 2 || !st.Rate.Known() {
		return nil
	}
	rate := float64(n-1) / (b.kept[n-1].due - b.kept[0].due)
	if !(rate > 0) || math.IsInf(rate, 0) {
		return nil
	}
	var all []float64
	for _, load := range slo.Loads() {
		tail := b.term.CrowdedShare(load)
		crowded := b.crowded(load/rate, stats.QueueWait(load, tail)) / float64(n)
		all = append(all, math.Round((crowded-tail)/(tail*(1-tail))*shown)/shown)
	}
	return all
}

// shown is what a digit of crowding in run.json is worth: 1/1000.
const shown = 1000

// crowded returns how many arrivals find more than a wait, in service times, at a server with a service time in seconds.
func (b *beyond) crowded(service, wait float64) (count float64) {
	work, last := 0.0, b.kept[0].due // of the queue, in service times
	for _, k := range b.kept {
		work = max(0, work-(k.due-last)/service)
		if last = k.due; work > wait {
			count++
		}
		work++
	}
	return count
}
