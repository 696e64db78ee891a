package audit

import (
	"math"
	"slices"
	"strconv"
)

// This file finds columns whose values stand in the wrong rows.

// arranged is a guess of where the values of a column belong.
type arranged struct {
	key   string
	from  map[*row]*row // the row that holds the printed value of each row; nil where it was lost
	rough float64       // how much the column jumps then, over the rows in the order of their load
}

// shifted finds a column of which several values stand one row too high or too low, and two values of a column that changed places: the rows
// contradict themselves, and each agrees with the value of its neighbour.
func shifted(t *result) []hit {
	if !t.sweeps() {
		return nil
	}
	var hits []hit
	for _, pair := range [][2]string{{keyGap, keyLatency}, {keyDone, keyOutput}} {
		if h, ok := t.shiftOf(pair); ok {
			hits = append(hits, h)
		}
	}
	if a, bad, ok := t.exchangedTTFT(); ok {
		hits = append(hits, t.shiftHit(a, bad, false, [2]string{}))
	}
	return hits
}

// Limits of two TTFTs that changed places: by how much the column gets smoother, as a sum of logarithms, what may remain of its falls, and how
// many rows are compared, each with each.
const (
	smoother     = 0.3
	stillRough   = 0.5
	mostExchange = 64
)

// exchangedTTFT finds two values of TTFT that changed places and that are too small a part of latency to contradict it: TTFT then rises with the load
// where it fell. Only rows that keep up with their load can be told so; times in a queue vary.
func (t *result) exchangedTTFT() (best arranged, rows []int, ok bool) {
	var all []int
	for i, r := range t.rows {
		load, known := r.load()
		if known && load > 0 && r.value(keyDone) >= levelShare*load && !r.suspect() && !r.leftOver() && !math.IsNaN(r.value(keyTTFT)) {
			all = append(all, i)
		}
	}
	if len(all) > mostExchange {
		return arranged{}, nil, false
	}
	now := t.roughness(arranged{key: keyTTFT})
	best.rough = min(now-smoother, stillRough*now)
	for k, i := range all {
		for _, j := range all[k+1:] {
			x, y := t.rows[i], t.rows[j]
			a := arranged{key: keyTTFT, from: map[*row]*row{x: y, y: x}}
			a.rough = t.roughness(a)
			fit := x.latencyFits(instead(x, keyTTFT, y.value(keyTTFT))) && y.latencyFits(instead(y, keyTTFT, x.value(keyTTFT)))
			if fit && a.rough < best.rough {
				best, rows, ok = a, []int{i, j}, true
			}
		}
	}
	return best, rows, ok
}

// fits reports whether a row agrees with itself in the figures of a pair, with other values for some figures.
func (r *row) fits(pair [2]string, take func(key string) float64) bool {
	if pair[0] == keyGap {
		if math.IsNaN(take(keyGap)) || math.IsNaN(take(keyLatency)) || math.IsNaN(take(keyTTFT)) {
			return true
		}
		return r.latencyFits(take)
	}
	t := r.result
	n, spread := t.typical()
	got := take(keyOutput) / take(keyDone)
	return math.IsNaN(got) || math.IsNaN(n) || math.Abs(got-n) <= max(t.apart()*n, tokensSpread*spread)
}

func (t *result) shiftOf(pair [2]string) (hit, bool) {
	var bad []int
	for i, r := range t.rows {
		if !r.fits(pair, r.value) && (pair[0] == keyGap || !r.countFits()) {
			bad = append(bad, i)
		}
	}
	if len(bad) < 2 {
		return hit{}, false
	}
	var all []arranged
	for _, key := range pair {
		for _, step := range []int{-1, 1} {
			if a, ok := t.moved(pair, key, bad, step); ok {
				all = append(all, a)
			}
		}
		if a, ok := t.exchanged(pair, key, bad); ok {
			all = append(all, a)
		}
	}
	if len(all) == 0 {
		return hit{}, false
	}
	for i := range all {
		all[i].rough += worthDecimal * t.beyondArrivals(all[i])
	}
	slices.SortStableFunc(all, func(a, b arranged) int { return compareCost(a.rough, b.rough) })
	best := all[0]
	rival := slices.IndexFunc(all, func(a arranged) bool { return a.key != best.key && a.rough < best.rough+clearly })
	return t.shiftHit(best, bad, rival >= 0, pair), true
}

// beyondArrivals returns how many rows complete more than chance lets arrive, once the values of a column stand where they are guessed to belong.
func (t *result) beyondArrivals(a arranged) (n float64) {
	for _, r := range t.rows {
		done := r.value(keyDone)
		if from, moved := a.from[r]; moved && a.key == keyDone {
			if from == nil {
				continue
			}
			done = from.value(keyDone)
		}
		if load, ok := r.load(); ok && load > 0 && done > load+offeredDoubtful*math.Sqrt(load/offeredWindow) {
			n++
		}
	}
	return n
}

// moved returns the guess that the values of a column belong step rows further down; false where they do not fit there.
func (t *result) moved(pair [2]string, key string, bad []int, step int) (arranged, bool) {
	if len(bad) < 3 {
		return arranged{}, false
	}
	a, fit, told := arranged{key: key, from: map[*row]*row{}}, 0, 0
	first, last := bad[0], bad[len(bad)-1]
	for i := first; i <= last; i++ { // a value between them may fit its row by chance
		r := t.rows[i]
		a.from[r] = nil
		j := i - step
		if j < 0 || j >= len(t.rows) || math.IsNaN(t.rows[j].value(key)) || t.rows[j].queued() { // it has another mistake, and tells nothing
			continue
		}
		if told++; r.fits(pair, instead(r, key, t.rows[j].value(key))) {
			a.from[r] = t.rows[j]
			fit++
		}
	}
	a.rough = t.roughness(a)
	if step > 0 && last+1 < len(t.rows) && t.rows[last].text(key) == t.rows[last+1].text(key) {
		a.rough -= worthDecimal // they moved up, and the value of the row after them stands twice
	}
	if step < 0 && first > 0 && t.rows[first].text(key) == t.rows[first-1].text(key) {
		a.rough -= worthDecimal
	}
	return a, fit >= 2 && fit >= min(told, last-first)
}

// exchanged returns the guess that two rows hold each other's value; false where they do not fit.
func (t *result) exchanged(pair [2]string, key string, bad []int) (arranged, bool) {
	if len(bad) != 2 {
		return arranged{}, false
	}
	x, y := t.rows[bad[0]], t.rows[bad[1]]
	a := arranged{key: key, from: map[*row]*row{x: y, y: x}}
	a.rough = t.roughness(a)
	return a, x.fits(pair, instead(x, key, y.value(key))) && y.fits(pair, instead(y, key, x.value(key)))
}

// instead returns the figures of a row with another value for one of them.
func instead(r *row, key string, v float64) func(string) float64 {
	return func(k string) float64 {
		if k == key {
			return v
		}
		return r.value(k)
	}
}

// roughness is by how much a column falls as the load rises, as a sum of logarithms; for rates, by how much their share of the load jumps.
func (t *result) roughness(a arranged) float64 {
	sum, last := 0.0, math.NaN()
	for _, r := range t.ordered() {
		v := r.value(a.key)
		if from, moved := a.from[r]; moved && from == nil {
			continue
		} else if moved {
			v = from.value(a.key)
		}
		load, _ := r.load()
		if a.key == keyDone || a.key == keyOutput {
			v /= load
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		switch d := math.Log(v / last); {
		case math.IsNaN(last):
		case a.key == keyDone || a.key == keyOutput:
			sum += math.Abs(d)
		case d < 0:
			sum -= d
		}
		last = v
	}
	return sum
}

// shiftHit returns the finding. Where two columns explain it equally well, both are blamed and no value is offered.
func (t *result) shiftHit(a arranged, bad []int, unclear bool, pair [2]string) hit {
	first, last := t.rows[bad[0]], t.rows[bad[len(bad)-1]]
	h := hit{row: first, key: a.key, also: map[*row]bool{}}
	var values []string
	for _, r := range t.rows[bad[0] : bad[len(bad)-1]+1] {
		if _, moved := a.from[r]; !moved {
			continue
		}
		h.also[r] = true
		b := blamed{row: r, keys: []string{a.key}}
		switch from := a.from[r]; {
		case unclear:
			b.keys = pair[:]
		case from != nil:
			b.probably = map[string]float64{a.key: from.value(a.key)}
			values = append(values, strconv.Itoa(r.line(a.key))+": "+from.text(a.key))
		}
		h.blame = append(h.blame, b)
	}
	switch {
	case unclear:
		h.note = noteShiftUnclear.New(pair[0], pair[1], first.line(a.key), last.line(a.key))
	case len(bad) == 2:
		h.note = noteExchanged.New(a.key, first.line(a.key), last.line(a.key), values)
	default:
		h.note = noteShifted.New(a.key, first.line(a.key), last.line(a.key), values)
	}
	return h
}

// swappedRows finds two rows whose rates changed places: the one with the lower rate completed more than it was offered, and each fits the
// rate of the other. All other figures of the two must rise from one to the other as if the rates were the right way round.
func swappedRows(t *result) []hit {
	if !t.sweeps() {
		return nil
	}
	var hits []hit
	all := t.ordered()
	for i := 0; i+1 < len(all); i++ {
		a, b := all[i], all[i+1]
		x, _ := a.load()
		y, _ := b.load()
		if x <= 0 || y <= x || !swapped(a, b, x, y) {
			continue
		}
		n := noteSwapped.New(digits(x), digits(y), a.line(keyRate), b.line(keyRate), digits(a.value(keyDone)))
		hits = append(hits, hit{row: a, key: keyRate, note: n, also: map[*row]bool{a: true, b: true}, blame: []blamed{
			{row: a, keys: []string{keyRate}, probably: map[string]float64{keyRate: y}},
			{row: b, keys: []string{keyRate}, probably: map[string]float64{keyRate: x}},
		}})
	}
	return hits
}

// swapped reports whether a, offered the rate x, fits the higher rate y, and b fits x.
func swapped(a, b *row, x, y float64) bool {
	over := a.value(keyDone) > x+offeredDoubtful*math.Sqrt(x/offeredWindow)
	within := a.value(keyDone) <= y+offeredDoubtful*math.Sqrt(y/offeredWindow) && b.value(keyDone) <= x+offeredDoubtful*math.Sqrt(x/offeredWindow)
	if !over || !within || a.suspect() || b.suspect() || a.queued() || b.queued() {
		return false
	}
	for _, key := range []string{keyLatency, keyGap} {
		if v, w := a.value(key), b.value(key); !(v > w) {
			return false
		}
	}
	return a.value(keyTTFT) < backlogFactor*b.value(keyTTFT) && b.value(keyDone) > levelShare*x
}

// levelShare is the least share of its load that a row completes that keeps up. What is in flight when a stage ends is missing from it.
const levelShare = 0.85

// backlogFactor is by how much TTFT falls as the rate rises where it was not the row's own load that made requests wait: means of a hundred
// requests repeat within some per cent, and no server answers three times as fast under more load.
const backlogFactor = 3

// backlogs finds rows whose requests waited for those of an earlier stage: with more load, requests later wait less, by a factor. The latencies of the
// row are of that queue; its rates stand, unless it completed more than was offered.
func backlogs(t *result) []hit {
	if !t.sweeps() {
		return nil
	}
	var hits []hit
	all := t.ordered()
	for i, r := range all {
		if x, _ := r.load(); x == 0 || !r.timesFit() && r.blames(keyTTFT, keyLatency) {
			continue
		}
		for _, o := range all[i+1:] {
			if !r.waitedMore(o) {
				continue
			}
			b := blamed{row: r, keys: []string{"ttft_s", "latency_s"}}
			if r.value(keyGap) > o.value(keyGap) {
				b.keys = append(b.keys, keyGap)
			}
			if x, _ := r.load(); r.value(keyDone) > x+math.Sqrt(x/offeredWindow) { // some of those left over are in it
				b.keys = append(b.keys, keyDone, keyOutput)
			}
			hits = append(hits, hit{row: r, key: keyTTFT, blame: []blamed{b},
				note: noteBacklog.New(seconds(r.value(keyTTFT)), seconds(o.value(keyTTFT)), o.text(keyDone), o.line(keyTTFT), t.zeroBefore(r))})
			break
		}
	}
	return hits
}

// waitedMore reports whether requests of a row waited so much longer than those of a row with more load that it was not for each other.
func (r *row) waitedMore(o *row) bool {
	load, _ := o.load()
	return o.timesFit() && o.value(keyTTFT)*backlogFactor < r.value(keyTTFT) && o.value(keyLatency) < r.value(keyLatency) && o.value(keyDone) >= levelShare*load
}

// leftOver reports whether what was left over from an earlier stage is in a row.
func (r *row) leftOver() bool {
	_, n, _ := completedOverOffered(r)
	return !n.IsZero() || r.queued()
}

// queued reports whether requests of a row waited for those of an earlier stage.
func (r *row) queued() bool {
	all := r.result.ordered()
	i := slices.Index(all, r)
	return i >= 0 && slices.ContainsFunc(all[i+1:], r.waitedMore)
}

// zeroBefore returns the line of a row above in which nothing was completed; NaN where there is none.
func (t *result) zeroBefore(r *row) float64 {
	for _, o := range t.rows {
		if o == r {
			break
		}
		if _, n := zeros(o); !n.IsZero() {
			return float64(o.line(keyDone))
		}
	}
	return math.NaN()
}

// How far a mean TTFT may lie outside those of the rows on either side: of one request at a time, where the first request may be a slow one; of others;
// and where digits that changed places or a decimal point bring it within outlierNear of their middle.
const (
	outlierAlone  = 6.0
	outlierFactor = 3.0
	outlierSlip   = 1.5
	outlierNear   = 0.15
)

// outliers finds a mean TTFT that is far from those on both sides of it and that the latency of its row is too long to contradict.
func outliers(t *result) []hit {
	if !t.sweeps() {
		return nil
	}
	var hits []hit
	all := slices.DeleteFunc(slices.Clone(t.ordered()), func(r *row) bool { return r.leftOver() || !r.timesFit() })
	for i, r := range all {
		v := r.value(keyTTFT)
		low, high := math.Inf(1), math.Inf(-1)
		var beside *row
		for _, j := range []int{i - 1, i + 1} {
			if j >= 0 && j < len(all) && !math.IsNaN(all[j].value(keyTTFT)) {
				beside = all[j]
				low, high = min(low, all[j].value(keyTTFT)), max(high, all[j].value(keyTTFT))
			}
		}
		scale, middle := r.scale(keyTTFT), math.Sqrt(low*high)
		meant, worth := slip(r.text(keyTTFT), middle/scale, outlierNear)
		factor := outlierFactor
		switch {
		case i == 0:
			factor = outlierAlone
		case worth >= worthTransposed && i < len(all)-1:
			factor = outlierSlip
		}
		last := i == len(all)-1 // it may rise at the end
		if beside == nil || !(v*factor < low || v > high*factor && !last) {
			continue
		}
		b := blamed{row: r, keys: []string{"ttft_s"}}
		if worth >= worthTransposed {
			b.probably = map[string]float64{keyTTFT: meant * scale}
		}
		hits = append(hits, hit{row: r, key: keyTTFT, blame: []blamed{b}, note: noteOutlier.New(keyTTFT, seconds(v), seconds(low), seconds(high))})
	}
	return hits
}
