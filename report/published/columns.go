package published

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"llmsweep/sweep/rundir"
)

// column is one of the six columns.
type column struct {
	title     string
	key       string // in run.json
	names     []string
	dimension Dimension
	usual     string // the unit of the format
	figure    func(*rundir.Stage) *rundir.Number
}

// The columns that hold no number. A verdict may stand behind the six.
const (
	nameColumn    = "name"
	verdictColumn = "verdict"
)

// columns returns the six columns, each with its known names, reduced to letters.
func columns() []column {
	return []column{
		{title: "Benchmark", key: nameColumn, names: []string{"benchmark", "基准测试", "测试", "阶段"}},
		{"Requests per Second", "rates.completed", []string{"requestspersecond", "每秒请求数", "请求速率", "请求吞吐"}, Requests, "req/sec",
			func(s *rundir.Stage) *rundir.Number { return &s.Rates.Completed }},
		{"Request Latency", "latency_s.mean", []string{"requestlatency", "请求延迟", "请求时延", "总时延"}, Time, "sec",
			func(s *rundir.Stage) *rundir.Number { return &s.Latency.Mean }},
		{"Time to First Token", "ttft_s.mean", []string{"timetofirsttoken", "首token时间", "首token延迟", "首token时延", "首字延迟"}, Time, "ms",
			func(s *rundir.Stage) *rundir.Number { return &s.TTFT.Mean }},
		{"Inter Token Latency", "inter_token_s", []string{"intertokenlatency", "token间延迟", "token间时延", "词间延迟"}, Time, "ms",
			func(s *rundir.Stage) *rundir.Number { return &s.InterToken }},
		{"Output Token Throughput", "tokens_per_s.output", []string{"outputtokenthroughput", "输出token吞吐量", "输出token吞吐", "输出吞吐"}, Tokens, "tokens/sec",
			func(s *rundir.Stage) *rundir.Number { return &s.TokensPerS.Output }},
		{title: "Verdict", key: verdictColumn, names: []string{"verdict", "判定"}},
	}
}

// sixColumns finds out which cell of a heading is which column, nil where it is no such table. A cell of another column
// is nil.
func sixColumns(head []string) []*column {
	all := columns()
	found := make([]*column, len(head))
	n := 0
	for i, cell := range head {
		for j := range all {
			c := &all[j]
			known := slices.ContainsFunc(c.names, func(name string) bool { return alike(letters(cell), name) })
			if known && !slices.Contains(found, c) {
				found[i] = c
				if c.key != verdictColumn {
					n++
				}
			}
		}
	}
	if n < 4 || !slices.ContainsFunc(found, func(c *column) bool { return c != nil && c.key == nameColumn }) {
		return nil
	}
	return found
}

// sixColumn reads the table whose heading is the next line.
func (p *parser) sixColumn(found []*column, head []string) {
	line := p.at + 1
	if p.above.Heading != nil {
		line = p.above.Heading.Line
	}
	r := p.begin(SixColumn, line)
	if h := p.above.Heading; h != nil {
		h.Read(r.Result)
	} else if !isProbes(p.above.LastHeading()) {
		p.assume(noteNoHeading.New())
	}
	p.above.Heading = nil
	r.above.Describe(r.Result)
	for i, c := range found {
		switch {
		case c == nil:
			p.assume(noteOtherColumn.New(short(head[i])))
		case !slices.Contains(c.names, letters(head[i])):
			p.assume(noteReadAs.New(short(head[i]), c.title))
		}
	}
	p.take(Frame)
	for p.at < len(p.lines) && strings.Contains(p.lines[p.at], "|") {
		if isRule(strings.TrimSpace(p.lines[p.at])) {
			p.take(Frame)
			continue
		}
		r.row(found)
	}
	r.finishSweep(p.above.LastHeading())
	p.above.Forget()
}

// maxRows bounds a table: sweeps have tens of rates.
const maxRows = 1000

// row reads the next line as one row.
func (r *reading) row(found []*column) {
	if len(r.Run.Stages) >= maxRows {
		r.unread(noteTooManyRows.New(maxRows))
		r.at++
		return
	}
	cells := splitCells(r.lines[r.at])
	if len(cells) != len(found) {
		r.unread(noteCells.New(len(cells), len(found)))
		r.at++
		return
	}
	r.BeginStage(r.at + 1)
	kind := Numbers
	for i, c := range found {
		switch {
		case c == nil:
		case c.key == nameColumn:
			if err := r.name(cells[i]); err != nil {
				r.unread(noteBad.New(faultOf(err)))
				r.at++
				return
			}
		case c.key == verdictColumn:
			r.Stage.Verdict = verdictOf(cells[i])
		default:
			if !r.cell(c, cells[i]) {
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

// cell reads one number of the next line.
func (r *reading) cell(c *column, text string) bool {
	q, err := ParseQuantity(text)
	var f rundir.Number
	if err == nil {
		f, err = q.In(c.dimension, c.usual)
	}
	if err != nil {
		r.unread(noteBadValue.New(c.title, short(text), faultOf(err)))
		return false
	}
	if q.Unit == "" && !q.Number.IsZero() {
		r.assume(noteNoUnit.New(c.title, short(text), c.usual))
	}
	r.printed(c.key, text)
	if c.dimension == Time && f.Known() && f.Value() == 0 {
		f = rundir.Number{} // nothing takes no time: a tool prints this where nothing was completed
	}
	*c.figure(&r.Stage) = f
	return true
}

var ratePart = regexp.MustCompile(`^(.*?)\s*[@＠]\s*(\S.*)$`)

// name reads what a row is called.
func (r *reading) name(text string) error {
	s := &r.Stage
	s.Source.Heading = strings.TrimSpace(strings.TrimSuffix(text, "req/sec"))
	kind, load := strings.ToLower(text), ""
	if m := ratePart.FindStringSubmatch(kind); m != nil {
		kind, load = m[1], m[2]
	}
	s.Kind, s.Role = stageKind(kind)
	s.Name = s.Kind
	if s.Kind == "" {
		return fault{Note: faultNoName.New()}
	}
	if s.Role != rundir.Grid {
		s.Verdict = rundir.Closed
	}
	if load == "" {
		return nil
	}
	q, err := ParseQuantity(strings.TrimSuffix(load, warmUpSuffix))
	if err != nil || !q.Number.Known() {
		return fault{Note: faultNoRate.New(short(text))}
	}
	if s.Kind == "concurrent" {
		s.MaxConcurrency = int(q.Number.Value())
		s.Name = fmt.Sprintf("%s@%d", s.Kind, s.MaxConcurrency)
		if strings.HasSuffix(load, warmUpSuffix) {
			s.Name += warmUpSuffix
			s.Role = rundir.WarmUp
		}
		r.printed("max_concurrency", load)
		return nil
	}
	if s.Rate, err = q.In(Requests, "req/sec"); err != nil {
		return fault{Note: faultBadRate.New(short(text), faultOf(err))}
	}
	s.Verdict = ""
	s.Name = fmt.Sprintf("%s@%.2f", s.Kind, s.Rate.Value())
	r.printed("rate", load)
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
	if len(r.Run.Stages) == 0 {
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
	if slices.ContainsFunc(r.Run.Stages, func(s rundir.Stage) bool { return s.Role == rundir.Floor || s.Role == rundir.Ceiling }) {
		r.Run.Plan.Kind = rundir.KindSweep
	}
	r.Keep()
}

// isProbes reports whether a heading is that of stages beyond the table above it.
func isProbes(heading string) bool { return heading == "Probes" || heading == "探测" }

// verdictOf reads a verdict, in either language; nothing where there is none.
func verdictOf(text string) rundir.Verdict {
	return map[string]rundir.Verdict{
		"stable": rundir.Stable, "saturated": rundir.Saturated, "shedding": rundir.Shedding, "undecided": rundir.Undecided, "closed": rundir.Closed,
		"稳定": rundir.Stable, "饱和": rundir.Saturated, "拒绝": rundir.Shedding, "未定": rundir.Undecided, "闭环": rundir.Closed,
	}[text]
}
