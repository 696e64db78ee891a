package compare

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// IsPair reports whether the comparison is one of two results, of which one table tells all that is compared.
func (c *Comparison) IsPair() bool { return len(c.Setups) == 2 }

// Report returns the comparison as sections, with its answer. That of two results is one table to quote, which says
// what the sentences and tables of several would.
func (c *Comparison) Report(level int) []table.Section {
	if !c.IsPair() {
		all := c.Sections(level)
		all[0].Lines = c.Answer()
		return all
	}
	g := c.groups[0]
	all := []table.Section{c.quoteSection(g, level)}
	if s := c.tailSection(g, level+1); len(s.Table.Rows) > 0 {
		all = append(all, s)
	}
	return append(all, c.factorSections(level)...)
}

// consoleRows is how many rows of the table a console shows: a reader quotes no more.
const consoleRows = 8

// consoleMetrics returns the metrics that a console shows, the most important first.
func consoleMetrics(a, b *Configuration) []string {
	keys := []string{keyUsers, keyRate, keyOutput}
	if a.Labels.GPUs != b.Labels.GPUs {
		keys = append(keys, KeyPerGPU)
	}
	x, _ := a.Get(KeyErrors)
	y, _ := b.Get(KeyErrors)
	if x.Value.Or(0)+y.Value.Or(0) > 0 {
		keys = append(keys, KeyErrors)
	}
	return append(keys, keyUncached, KeyAccuracy, "ttft@80", "itl@80", "ttft@sync", "itl@sync", "latency@80",
		"latency@sync", keyGoodput, keySessions, keyTTFA, keySpeed, keyStalls)
}

func (c *Comparison) quoteSection(g group, level int) table.Section {
	a, b := &c.Setups[g.members[0]], &c.Setups[g.members[1]]
	names, shared := headingsOf(a, b)
	s := table.Section{Title: titleCompare.Text(), Level: level}
	s.Notes = slices.Concat(names.legend(a, b), c.factorSentences())
	if g.run != nil {
		shared = append(shared, lang.Both(func(l lang.Lang) string { return workload(g.run, l) }))
	}
	if len(shared) > 0 {
		s.Title = titleCompared.Text(lang.Joined(shared, lang.Comma))
	}
	notes, details := c.legend(g)
	saidByVerdicts := []lang.Text{legendTilde.Text(), legendBound.Text()}
	s.Notes = slices.Concat(s.Notes, notes, slices.DeleteFunc(c.changeLegend(g), func(n lang.Text) bool {
		return slices.Contains(saidByVerdicts, n)
	}))
	x, _ := a.Get(keyOutput)
	y, _ := b.Get(keyOutput)
	s.Details = append(details, sayRests.Text(cmp.Or(x.Where, a.Origin), cmp.Or(y.Where, b.Origin)))
	s.Table.Columns = []table.Column{
		{Head: headFigure.Text(), Left: true}, {Head: names[0]}, {Head: names[1]},
		{Head: headChange95.Text()}, {Head: headVerdict.Text(), Left: true},
	}
	if !slices.ContainsFunc(c.Changes, func(ch Change) bool { return ch.Shown != nil }) {
		s.Table.Columns[3].Head = headChange.Text()
	}
	var keys []string
	for _, col := range columns() {
		x, ok1 := a.Get(col.key)
		y, ok2 := b.Get(col.key)
		if !ok1 && !ok2 {
			continue
		}
		keys = append(keys, col.key)
		name := table.Cell{Text: col.withUnit().Heading(), Tone: table.Strong}
		row := []table.Cell{name, x.tableCell(col.cell), y.tableCell(col.cell), table.Absent(), table.Absent()}
		i := slices.IndexFunc(c.Changes, func(ch Change) bool { return ch.Key == col.key && ch.Setup == b.Name })
		if i >= 0 {
			row[3], row[4] = table.Literal(c.Changes[i].String()), c.Changes[i].verdict()
		}
		s.Table.Rows = append(s.Table.Rows, row)
	}
	shown := slices.DeleteFunc(consoleMetrics(a, b), func(key string) bool { return !slices.Contains(keys, key) })
	shown = shown[:min(len(shown), consoleRows)]
	for i, key := range keys {
		if !slices.Contains(shown, key) {
			s.Spare = append(s.Spare, i)
		}
	}
	return s
}

func (c *Change) verdict() table.Cell {
	switch {
	case c.Bound != "":
		r := Ratio{Bound: c.Bound, Low: c.Ratio, High: c.Ratio}
		if c.Bound == BoundRange {
			r.Low, r.High = c.Low, c.High
		}
		r.Low, r.High = rundir.Exactly(r.Low.Value()+1), rundir.Exactly(r.High.Value()+1)
		return table.Cell{Text: lang.Both(r.boundText)}
	case c.Shown == nil:
		return table.Absent()
	case !*c.Shown:
		return table.Cell{Text: wordNoneShown.Text(), Tone: table.Faint}
	case (c.Ratio.Value() > 0) == HigherIsBetter(c.Key):
		return table.Cell{Text: WordBetter.Text(), Tone: table.Good}
	}
	return table.Cell{Text: WordWorse.Text(), Tone: table.Bad}
}

// factorSentences returns what the table of two results lacks: their difference at equal concurrency, and what the rows
// throughput show.
func (c *Comparison) factorSentences() (all []lang.Text) {
	for i := range c.Factors {
		f := &c.Factors[i]
		burst := slices.ContainsFunc(f.Members, func(m Member) bool {
			out, _ := m.config.Get(keyOutput)
			return out.Burst.Known()
		})
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
