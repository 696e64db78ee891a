package published

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

func (p *parser) readSixColumn(found []*column, refused map[int]note.Note, head []string) {
	line := p.at + 1
	if p.preamble.heading != nil {
		line = p.preamble.heading.line
	}
	r := p.begin(SixColumn, line)
	r.heading, p.preamble.heading = p.preamble.heading, nil
	if r.heading != nil {
		r.heading.describe(r.result)
	}
	r.preamble.describe(r.result)
	above := p.preamble.lastHeading()
	if missing := r.missingLabels(); r.heading == nil && len(missing) > 0 && !isProbes(above) {
		p.assume(noteNoHeading.New(missing))
	}
	for i, c := range found {
		if c != nil && c.dimension == Time && !c.unitStated && !p.hasUnit(i, len(found)) {
			found[i], refused[i] = nil, noteNoUnits.New(short(head[i]))
		}
	}
	for i, c := range found {
		switch {
		case !refused[i].IsZero():
			r.refused++
			p.remark(p.at+1, true, refused[i])
		case c == nil:
			p.assume(noteOtherColumn.New(short(head[i])))
		case !slices.Contains(c.names, readHead(head[i]).name) &&
			!slices.Contains(c.names, readHead(head[i]).core(head[i]).name):
			p.assume(noteReadAs.New(short(head[i]), c.title))
		}
	}
	p.take(lineFrame)
	r.commas = commasOf(p.cellsBelow(len(found)))
	for p.at < len(p.lines) && (strings.Contains(p.lines[p.at], "|") || r.resume(found)) {
		if isRule(strings.TrimSpace(p.lines[p.at])) || isSameHead(found, splitCells(p.lines[p.at])) {
			p.take(lineFrame)
			continue
		}
		r.readRow(found)
	}
	all := append(r.engines, r.result)
	slices.SortStableFunc(all, func(a, b *result) int { return cmp.Compare(a.firstLine(), b.firstLine()) })
	for _, one := range all {
		r.result = one
		r.finishSweep(above)
	}
	p.preamble.reset()
}

// resume takes blank lines behind which the table goes on: with a row of as many cells and the name of a stage.
func (r *textRun) resume(found []*column) bool {
	at := r.at
	for at < len(r.lines) && strings.TrimSpace(r.lines[at]) == "" {
		at++
	}
	i := nameIndex(found)
	if at == r.at || at == len(r.lines) || i < 0 || !strings.Contains(r.lines[at], "|") {
		return false
	}
	if cells := splitCells(r.lines[at]); len(cells) != len(found) || !isStageName(cells[i]) {
		return false
	}
	for r.at < at {
		r.take(lineFrame)
	}
	return true
}

// nameIndex returns -1 where no column has the names of the stages.
func nameIndex(found []*column) int {
	return slices.IndexFunc(found, func(c *column) bool { return c != nil && c.key == nameColumn })
}

// isSameHead reports whether cells are the heading of a table once more.
func isSameHead(found []*column, cells []string) bool {
	if i := nameIndex(found); len(cells) != len(found) || i >= 0 && isStageName(cells[i]) {
		return false // most lines are rows, and to look for columns takes time
	}
	again, _ := findColumns(cells)
	return len(again) == len(found) && slices.EqualFunc(found, again, func(a, b *column) bool {
		return (a == nil) == (b == nil) && (a == nil || figureKey(a.key, a.statistic) == figureKey(b.key, b.statistic))
	})
}

func isStageName(cell string) bool {
	kind := strings.ToLower(cell)
	if m := ratePart.FindStringSubmatch(kind); m != nil {
		kind = m[1]
	}
	_, role := stageKind(kind)
	return role != rundir.Single
}

// cellsBelow returns the cells of the rows from the next line on, without their names.
func (p *parser) cellsBelow(columns int) (cells []string) {
	for _, line := range p.lines[p.at:] {
		if !strings.ContainsAny(line, "|│┃") {
			break
		}
		if row := splitCells(line); len(row) == columns {
			cells = append(cells, row[1:]...)
		}
	}
	return cells
}

// maxRows bounds a table: sweeps have tens of rates.
const maxRows = 1000

func (r *textRun) readRow(found []*column) {
	if len(r.Run.Stages) >= maxRows {
		r.takeUnread(noteTooManyRows.New(maxRows))
		return
	}
	cells := splitCells(r.lines[r.at])
	r.doc.Lost += r.refused
	if len(cells) != len(found) {
		r.doc.Lost += len(found) - r.refused
		r.takeUnread(noteCells.New(len(cells), len(found)))
		return
	}
	r.beginStage(r.at + 1)
	kind := lineNumbers
	for i, c := range found {
		switch {
		case c == nil:
		case c.key == engineColumn:
			r.setEngine(cells[i])
		case c.key == nameColumn:
			if err := r.readName(r.readRowEngine(cells[i])); err != nil {
				r.doc.Lost += len(found) - r.refused
				r.takeUnread(noteBadRow.New(faultOf(err)))
				return
			}
		case c.key == verdictColumn:
			r.Stage.Verdict = verdicts[cells[i]]
		default:
			if r.readCell(c, cells[i]) {
				r.doc.Figures++
			} else {
				r.doc.Lost++
				kind = lineUnread
			}
		}
	}
	if g := r.Run.Workload.OutputTokens.Mean; g > 0 {
		r.Stage.AskedTokens = rundir.Exactly(g)
	}
	r.endStage()
	r.take(kind)
}

// setEngine opens or resumes the result of the engine that the next rows are of: each engine of a table is a
// configuration.
func (r *textRun) setEngine(text string) {
	name, known := findEngine(text)
	if !known {
		name = short(text)
	}
	if name == "" || name == r.Run.Labels.Engine {
		return
	}
	i := slices.IndexFunc(r.engines, func(o *result) bool { return o.Run.Labels.Engine == name })
	switch {
	case i >= 0:
		row := r.Stage // the row that is being read goes along
		r.result, r.engines[i] = r.engines[i], r.result
		r.Stage = row
	case len(r.Run.Stages) == 0:
		r.Run.Labels.Engine = name
	default:
		other := *r.result
		r.engines = append(r.engines, &other)
		r.names, r.Run.Stages, r.Run.Labels.Engine = nil, nil, name
	}
}

// firstLine is the line of the first row; 0 where there is none.
func (r *result) firstLine() int {
	if len(r.Run.Stages) == 0 {
		return 0
	}
	return r.Run.Stages[0].Source.Line
}

// readRowEngine takes the engine off the name of a row: "vLLM synchronous".
func (r *textRun) readRowEngine(text string) string {
	first, rest, found := strings.Cut(text, " ")
	if engine, known := findEngine(first); found && known && isStageName(rest) {
		r.setEngine(engine)
		return rest
	}
	return text
}

// readCell reports whether a number of the next line could be read.
func (r *textRun) readCell(c *column, text string) bool {
	var f rundir.Number
	q, err := r.commas.parse(text)
	if err == nil {
		f, err = q.In(c.dimension, c.defaultUnit)
	}
	if err != nil {
		r.unread(noteBadValue.New(c.title, short(text), faultOf(err)))
		return false
	}
	if q.Unit == "" && !q.Number.IsZero() && !c.unitStated {
		r.assume(noteNoUnit.New(c.title, short(text), c.defaultUnit))
	}
	statistic := c.statistic
	var figure *rundir.Number
	if q.Rest == "" {
		figure = c.figure(&r.Stage, statistic)
	} else if word := strings.ToLower(q.Rest); statisticAlone.MatchString(word) { // "98.44 ms (p99)"
		statistic = statisticName(word)
		figure = c.figure(&r.Stage, statistic)
	}
	if figure == nil {
		r.unread(noteBadValue.New(c.title, short(text), []note.Note{faultUnknownText.New(short(q.Rest))}))
		return false
	}
	r.setPrinted(figureKey(c.key, statistic), text)
	if c.dimension == Time && f.Known() && f.Value() == 0 {
		f = rundir.Number{} // nothing takes no time: a tool prints this where nothing was completed
	}
	*figure = f
	return true
}

// averageWord is in the name of a row that sums up others.
var averageWord = regexp.MustCompile(`(?i)\b(?:average|mean|total|sum|median|overall)\b|平均|合计|总计`)

var ratePart = regexp.MustCompile(`^(.*?)\s*[@＠]\s*(\S.*)$`)

func (r *textRun) readName(text string) error {
	s := &r.Stage
	s.Source.Heading = strings.TrimSpace(strings.TrimSuffix(text, "req/sec"))
	kind, load := strings.ToLower(text), ""
	if m := ratePart.FindStringSubmatch(kind); m != nil {
		kind, load = m[1], m[2]
	}
	s.Kind, s.Role = stageKind(kind)
	s.Name = s.Kind
	if s.Kind == "" {
		return parseFault{Note: faultNoName.New()}
	}
	if s.Role != rundir.Grid {
		s.Verdict = rundir.Closed
	}
	if load == "" {
		if _, engine := findEngine(text); engine || quantAlone.MatchString(text) || averageWord.MatchString(text) {
			return parseFault{Note: faultNoLoad.New(short(text))}
		}
		return nil
	}
	q, err := r.commas.parse(strings.TrimSuffix(load, warmUpSuffix))
	if err != nil || !q.Number.Known() {
		return parseFault{Note: faultNoRate.New(short(text))}
	}
	if s.Kind == rundir.StageConcurrent {
		s.MaxConcurrency = int(q.Number.Value())
		nameConcurrent(s)
		if strings.HasSuffix(load, warmUpSuffix) {
			s.Name += warmUpSuffix
			s.Role = rundir.WarmUp
		}
		r.setPrinted("max_concurrency", load)
		return nil
	}
	if s.Rate, err = q.In(Requests, "req/sec"); err != nil {
		return parseFault{Note: faultBadRate.New(short(text), faultOf(err))}
	}
	s.Verdict = ""
	s.Name = fmt.Sprintf("%s@%.2f", s.Kind, s.Rate.Value())
	r.setPrinted("rate", load)
	return nil
}

func stageKind(name string) (kind string, role rundir.Role) {
	kind = strings.TrimSpace(name)
	switch kind {
	case "sync", "同步":
		kind = rundir.StageSynchronous
	case "吞吐", "吞吐量":
		kind = rundir.StageThroughput
	case "asynchronous", "async", "poisson", "异步":
		return "poisson", rundir.Grid
	}
	return kind, cmp.Or(rundir.RoleOf(kind), rundir.Single)
}

// finishSweep keeps the table, or adds its rows to the run whose probes they are.
func (r *textRun) finishSweep(heading string) {
	if !slices.ContainsFunc(r.Run.Stages, func(s rundir.Stage) bool { return hasFigure(&s) }) {
		r.remark(r.Run.Source.Line, true, noteNoRow.New())
		return
	}
	last := len(r.Doc.Runs) - 1
	if isProbes(heading) && last >= 0 && r.Doc.Runs[last].Source.Format == SixColumn {
		for _, s := range r.Run.Stages {
			s.Role = rundir.Probe
			s.AskedTokens = r.Doc.Runs[last].Stages[0].AskedTokens
			r.Doc.Runs[last].Stages = append(r.Doc.Runs[last].Stages, s)
		}
		return
	}
	r.Run.Plan.Kind = rundir.KindRun
	if slices.ContainsFunc(r.Run.Stages, func(s rundir.Stage) bool {
		return s.Role == rundir.Synchronous || s.Role == rundir.Throughput
	}) {
		r.Run.Plan.Kind = rundir.KindSweep
	}
	r.keep()
}

// hasFigure reports whether a row has more than its name and its load.
func hasFigure(s *rundir.Stage) bool {
	for key := range s.Source.Printed {
		if key != "rate" && key != "max_concurrency" {
			return true
		}
	}
	return false
}

func (r *textRun) missingLabels() (missing []string) {
	l := &r.Run.Labels
	for _, label := range []struct{ name, value string }{{"model", l.Model}, {"gpu", l.GPU}, {"engine", l.Engine}} {
		if label.value == "" {
			missing = append(missing, label.name)
		}
	}
	return missing
}

// isProbes reports whether a heading is that of stages beyond the table above it.
func isProbes(heading string) bool { return heading == "Probes" || heading == "探测" }

var verdicts = map[string]rundir.Verdict{
	"stable": rundir.Stable, "saturated": rundir.Saturated, "shedding": rundir.Shedding, "undecided": rundir.Undecided,
	"closed": rundir.Closed,
	"稳定":     rundir.Stable, "饱和": rundir.Saturated, "拒绝": rundir.Shedding, "未定": rundir.Undecided, "闭环": rundir.Closed,
}
