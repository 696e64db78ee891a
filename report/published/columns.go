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

// column is a column of a six-column table.
type column struct {
	title       string
	key         string // in run.json, without the statistic
	names       []string
	dimension   Dimension
	defaultUnit string // the unit of the format
	scope       string // of the numbers, where others could be meant
	figure      func(s *rundir.Stage, statistic string) *rundir.Number

	statistic  string // as the heading has it, or the mean
	unitStated bool   // the heading has the unit
}

// The columns that hold no number. A verdict may stand behind the six.
const (
	nameColumn    = "name"
	engineColumn  = "engine"
	verdictColumn = "verdict"
)

// columns returns the columns that are known, each with its names, reduced to letters.
func columns() []column {
	only := func(of func(*rundir.Stage) *rundir.Number) func(*rundir.Stage, string) *rundir.Number {
		return func(s *rundir.Stage, statistic string) *rundir.Number {
			if statistic != "mean" {
				return nil
			}
			return of(s)
		}
	}
	dist := func(of func(*rundir.Stage) *rundir.Dist) func(*rundir.Stage, string) *rundir.Number {
		return func(s *rundir.Stage, statistic string) *rundir.Number { return Statistic(of(s), statistic) }
	}
	return []column{
		{title: "Benchmark", key: nameColumn, names: []string{"benchmark", "基准测试", "基准", "测试", "阶段", "load", "负载"}},
		{title: "Engine", key: engineColumn, names: []string{"engine", "framework", "引擎", "框架", "推理引擎", "推理框架"}},
		{title: "Requests per Second", key: "rates.completed", dimension: Requests, defaultUnit: "req/sec",
			names: []string{"requestspersecond", "rps", "qps", "reqs", "requestss", "requestssec", "requestthroughput",
				"每秒请求数", "请求速率", "请求吞吐", "请求吞吐量"},
			figure: only(func(s *rundir.Stage) *rundir.Number { return &s.Rates.Completed })},
		{title: "Request Latency", key: "latency_s", dimension: Time, defaultUnit: "sec",
			names: []string{"requestlatency", "latency", "e2e", "e2elatency", "e2el", "endtoendlatency",
				"请求延迟", "请求时延", "总时延", "端到端时延", "端到端延迟"},
			figure: dist(func(s *rundir.Stage) *rundir.Dist { return &s.Latency })},
		{title: "Time to First Token", key: "ttft_s", dimension: Time, defaultUnit: "ms",
			names:  []string{"timetofirsttoken", "ttft", "首token时间", "首token延迟", "首token时延", "首字延迟", "首字时延"},
			figure: dist(func(s *rundir.Stage) *rundir.Dist { return &s.TTFT })},
		{title: "Inter Token Latency", key: "itl_s", dimension: Time, defaultUnit: "ms",
			names: []string{"intertokenlatency", "itl", "token间延迟", "token间时延", "词间延迟"},
			figure: func(s *rundir.Stage, statistic string) *rundir.Number {
				if statistic == "mean" {
					return &s.InterToken
				}
				return Statistic(&s.ITL, statistic)
			}},
		{title: "Time per Output Token", key: "tpot_s", dimension: Time, defaultUnit: "ms",
			names: []string{"timeperoutputtoken", "tpot"}, figure: dist(func(s *rundir.Stage) *rundir.Dist { return &s.TPOT })},
		{title: "Output Token Throughput", key: "tokens_per_s.output", dimension: Tokens, defaultUnit: "tokens/sec",
			scope: "output",
			names: []string{"outputtokenthroughput", "outputthroughput", "tps", "toks", "tokenss", "tokenssec",
				"tokenthroughput", "throughput",
				"输出token吞吐量", "输出token吞吐", "输出吞吐", "输出吞吐量"},
			figure: only(func(s *rundir.Stage) *rundir.Number { return &s.TokensPerS.Output })},
		{title: "Verdict", key: verdictColumn, names: []string{"verdict", "判定"}},
	}
}

// findColumns finds out which cell of a heading is which column; known is nil where it is no such table. A cell of
// another column, or of one that is not understood, is nil, and refused has why.
func findColumns(cells []string) (known []*column, refused map[int]note.Note) {
	known, refused = make([]*column, len(cells)), map[int]note.Note{}
	n, named := 0, false
	for i, cell := range cells {
		c, h := findColumn(cell)
		if c == nil {
			continue
		}
		if c.key != verdictColumn && c.key != engineColumn {
			n++
		}
		named = named || c.key == nameColumn
		if refused[i] = c.applyHead(h); refused[i].IsZero() {
			known[i] = c
		}
	}
	if n < 4 || !named {
		return nil, nil
	}
	for i, c := range known {
		for j := range i {
			if c != nil && known[j] != nil && known[j].figureKey() == c.figureKey() {
				refused[i], refused[j] = noteColumnTwice.New(short(cells[i])), noteColumnTwice.New(short(cells[j]))
			}
		}
	}
	for i, why := range refused {
		if !why.IsZero() {
			known[i] = nil
		}
	}
	return known, refused
}

// findColumn returns the column that a heading names, and the heading; nil where it names none.
func findColumn(cell string) (*column, head) {
	all := columns()
	for _, h := range []head{readHead(cell), readHead(cell).core(cell)} {
		for _, same := range []func(a, b string) bool{func(a, b string) bool { return a == b }, alike} {
			for i := range all {
				if slices.ContainsFunc(all[i].names, func(name string) bool { return same(h.name, name) }) {
					return &all[i], h
				}
			}
		}
	}
	return nil, head{}
}

// applyHead takes in what a heading says beside the name, and returns why the column cannot be read.
func (c *column) applyHead(h head) note.Note {
	if c.figure == nil {
		return note.Note{}
	}
	c.statistic = cmp.Or(h.statistic, "mean")
	switch d, _, _, _ := unit(h.unit); {
	case h.unknown != "":
		return noteUnknownHead.New(c.title, h.unknown)
	case h.scope == "" && (h.name == "throughput" || h.name == "tokenthroughput"): // of input, output or both
		return noteUnknownHead.New(c.title, h.name)
	case h.scope != "" && h.scope != c.scope:
		return noteUnknownHead.New(c.title, h.scope)
	case h.unit != "" && d != c.dimension:
		return noteUnknownHead.New(c.title, h.unit)
	case c.figure(new(rundir.Stage), c.statistic) == nil:
		return noteUnknownHead.New(c.title, h.statistic)
	}
	c.defaultUnit, c.unitStated = cmp.Or(h.unit, c.defaultUnit), h.unit != ""
	return note.Note{}
}

// figureKey is the key in run.json of the figures of the column.
func (c *column) figureKey() string {
	switch {
	case c.key == "itl_s" && c.statistic == "mean":
		return "inter_token_s"
	case strings.HasSuffix(c.key, "_s"):
		return c.key + "." + c.statistic
	}
	return c.key
}

// readSixColumn reads the table whose heading is the next line.
func (p *parser) readSixColumn(found []*column, refused map[int]note.Note, head []string) {
	line := p.at + 1
	if p.preamble.heading != nil {
		line = p.preamble.heading.line
	}
	r := p.begin(SixColumn, line)
	r.heading, p.preamble.heading = p.preamble.heading, nil
	if r.heading != nil {
		r.heading.describe(r.Result)
	}
	r.preamble.describe(r.Result)
	if missing := r.missingLabels(); r.heading == nil && len(missing) > 0 && !isProbes(p.preamble.lastHeading()) {
		p.assume(noteNoHeading.New(missing))
	}
	for i, c := range found {
		switch {
		case c == nil:
		case hasFootnote(p.lines[p.at], head[i]):
			found[i], refused[i] = nil, noteFootnote.New(short(head[i]))
		case c.dimension == Time && !c.unitStated && !p.hasUnit(i, len(found)):
			found[i], refused[i] = nil, noteNoUnits.New(short(head[i]))
		}
	}
	for i, c := range found {
		switch why := refused[i]; {
		case !why.IsZero():
			r.refused++
			p.remark(p.at+1, true, why)
		case c == nil:
			p.assume(noteOtherColumn.New(short(head[i])))
		case !slices.Contains(c.names, readHead(head[i]).name) &&
			!slices.Contains(c.names, readHead(head[i]).core(head[i]).name):
			p.assume(noteReadAs.New(short(head[i]), c.title))
		}
	}
	p.take(Frame)
	r.commas = commasOf(p.cellsBelow(len(found)))
	heading := p.preamble.lastHeading()
	for p.at < len(p.lines) && (strings.Contains(p.lines[p.at], "|") || r.resume(found)) {
		if isRule(strings.TrimSpace(p.lines[p.at])) || isSameHead(found, splitCells(p.lines[p.at])) {
			p.take(Frame)
			continue
		}
		r.readRow(found)
	}
	all := append(r.engineResults, r.Result)
	slices.SortStableFunc(all, func(a, b *Result) int { return cmp.Compare(a.firstLine(), b.firstLine()) })
	for _, r.Result = range all {
		r.finishSweep(heading)
	}
	p.preamble.reset()
}

var continuedLine = regexp.MustCompile(`(?i)^\W*(?:.*[(（\s])?(?:continued|cont\.|续表?|接上表)\W*$`)

// resume reports whether a table goes on behind the next lines, which are then taken: blank ones, and a heading that
// says so. What follows has as many cells, and begins with the name of a stage or with the heading of the table once
// more.
func (r *reading) resume(found []*column) bool {
	at, continued := r.at, false
	for ; at < len(r.lines); at++ {
		line := strings.TrimSpace(r.lines[at])
		if line != "" && (continued || !continuedLine.MatchString(line)) {
			break
		}
		continued = continued || line != ""
	}
	if at == r.at || at == len(r.lines) {
		return false
	}
	cells := splitCells(r.lines[at])
	if len(cells) != len(found) || !strings.Contains(r.lines[at], "|") {
		return false
	}
	i := slices.IndexFunc(found, func(c *column) bool { return c != nil && c.key == nameColumn })
	switch again := isSameHead(found, cells); {
	case again && !continued && !r.isNextPart(at, found), !again && (i < 0 || !isStageName(cells[i])):
		return false
	}
	for r.at < at {
		r.take(Frame)
	}
	return true
}

// isNextPart reports whether the first row of the table whose heading is line at is none of those that there are, and the
// last one is still to come: then that table goes on with this one.
func (r *reading) isNextPart(at int, found []*column) bool {
	for at++; at < len(r.lines) && isRule(strings.TrimSpace(r.lines[at])); at++ {
	}
	ends := func(s rundir.Stage) bool { return s.Role == rundir.Ceiling }
	if at == len(r.lines) || slices.ContainsFunc(r.Run.Stages, ends) {
		return false
	}
	i := slices.IndexFunc(found, func(c *column) bool { return c != nil && c.key == nameColumn })
	cells := splitCells(r.lines[at])
	return len(cells) == len(found) && i >= 0 && !slices.ContainsFunc(r.Run.Stages, func(s rundir.Stage) bool {
		return s.Source.Heading == strings.TrimSpace(strings.TrimSuffix(cells[i], "req/sec"))
	})
}

// isSameHead reports whether cells are the heading of a table once more.
func isSameHead(found []*column, cells []string) bool {
	again, _ := findColumns(cells)
	return len(again) == len(found) && slices.EqualFunc(found, again, func(a, b *column) bool {
		return (a == nil) == (b == nil) && (a == nil || a.figureKey() == b.figureKey())
	})
}

// isStageName reports whether a cell is what a row of a six-column table is called.
func isStageName(cell string) bool {
	kind := strings.ToLower(cell)
	if m := ratePart.FindStringSubmatch(kind); m != nil {
		kind = m[1]
	}
	_, role := stageKind(kind)
	return role != rundir.Single
}

var footnoteMark = regexp.MustCompile(`(?:\*+|[†‡⁰¹²³⁴-⁹]|\[\^[^\]]*\])$`)

// hasFootnote reports whether the heading of a column has the mark of a footnote, which may say that it is something
// else.
func hasFootnote(line, head string) bool {
	for _, cell := range strings.Split(line, "|") {
		cell = strings.TrimSpace(cell)
		if bold, ok := strings.CutPrefix(cell, "**"); ok {
			cell, _ = strings.CutSuffix(bold, "**")
		}
		if footnoteMark.MatchString(cell) && plainCell(footnoteMark.ReplaceAllString(cell, "")) == strings.TrimRight(head,
			"*") {
			return true
		}
	}
	return false
}

// hasUnit reports whether a cell of a column beneath the next line has a unit, or none has a number.
func (p *parser) hasUnit(column, columns int) bool {
	numbers := false
	for _, line := range p.lines[p.at+1:] {
		if !strings.Contains(line, "|") {
			break
		}
		row := splitCells(line)
		if len(row) != columns {
			continue
		}
		q, err := ParseQuantity(row[column])
		numbers = numbers || err == nil && q.Number.Known()
		if err == nil && q.Unit != "" {
			return true
		}
	}
	return !numbers
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

// readRow reads the next line as one row.
func (r *reading) readRow(found []*column) {
	if len(r.Run.Stages) >= maxRows {
		r.unread(noteTooManyRows.New(maxRows))
		r.at++
		return
	}
	cells := splitCells(r.lines[r.at])
	r.doc.Lost += r.refused
	if len(cells) != len(found) {
		r.doc.Lost += len(found) - r.refused
		r.unread(noteCells.New(len(cells), len(found)))
		r.at++
		return
	}
	r.BeginStage(r.at + 1)
	kind := Numbers
	for i, c := range found {
		switch {
		case c == nil:
		case c.key == engineColumn:
			r.setEngine(cells[i])
		case c.key == nameColumn:
			if err := r.readName(r.readRowEngine(cells[i])); err != nil {
				r.doc.Lost += len(found) - r.refused
				r.unread(noteBadRow.New(faultOf(err)))
				r.at++
				return
			}
		case c.key == verdictColumn:
			r.Stage.Verdict = verdictOf(cells[i])
		default:
			if r.readCell(c, cells[i]) {
				r.doc.Figures++
			} else {
				r.doc.Lost++
				kind = Unread
			}
		}
	}
	if g := r.Run.Workload.OutputTokens.Mean; g > 0 {
		r.Stage.AskedTokens = rundir.Exactly(g)
	}
	r.EndStage()
	r.take(kind)
}

// setEngine notes which engine the next rows are of: where a table has several, each is a configuration.
func (r *reading) setEngine(text string) {
	name, known := labelEngine(text)
	if !known {
		name = short(text)
	}
	if name == "" || name == r.Run.Labels.Engine && len(r.engineResults) == 0 && len(r.Run.Stages) == 0 {
		return
	}
	for i := range r.engineResults {
		if r.engineResults[i].Run.Labels.Engine == name {
			r.switchResult(i)
			return
		}
	}
	if r.Run.Labels.Engine == name {
		return
	}
	if len(r.Run.Stages) == 0 {
		r.Run.Labels.Engine = name
		return
	}
	other := *r.Result
	r.engineResults = append(r.engineResults, &other)
	r.names, r.Run.Stages, r.Run.Labels.Engine = nil, nil, name
}

// firstLine is the line of the first row.
func (r *Result) firstLine() int {
	if len(r.Run.Stages) == 0 {
		return 0
	}
	return r.Run.Stages[0].Source.Line
}

// switchResult goes on with a result of the same table that was left.
func (r *reading) switchResult(i int) {
	stage := r.Stage
	other := *r.engineResults[i]
	*r.engineResults[i], *r.Result = *r.Result, other
	r.Stage = stage
}

// readRowEngine takes the engine off the name of a row: "vLLM synchronous".
func (r *reading) readRowEngine(text string) string {
	first, rest, found := strings.Cut(text, " ")
	if engine, known := labelEngine(first); found && known && isStageName(rest) {
		r.setEngine(engine)
		return rest
	}
	return text
}

// readCell reads one number of the next line.
func (r *reading) readCell(c *column, text string) bool {
	var q Quantity
	var f rundir.Number
	number, err := r.commas.plain(text)
	if err == nil {
		q, err = ParseQuantity(number)
	}
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
	if q.Rest != "" { // "98.44 ms (p99)"
		if !statisticAlone.MatchString(strings.ToLower(q.Rest)) {
			r.unread(noteBadValue.New(c.title, short(text), []note.Note{faultUnknownText.New(short(q.Rest))}))
			return false
		}
		statistic = statisticName(strings.ToLower(q.Rest))
	}
	figure := c.figure(&r.Stage, statistic)
	if figure == nil {
		r.unread(noteBadValue.New(c.title, short(text), []note.Note{faultUnknownText.New(short(q.Rest))}))
		return false
	}
	r.setPrinted((&column{key: c.key, statistic: statistic}).figureKey(), text)
	if c.dimension == Time && f.Known() && f.Value() == 0 {
		f = rundir.Number{} // nothing takes no time: a tool prints this where nothing was completed
	}
	*figure = f
	return true
}

// averageWord is in the name of a row that is no measurement but made of others.
var averageWord = regexp.MustCompile(`(?i)\b(?:average|mean|total|sum|median|overall)\b|平均|合计|总计`)

var ratePart = regexp.MustCompile(`^(.*?)\s*[@＠]\s*(\S.*)$`)

// readName reads what a row is called.
func (r *reading) readName(text string) error {
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
		if _, engine := labelEngine(text); engine || quantAlone.MatchString(text) || averageWord.MatchString(text) {
			return parseFault{Note: faultNoLoad.New(short(text))}
		}
		return nil
	}
	number, err := r.commas.plain(strings.TrimSuffix(load, warmUpSuffix))
	var q Quantity
	if err == nil {
		q, err = ParseQuantity(number)
	}
	if err != nil || !q.Number.Known() {
		return parseFault{Note: faultNoRate.New(short(text))}
	}
	if s.Kind == "concurrent" {
		s.MaxConcurrency = int(q.Number.Value())
		s.Name = fmt.Sprintf("%s@%d", s.Kind, s.MaxConcurrency)
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

// stageKind returns the kind of stage that a row's name means, and its role in a sweep.
func stageKind(name string) (kind string, role rundir.Role) {
	switch strings.TrimSpace(name) {
	case "synchronous", "sync", "同步":
		return "synchronous", rundir.Floor
	case "throughput", "吞吐", "吞吐量":
		return "throughput", rundir.Ceiling
	case "asynchronous", "async", "poisson", "异步":
		return "poisson", rundir.Grid
	}
	return strings.TrimSpace(name), rundir.Single
}

// finishSweep keeps the table, or adds its rows to the run whose probes they are.
func (r *reading) finishSweep(heading string) {
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
	r.applyCaveats()
	r.Run.Plan.Kind = rundir.KindRun
	if slices.ContainsFunc(r.Run.Stages, func(s rundir.Stage) bool {
		return s.Role == rundir.Floor ||
			s.Role == rundir.Ceiling
	}) {
		r.Run.Plan.Kind = rundir.KindSweep
	}
	r.Keep()
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

// missingLabels are the labels that a table needs and lacks.
func (r *reading) missingLabels() (missing []string) {
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

// isPercentiles reports whether a heading is that of the percentiles of the table above it, which is read.
func isPercentiles(heading string) bool { return heading == "Percentiles" || heading == "百分位数" }

// verdictOf reads a verdict, in either language; nothing where there is none.
func verdictOf(text string) rundir.Verdict {
	return map[string]rundir.Verdict{
		"stable": rundir.Stable, "saturated": rundir.Saturated, "shedding": rundir.Shedding, "undecided": rundir.Undecided,
		"closed": rundir.Closed,
		"稳定":     rundir.Stable, "饱和": rundir.Saturated, "拒绝": rundir.Shedding, "未定": rundir.Undecided, "闭环": rundir.Closed,
	}[text]
}
