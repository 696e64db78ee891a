package compare

import (
	"cmp"
	"slices"

	"llmsweep/report/lang"
)

// maxLines is how many conclusions an answer has: a reader takes in no more.
const maxLines = 5

// Answer returns what the comparison shows, as sentences: at most five.
func (c *Comparison) Answer() []lang.Text {
	answer, _ := c.conclusions()
	return answer
}

// conclusions returns the effect of each factor, those with the most members first, then how each setup that is part of
// no factor differs from the first one. The first of them are the answer.
func (c *Comparison) conclusions() (answer, rest []lang.Text) {
	byMembers := make([]*Factor, len(c.Factors))
	for i := range c.Factors {
		byMembers[i] = &c.Factors[i]
	}
	slices.SortStableFunc(byMembers, func(a, b *Factor) int { return cmp.Compare(len(b.Members), len(a.Members)) })
	var all []lang.Text
	for _, f := range byMembers {
		if says := lang.Both(f.Conclusion); !says.IsZero() {
			all = append(all, says)
		}
	}
	for _, g := range c.groups {
		if len(c.models(g)) > 1 { // the difference is also that of the models
			continue
		}
		for _, i := range g.members[1:] {
			name := c.Setups[i].Name
			if slices.ContainsFunc(byMembers, func(f *Factor) bool { return f.includes(name) }) {
				continue
			}
			if s := c.setupSentence(name); !s.IsZero() {
				all = append(all, s)
			}
		}
	}
	n := min(len(all), maxLines)
	return all[:n], all[n:]
}

func (f *Factor) includes(setup string) bool {
	return slices.ContainsFunc(f.Members, func(m Member) bool { return m.Setup == setup })
}

// setupSentence says how a setup differs from the first one, in what no difference is shown, and what is not judged: a
// difference without an interval where others have one.
func (c *Comparison) setupSentence(setup string) lang.Text {
	from, all := c.Differences(setup)
	judged := slices.ContainsFunc(all, func(d Difference) bool { return !d.Low.IsZero() })
	var shown, none, unjudged []lang.Text
	for _, d := range all {
		text := d.Name.Plus(lang.Same(" " + d.Text))
		switch {
		case d.Low.IsZero() && judged && !d.Bound:
			unjudged = append(unjudged, text)
		case d.Low.IsZero() || d.Shown:
			shown = append(shown, text)
		default:
			none = append(none, text)
		}
	}
	if len(none) > 0 {
		shown = append(shown, sayNoneOf.Text(lang.Joined(none, lang.Comma)))
	}
	if len(unjudged) > 0 {
		shown = append(shown, sayUnjudgedOf.Text(lang.Joined(unjudged, lang.Comma)))
	}
	if len(shown) == 0 {
		return lang.Text{}
	}
	return sayAgainst.Text(setup, from, lang.Joined(shown, lang.Comma))
}
