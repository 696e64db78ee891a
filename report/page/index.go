package page

import (
	"cmp"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"llmsweep/report/audit"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// Input is a run of an index, and its directory.
type Input struct {
	Run  *rundir.Run
	Path string
}

type indexLabel struct {
	key  string
	text lang.Text
	of   func(*rundir.Run) string
}

// Runs writes the index of many runs: a table that can be filtered, and drawings of those that are chosen.
func Runs(w io.Writer, all []Input, o WriteOptions) error {
	d := &Document{Title: titleIndex.Text(len(all)), Data: map[string]any{"index": true}}
	var inputs []setup.Input
	var names []string
	for _, in := range all {
		inputs, names = append(inputs, setup.Input{Path: in.Path, Run: in.Run}), append(names, in.Path)
	}
	names = trimCommonDir(names)
	setups := setup.Load(inputs)
	d.Sections = []Section{
		{ID: "answer", Title: titleIndexTable.Text(), Blocks: []Block{{Index: newIndex(all, setups, names)}}},
		{
			ID:      "rates",
			Markers: markersOf(setups),
			Title:   titleTogether.Text(),
			Blocks:  []Block{{Figures: newOverlay(setups, names, "").figures()}},
		},
	}
	notes := Section{ID: "notes", Title: titleCareful.Text()}
	for i, in := range all {
		if lines := lang.Sentences(func(l lang.Lang) []string { return audit.Cautions(in.Run, l) }); len(lines) > 0 {
			notes.Blocks = append(notes.Blocks, Block{Heading: lang.Same(runNumber(i, names))}, Block{
				Lines: &Lines{
					Items: lines[:min(2, len(lines))],
					More:  lines[min(2, len(lines)):],
					Class: "careful",
				},
			})
		}
	}
	if len(notes.Blocks) > 0 {
		d.Sections = append(d.Sections, notes)
	}
	return writeHTML(w, d, o)
}

func runNumber(i int, names []string) string { return "#" + strconv.Itoa(i+1) + " " + names[i] }

func trimCommonDir(paths []string) []string {
	var all []string
	if len(paths) == 0 {
		return all
	}
	in := filepath.Dir(paths[0])
	outside := func(p string) bool { return !strings.HasPrefix(p, in+string(filepath.Separator)) }
	for dir := ""; dir != in && slices.ContainsFunc(paths, outside); {
		dir, in = in, filepath.Dir(in)
	}
	for _, p := range paths {
		all = append(all, strings.TrimPrefix(p, in+string(filepath.Separator)))
	}
	return all
}

func indexLabels(all []Input) []indexLabel {
	labels := []indexLabel{
		{"model", headModel.Text(), func(r *rundir.Run) string { return cmp.Or(r.Labels.Model, r.Target.Model) }},
		{"gpu", lang.Same("GPU"), func(r *rundir.Run) string { return findings.HardwareName(r, lang.English, "") }},
		{"engine", headEngine.Text(), findings.EngineName},
		{"quant", headQuant.Text(), func(r *rundir.Run) string { return r.Labels.Quant }},
	}
	return slices.DeleteFunc(labels, func(l indexLabel) bool { // a column of nothing
		return !slices.ContainsFunc(all, func(in Input) bool { return l.of(in.Run) != "" })
	})
}

func (l indexLabel) value(r *rundir.Run) string { return table.Clean(l.of(r)) }

func (l indexLabel) filter(all []Input) Filter {
	f := Filter{Key: l.key, Text: l.text}
	for _, in := range all {
		if v := l.value(in.Run); !slices.Contains(f.Values, v) {
			f.Values = append(f.Values, v)
		}
	}
	slices.Sort(f.Values)
	return f
}

func newIndex(all []Input, setups []setup.Setup, names []string) *IndexPage {
	index := &IndexPage{Table: &Grid{Name: "index", Open: true, Table: table.Table{Title: titleIndexTable.Text()}}}
	index.Table.Columns = []table.Column{{Head: headRun.Text(), Left: true}}
	labels := indexLabels(all)
	for _, l := range labels {
		index.Table.Columns = append(index.Table.Columns, table.Column{Head: l.text, Left: true})
		index.Filters = append(index.Filters, l.filter(all))
	}
	index.Table.Columns = append(index.Table.Columns, table.Column{Head: headSaturation.Text()},
		table.Column{Head: headIndexInterval.Text()}, table.Column{Head: headOutput.Text()})
	unanswered := slices.ContainsFunc(setups, func(s setup.Setup) bool { return s.Plateau.Rate.IsZero() })
	if unanswered {
		index.Table.Columns = append(index.Table.Columns, table.Column{Head: headAnswer.Text(), Left: true})
	}
	for i, in := range all {
		attrs := []Attr{{Name: "data-run", Value: strconv.Itoa(i)}}
		cells := []table.Cell{{Key: "r" + strconv.Itoa(i), Text: lang.Same(runNumber(i, names)), Tone: table.Strong}}
		for _, l := range labels {
			cells = append(cells, table.Literal(l.value(in.Run)))
			attrs = append(attrs, Attr{Name: "data-" + l.key, Value: l.value(in.Run)})
		}
		cells = append(cells, answerCells(&setups[i])...)
		if unanswered {
			why := table.Literal("")
			if setups[i].Plateau.Rate.IsZero() {
				_, main, _ := findings.AnswerParts(in.Run)
				why = table.Cell{Text: newView(in.Run).sentence(main), Long: true}
			}
			cells = append(cells, why)
		}
		index.Table.Attrs = append(index.Table.Attrs, attrs)
		index.Table.Add(cells...)
	}
	return index
}

// answerCells shows of published results what compare and choose take: the most that arrivals at a rate showed.
func answerCells(s *setup.Setup) []table.Cell {
	p := s.Plateau
	rate, output, bounds, digits := p.Rate, p.Output, table.Literal(lang.Absent), lang.Printer(lang.Short)
	interval := func(low, high rundir.Number) table.Cell {
		return table.Literal(digits(low.Value(), false) + " – " + digits(high.Value(), false))
	}
	switch {
	case p.Most.Known(): // rows disagree
		return []table.Cell{table.Absent(), interval(p.Rate, p.Most), interval(p.Output, p.MostOutput)}
	case p.Rising && rate.Known():
		rate, output = rundir.Over(rate.Value()), rundir.Over(output.Value())
	}
	if p.Low.Known() && p.High.Known() {
		digits = lang.Estimate(p.Low, p.High)
		bounds = interval(p.Low, p.High)
	}
	return []table.Cell{table.Number(rate, "", digits), bounds, table.Number(output, "", lang.Short)}
}
