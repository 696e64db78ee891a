package audit

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/published"
	"llmsweep/sweep/rundir"
)

type result struct {
	run   *rundir.Run
	file  string
	line  int
	title lang.Text
	rows  []*row
}

type row struct {
	result *result
	stage  *rundir.Stage

	unit    map[string]unitFix        // of times that are printed in a wrong unit
	doubted []string                  // the keys of figures that a rule doubts
	parsed  map[string]parsedQuantity // rules ask for the same figures again and again
}

// unitFix is the unit that a figure was meant in, and the factor from the printed figure to that.
type unitFix struct {
	unit   string
	factor float64
}

type parsedQuantity struct {
	published.Quantity
	known bool
}

// The figures of a row of a sweep's table, by their keys in run.json.
const (
	keyRate      = "rate"
	keyCompleted = "rates.completed"
	keyLatency   = "latency_s.mean"
	keyTTFT      = "ttft_s.mean"
	keyGap       = "inter_token_s"
	keyOutput    = "tokens_per_s.output"
)

// rowFigures returns the groups of figures that rest on the requests of a row.
func rowFigures() []string {
	return []string{"rates", "tokens_per_s", "latency_s", "ttft_s", "tpot_s", "itl_s", keyGap, "output_tokens"}
}

func rowsOf(subjects []Subject) []*result {
	var all []*result
	for _, s := range subjects {
		t := &result{run: s.Run, file: s.File, title: title(s.Run)}
		if from := s.Run.Source; from != nil {
			t.file, t.line = from.File, from.Line
		}
		for j := range s.Run.Stages {
			if st := &s.Run.Stages[j]; !st.Quick() {
				t.rows = append(t.rows, &row{result: t, stage: st})
			}
		}
		t.correctUnits()
		all = append(all, t)
	}
	return all
}

func (r *row) name() string {
	if s := r.stage.Source; s != nil && s.Heading != "" {
		return s.Heading
	}
	return r.stage.Name
}

func title(run *rundir.Run) lang.Text {
	return lang.Both(func(l lang.Lang) string {
		parts := []string{findings.ModelName(run), findings.HardwareName(run, l, ""), findings.EngineName(run)}
		if p, g := run.Workload.PromptTokens.Mean, run.Workload.OutputTokens.Mean; p > 0 && g > 0 {
			parts = append(parts, sayAsked.In(l, lang.Shortest(p), lang.Shortest(g)))
		} else if g > 0 {
			parts = append(parts, sayAtMost.In(l, lang.Shortest(g)))
		}
		if s := run.Source; s != nil && s.Format != published.SixColumn {
			parts = append(parts, s.Heading)
		}
		return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), lang.Comma.In(l))
	})
}

// line returns the line of a number, or else that of the row.
func (r *row) line(key string) int {
	for _, s := range []*rundir.Source{r.stage.Source, r.result.run.Source} {
		if s == nil {
			continue
		}
		if p, ok := s.Printed[key]; ok {
			return p.Line
		}
	}
	if r.stage.Source != nil {
		return r.stage.Source.Line
	}
	return 0
}

func (r *row) text(key string) string {
	if r.stage.Source == nil {
		return ""
	}
	return r.stage.Source.Printed[key].Text
}

func (r *row) quantity(key string) (published.Quantity, bool) {
	p, ok := r.parsed[key]
	if !ok {
		if text := r.text(key); text != "" {
			q, err := published.ParseQuantity(text)
			p = parsedQuantity{q, err == nil && q.Number.Known()}
		}
		if r.parsed == nil {
			r.parsed = map[string]parsedQuantity{}
		}
		r.parsed[key] = p
	}
	return p.Quantity, p.known
}

// span returns a number as an interval, with its unit corrected; false where it is unknown, only a bound, or doubted.
func (r *row) span(key string) (interval, bool) {
	f := figure(r.stage, key)
	group, _, _ := strings.Cut(key, ".")
	fix, misprinted := r.unit[key]
	if !f.Known() || !misprinted && (slices.Contains(r.doubted, key) || slices.Contains(r.doubted, group)) {
		return interval{}, false
	}
	s := exactInterval(f.Value())
	if q, ok := r.quantity(key); ok {
		slack := q.Slack(usualUnit(r.stage.Source.Format, key))
		s.Low, s.High = max(0, s.V-slack), s.V+slack
	}
	if misprinted {
		s = interval{s.V * fix.factor, s.Low * fix.factor, s.High * fix.factor}
	}
	return s, true
}

// value returns a figure; NaN where it is unknown or 0.
func (r *row) value(key string) float64 {
	s, ok := r.span(key)
	if !ok || s.V <= 0 {
		return math.NaN()
	}
	return s.V
}

func (r *row) figures(keys []string) []Figure {
	var all []Figure
	for _, key := range keys {
		all = append(all, Figure{Line: r.line(key), Key: key, Printed: r.text(key)})
	}
	return all
}

// spans returns several intervals; false where one of the numbers has none.
func (r *row) spans(keys ...string) ([]interval, bool) {
	all := make([]interval, len(keys))
	for i, k := range keys {
		var ok bool
		if all[i], ok = r.span(k); !ok {
			return nil, false
		}
	}
	return all, true
}

// usualUnit returns the unit of a number that was printed without one.
func usualUnit(format, key string) string {
	switch {
	case format == published.SixColumn && (key == keyTTFT || key == keyGap):
		return "ms"
	case format == published.Serving && strings.Contains(key, "_s.") && !strings.HasPrefix(key, "tokens_per_s"):
		return "ms"
	}
	return ""
}

// numbersOf returns the numbers of a stage in a group of keys of run.json, by the rest of the key.
func numbersOf(s *rundir.Stage, group string) []rundir.Named {
	if d := published.TimesAt(s, group); d != nil {
		return d.Numbers()
	}
	switch group {
	case "rates":
		return []rundir.Named{{Name: "completed", Number: &s.Rates.Completed}}
	case "tokens_per_s":
		t := &s.TokensPerS
		return []rundir.Named{
			{Name: "output", Number: &t.Output},
			{Name: "input", Number: &t.Input},
			{Name: "total", Number: &t.Total},
		}
	case "output_tokens":
		return []rundir.Named{{Name: "mean", Number: &s.OutputTokens.Mean}, {Name: "total", Number: &s.OutputTokens.Total}}
	case "prompt_tokens":
		return []rundir.Named{{Name: "total", Number: &s.PromptTokens.Total}}
	case keyGap:
		return []rundir.Named{{Number: &s.InterToken}}
	case keyRate:
		return []rundir.Named{{Number: &s.Rate}}
	}
	return nil
}

func figure(s *rundir.Stage, key string) rundir.Number {
	group, name, _ := strings.Cut(key, ".")
	for _, n := range numbersOf(s, group) {
		if n.Name == name {
			return *n.Number
		}
	}
	switch key {
	case "window_s":
		return positive(s.Window)
	case "requests.ok":
		return positive(float64(s.Requests.OK))
	}
	return rundir.Number{}
}

// positive returns a number that is stored bare, with 0 for an unknown one.
func positive(v float64) rundir.Number {
	if v <= 0 {
		return rundir.Number{}
	}
	return rundir.Exactly(v)
}

// askedTokens returns the number of tokens that were asked for, as a length or as a limit.
func (r *row) askedTokens() float64 {
	if r.stage.AskedTokens.Known() {
		return r.stage.AskedTokens.Value()
	}
	return r.result.run.Workload.OutputTokens.Mean
}

func (r *row) published(format string) bool {
	return r.stage.Source != nil && r.stage.Source.Format == format
}

// allSucceeded reports whether the means of the row are over all its requests.
func (r *row) allSucceeded() bool {
	return r.stage.Requests.Incomplete == 0 && r.stage.Requests.Error == 0
}

// tokens returns the mean number of tokens of an answer: as printed, or tokens/s divided by requests/s.
func (r *row) tokens() (interval, bool) {
	if n, ok := r.span("output_tokens.mean"); ok {
		return n, true
	}
	s, ok := r.spans(keyOutput, keyCompleted)
	if !ok || r.stage.Source == nil || s[1].V == 0 { // of our own stages only whole counts are over the same requests
		return interval{}, false
	}
	return s[0].divide(s[1]), true
}

func seconds(v float64) string {
	if math.Abs(v) < 0.9995 {
		return digits(v*1e3) + " ms"
	}
	return digits(v) + " s"
}

// digits formats a number as the published tables do, so that a reader finds it again.
func digits(v float64) string {
	if math.Abs(v) >= 1e4 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

func percent(f float64) string {
	if math.Abs(f) >= 1 {
		return fmt.Sprintf("x %.1f", math.Abs(f)+1)
	}
	return fmt.Sprintf("%.0f %%", 100*math.Abs(f))
}

// load is what the row was offered: 0 for one request at a time; false for a ceiling and for closed loops.
func (r *row) load() (float64, bool) {
	if r.stage.Kind == rundir.StageSynchronous {
		return 0, true
	}
	s, ok := r.span(keyRate)
	return s.V, ok
}

// ordered returns the rows in which something was completed, by their load. The throughput row of a published table has
// none.
func (t *result) ordered() []*row {
	var all []*row
	for _, r := range t.rows {
		if _, ok := r.load(); ok && !math.IsNaN(r.value(keyCompleted)) {
			all = append(all, r)
		}
	}
	slices.SortStableFunc(all, func(a, b *row) int {
		x, _ := a.load()
		y, _ := b.load()
		return cmp.Compare(x, y)
	})
	return all
}

// isPublishedSweep reports whether the result is a published table of a sweep, whose rows can be compared.
func (t *result) isPublishedSweep() bool {
	return len(t.rows) > 3 && t.rows[0].stage.Source != nil && len(t.ordered()) > 3
}

// typicalTokens returns the median of the tokens of a request by the two rates of each row, and the median distance
// from it; NaN for fewer than four rows.
func (t *result) typicalTokens() (tokens, deviation float64) {
	var all []float64
	for _, r := range t.rows {
		if n := r.value(keyOutput) / r.value(keyCompleted); !math.IsNaN(n) {
			all = append(all, n)
		}
	}
	if len(all) < 4 {
		return math.NaN(), 0
	}
	slices.Sort(all)
	tokens = all[len(all)/2]
	for i, n := range all {
		all[i] = math.Abs(n - tokens)
	}
	slices.Sort(all)
	return tokens, all[len(all)/2]
}

// role returns the only row of that role; nil where there is none or more than one.
func (t *result) role(role rundir.Role) *row {
	is := func(r *row) bool { return r.stage.Role == role }
	i := slices.IndexFunc(t.rows, is)
	if i < 0 || slices.ContainsFunc(t.rows[i+1:], is) {
		return nil
	}
	return t.rows[i]
}
