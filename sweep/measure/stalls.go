package measure

import (
	"cmp"
	"slices"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// stalls counts how often all open streams stood still together, for much longer than between two tokens, while no
// request waited for its first token: a server that works on a prompt does not pause. streams are answers that have a
// rhythm, all those that the model computed.
func stalls(streams, all []*stream, out *rundir.Traits) {
	usual := usualGap(streams)
	if usual == 0 {
		return
	}
	open := newTimeline(all)
	spread := max(sameInstant, usual) // streams that go on together may have different rhythms
	count, time := 0, 0.0
	for _, s := range joinGaps(longGaps(streams, max(shortestStall, stallFactor*usual)), spread) {
		if open.workedOnPrompts(s) || float64(s.streams) < stalledShare*float64(open.openDuring(s, spread)) {
			continue
		}
		count, time = count+1, time+s.end-s.from
	}
	if count > 0 {
		out.Stalls, out.StallTime = count, rundir.Exactly(time/float64(count))
	}
}

// usualGap returns the median over answers of their mean gap without the largest; 0 where no answer has enough gaps.
func usualGap(streams []*stream) float64 {
	var means []float64
	for _, s := range streams {
		if n := s.chunks - enoughTokens; n > 0 {
			means = append(means, (s.last-s.first-s.largest)/n)
		}
	}
	if len(means) == 0 {
		return 0
	}
	slices.Sort(means)
	return stats.Quantile(means, 0.5)
}

type stall struct {
	from, end float64
	streams   int
}

// longGaps returns the largest gap of each stream that is longer than some seconds, by their ends.
func longGaps(streams []*stream, long float64) (gaps []stall) {
	for _, s := range streams {
		if s.largest > long {
			gaps = append(gaps, stall{s.largestEnd - s.largest, s.largestEnd, 1})
		}
	}
	slices.SortFunc(gaps, func(a, b stall) int { return cmp.Compare(a.end, b.end) })
	return gaps
}

// joinGaps joins gaps that end within some seconds of the first, into one of their mean length.
func joinGaps(gaps []stall, spread float64) (all []stall) {
	for i := 0; i < len(gaps); {
		j, length := i, 0.0
		for ; j < len(gaps) && gaps[j].end-gaps[i].end < spread; j++ {
			length += gaps[j].end - gaps[j].from
		}
		length /= float64(j - i)
		all = append(all, stall{gaps[i].end - length, gaps[i].end, j - i})
		i = j
	}
	return all
}

type timeline struct{ sents, firsts, lasts []float64 } // each sorted

func newTimeline(streams []*stream) *timeline {
	var t timeline
	for _, s := range streams {
		t.sents, t.firsts, t.lasts = append(t.sents, s.sent), append(t.firsts, s.first), append(t.lasts, s.last)
	}
	slices.Sort(t.sents)
	slices.Sort(t.firsts)
	slices.Sort(t.lasts)
	return &t
}

func countBefore(sorted []float64, at float64) int {
	n, _ := slices.BinarySearch(sorted, at)
	return n
}

// openDuring leaves out streams that ended meanwhile: they did not stand still.
func (t *timeline) openDuring(s stall, spread float64) int {
	return countBefore(t.firsts, s.from+sameInstant) - countBefore(t.lasts, s.from+spread)
}

// workedOnPrompts reports whether first tokens came at the end of a stall, or requests were waiting for them.
func (t *timeline) workedOnPrompts(s stall) bool {
	came := countBefore(t.firsts, s.end+sameInstant) - countBefore(t.firsts, s.end-sameInstant)
	waited := countBefore(t.sents, s.from+sameInstant) - countBefore(t.firsts, s.end+sameInstant)
	return came+waited != 0
}
