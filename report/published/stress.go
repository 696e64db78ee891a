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
	figure      *rundir.Number
	count       *int
	seconds     *float64
	text        func(value string) bool // false: not understood
	unitStated  bool                    // the label has the unit
}

func (r *textRun) stressItems() []item {
	s := &r.Stage
	items := []item{
		{names: []string{"apibase", "url"}, key: "target.url", text: func(v string) bool {
			r.Run.Target.URL, r.Run.Target.API = v, apiOfURL(v)
			return true
		}},
		{names: []string{"model"}, key: "target.model", text: func(v string) bool {
			r.Run.Target.Model = v
			r.Run.Labels.Model, r.Run.Labels.Quant = splitModelPath(v)
			return true
		}},
		{names: []string{"maxtokens"}, key: "asked_tokens", figure: &s.AskedTokens},
		{names: []string{"temperature"}, key: "workload.temperature", figure: &r.Run.Workload.Temperature},
		{names: []string{"concurrentrequests", "concurrency"}, key: "max_concurrency", count: &s.MaxConcurrency},
		{names: []string{"totalrequests"}, key: "requests.due", count: &s.Requests.Due},
		{names: []string{"successfulrequests"}, key: "requests.ok", count: &s.Requests.OK},
		{names: []string{"failedrequests"}, key: "requests.error", count: &s.Requests.Error},
		{names: []string{"totaltestduration"}, key: "window_s", dimension: Time, defaultUnit: "seconds", seconds: &s.Window},
		{names: []string{"theoreticalmaxthroughput"}, key: "rates.theoretical_max", dimension: Requests,
			defaultUnit: "requests/second", figure: &s.Rates.TheoreticalMax},
		{names: []string{"actualthroughput"}, key: "rates.completed", dimension: Requests, defaultUnit: "requests/second",
			figure: &s.Rates.Completed},
		{names: []string{"totalgeneratedtokens"}, key: "output_tokens.total", figure: &s.OutputTokens.Total},
		{names: []string{"tokenspersecond"}, key: "tokens_per_s.output", dimension: Tokens, defaultUnit: "tokens/second",
			figure: &s.TokensPerS.Output},
		{names: []string{"avgtokensperrequest", "averagetokensperrequest"}, key: "output_tokens.mean",
			figure: &s.OutputTokens.Mean},
		{names: []string{"peakrequestsinflight"}, key: "concurrency.peak", count: &s.Concurrency.Peak},
	}
	for _, t := range []struct{ name, statistic string }{
		{"min", "min"}, {"max", "max"}, {"average", "mean"}, {"median", "p50"}, {"p90", "p90"}, {"p95", "p95"},
		{"p99", "p99"}, {"stddev", "std"},
	} {
		items = append(items, item{names: []string{t.name + "responsetime"}, key: "latency_s." + t.statistic,
			dimension: Time, defaultUnit: "seconds", figure: distNumber(&s.Latency, t.statistic)})
	}
	return items
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
	items := r.stressItems()
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
	if it.unitStated = h.unit != ""; it.unitStated {
		it.defaultUnit = h.unit
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
		if !it.text(value) {
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
		return storeCount(f, it.count)
	case it.figure != nil:
		*it.figure = f
	case f.Known():
		*it.seconds = f.Value()
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
	r.keep()
}
