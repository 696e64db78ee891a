package published

import (
	"cmp"
	"regexp"
	"strings"
	"time"

	"llmsweep/sweep/rundir"
)

var stressTitleLine = regexp.MustCompile(`(?i)^(\S.*?)?\s*\bstress test results?\b(?:\s*-\s*(.*))?$`)

func isStressTitle(line string) bool {
	return stressTitleLine.MatchString(strings.TrimLeft(line, "# "))
}

func (p *parser) readStressTitle(line string) {
	m := stressTitleLine.FindStringSubmatch(strings.TrimLeft(line, "# "))
	t := &titleLine{line: p.at + 1}
	t.engine, _ = findEngine(m[1])
	if m[2] != "" {
		var err error
		if t.date, err = time.Parse(time.DateTime, strings.TrimSpace(m[2])); err != nil {
			p.assume(noteNoDate.New(short(m[2])))
		}
	}
	p.preamble.title = t
	p.take(lineContext)
}

// item is a line of a stress table or serving block. It has one of figure, count, seconds and text.
type item struct {
	names       []string // reduced to letters
	key         string
	dimension   Dimension
	defaultUnit string
	figure      func(r *textRun) *rundir.Number
	count       func(r *textRun) *int
	seconds     func(r *textRun) *float64
	text        func(r *textRun, v string) bool // false: not understood
	unitStated  bool                            // the label has the unit
}

func responseTimes() []item {
	var items []item
	for _, t := range []struct{ name, key string }{
		{"min", "min"}, {"max", "max"}, {"average", "mean"}, {"median", "p50"}, {"p90", "p90"}, {"p95", "p95"},
		{"p99", "p99"}, {"stddev", "std"},
	} {
		items = append(items, item{
			names: []string{t.name + "responsetime"}, key: "latency_s." + t.key, dimension: Time, defaultUnit: "seconds",
			figure: func(r *textRun) *rundir.Number { return distNumber(&r.Stage.Latency, t.key) },
		})
	}
	return items
}

func stressItems() []item {
	const perSecond = "requests/second"
	return append(responseTimes(), []item{
		{names: []string{"apibase", "url"}, key: "target.url", text: func(r *textRun, v string) bool {
			r.Run.Target.URL, r.Run.Target.API = v, apiOfURL(v)
			return true
		}},
		{names: []string{"model"}, key: "target.model", text: func(r *textRun, v string) bool {
			r.Run.Target.Model = v
			r.Run.Labels.Model, r.Run.Labels.Quant = splitModelPath(v)
			return true
		}},
		{names: []string{"maxtokens"}, key: "asked_tokens",
			figure: func(r *textRun) *rundir.Number { return &r.Stage.AskedTokens }},
		{names: []string{"temperature"}, key: "workload.temperature",
			figure: func(r *textRun) *rundir.Number { return &r.Run.Workload.Temperature }},
		{names: []string{"concurrentrequests", "concurrency"}, key: "max_concurrency",
			count: func(r *textRun) *int { return &r.Stage.MaxConcurrency }},
		{names: []string{"totalrequests"}, key: "requests.due",
			count: func(r *textRun) *int { return &r.Stage.Requests.Due }},
		{names: []string{"successfulrequests"}, key: "requests.ok",
			count: func(r *textRun) *int { return &r.Stage.Requests.OK }},
		{names: []string{"failedrequests"}, key: "requests.error",
			count: func(r *textRun) *int { return &r.Stage.Requests.Error }},
		{names: []string{"totaltestduration"}, key: "window_s", dimension: Time, defaultUnit: "seconds",
			seconds: func(r *textRun) *float64 { return &r.Stage.Window }},
		{names: []string{"theoreticalmaxthroughput"}, key: "rates.theoretical_max", dimension: Requests,
			defaultUnit: perSecond, figure: func(r *textRun) *rundir.Number { return &r.Stage.Rates.TheoreticalMax }},
		{names: []string{"actualthroughput"}, key: "rates.completed", dimension: Requests, defaultUnit: perSecond,
			figure: func(r *textRun) *rundir.Number { return &r.Stage.Rates.Completed }},
		{names: []string{"totalgeneratedtokens"}, key: "output_tokens.total",
			figure: func(r *textRun) *rundir.Number { return &r.Stage.OutputTokens.Total }},
		{names: []string{"tokenspersecond"}, key: "tokens_per_s.output", dimension: Tokens, defaultUnit: "tokens/second",
			figure: func(r *textRun) *rundir.Number { return &r.Stage.TokensPerS.Output }},
		{names: []string{"avgtokensperrequest", "averagetokensperrequest"}, key: "output_tokens.mean",
			figure: func(r *textRun) *rundir.Number { return &r.Stage.OutputTokens.Mean }},
		{names: []string{"peakrequestsinflight"}, key: "concurrency.peak",
			count: func(r *textRun) *int { return &r.Stage.Concurrency.Peak }},
	}...)
}

func (p *parser) readStress() {
	line := p.at + 1
	t := p.preamble.title
	if t != nil {
		line = t.line
	}
	r := p.begin(Stress, line)
	r.readBlockHeading()
	r.beginStage(line)
	p.take(lineFrame)
	items := stressItems()
	r.commas = commasOf(p.cellsBelow(2))
	for p.at < len(p.lines) {
		text := strings.TrimSpace(p.lines[p.at])
		if text == "" || !strings.ContainsRune(frameRunes, firstRune(text)) {
			break
		}
		if isRule(text) {
			p.take(lineFrame)
			if strings.HasPrefix(text, "└") || strings.HasPrefix(text, "╰") {
				break
			}
			continue
		}
		cells := splitCells(text)
		if len(cells) != 2 {
			r.takeUnread(noteCells.New(len(cells), 2))
			continue
		}
		r.readItem(items, cells[0], cells[1])
	}
	r.finishStress(t)
}

func (r *textRun) readItem(items []item, label, value string) {
	r.doc.Lost++
	h := readHead(label)
	it, exact := findItem(items, h.statistic+h.name)
	if it == nil {
		r.takeUnread(noteNotStress.New(short(label)))
		return
	}
	if why := it.unknownPart(h); why != "" {
		r.takeUnread(noteUnknownHead.New(short(label), why))
		return
	}
	if _, twice := r.Stage.Source.Printed[it.key]; twice {
		r.takeUnread(noteRepeated.New(short(label)))
		return
	}
	if !exact {
		r.assume(noteReadAs.New(short(label), it.key))
	}
	if h.unit != "" {
		it.unitStated, it.defaultUnit = true, h.unit
	}
	if err := r.setItem(it, value); err != nil {
		r.takeUnread(noteBadValue.New(label, short(value), faultOf(err)))
		return
	}
	r.doc.Lost--
	r.doc.Figures++
	r.setPrinted(it.key, value)
	r.take(lineNumbers)
}

// unknownPart returns what of a label changes what the line means, and is not understood; empty where nothing does.
func (it *item) unknownPart(h head) string {
	u, _ := unitOf(h.unit)
	switch {
	case h.unknown != "":
		return h.unknown
	case h.scope != "":
		return h.scope
	case h.unit != "" && it.text == nil && u.dimension != it.dimension:
		return h.unit
	}
	return ""
}

// findItem finds the item of that name, or the only one that the name is alike to.
func findItem(items []item, name string) (found *item, exact bool) {
	candidates := 0
	for i := range items {
		for _, n := range items[i].names {
			if n == name || strings.HasPrefix(name, "p50") && n == "median"+name[len("p50"):] {
				return &items[i], true
			}
			if alike(name, n) && !digitsDiffer(name, n) {
				found = &items[i]
				candidates++
			}
		}
	}
	if candidates != 1 {
		return nil, false
	}
	return found, false
}

// digitsDiffer reports whether two labels differ in a number, which is no typing error: p90 and p95.
func digitsDiffer(a, b string) bool {
	onlyDigits := func(s string) string {
		return strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' {
				return r
			}
			return -1
		}, s)
	}
	return onlyDigits(a) != onlyDigits(b)
}

var shareOnly = regexp.MustCompile(`^[0-9.]+ ?%$`)

func (r *textRun) setItem(it *item, value string) error {
	if it.text != nil {
		if !it.text(r, value) {
			return parseFault{Note: faultUnclear.New()}
		}
		return nil
	}
	q, err := r.commas.parse(value)
	switch {
	case err != nil:
		return err
	case q.Rest != "" && (it.count == nil || !shareOnly.MatchString(q.Rest)): // "4238 (prompt + generated)"
		return parseFault{faultUnknownText.New(short(q.Rest))}
	case it.dimension == Time && q.Unit == "" && !it.unitStated && q.Number.Known():
		return parseFault{faultNoUnit.New()}
	}
	f, err := q.In(it.dimension, it.defaultUnit)
	switch {
	case err != nil:
		return err
	case it.count != nil:
		return storeCount(f, it.count(r))
	case it.figure != nil:
		*it.figure(r) = f
	case f.Known():
		*it.seconds(r) = f.Value()
	}
	return nil
}

func (r *textRun) finishStress(t *titleLine) {
	defer r.preamble.reset()
	s := &r.Stage
	if len(s.Source.Printed) == 0 {
		r.remark(s.Source.Line, true, noteNothingRead.New())
		return
	}
	s.Role = rundir.Single
	nameConcurrent(s)
	if s.MaxConcurrency <= 0 {
		s.Name = s.Kind
	}
	s.Whole = r.wholeTest("Total Test Duration")
	s.Requests.Sent = s.Requests.Due
	if _, stated := s.Source.Printed["requests.ok"]; stated {
		s.Requests.Incomplete = max(0, s.Requests.Due-s.Requests.OK-s.Requests.Error)
	}
	setCount(&s.Latency, s.Requests.OK)
	s.OutputTokens.N = s.Requests.OK
	if s.AskedTokens.Known() {
		r.Run.Workload.OutputTokens.Mean, r.Run.Workload.Capped = s.AskedTokens.Value(), true
	}
	if q, err := ParseQuantity(r.preamble.completed.Text); err == nil && r.preamble.completed.Line > 0 {
		if f, err := q.In(Time, "seconds"); err == nil && f.Known() {
			s.Elapsed = f.Value()
			s.Source.Printed["elapsed_s"] = r.preamble.completed
		}
	}
	if t != nil {
		r.Run.Labels.Engine = cmp.Or(t.engine, r.Run.Labels.Engine)
		r.setEnd(t.date, max(s.Window, s.Elapsed))
	}
	r.preamble.describe(r.result)
	r.preamble.markWarmUp(r.result)
	if r.Run.Target.API == "" && r.Run.Labels.Engine == "SGLang" && strings.HasSuffix(r.Run.Target.URL, "/generate") {
		r.Run.Target.API = "sglang"
	}
	r.Run.Plan = rundir.Plan{Kind: "run", StageRequests: s.Requests.Due}
	r.endStage()
	r.applyCaveats()
	r.keep()
}
