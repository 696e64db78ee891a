// Holds what a published document says in its prose against what its own tables show: throughputs, response times and improvements at a
// concurrency, and conclusions that need more than the tables have.

package document

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"llmsweep/report/compare"
	"llmsweep/report/lang"
	"llmsweep/report/published"
	"llmsweep/report/setup"
	"llmsweep/sweep/rundir"
)

// Verdict is how a claim and the tables fit.
type Verdict string

// The verdicts there are.
const (
	Holds        Verdict = "holds"
	Partly       Verdict = "partly"       // the tables have another range
	NotShown     Verdict = "not-shown"    // the tables cannot show it: repeats overlap, or what it needs was not measured
	Contradicted Verdict = "contradicted" // the tables show something else
)

// Claim is a sentence of a document, or a part of one, and what the tables show.
type Claim struct {
	File    string  `json:"file"`
	Line    int     `json:"line"`
	Text    string  `json:"text"`  // the line
	About   string  `json:"about"` // "vLLM, 30 in flight, 2 -> 4 GPUs"
	Says    string  `json:"says"`  // the part of the line that is checked
	Verdict Verdict `json:"verdict"`

	about subject
	shows func(lang.Lang) string
}

// Shows returns what the tables show.
func (c *Claim) Shows(l lang.Lang) string { return c.shows(l) }

// subject is what a sentence speaks of, as far as it and those above it say.
type subject struct {
	engine   string
	inFlight int
	from, to int // GPUs
	gpus     int // of one side
}

func (s subject) in(l lang.Lang) string {
	var parts []string
	if s.engine != "" {
		parts = append(parts, s.engine)
	}
	if s.inFlight > 0 {
		parts = append(parts, sayInFlight.In(l, s.inFlight))
	}
	switch {
	case s.gpus > 0:
		parts = append(parts, sayGPUs.In(l, s.gpus))
	case s.to > 0:
		parts = append(parts, sayFromTo.In(l, s.from, s.to))
	}
	return strings.Join(parts, lang.Comma.In(l))
}

const number = `(\d+(?:\.\d+)?)`

// What sentences are recognized by.
var (
	engineWord   = regexp.MustCompile(`(?i)\b(vllm|sglang|lmdeploy|tgi|llama\.cpp|tensorrt-llm)\b`)
	concurrency  = regexp.MustCompile(`(?i)(\d+)\s*(?:个)?\s*(?:concurrent|concurrency|in flight|并发)|并发(?:数|请求)?\s*(?:为|是|=|:|：)?\s*(\d+)`)
	gpuPair      = regexp.MustCompile(`(?i)(\d+)\s*(?:x\s*)?(?:[A-Z]{1,3}\d{2,4}\s*)?(?:GPUs?|卡|张)?\s*(?:to|vs\.?|and|versus|->|→|到|对比|对|与|和)\s*(\d+)\s*(?:x\s*)?(?:[A-Z]{1,3}\d{2,4}\s*)?(?:GPUs?|卡|张)`)
	oneSide      = regexp.MustCompile(`(?i)^(?:[-*+]\s*)?(\d+)\s*(?:x\s*)?(?:[A-Z]{1,3}\d{2,4}\s*)?(?:GPUs?|卡|张)(?:\s*GPU)?\s*[:：]`)
	requestRate  = regexp.MustCompile(`(?i)(~|≈|约|about\s*)?\s*` + number + `(?:\s*[-–~至]\s*` + number + `)?\s*(?:req(?:uests?)?/s(?:ec)?|请求/秒|个请求/秒)`)
	tokenRate    = regexp.MustCompile(`(?i)(~|≈|约|about\s*)?\s*` + number + `(?:\s*[-–~至]\s*` + number + `)?\s*tok(?:ens?)?/s(?:ec)?`)
	responseTime = regexp.MustCompile(`(?i)(?:response time|latency|响应时间|时延|延迟)\D{0,12}?(~|≈|约)?\s*` + number + `(?:\s*[-–~至]\s*` + number + `)?\s*(?:s\b|sec|秒)`)
	arrow        = regexp.MustCompile(`(?i)` + number + `\s*req(?:uests?)?/s\s*(?:→|->|to|到)\s*` + number + `\s*req(?:uests?)?/s`)
	improvement  = regexp.MustCompile(`(?i)(?:improve\w*|increase\w*|rises?|gains?|faster|提升|提高|增加|增长)\D{0,30}?` + number + `(?:\s*[-–~至]\s*` + number + `)?\s*%|` +
		number + `(?:\s*[-–~至]\s*` + number + `)?\s*%\s*(?:improvement|increase|gain|higher|faster|more|提升|提高)`)
	trend  = regexp.MustCompile(`(?i)diminishing returns|efficiency (?:decreases|drops|falls) as the number of GPUs|收益递减|边际收益|效率随\S*(?:卡|GPU)\S*(?:下降|降低)`)
	cause  = regexp.MustCompile(`(?i)bottleneck|communication overhead|瓶颈|通信开销`)
	better = regexp.MustCompile(`(?i)(vllm|sglang|lmdeploy)[^.]*?scales? (?:more efficiently|better)[^.]*?than\s+(vllm|sglang|lmdeploy)|(vllm|sglang|lmdeploy)\S{0,12}扩展\S{0,6}(?:优于|好于|高于)\s*(vllm|sglang|lmdeploy)`)
)

// How far a number in prose may be from the tables.
const (
	exactSlack  = 0.005 // rounding
	aboutSlack  = 0.01  // of a number that is marked as about
	pointsSlack = 0.01  // of percentages: rounding of both ends
)

// ClaimsIn returns what the documents that results were read from claim about them, a list for each document that claims
// something. A document that is gone claims nothing.
func ClaimsIn(setups []setup.Setup) [][]Claim {
	var all [][]Claim
	var seen []string
	for i := range setups {
		src := setups[i].Run.Source
		if src == nil || src.Format != published.Stress && src.Format != published.Serving || slices.Contains(seen, src.File) {
			continue
		}
		seen = append(seen, src.File)
		doc, err := published.ParseFile(src.File)
		if err != nil {
			continue
		}
		if found := claimsOf(doc, setups); len(found) > 0 {
			all = append(all, found)
		}
	}
	return all
}

// claimsOf returns the claims of a document that can be held against its tables. Setups are those of the document's runs, others
// are ignored.
func claimsOf(doc *published.Document, setups []setup.Setup) []Claim {
	r := &reader{doc: doc}
	for i := range setups {
		if s := &setups[i]; s.Run.Source != nil && s.Run.Source.File == doc.Name {
			r.setups = append(r.setups, s)
		}
	}
	if len(r.setups) == 0 {
		return nil
	}
	for _, line := range doc.Prose {
		r.line(line)
	}
	return r.found
}

// reader goes through the prose of a document.
type reader struct {
	doc    *published.Document
	setups []*setup.Setup
	now    subject
	found  []Claim
}

// line takes a line in: first what it speaks of, then what it claims.
func (r *reader) line(line published.Line) {
	text := line.Text
	if strings.HasPrefix(text, "#") {
		r.now = subject{}
	}
	engines := engineWord.FindAllString(text, -1)
	if len(engines) > 0 && !better.MatchString(text) {
		r.now.engine = r.engine(engines[0])
	}
	if m := gpuPair.FindStringSubmatch(text); m != nil {
		if a, b := atoi(m[1]), atoi(m[2]); a != b && a > 0 && b > 0 {
			r.now.from, r.now.to = min(a, b), max(a, b)
		}
	}
	if m := concurrency.FindStringSubmatch(text); m != nil {
		r.now.inFlight = atoi(m[1] + m[2])
	}
	r.values(line)
	r.changes(line)
	r.conclusions(line)
}

// engine is the name of an engine as labels have it.
func (r *reader) engine(word string) string {
	for _, s := range r.setups {
		if e := setup.Engine(s.Run); strings.EqualFold(e, word) {
			return e
		}
	}
	return word
}

func atoi(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}

// values checks lines such as "2 GPUs: 11.12-12.00 req/s, ~1217 tokens/s, avg response time ~2.09s".
func (r *reader) values(line published.Line) {
	m := oneSide.FindStringSubmatch(line.Text)
	if m == nil || r.now.inFlight == 0 {
		return
	}
	about := r.now
	about.gpus = atoi(m[1])
	for _, kind := range []struct {
		find *regexp.Regexp
		take func(*rundir.Stage) rundir.Number
		unit string
	}{
		{requestRate, func(s *rundir.Stage) rundir.Number { return s.Rates.Completed }, "req/s"},
		{tokenRate, func(s *rundir.Stage) rundir.Number { return s.TokensPerS.Output }, "tok/s"},
		{responseTime, func(s *rundir.Stage) rundir.Number { return s.Latency.Mean }, "s"},
	} {
		if m := kind.find.FindStringSubmatch(line.Text); m != nil {
			slack := exactSlack
			if strings.TrimSpace(m[1]) != "" {
				slack = aboutSlack
			}
			low, high := claimed(m[2], m[3])
			r.value(line, about, strings.TrimSpace(m[0]), low, high, slack, kind.take, kind.unit)
		}
	}
}

// claimed is a range in prose, of one number or two.
func claimed(a, b string) (low, high float64) {
	low, _ = strconv.ParseFloat(a, 64) // the expressions take only numbers
	if high = low; b != "" {
		high, _ = strconv.ParseFloat(b, 64)
	}
	return min(low, high), max(low, high)
}

// value checks a range of one metric at one load.
func (r *reader) value(line published.Line, about subject, says string, low, high, slack float64, take func(*rundir.Stage) rundir.Number, unit string) {
	var values []float64
	for _, s := range r.of(about.engine, about.gpus) {
		for i := range s.Rows {
			row := &s.Rows[i]
			stages := row.Repeats
			if len(stages) == 0 {
				stages = []*rundir.Stage{row.Stage}
			}
			for _, st := range stages {
				if v := take(st); st.MaxConcurrency == about.inFlight && v.Known() {
					values = append(values, v.Value())
				}
			}
		}
	}
	c := Claim{about: about, Says: says, Verdict: NotShown, shows: func(l lang.Lang) string { return sayNoRows.In(l) }}
	if len(values) > 0 {
		least, most := slices.Min(values), slices.Max(values)
		c.shows = func(lang.Lang) string { return span(least, most) + " " + unit }
		switch {
		case low < high && math.Abs(low/least-1) <= slack && math.Abs(high/most-1) <= slack,
			low == high && low >= least*(1-slack) && high <= most*(1+slack):
			c.Verdict = Holds
		case high < least*(1-slack) || low > most*(1+slack):
			c.Verdict = Contradicted
		default:
			c.Verdict = Partly
		}
	}
	r.add(line, c)
}

func span(low, high float64) string {
	a, b := short(low), short(high)
	if a == b {
		return a
	}
	return a + "-" + b
}

func short(v float64) string {
	if v >= 1000 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// of is the setups of an engine with that many GPUs.
func (r *reader) of(engine string, gpus int) []*setup.Setup {
	var all []*setup.Setup
	for _, s := range r.setups {
		if (engine == "" || strings.EqualFold(setup.Engine(s.Run), engine)) && (gpus == 0 || s.Run.Labels.GPUs == gpus) {
			all = append(all, s)
		}
	}
	return all
}

// levels is the comparisons of an engine from fewer to more GPUs, at one concurrency.
func (r *reader) levels(about subject) []compare.Level {
	var all []compare.Level
	for _, a := range r.of(about.engine, about.from) {
		for _, b := range r.of(about.engine, about.to) {
			if a.Run.Labels.Model != b.Run.Labels.Model || a.Run.Labels.Quant != b.Run.Labels.Quant || a.Run.Labels.GPU != b.Run.Labels.GPU {
				continue
			}
			for _, v := range compare.Levels(a, b) {
				if about.inFlight == 0 || v.InFlight == about.inFlight {
					all = append(all, v)
				}
			}
		}
	}
	return all
}

// changes checks improvements: "Throughput improves by 15-20% for 30 concurrent requests", "10.78 req/s → 20.27 req/s (88%
// improvement)".
func (r *reader) changes(line published.Line) {
	about := r.now
	if about.engine == "" || about.inFlight == 0 || about.to == 0 {
		return
	}
	if m := arrow.FindStringSubmatch(line.Text); m != nil {
		completed := func(s *rundir.Stage) rundir.Number { return s.Rates.Completed }
		for i, gpus := range []int{about.from, about.to} {
			side := about
			side.gpus = gpus
			v, _ := claimed(m[i+1], "")
			r.value(line, side, m[i+1]+" req/s", v, v, exactSlack, completed, "req/s")
		}
	}
	m := improvement.FindStringSubmatch(line.Text)
	if m == nil {
		return
	}
	low, high := claimed(m[1]+m[3], m[2]+m[4])
	r.improved(line, about, strings.TrimSpace(m[0]), low/100, high/100)
}

// improved checks an improvement of the completed rate. Of several comparisons, that which fits best counts.
func (r *reader) improved(line published.Line, about subject, says string, low, high float64) {
	c := Claim{about: about, Says: says, Verdict: NotShown, shows: func(l lang.Lang) string { return sayNoRows.In(l) }}
	fit := math.Inf(1)
	for _, v := range r.levels(about) {
		least, most := v.Low.Value(), v.High.Value()
		off := math.Abs(low-least) + math.Abs(high-most)
		if off >= fit {
			continue
		}
		fit = off
		c.shows = func(l lang.Lang) string { return v.In(l) }
		switch {
		case v.Shown != nil && !*v.Shown:
			c.Verdict = NotShown
		case high < least-pointsSlack || low > most+pointsSlack:
			c.Verdict = Contradicted
		case low == high, math.Abs(low-least) <= pointsSlack && math.Abs(high-most) <= pointsSlack:
			c.Verdict = Holds
		default:
			c.Verdict = Partly
		}
	}
	r.add(line, c)
}

// conclusions checks what no single number says: a trend over GPU counts, a cause, one engine that scales better.
func (r *reader) conclusions(line published.Line) {
	if m := better.FindStringSubmatch(line.Text); m != nil {
		r.scalesBetter(line, m[0], r.engine(m[1]+m[3]), r.engine(m[2]+m[4]))
	}
	about := subject{engine: r.now.engine}
	if m := trend.FindString(line.Text); m != "" {
		var counts []int
		for _, s := range r.of(about.engine, 0) {
			if n := s.Run.Labels.GPUs; n > 0 && !slices.Contains(counts, n) {
				counts = append(counts, n)
			}
		}
		slices.Sort(counts)
		if len(counts) < 3 { // of three counts a trend can be seen; whether it is this one is not judged
			r.add(line, Claim{about: about, Says: m, Verdict: NotShown, shows: func(l lang.Lang) string {
				return sayFewCounts.In(l, strings.ReplaceAll(strings.Trim(fmt.Sprint(counts), "[]"), " ", lang.ListComma.In(l)))
			}})
		}
	}
	if m := cause.FindString(line.Text); m != "" {
		r.add(line, Claim{about: about, Says: m, Verdict: NotShown, shows: func(l lang.Lang) string { return sayNoCause.In(l) }})
	}
}

// scalesBetter checks that one engine gains more from more GPUs than another, at each concurrency that both have.
func (r *reader) scalesBetter(line published.Line, says, one, other string) {
	about := subject{from: r.now.from, to: r.now.to}
	if about.to == 0 {
		return
	}
	a, b := r.levels(subject{engine: one, from: about.from, to: about.to}), r.levels(subject{engine: other, from: about.from, to: about.to})
	c := Claim{about: about, Says: says, Verdict: NotShown, shows: func(l lang.Lang) string { return sayNoRows.In(l) }}
	var texts []func(lang.Lang) string
	for _, x := range a {
		for _, y := range b {
			if x.InFlight != y.InFlight {
				continue
			}
			switch {
			case x.High.Value() < y.Low.Value():
				c.Verdict = Contradicted
			case x.Low.Value() > y.High.Value() && c.Verdict == NotShown:
				c.Verdict = Holds
			case x.Low.Value() <= y.High.Value() && c.Verdict == Holds:
				c.Verdict = Partly
			}
			texts = append(texts, func(l lang.Lang) string { return sayAgainst.In(l, x.InFlight, x.Change(l), y.Change(l)) })
		}
	}
	if len(texts) > 0 {
		c.shows = func(l lang.Lang) string {
			var all []string
			for _, t := range texts {
				if s := t(l); !slices.Contains(all, s) {
					all = append(all, s)
				}
			}
			return strings.Join(all, saySemicolon.In(l))
		}
	}
	r.add(line, c)
}

// add keeps a claim.
func (r *reader) add(line published.Line, c Claim) {
	c.File, c.Line, c.Text, c.About = r.doc.Name, line.Line, line.Text, c.about.in(lang.English)
	r.found = append(r.found, c)
}
