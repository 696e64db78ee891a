package compare

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"llmsweep/report/lang"
	"llmsweep/report/table"
)

// consoleRows is how many rows of the table of two results a console shows: a reader quotes no more.
const consoleRows = 8

// twoSection is the table of two results, which says all that is compared.
func (c *Comparison) twoSection(g group, level int) table.Section {
	a, b := &c.Setups[g.members[0]], &c.Setups[g.members[1]]
	names, shared := headingsOf(a, b)
	s := table.Section{Title: titleCompare.Text(), Level: level}
	if g.run != nil {
		shared = append(shared, lang.Both(func(l lang.Lang) string { return workload(g.run, l) }))
	}
	if len(shared) > 0 {
		s.Title = titleCompared.Text(lang.Joined(shared, lang.Comma))
	}
	notes, details := c.legend(g)
	s.Notes = slices.Concat(names.legend(a, b), c.factorSentences(), notes, c.differenceLegend(g, false))
	s.Details = append(details, sayRests.Text(cmp.Or(a.figure(keyOutput).Where, a.Origin),
		cmp.Or(b.figure(keyOutput).Where, b.Origin)))
	s.Table.Columns = []table.Column{
		{Head: headFigure.Text(), Left: true}, {Head: names[0]}, {Head: names[1]},
		{Head: headChange95.Text()}, {Head: headVerdict.Text(), Left: true},
	}
	if !slices.ContainsFunc(c.Changes, func(d Difference) bool { return d.Shown != nil }) {
		s.Table.Columns[3].Head = headChange.Text()
	}
	shown := c.known(g, func(m *Configuration, key string) bool { return m.figure(key).known() })
	var ranks []int
	rank := func(m metric) int {
		failed := a.figure(KeyErrors).Value.Or(0) + b.figure(KeyErrors).Value.Or(0)
		if m.key == KeyPerGPU && a.Labels.GPUs == b.Labels.GPUs || m.key == KeyErrors && failed == 0 {
			return 0
		}
		return m.rank
	}
	for _, m := range shown {
		if rank(m) > 0 {
			ranks = append(ranks, rank(m))
		}
	}
	slices.Sort(ranks)
	ranks = ranks[:min(len(ranks), consoleRows)]
	for i, m := range shown {
		of := m.head()
		d := c.difference(b.Name, m.key)
		s.Table.Rows = append(s.Table.Rows, []table.Cell{{Text: of.Heading(), Tone: table.Strong},
			a.figure(m.key).cell(m.print), b.figure(m.key).cell(m.print), d.cell(), d.verdict()})
		if !slices.Contains(ranks, rank(m)) {
			s.Spare = append(s.Spare, i)
		}
	}
	return s
}

// factorSentences returns what the table of two results lacks: their difference at equal concurrency, and what the rows
// throughput show.
func (c *Comparison) factorSentences() (all []lang.Text) {
	for i := range c.Factors {
		f := &c.Factors[i]
		burst := slices.ContainsFunc(f.Members, func(m Member) bool { return m.figure(keyOutput).Burst.Known() })
		if says := lang.Both(f.Conclusion); (burst || f.closedLoopsOnly()) && !says.IsZero() {
			all = append(all, says)
		}
	}
	return all
}

type headings [2]lang.Text

// widestName is how wide a name over a column may be, in columns of a terminal.
const widestName = 24

// headingsOf returns the short names of two results, and the parts of their names that both have. Where a short name
// would be empty or too wide, they are A and B, and nothing is shared.
func headingsOf(a, b *Configuration) (short headings, shared []lang.Text) {
	x, y := nameParts(a.Name), nameParts(b.Name)
	in := func(all []string) func(string) bool { return func(p string) bool { return slices.Contains(all, p) } }
	own := [2][]string{slices.DeleteFunc(slices.Clone(x), in(y)), slices.DeleteFunc(slices.Clone(y), in(x))}
	for _, p := range slices.DeleteFunc(slices.Clone(x), in(own[0])) {
		shared = append(shared, lang.Same(p))
	}
	one := len(own[0]) == 1 && len(own[1]) == 1
	if one && a.Labels.Model == b.Labels.Model && a.Labels.Quant != b.Labels.Quant {
		return headings{quantName(a), quantName(b)}, append([]lang.Text{lang.Same(a.Labels.Model)}, shared...)
	}
	names := [2]string{strings.Join(own[0], ", "), strings.Join(own[1], ", ")}
	label, from := cutOrigin(names[0])
	if other, at := cutOrigin(names[1]); label != "" && label == other { // labelled alike, and found in different places
		shared = append(shared, lang.Same(label))
		names = [2]string{path.Base(from), path.Base(at)}
		if names[0] == names[1] {
			names = [2]string{from, at}
		}
	}
	base := [2]string{path.Base(names[0]), path.Base(names[1])}
	if names[0] == a.Origin && names[1] == b.Origin && base[0] != base[1] { // they have no label
		names = base
	}
	for i, name := range names {
		if name == "" || table.Width(name) > widestName {
			return headings{lang.Same("A"), lang.Same("B")}, nil
		}
		short[i] = lang.Same(name)
	}
	return short, shared
}

func quantName(m *Configuration) lang.Text {
	if m.Labels.Quant == "" {
		return wordUnquantized.Text()
	}
	return lang.Same(m.Labels.Quant)
}

// nameParts returns the parts of a name in either language.
func nameParts(name string) []string {
	comma := lang.Comma.In(lang.English)
	return strings.Split(strings.ReplaceAll(name, lang.Comma.In(lang.Chinese), comma), comma)
}

// cutOrigin cuts a part of a name into a label and what stands in parentheses; both are empty where nothing does.
func cutOrigin(part string) (label, origin string) {
	for _, l := range lang.All() {
		open, end, _ := strings.Cut(lang.InParens.In(l, "\x00"), "\x00")
		if label, rest, ok := strings.Cut(part, open); ok && strings.HasSuffix(rest, end) {
			return label, strings.TrimSuffix(rest, end)
		}
	}
	return "", ""
}

func (h headings) legend(a, b *Configuration) []lang.Text {
	if h != (headings{lang.Same("A"), lang.Same("B")}) {
		return nil
	}
	return []lang.Text{lang.Same("A = " + a.Name), lang.Same("B = " + b.Name)}
}
