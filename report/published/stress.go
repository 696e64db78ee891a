package published

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"time"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// stressTitle is the line above a stress table.
type stressTitle struct {
	line   int
	engine string
	date   time.Time // when the tool printed it, which is when the test had ended
}

var stressTitleLine = regexp.MustCompile(`(?i)^(\S.*?)?\s*\bstress test results?\b(?:\s*-\s*(.*))?$`)

func isStressTitle(line string) bool {
	return stressTitleLine.MatchString(strings.TrimLeft(line, "# "))
}

// stressTitle reads the title, which waits for its table.
func (p *parser) stressTitle(line string) {
	m := stressTitleLine.FindStringSubmatch(strings.TrimLeft(line, "# "))
	t := &stressTitle{line: p.at + 1}
	t.engine, _ = engineIn(m[1])
	if m[2] != "" {
		var err error
		if t.date, err = time.Parse(time.DateTime, strings.TrimSpace(m[2])); err != nil {
			p.assume(noteNoDate.New(short(m[2])))
		}
	}
	p.ctx.title = t
	p.take(Context)
}

// item is a line of a block that holds one thing, and what to do with it.
type item struct {
	names     []string // reduced to letters
	key       string
	dimension Dimension
	usual     string
	figure    func(r *reading) *rundir.Number
	count     func(r *reading) *int           // instead of number
	seconds   func(r *reading) *float64       // likewise
	text      func(r *reading, v string) bool // likewise; false: not understood
}

// responseTimes are the rows of a stress table that make a distribution.
func responseTimes() []item {
	var items []item
	for _, t := range []struct{ name, key string }{
		{"min", "min"}, {"max", "max"}, {"average", "mean"}, {"median", "p50"}, {"p90", "p90"}, {"p95", "p95"},
		{"p99", "p99"}, {"stddev", "std"},
	} {
		items = append(items, item{
			names: []string{t.name + "responsetime"}, key: "latency_s." + t.key, dimension: Time, usual: "seconds",
			figure: func(r *reading) *rundir.Number { return named(&r.stage.Latency, t.key) },
		})
	}
	return items
}

// stressItems are the rows of a stress table.
func stressItems() []item {
	const perSecond = "requests/second"
	return append(responseTimes(), []item{
		{names: []string{"apibase", "url"}, key: "target.url", text: func(r *reading, v string) bool {
			r.run.Target.URL, r.run.Target.API = v, apiOf(v)
			return true
		}},
		{names: []string{"model"}, key: "target.model", text: func(r *reading, v string) bool {
			r.run.Target.Model = v
			r.setModel(v)
			return true
		}},
		{names: []string{"maxtokens"}, key: "asked_tokens", figure: func(r *reading) *rundir.Number { return &r.stage.AskedTokens }},
		{names: []string{"temperature"}, key: "workload.temperature", figure: func(r *reading) *rundir.Number { return &r.run.Workload.Temperature }},
		{names: []string{"concurrentrequests", "concurrency"}, key: "max_concurrency", count: func(r *reading) *int { return &r.stage.MaxConcurrency }},
		{names: []string{"totalrequests"}, key: "requests.due", count: func(r *reading) *int { return &r.stage.Requests.Due }},
		{names: []string{"successfulrequests"}, key: "requests.ok", count: func(r *reading) *int { return &r.stage.Requests.OK }},
		{names: []string{"failedrequests"}, key: "requests.error", count: func(r *reading) *int { return &r.stage.Requests.Error }},
		{names: []string{"totaltestduration"}, key: "window_s", dimension: Time, usual: "seconds", seconds: func(r *reading) *float64 { return &r.stage.Window }},
		{names: []string{"theoreticalmaxthroughput"}, key: "rates.theoretical_max", dimension: Requests, usual: perSecond,
			figure: func(r *reading) *rundir.Number { return &r.stage.Rates.TheoreticalMax }},
		{names: []string{"actualthroughput"}, key: "rates.completed", dimension: Requests, usual: perSecond,
			figure: func(r *reading) *rundir.Number { return &r.stage.Rates.Completed }},
		{names: []string{"totalgeneratedtokens"}, key: "output_tokens.total", figure: func(r *reading) *rundir.Number { return &r.stage.OutputTokens.Total }},
		{names: []string{"tokenspersecond"}, key: "tokens_per_s.output", dimension: Tokens, usual: "tokens/second",
			figure: func(r *reading) *rundir.Number { return &r.stage.TokensPerS.Output }},
		{names: []string{"avgtokensperrequest", "averagetokensperrequest"}, key: "output_tokens.mean", figure: func(r *reading) *rundir.Number { return &r.stage.OutputTokens.Mean }},
		{names: []string{"peakrequestsinflight"}, key: "concurrency.peak", count: func(r *reading) *int { return &r.stage.Concurrency.Peak }},
	}...)
}

// named is the number of that name.
func named(d *rundir.Dist, name string) *rundir.Number {
	for _, f := range d.Numbers() {
		if f.Name == name {
			return f.Number
		}
	}
	return new(rundir.Number) // no caller asks for another
}

// apiOf returns the API of an address, as far as its path tells it.
func apiOf(url string) string {
	for _, e := range []struct{ end, api string }{
		{"/chat/completions", "chat"}, {"/completions", "completions"}, {"/completion", "llamacpp"},
		{"/api/generate", "ollama"}, {"/api/chat", "ollama"}, {"/generate_stream", "tgi"},
	} {
		if strings.HasSuffix(strings.TrimRight(url, "/"), e.end) {
			return e.api
		}
	}
	return ""
}

// stressTable reads the table whose heading is the next line.
func (p *parser) stressTable() {
	line := p.at + 1
	t := p.ctx.title
	if t != nil {
		line = t.line
	}
	r := p.begin(Stress, line)
	r.beginStage(line)
	p.take(Frame)
	items := stressItems()
	for p.at < len(p.lines) {
		text := strings.TrimSpace(p.lines[p.at])
		if text == "" || !strings.ContainsRune(frameRunes, firstRune(text)) {
			break
		}
		if isRule(text) {
			p.take(Frame)
			if strings.HasPrefix(text, "└") || strings.HasPrefix(text, "╰") {
				break
			}
			continue
		}
		cells := splitCells(text)
		if len(cells) != 2 {
			r.unread(noteCells.New(len(cells), 2))
			p.at++
			continue
		}
		r.item(items, cells[0], cells[1])
	}
	r.finishStress(t)
}

// item reads the next line, which has a label and its value.
func (r *reading) item(items []item, label, value string) {
	it, exact := findItem(items, letters(label))
	if it == nil {
		r.unread(noteNotStress.New(short(label)))
		r.at++
		return
	}
	if _, twice := r.stage.Source.Printed[it.key]; twice {
		r.unread(noteRepeated.New(short(label)))
		r.at++
		return
	}
	if !exact {
		r.assume(noteReadAs.New(short(label), it.key))
	}
	if err := r.fill(it, value); err != nil {
		r.unread(noteBadValue.New(label, short(value), err))
		r.at++
		return
	}
	r.printed(it.key, value)
	r.take(Numbers)
}

// findItem finds the line of that name: the one that it is, or the only one that it can have been meant for.
func findItem(items []item, name string) (found *item, exact bool) {
	candidates := 0
	for i := range items {
		for _, n := range items[i].names {
			if n == name {
				return &items[i], true
			}
			if alike(name, n) && !statistic(name, n) {
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

// statistic reports whether two labels differ in a number, which is no typing error: p90 and p95.
func statistic(a, b string) bool {
	digits := func(s string) string {
		return strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' {
				return r
			}
			return -1
		}, s)
	}
	return digits(a) != digits(b)
}

// fill puts a value where it belongs.
func (r *reading) fill(it *item, value string) error {
	if it.text != nil {
		if !it.text(r, value) {
			return fmt.Errorf("is not understood")
		}
		return nil
	}
	q, err := ParseQuantity(value)
	if err != nil {
		return err
	}
	f, err := q.In(it.dimension, it.usual)
	switch {
	case err != nil:
		return err
	case it.count != nil:
		return whole(f, it.count(r))
	case it.figure != nil:
		*it.figure(r) = f
	case f.Known():
		*it.seconds(r) = f.Value()
	}
	return nil
}

// whole stores a count. What is not known stays 0, which no count of a result is where it matters.
func whole(f rundir.Number, to *int) error {
	if f.IsZero() {
		return nil
	}
	if v := f.Value(); f.Bound() || v < 0 || v != math.Trunc(v) || v > 1e12 {
		return fmt.Errorf("is no count")
	}
	*to = int(f.Value())
	return nil
}

// finishStress names the only stage and keeps the result.
func (r *reading) finishStress(t *stressTitle) {
	defer r.ctx.forget()
	s := &r.stage
	if len(s.Source.Printed) == 0 {
		r.remark(s.Source.Line, true, noteNothingRead.New())
		return
	}
	s.Kind, s.Role, s.Verdict = "concurrent", rundir.Single, rundir.Closed
	s.Name = s.Kind
	if s.MaxConcurrency > 0 {
		s.Name = fmt.Sprintf("%s@%d", s.Kind, s.MaxConcurrency)
	}
	s.Whole = r.whole("Total Test Duration")
	s.Requests.Sent = s.Requests.Due
	s.Requests.Incomplete = max(0, s.Requests.Due-s.Requests.OK-s.Requests.Error)
	r.counted(&s.Latency, s.Requests.OK)
	s.OutputTokens.N = s.Requests.OK
	if s.AskedTokens.Known() {
		r.run.Workload.OutputTokens.Mean = s.AskedTokens.Value()
	}
	if q, err := ParseQuantity(r.ctx.completed.Text); err == nil && r.ctx.completed.Line > 0 {
		if f, err := q.In(Time, "seconds"); err == nil && f.Known() {
			s.Elapsed = f.Value()
			s.Source.Printed["elapsed_s"] = r.ctx.completed
		}
	}
	if t != nil {
		r.run.Labels.Engine = t.engine
		if !t.date.IsZero() {
			r.run.Ended = t.date
			r.run.Started = t.date.Add(-time.Duration(max(s.Window, s.Elapsed) * float64(time.Second)))
		}
	}
	r.describe()
	r.marked()
	if r.run.Target.API == "" && r.run.Labels.Engine == "SGLang" && strings.HasSuffix(r.run.Target.URL, "/generate") {
		r.run.Target.API = "sglang"
	}
	r.run.Plan = rundir.Plan{Kind: "run", StageRequests: s.Requests.Due}
	r.endStage()
	r.doc.Runs = append(r.doc.Runs, r.run)
}

// counted says of how many samples a distribution is, and which of its percentiles they do not support.
func (r *reading) counted(d *rundir.Dist, n int) {
	d.N = n
	for _, p := range []struct {
		name string
		p    float64
	}{{"p50", 0.5}, {"p90", 0.9}, {"p95", 0.95}, {"p99", 0.99}, {"p999", 0.999}} {
		if n > 0 && !d.Get(p.name).IsZero() && !stats.Supported(float64(n), p.p) {
			d.Unsupported = append(d.Unsupported, p.name)
		}
	}
}

func printedAt(line int, text string) rundir.Printed { return rundir.Printed{Line: line, Text: text} }
