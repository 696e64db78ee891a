package audit

import (
	"cmp"
	"math"
	"slices"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

// The rules of this file compare the rows of one table.

// Limits of copied numbers. Numbers of four digits or more are seldom equal by chance. A server at its limit, or one that is hardly used, may
// give equal numbers; the numbers that follow from them are then equal too.
const (
	copiedDigits  = 4
	wholeCopy     = 5    // all figures of a row are equal, whatever their digits, and two of them have that many
	aloneDigits   = 5    // of a TTFT, where nothing else is equal
	copiedLatency = 0.02 // latency, where both of its parts are the same
	copiedDecode  = 0.1  // latency less TTFT, where inter-token latency is: answers may be a little shorter
)

// copied finds numbers that equal those of the row above.
func copied(t *result) []hit {
	var hits []hit
	for i := 1; i < len(t.rows); i++ {
		above, r := t.rows[i-1], t.rows[i]
		var same, long []string // long: of as many digits as chance does not repeat
		for _, key := range []string{"ttft_s.mean", "inter_token_s", "latency_s.mean", "rates.completed", "tokens_per_s.output"} {
			q, ok := r.quantity(key)
			if !ok || r.text(key) != above.text(key) || q.Number.Value() == 0 {
				continue
			}
			if same = append(same, key); q.Digits >= copiedDigits {
				long = append(long, key)
			}
		}
		if len(same) < wholeCopy || len(long) < 2 || r.text("rate") == above.text("rate") {
			same = long
		}
		switch q, _ := r.quantity(keyTTFT); {
		case isCopy(above, r, same):
			hits = append(hits, copyOf(above, r, same))
		case t.sweeps() && slices.Contains(same, keyTTFT) && q.Digits >= aloneDigits: // which of the two is the copy is not known
			keys := []string{keyTTFT}
			hits = append(hits, hit{
				row: r, key: keyTTFT, grade: Doubtful, blame: []blamed{{row: r, keys: keys}, {row: above, keys: keys}},
				note: noteSame.New(printed(r, keys), above.line(keyTTFT), r.line(keyTTFT), seconds(latencyOf(above)), seconds(latencyOf(r))),
			})
		}
	}
	return hits
}

// isCopy reports whether two rows have more equal numbers than chance explains.
func isCopy(above, r *row, same []string) bool {
	a, ok1 := above.spans("latency_s.mean", "ttft_s.mean")
	b, ok2 := r.spans("latency_s.mean", "ttft_s.mean")
	has := func(key string) bool { return slices.Contains(same, key) }
	differ := func(x, y, tolerance float64) bool { return math.Abs(x-y) > tolerance*min(x, y) }
	switch {
	case !ok1 || !ok2:
		return false
	case len(same) >= 3 && has("rates.completed") && has("tokens_per_s.output"):
		return r.text("rate") != above.text("rate")
	case has("ttft_s.mean") && has("inter_token_s"):
		return differ(a[0].V, b[0].V, copiedLatency)
	case has("inter_token_s"):
		return differ(a[0].V-a[1].V, b[0].V-b[1].V, copiedDecode)
	}
	return false
}

// copyOf returns the finding. It is on the row that contradicts the number; where both or neither do, on the lower row.
func copyOf(above, r *row, same []string) hit {
	twin, of := r, above
	if _, n := latencyIdentity(above); !n.IsZero() {
		if _, n := latencyIdentity(r); n.IsZero() {
			twin, of = above, r
		}
	}
	return hit{row: twin, key: same[0], note: noteCopied.New(printed(r, same), of.line(same[0]), of.name(), seconds(latencyOf(twin)), seconds(latencyOf(of)))}
}

// printed returns figures of a row as they are printed.
func printed(r *row, keys []string) []note.Note {
	var parts []note.Note
	for _, key := range keys {
		parts = append(parts, notePrinted.New(key, r.text(key)))
	}
	return parts
}

func latencyOf(r *row) float64 { return r.stage.Latency.Mean.Value() }

// offGrid finds a rate that is not on the grid of the others. The rates of a sweep divide the range from the synchronous rate
// to that of the throughput row evenly; the last one equals the latter. Only rounding is allowed. There is no finding unless at least two
// thirds of the rates, and at least four, are on the grid.
func offGrid(t *result) []hit {
	var grid []*row
	for _, r := range t.rows {
		if r.stage.Role == rundir.Grid && r.text("rate") != "" && r.stage.Rate.Known() {
			grid = append(grid, r)
		}
	}
	floor, ceiling := t.role(rundir.Floor), t.role(rundir.Ceiling)
	if len(grid) < 4 || floor == nil || ceiling == nil {
		return nil
	}
	s, ok1 := floor.span("rates.completed")
	top, ok2 := ceiling.span("rates.completed")
	if !ok1 || !ok2 || top.V <= s.V {
		return nil
	}
	step := (top.V - s.V) / float64(len(grid))
	free := map[int]bool{}
	for k := 1; k <= len(grid); k++ {
		free[k] = true
	}
	var off []*row
	for _, r := range grid {
		v, _ := r.span("rate")
		k := int(math.Round((v.V - s.V) / step))
		slack := (v.High-v.Low+s.High-s.Low+top.High-top.Low)/2 + gridTolerance*v.V
		if free[k] && math.Abs(v.V-s.V-float64(k)*step) <= slack+1e-9 {
			delete(free, k)
		} else {
			off = append(off, r)
		}
	}
	if 3*len(off) > len(grid) {
		return nil
	}
	return missing(grid, off, s.V, step)
}

// gridTolerance is the relative difference that is allowed: a sweep may take its two limits from the work done, which differs a little from
// the whole completions in its table.
const gridTolerance = 0.002

// missing pairs the rates that are off the grid with its free places, in the order of what the rows completed: a rate is at least that. Where the places
// do not allow it, rates on the grid are wrong too, as few as will do.
func missing(grid, off []*row, floor, step float64) []hit {
	place := func(k int) float64 { return floor + float64(k)*step }
	var on []*row
	for _, r := range grid {
		if !slices.Contains(off, r) {
			on = append(on, r)
		}
	}
	for more := 0; more <= min(mostMoved, len(on)); more++ {
		for _, some := range choices(on, more) {
			wrong := slices.Concat(off, some)
			if places, ok := inOrder(wrong, freePlaces(grid, wrong, place), place); ok {
				return gridHits(wrong, places, place)
			}
		}
	}
	return gridHits(off, nil, place)
}

// gridErrors is by how many standard deviations of the number of arrivals a row may complete more than its place on the grid offers: one in 160.
const gridErrors = 2.5

// mostMoved bounds how many rates on the grid may be wrong besides those off it.
const mostMoved = 2

// choices returns all choices of n rows.
func choices(rows []*row, n int) [][]*row {
	if n == 0 {
		return [][]*row{nil}
	}
	var all [][]*row
	for i, r := range rows {
		for _, rest := range choices(rows[i+1:], n-1) {
			all = append(all, append([]*row{r}, rest...))
		}
	}
	return all
}

// freePlaces returns the places of the grid that no row holds but those that are wrong, from the lowest.
func freePlaces(grid, wrong []*row, place func(int) float64) []int {
	var free []int
	for k := 1; k <= len(grid); k++ {
		held := slices.ContainsFunc(grid, func(r *row) bool {
			v := r.stage.Rate.Value()
			return !slices.Contains(wrong, r) && math.Abs(v-place(k)) <= (place(2)-place(1))/2
		})
		if !held {
			free = append(free, k)
		}
	}
	return free
}

// inOrder gives each row the place of its rank by what it completed; false where a row completed more than its place offers, or keeps its place.
func inOrder(wrong []*row, free []int, place func(int) float64) (places map[*row]int, ok bool) {
	if len(free) != len(wrong) {
		return nil, false
	}
	done := func(r *row) float64 { return r.stage.Rates.Completed.Value() }
	sorted := slices.Clone(wrong)
	slices.SortStableFunc(sorted, func(a, b *row) int { return cmp.Compare(done(a), done(b)) })
	places = map[*row]int{}
	for i, r := range sorted {
		v := place(free[i])
		if done(r) > v+gridErrors*math.Sqrt(v/offeredWindow) {
			return nil, false
		}
		places[r] = free[i]
	}
	return places, true
}

// gridHits returns the findings of wrong rates; without a rate of the grid where its places do not fit.
func gridHits(wrong []*row, places map[*row]int, place func(int) float64) []hit {
	var hits []hit
	for _, r := range wrong {
		h := hit{row: r, key: keyRate, note: noteOffGrid.New(digits(r.stage.Rate.Value())), blame: []blamed{{row: r, keys: []string{keyRate}}}}
		if k, ok := places[r]; ok {
			v := place(k)
			h.note = noteGrid.New(digits(r.stage.Rate.Value()), digits(v))
			h.blame[0].probably = map[string]float64{keyRate: math.Round(v*100) / 100}
		}
		hits = append(hits, h)
	}
	return hits
}

// role returns the only row of that role; nil where there is none or more than one.
func (t *result) role(role rundir.Role) *row {
	is := func(r *row) bool { return r.stage.Role == role }
	i := slices.IndexFunc(t.rows, is)
	if i < 0 || slices.ContainsFunc(t.rows[i+1:], is) {
		return nil
	}
	return t.rows[i]
}

// ceilingTolerance is for stages that begin empty and count what has ended when they stop: the requests of the last latency are still in
// flight. In a stage of four latencies, the shortest that measures anything, they are a quarter.
const ceilingTolerance = 0.25

// ceiling compares the throughput row with the row that was offered the same rate. It finds a server that completed far less there.
func ceiling(t *result) []hit {
	top := t.role(rundir.Ceiling)
	if top == nil || top.stage.Source == nil {
		return nil
	}
	c, ok := top.span("rates.completed")
	if !ok {
		return nil
	}
	for _, r := range t.rows {
		rate, ok1 := r.span("rate")
		done, ok2 := r.span("rates.completed")
		if !ok1 || !ok2 || done.V == 0 || rate.Beyond(c) != 0 {
			continue
		}
		if !r.countFits() { // one of its two rates is wrong
			if done, ok1 = r.repaired(keyDone); !ok1 {
				continue
			}
		}
		if short := 1 - done.High/c.Low; short > ceilingTolerance {
			return []hit{{row: top, key: "rates.completed", note: noteCeiling.New(
				digits(c.V), digits(rate.V), digits(done.V), percent(short), r.line("rates.completed"))}}
		}
	}
	return nil
}
