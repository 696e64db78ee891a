package audit

import (
	"cmp"
	"math"
	"slices"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

// The rules of this file compare the rows of one table.

// Limits of copied numbers. Numbers of four digits or more are seldom equal by chance. A server at its limit, or one
// that is hardly used, may give equal numbers; the numbers that follow from them are then equal too.
const (
	copiedDigits       = 4
	copiedRowFigures   = 5    // all figures of a row are equal, whatever their digits, and two of them have that many
	copiedLatency      = 0.02 // latency, where both of its parts are the same
	copiedDecode       = 0.1  // latency less TTFT, where inter-token latency is: answers may be a little shorter
	copiedSingleDigits = 5    // digits of a time to the first token that is the only equal number
)

func copiedRows(t *result) []hit {
	var hits []hit
	for i := 1; i < len(t.rows); i++ {
		above, r := t.rows[i-1], t.rows[i]
		var same, long []string // long: of as many digits as chance does not repeat
		for _, key := range []string{keyTTFT, keyGap, keyLatency, keyCompleted, keyOutput} {
			q, ok := r.quantity(key)
			if !ok || r.text(key) != above.text(key) || q.Number.Value() == 0 {
				continue
			}
			same = append(same, key)
			if q.Digits >= copiedDigits {
				long = append(long, key)
			}
		}
		if len(same) < copiedRowFigures || len(long) < 2 || r.text(keyRate) == above.text(keyRate) {
			same = long
		}
		if isCopy(above, r, same) {
			hits = append(hits, copyOf(above, r, same))
		}
	}
	return hits
}

// isCopy reports whether two rows have more equal numbers than chance explains.
func isCopy(above, r *row, same []string) bool {
	a, ok1 := above.spans(keyLatency, keyTTFT)
	b, ok2 := r.spans(keyLatency, keyTTFT)
	has := func(key string) bool { return slices.Contains(same, key) }
	differ := func(x, y, tolerance float64) bool { return math.Abs(x-y) > tolerance*min(x, y) }
	switch {
	case !ok1 || !ok2:
		return false
	case len(same) >= 3 && has(keyCompleted) && has(keyOutput):
		return r.text(keyRate) != above.text(keyRate)
	case has(keyTTFT) && has(keyGap):
		return differ(a[0].V, b[0].V, copiedLatency)
	case has(keyGap):
		return differ(a[0].V-a[1].V, b[0].V-b[1].V, copiedDecode)
	case has(keyTTFT):
		q, _ := r.quantity(keyTTFT)
		return q.Digits >= copiedSingleDigits && !r.windowed() && differ(a[0].V, b[0].V, copiedLatency)
	}
	return false
}

// copyOf returns the finding. It is on the row that contradicts the number; where both or neither do, on the lower row.
func copyOf(above, r *row, same []string) hit {
	twin, original := r, above
	if !latencyIdentity(above).note.IsZero() && latencyIdentity(r).note.IsZero() {
		twin, original = above, r
	}
	var parts []note.Note
	for _, key := range same {
		parts = append(parts, notePrinted.New(key, r.text(key)))
	}
	latency := func(r *row) string { return seconds(r.stage.Latency.Mean.Value()) }
	h := hit{
		row:     twin,
		key:     same[0],
		note:    noteCopied.New(parts, original.line(same[0]), original.name(), latency(twin), latency(original)),
		figures: same,
	}
	if slices.Equal(same, []string{keyTTFT}) {
		h.grade = Doubtful
	}
	return h
}

// A table repeats another if at least reprintedRows rows have the same names and at most reprintedShare of the numbers
// differ.
const (
	reprintedRows  = 4
	reprintedShare = 0.1
)

// reprintedTables finds tables that print the measurement of an earlier one again. A number that differs is doubted in
// both.
func reprintedTables(all []*result) (hits []hit) {
	printed := map[string][]*result{} // by file and title
	for _, t := range all {
		if !t.isPublishedSweep() {
			continue
		}
		id := t.file + "\x00" + t.title.EN
		for _, first := range printed[id] {
			if differing, ok := compareReprint(first, t); ok {
				again := hit{row: t.rows[0], key: keyCompleted, grade: Remark, note: noteReprint.New(first.line)}
				hits = append(append(hits, again), differing...)
				break
			}
		}
		if len(printed[id]) < maxCompared {
			printed[id] = append(printed[id], t)
		}
	}
	return hits
}

func compareReprint(first, again *result) (differing []hit, ok bool) {
	rows, equal := 0, 0
	for _, r := range again.rows {
		i := slices.IndexFunc(first.rows, func(o *row) bool { return o.name() == r.name() })
		if i < 0 {
			continue
		}
		rows++
		o := first.rows[i]
		for _, key := range []string{keyCompleted, keyLatency, keyTTFT, keyGap, keyOutput} {
			x, y := figure(o.stage, key), figure(r.stage, key)
			if !known(x, y) {
				continue
			}
			if x == y {
				equal++
				continue
			}
			for _, pair := range [][2]*row{{o, r}, {r, o}} {
				here, there := pair[0], pair[1]
				n := noteReprinted.New(there.line(key), key, there.text(key), here.text(key))
				differing = append(differing, hit{row: here, key: key, grade: Doubtful, note: n, figures: []string{key}})
			}
		}
	}
	return differing, rows >= reprintedRows && float64(len(differing)/2) <= reprintedShare*float64(equal)
}

// Reprint returns the line of the table whose measurement a run prints again, as [Mark] found; 0 where it is the first.
func Reprint(run *rundir.Run) int {
	for i := range run.Stages {
		for _, d := range run.Stages[i].Doubts {
			if line, ok := d.Note.Args["line"].(float64); ok && d.Note.Code == noteReprint.Code {
				return int(line)
			}
		}
	}
	return 0
}

// gridTolerance is the relative difference that is allowed: a sweep may take its two limits from the work done, which
// differs a little from the whole completions in its table.
const gridTolerance = 0.002

// offGrid finds a rate that is not on the grid of the others. The rates of a sweep divide the range from the
// synchronous rate to that of the throughput row evenly; the last one equals the latter. Only rounding is allowed.
// There is no finding unless at least two thirds of the rates, and at least four, are on the grid.
func offGrid(t *result) []hit {
	var grid []*row
	for _, r := range t.rows {
		if r.stage.Role == rundir.Grid && r.text(keyRate) != "" && r.stage.Rate.Known() {
			grid = append(grid, r)
		}
	}
	floor, ceiling := t.role(rundir.Synchronous), t.role(rundir.Throughput)
	if len(grid) < 4 || floor == nil || ceiling == nil {
		return nil
	}
	s, ok1 := floor.span(keyCompleted)
	top, ok2 := ceiling.span(keyCompleted)
	if !ok1 || !ok2 || top.V <= s.V {
		return nil
	}
	step := (top.V - s.V) / float64(len(grid))
	taken := map[int]bool{}
	var off []*row
	for _, r := range grid {
		v, _ := r.span(keyRate)
		k := int(math.Round((v.V - s.V) / step))
		slack := (v.High-v.Low+s.High-s.Low+top.High-top.Low)/2 + gridTolerance*v.V
		if k < 1 || k > len(grid) || taken[k] || math.Abs(v.V-s.V-float64(k)*step) > slack+1e-9 {
			off = append(off, r)
			continue
		}
		taken[k] = true
	}
	if 3*len(off) > len(grid) {
		return nil
	}
	// As many places are free: one for each rate, in their order.
	slices.SortFunc(off, func(a, b *row) int { return cmp.Compare(a.stage.Rate.Value(), b.stage.Rate.Value()) })
	var hits []hit
	for k := 1; k <= len(grid) && len(hits) < len(off); k++ {
		if !taken[k] {
			r := off[len(hits)]
			free := s.V + float64(k)*step
			n := noteGrid.New(digits(r.stage.Rate.Value()), digits(free))
			if r.value(keyCompleted) > free*(1+offeredTolerance) { // other rates are wrong too
				delete(n.Args, "grid_rate")
			}
			hits = append(hits, hit{row: r, key: keyRate, grade: Doubtful, note: n, figures: []string{keyRate}})
		}
	}
	return hits
}

// Limits of a backlog. No server answers three times as fast under more load: means of a hundred requests repeat within
// some per cent. A row that keeps up completes most of its load; what is in flight when a stage ends is missing from
// it.
const (
	backlogFactor  = 3
	sustainedShare = 0.85
)

// backlogs finds rows whose requests waited for those of an earlier stage: with more load, requests later wait less, by
// a factor. The times of the row are of that queue.
func backlogs(t *result) []hit {
	if !t.isPublishedSweep() {
		return nil
	}
	var hits []hit
	all := t.ordered()
	for i, r := range all {
		if load, _ := r.load(); load == 0 {
			continue
		}
		for _, o := range all[i+1:] {
			load, _ := o.load()
			if !(o.value(keyTTFT)*backlogFactor < r.value(keyTTFT) && o.value(keyLatency) < r.value(keyLatency)) ||
				o.value(keyCompleted) < sustainedShare*load ||
				!latencyIdentity(o).note.IsZero() {
				continue
			}
			n := noteBacklog.New(seconds(r.value(keyTTFT)), seconds(o.value(keyTTFT)), o.line(keyTTFT))
			hits = append(hits, hit{row: r, key: keyTTFT, grade: Doubtful, note: n, figures: timeFigures()})
			break
		}
	}
	return hits
}

// misprintedRates finds a rate that is too high for what was completed. Of a server that falls behind, requests wait:
// by Little's law a stage ends with no more than rate x latency in flight, apart from chance. It is found only where
// the table shows that the server completes such a rate.
func misprintedRates(t *result) (hits []hit) {
	if !t.isPublishedSweep() || t.run.Source == nil || t.rows[0].windowed() {
		return nil
	}
	window := t.run.Source.StageTime.Or(offeredWindow)
	for _, r := range t.rows {
		s, ok := r.spans(keyRate, keyCompleted, keyLatency)
		if !ok || r.stage.MaxConcurrency > 0 {
			continue
		}
		offered, done, latency := s[0].V, s[1].V, s[2].V
		missing, most := (offered-done)*window, offered*latency
		if missing <= most+offeredDoubtful*math.Sqrt(offered*window) {
			continue
		}
		i := slices.IndexFunc(t.rows, func(o *row) bool {
			return o.stage.Role == rundir.Grid && o.value(keyCompleted) > offered
		})
		if i < 0 {
			continue
		}
		n := noteMisprintedRate.New(digits(offered), digits(done), missing, window, seconds(latency), most,
			digits(t.rows[i].value(keyCompleted)), t.rows[i].line(keyCompleted))
		hits = append(hits, hit{row: r, key: keyRate, grade: Doubtful, note: n, figures: []string{keyRate}})
	}
	return hits
}

// ceilingTolerance is for stages that begin empty and count what has ended when they stop: the requests of the last
// latency are still in flight. In a stage of four latencies, the shortest that measures anything, they are a quarter.
const ceilingTolerance = 0.25

// ceiling compares the throughput row with the row that was offered the same rate. It finds a server that completed far
// less there.
func ceiling(t *result) []hit {
	top := t.role(rundir.Throughput)
	if top == nil || top.stage.Source == nil {
		return nil
	}
	c, ok := top.span(keyCompleted)
	if !ok {
		return nil
	}
	for _, r := range t.rows {
		s, ok := r.spans(keyRate, keyCompleted)
		if !ok || s[1].V == 0 || s[0].excess(c) != 0 {
			continue
		}
		if short := 1 - s[1].High/c.Low; short > ceilingTolerance {
			n := noteCeiling.New(digits(c.V), digits(s[0].V), digits(s[1].V), percent(short), r.line(keyCompleted))
			return []hit{{row: top, key: keyCompleted, grade: Doubtful, note: n}}
		}
	}
	return nil
}
