package audit

import (
	"fmt"
	"math"
	"slices"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

// settle leaves one finding for each mistake, and blames figures for it: where a row contradicts itself in several ways because of one figure, or because
// of a column or a row in the wrong place, the finding that names the cause stays.
func settle(all []ruled) []ruled {
	by := map[string]map[*row]bool{}
	for i := range all {
		h := &all[i]
		if by[h.rule] == nil {
			by[h.rule] = map[*row]bool{}
		}
		if h.note.Code != noteOffGrid.Code { // without a place on the grid, the rate need not be what is wrong
			by[h.rule][h.row] = true
		}
		for r := range h.also {
			by[h.rule][r] = true
		}
	}
	within := func(r *row, rules ...string) bool {
		return slices.ContainsFunc(rules, func(name string) bool { return by[name][r] })
	}
	var left []ruled
	for _, h := range all {
		switch r := h.row; h.rule {
		case "latency", "tokens", "synchronous":
			if within(r, "shifted", "swapped") || h.rule == "synchronous" && within(r, "latency", "tokens", "unit", "ttft") || h.rule == "latency" && h.blameless() && within(r, "twice") {
				continue
			}
		case "offered":
			if within(r, "swapped", "grid") || within(r, "tokens", "shifted") && h.row.blamesDone(all) {
				delete(by["offered"], r)
				continue
			}
		case "backlog", "outlier":
			if within(r, "offered", "swapped", "unit", "ttft", "copied") || within(r, "shifted") && r.moved(all, keyGap, keyLatency, keyTTFT) ||
				within(r, "latency") && r.blames(keyTTFT, keyLatency) || h.rule == "outlier" && within(r, "backlog") {
				continue
			}
		case "stuck":
			if within(r, "default-limit") {
				continue
			}
		case "grid":
			if within(r, "swapped") {
				continue
			}
		}
		if h.blame == nil {
			h.blame = h.causes()
		}
		left = append(left, h)
	}
	return left
}

// blameless reports whether a finding of the latency identity is within what other numbers of tokens explain.
func (h ruled) blameless() bool { return h.row.latencyFits(h.row.value) }

// moved reports whether one of the figures of a row is in a column whose values stand in the wrong rows.
func (r *row) moved(all []ruled, keys ...string) bool {
	return slices.ContainsFunc(all, func(h ruled) bool {
		return h.rule == "shifted" && slices.ContainsFunc(h.blame, func(b blamed) bool {
			return b.row == r && slices.ContainsFunc(b.keys, func(k string) bool { return slices.Contains(keys, k) })
		})
	})
}

// blamesDone reports whether a finding blames the completed rate of a row.
func (r *row) blamesDone(all []ruled) bool {
	for _, h := range all {
		blame := h.blame
		if h.row == r && h.rule == "tokens" {
			blame = r.blame()
		}
		for _, b := range blame {
			if b.row == r && slices.Contains(b.keys, keyDone) {
				return true
			}
		}
	}
	return false
}

// causes returns the figures that a finding of a rule is about.
func (h ruled) causes() []blamed {
	r := h.row
	one := func(keys ...string) []blamed { return []blamed{{row: r, keys: keys}} }
	switch h.rule {
	case "zeros", "offered", "default-limit":
		return one(wholeRow()...)
	case "unit":
		_, meant, _ := misprinted(r, h.key)
		return []blamed{{row: r, keys: []string{h.key}, probably: map[string]float64{h.key: meant}}}
	case "latency", "ttft":
		if b := r.blame(); b != nil && r.result.sweeps() {
			return b
		}
		return one("latency_s", "ttft_s", keyGap, "itl_s", "tpot_s")
	case "tokens":
		if b := r.blame(); b != nil && h.key == keyDone {
			return b
		}
		if h.key != keyDone {
			return one("output_tokens", "tokens_per_s")
		}
		return one(keyDone, keyOutput)
	case "copied":
		b := blamed{row: r, probably: map[string]float64{}}
		for _, key := range []string{keyDone, keyOutput, keyLatency, keyTTFT, keyGap} {
			if slices.ContainsFunc(copiedKeys(h.note), func(k string) bool { return k == key }) {
				b.keys = append(b.keys, key)
			}
		}
		for _, o := range r.blame() {
			for k, v := range o.probably {
				if slices.Contains(b.keys, k) {
					b.probably[k] = v
				}
			}
		}
		return []blamed{b}
	case "synchronous":
		return one(keyDone, keyLatency)
	case "cold":
		return one(wholeRow()...)
	case "order", "arithmetic", "grid":
		return one(h.key)
	}
	return nil
}

// copiedKeys returns the keys of the figures that a note of copied figures names.
func copiedKeys(n note.Note) (keys []string) {
	same, _ := n.Args["same"].([]note.Note)
	for _, s := range same {
		if k, ok := s.Args["metric"].(string); ok {
			keys = append(keys, k)
		}
	}
	return keys
}

// figures returns what a finding blames, for its JSON and for the marks of stages.
func (h hit) figures() []Figure {
	var all []Figure
	for _, b := range h.blame {
		for _, key := range b.keys {
			f := Figure{Line: b.row.line(key), Key: key, Printed: b.row.text(key)}
			if v, ok := b.probably[key]; ok && !math.IsNaN(v) {
				f.Probably = rundir.Exactly(v)
			}
			all = append(all, f)
		}
	}
	return all
}

// Mark keeps in the stages of runs that were read from documents what the audit finds in them, so that every later command knows it. Runs are
// compared with each other, so all results of a document must be marked together. Marks of an earlier reading stay.
func Mark(subjects []Subject) {
	for _, h := range hits(rowsOf(subjects)) {
		grade := h.grade
		if grade == "" {
			grade = Impossible
		}
		d := rundir.Doubt{Rule: h.rule, Grade: string(grade), Line: h.row.line(h.key), Note: h.note}
		blamedHere := false
		for _, b := range h.blame {
			mark := d
			mark.Figures, mark.Probably = b.keys, b.probably
			if !b.note.IsZero() {
				mark.Note = b.note
			}
			b.row.mark(mark)
			blamedHere = blamedHere || b.row == h.row
		}
		if !blamedHere {
			h.row.mark(d)
		}
	}
}

// mark adds a doubt to a stage that was read from a document, once.
func (r *row) mark(d rundir.Doubt) {
	if r.stage.Source == nil || slices.ContainsFunc(r.stage.Doubts, func(o rundir.Doubt) bool { return same(o, d) }) {
		return
	}
	r.stage.Doubts = append(r.stage.Doubts, d)
}

func same(a, b rundir.Doubt) bool {
	return a.Rule == b.Rule && a.Line == b.Line && slices.Equal(a.Figures, b.Figures)
}

// kept returns the findings that runs were imported with and that they do not show by themselves, because they rest on other results of the document.
func kept(all []*result, found []Finding) []Finding {
	there := map[string]bool{}
	id := func(file, rule string, line int) string { return fmt.Sprint(file, "\x00", rule, "\x00", line) }
	for _, f := range found {
		there[id(f.File, f.Rule, f.Line)] = true
	}
	var more []Finding
	for _, t := range all {
		for _, r := range t.rows {
			for _, d := range r.stage.Doubts {
				if there[id(t.file, d.Rule, d.Line)] {
					continue
				}
				there[id(t.file, d.Rule, d.Line)] = true
				f := Finding{File: t.file, Result: t.title, ResultLine: t.line, Line: d.Line, Row: r.name(), Rule: d.Rule, Grade: Grade(d.Grade)}
				for _, key := range d.Figures {
					fig := Figure{Line: r.line(key), Key: key, Printed: r.text(key)}
					if v, ok := d.Probably[key]; ok {
						fig.Probably = rundir.Exactly(v)
					}
					f.Figures = append(f.Figures, fig)
				}
				more = append(more, newFinding(f, d.Note))
			}
		}
	}
	return more
}
