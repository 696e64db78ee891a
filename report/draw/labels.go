package draw

import (
	"cmp"
	"slices"

	"llmsweep/report/lang"
)

type label struct {
	text  lang.Text
	class string
	y     float64 // the height of what it names
	from  float64 // x of what it names, to draw a line to it
	at    float64 // where it stands
}

// spreadLabels places labels at least a line's height apart, in their order and as near as possible to what they name.
// The last ones are dropped where there is no room.
func spreadLabels(all []label, top, bottom float64) []label {
	slices.SortStableFunc(all, func(a, b label) int { return cmp.Compare(a.y, b.y) })
	if most := int((bottom-top)/lineHeight) + 1; len(all) > most {
		all = all[:most]
	}
	// Labels that touch form a group, which is centred on the mean height of what they name.
	type group struct {
		first, n int
		sum      float64
	}
	place := func(g group) float64 { // of its first label
		half := float64(g.n-1) * lineHeight / 2
		middle := min(max(g.sum/float64(g.n), top+half), bottom-half)
		return middle - half
	}
	var groups []group
	for i, l := range all {
		groups = append(groups, group{first: i, n: 1, sum: l.y})
		for len(groups) > 1 {
			a, b := groups[len(groups)-2], groups[len(groups)-1]
			if place(a)+float64(a.n)*lineHeight <= place(b)+1e-9 {
				break
			}
			groups = append(groups[:len(groups)-2], group{first: a.first, n: a.n + b.n, sum: a.sum + b.sum})
		}
	}
	for _, g := range groups {
		for i := range g.n {
			all[g.first+i].at = place(g) + float64(i)*lineHeight
		}
	}
	return all
}

// tag is a text above the drawing: over the middle of what it names, or as a flag beside a line up to the text.
type tag struct {
	text  lang.Text
	class string
	x     float64
	flag  bool
	row   int
	left  float64
}

const flagGap = 4 // pixels from the line of a flag to its text

// stackTags gives each tag the lowest row in which it covers no other.
func stackTags(all []tag, left, right float64) []tag {
	slices.SortStableFunc(all, func(a, b tag) int { return cmp.Compare(a.x, b.x) })
	var ends []float64 // of the rows
	for i := range all {
		t := &all[i]
		w := textWidth(t.text)
		t.left = max(left, min(t.x-w/2, right-w))
		if t.flag {
			t.left = max(left, t.x-w-flagGap)
			for _, other := range all[:i] { // a line to the right would cross the text
				if other.flag && other.x > t.left {
					t.row = max(t.row, other.row)
				}
			}
		}
		for t.row < len(ends) && ends[t.row] > t.left {
			t.row++
		}
		if t.row == len(ends) {
			ends = append(ends, 0)
		}
		const gap = 14
		ends[t.row] = t.left + w + gap
	}
	return all
}
