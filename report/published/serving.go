package published

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"llmsweep/sweep/rundir"
)

var servingTitle = regexp.MustCompile(`^={2,}\s*([^=]+?)\s*={2,}$`)

func isServingTitle(line string) bool {
	m := servingTitle.FindStringSubmatch(line)
	return m != nil && alike(letters(m[1]), "servingbenchmarkresult")
}

// The lines of a block: what only draws, what names a section, what holds a number.
var (
	servingRule    = regexp.MustCompile(`^[=-]{10,}$`)
	servingSection = regexp.MustCompile(`^-{2,}[^-].*[^-]-{2,}$`)
	servingFigure  = regexp.MustCompile(`^(.*?\S)\s*[:：]\s*(\S.*)$`)
	statisticOf    = regexp.MustCompile(`^(mean|median|std|min|max|p50|p90|p95|p99|p99\.9|p999)(e2elatency|e2el|latency|ttft|tpot|itl)$`)
)

// servingItems are the lines of a serving block except the distributions.
func (r *textRun) servingItems() []item {
	s := &r.Stage
	return []item{
		{names: []string{"backend"}, key: "target.backend", text: r.readBackend},
		{names: []string{"trafficrequestrate", "requestrate", "requestrateconfigured"}, key: "rate", text: r.readRate},
		{names: []string{"maxrequestconcurrency", "maximumrequestconcurrency"}, key: "max_concurrency",
			text: r.readMaxConcurrency},
		{names: []string{"successfulrequests"}, key: "requests.ok", count: &s.Requests.OK},
		{names: []string{"failedrequests"}, key: "requests.error", count: &s.Requests.Error},
		{names: []string{"benchmarkduration"}, key: "window_s", dimension: Time, defaultUnit: "s", seconds: &s.Window},
		{names: []string{"totalinputtokens"}, key: "prompt_tokens.total", figure: &s.PromptTokens.Total},
		{names: []string{"totalinputtexttokens"}, key: "prompt_tokens.text", figure: &s.PromptTokens.Text},
		{names: []string{"totalinputvisiontokens"}, key: "prompt_tokens.vision", figure: &s.PromptTokens.Vision},
		{names: []string{"totalgeneratedtokens"}, key: "output_tokens.total", figure: &s.OutputTokens.Total},
		{names: []string{"totalgeneratedtokensretokenized"}, key: "output_tokens.retokenized",
			figure: &s.OutputTokens.Retokenized},
		{names: []string{"requestthroughput"}, key: "rates.completed", dimension: Requests, defaultUnit: "req/s",
			figure: &s.Rates.Completed},
		{names: []string{"inputtokenthroughput"}, key: "tokens_per_s.input", dimension: Tokens, defaultUnit: "tok/s",
			figure: &s.TokensPerS.Input},
		{names: []string{"outputtokenthroughput"}, key: "tokens_per_s.output", dimension: Tokens, defaultUnit: "tok/s",
			figure: &s.TokensPerS.Output},
		{names: []string{"totaltokenthroughput"}, key: "tokens_per_s.total", dimension: Tokens, defaultUnit: "tok/s",
			figure: &s.TokensPerS.Total},
		{names: []string{"concurrency"}, key: "concurrency.mean", figure: &s.Concurrency.Mean},
		{names: []string{"peakconcurrentrequests", "peakrequestsinflight"}, key: "concurrency.peak",
			count: &s.Concurrency.Peak},
	}
}

// readBackend reads what the other tool called the engine and its API together.
func (r *textRun) readBackend(v string) bool {
	r.Run.Target.Backend = v
	if engine, ok := findEngine(v); ok {
		r.Run.Labels.Engine = engine
	}
	if strings.Contains(v, "chat") {
		r.Run.Target.API = "chat"
	}
	return true
}

// An infinite rate is a closed loop.
func (r *textRun) readRate(v string) bool {
	if v == "inf" {
		return true
	}
	q, err := ParseQuantity(v)
	if err != nil {
		return false
	}
	r.Stage.Rate, err = q.In(Requests, "req/s")
	return err == nil
}

func (r *textRun) readMaxConcurrency(v string) bool {
	if strings.EqualFold(v, "not set") || v == "None" {
		return true
	}
	q, err := ParseQuantity(v)
	return err == nil && storeCount(q.Number, &r.Stage.MaxConcurrency) == nil
}

func (p *parser) readServing() {
	r := p.begin(Serving, p.at+1)
	r.readBlockHeading()
	r.beginStage(p.at + 1)
	p.take(lineFrame)
	items := r.servingItems()
	for p.at < len(p.lines) {
		line := strings.TrimSpace(p.lines[p.at])
		switch {
		case servingRule.MatchString(line) && line[0] == '=':
			p.take(lineFrame)
			r.finishServing()
			return
		case isServingTitle(line), strings.HasPrefix(line, "#"), len(line) > maxTextLine:
			r.keepUnfinished()
			return
		case line == "":
			p.take(lineBlank)
		case strings.HasPrefix(line, "//"):
			p.take(lineProse)
		case servingRule.MatchString(line), servingSection.MatchString(line):
			p.take(lineFrame)
		default:
			r.readServingLine(items, line)
		}
	}
	r.keepUnfinished()
}

func (r *textRun) keepUnfinished() {
	r.remark(r.Stage.Source.Line, false, noteNoEnd.New())
	r.finishServing()
}

// readServingLine reads "Label:   value".
func (r *textRun) readServingLine(items []item, line string) {
	m := servingFigure.FindStringSubmatch(line)
	if m == nil {
		r.takeUnread(noteNotServing.New(short(line)))
		return
	}
	label := m[1]
	if strings.Contains(strings.ToLower(label), "(retokenized)") {
		label = "total generated tokens retokenized"
	}
	h := readHead(label)
	name := h.statistic + h.name
	if s := statisticOf.FindStringSubmatch(name); s != nil {
		items = append(items, r.distItem(s[1], s[2], name))
	}
	r.readItem(items, label, m[2])
}

// distItem is one number of a distribution: "P99 TTFT (ms)".
func (r *textRun) distItem(word, metric, name string) item {
	statistic := cmp.Or(map[string]string{"median": "p50", "p99.9": "p999"}[word], word)
	d, key := &r.Stage.Latency, "latency_s"
	switch metric {
	case "ttft":
		d, key = &r.Stage.TTFT, "ttft_s"
	case "tpot":
		d, key = &r.Stage.TPOT, "tpot_s"
	case "itl":
		d, key = &r.Stage.ITL, "itl_s"
	}
	return item{
		names: []string{name}, key: key + "." + statistic, dimension: Time, defaultUnit: "ms",
		figure: distNumber(d, statistic),
	}
}

func (r *textRun) finishServing() {
	defer r.preamble.reset()
	s := &r.Stage
	if len(s.Source.Printed) == 0 {
		r.remark(s.Source.Line, true, noteNothingRead.New())
		return
	}
	s.Role, s.Kind = rundir.Single, "poisson"
	switch {
	case s.Rate.Known():
		s.Name = fmt.Sprintf("asynchronous@%.2f", s.Rate.Value())
	case s.MaxConcurrency > 0:
		nameConcurrent(s)
	default:
		s.Kind, s.Name, s.Verdict = rundir.StageThroughput, rundir.StageThroughput, rundir.Closed
		if _, stated := s.Source.Printed["rate"]; !stated { // then there may have been one
			s.Kind, s.Name, s.Verdict = "requests", "requests", ""
		}
	}
	s.Whole = r.wholeTest("Benchmark duration")
	ok := s.Requests.OK
	for _, d := range []*rundir.Dist{&s.Latency, &s.TTFT, &s.TPOT} { // the number of gaps is not told
		setCount(d, ok)
	}
	perRequest(&s.PromptTokens, ok)
	perRequest(&s.OutputTokens, ok)
	r.readWorkload(ok)
	r.preamble.describe(r.result)
	r.preamble.markWarmUp(r.result)
	r.endStage()
	r.Run.Plan = rundir.Plan{Kind: "run", Warmup: r.preamble.warmup, StageRequests: ok}
	r.keep()
}

// inferWorkloads gives serving blocks without a log above them the workload of another block of the document, with as
// many requests and input tokens: these are the same requests.
func inferWorkloads(doc *Document) {
	totals := func(run *rundir.Run) (requests int, input rundir.Number) {
		return run.Stages[0].Requests.OK, run.Stages[0].PromptTokens.Total
	}
	for i := range doc.Runs {
		run := &doc.Runs[i]
		if run.Source.Format != Serving || run.Workload.Dataset != "" {
			continue
		}
		requests, input := totals(run)
		for j := range doc.Runs {
			from := &doc.Runs[j]
			if n, total := totals(from); from.Source.Format != Serving || from.Workload.PromptTokens.Mean == 0 ||
				!input.Known() || n != requests || total != input {
				continue
			}
			w := &run.Workload
			if w.PromptTokens.Mean == 0 {
				w.PromptTokens, w.OutputTokens = from.Workload.PromptTokens, from.Workload.OutputTokens
				run.Stages[0].AskedTokens = from.Stages[0].AskedTokens
			}
			if i == j || w.PromptTokens != from.Workload.PromptTokens || w.OutputTokens != from.Workload.OutputTokens {
				continue
			}
			w.Dataset = from.Workload.Dataset
			setLabel(run, "workload", rundir.Label{Line: from.Source.Line, Inferred: true})
			break
		}
	}
}

// readWorkload reads what the log above the block says of the requests.
func (r *textRun) readWorkload(requests int) {
	w := &r.Run.Workload
	w.Dataset = cmp.Or(r.preamble.dataset, w.Dataset)
	setMean := func(total rundir.Printed, key string, to *rundir.Lengths) {
		q, err := ParseQuantity(total.Text)
		if total.Line > 0 && err == nil && q.Number.Known() && requests > 0 {
			to.Mean = q.Number.Value() / float64(requests)
			r.Run.Source.Printed[key] = total
		}
	}
	setMean(r.preamble.tokenTotals.input, "workload.prompt_tokens", &w.PromptTokens)
	setMean(r.preamble.tokenTotals.output, "workload.output_tokens", &w.OutputTokens)
	if w.OutputTokens.Mean > 0 {
		r.Stage.AskedTokens = rundir.Exactly(w.OutputTokens.Mean)
	}
}
