// Package compare compares configurations: their metrics, the differences with intervals, and the effect of more GPUs,
// another engine or another quantization. It refuses to compare different workloads unless asked to, calls a difference
// shown only where its interval shows it, and gives no interval to results of other tools, which come without records.
package compare

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
	"llmsweep/sweep/slo"
	"llmsweep/sweep/stats"
)

// schema names the version of a Comparison's JSON.
const schema = "llmsweep.compare/v1"

// Comparison is setups side by side. The first is the baseline.
type Comparison struct {
	Schema   string          `json:"schema"`
	Workload string          `json:"workload,omitempty"` // empty where they differ
	Runs     [2]int          `json:"runs,omitzero"`      // of each side, where runs are the unit
	Setups   []Configuration `json:"setups"`
	Changes  []Change        `json:"changes"` // of each setup but the first
	Factors  []Factor        `json:"factors"` // what one thing changes, the rest being equal
	LeftOut  []setup.RowMark `json:"left_out,omitempty"`
	Marked   []setup.RowMark `json:"marked,omitempty"` // rows that were used, and that the audit doubts or remarks on
	Tails    []Tail          `json:"tails,omitempty"`
	groups   []group
	hitNotes []lang.Text // which hit rates differ
}

// group are setups of one workload, by their places among the setups. The others are compared with the first.
type group struct {
	run     *rundir.Run // one with the workload
	members []int
}

// Configuration is a configuration and its metrics.
type Configuration struct {
	Name     string        `json:"name"`
	Origin   string        `json:"origin"`
	Labels   rundir.Labels `json:"labels"`
	Imported bool          `json:"imported,omitempty"` // read elsewhere: there are no records
	Workload string        `json:"workload,omitempty"` // where those of the results differ
	Metrics  []Metric      `json:"figures"`
	Hits     rundir.Number `json:"cache_hits,omitzero"` // share of the prompt tokens that the server reported as cached

	// StageTime is how long the stages of its document lasted, in seconds, as the rows show.
	StageTime rundir.Number `json:"stage_time_s,omitzero"`
}

// Metric is a metric of a configuration that is known.
type Metric struct {
	Key   string        `json:"key"`
	Value rundir.Number `json:"value"`
	Low   rundir.Number `json:"low,omitzero"` // 95 % interval
	High  rundir.Number `json:"high,omitzero"`
	// Most is the largest value that a row shows, where rows disagree on it; see [setup.Plateau]. It has no interval
	// then.
	Most    rundir.Number `json:"most,omitzero"`
	Repeats bool          `json:"repeats,omitempty"`  // Most is the largest value of repeats
	AtLeast bool          `json:"at_least,omitempty"` // a lower bound: the rows end before the plateau
	// of an SLO that it is about, and their load; within which a number of users is carried
	Terms string `json:"terms,omitempty"`
	Where string `json:"where"`                // the rows it rests on
	Steep bool   `json:"rows_apart,omitempty"` // it is read between two rows that are too far apart for an interval
	// Doubted reports whether it rests on figures that the audit doubts.
	Doubted bool `json:"doubted,omitempty"`
	// Burst is what the row throughput of a document printed, which sends all requests at once.
	Burst rundir.Number `json:"throughput_row,omitzero"`
	se    float64       // standard error, NaN where there is none
}

// Change is the difference of one configuration from another in one metric.
type Change struct {
	Setup string        `json:"setup"`
	From  string        `json:"from"`
	Key   string        `json:"key"`
	Ratio rundir.Number `json:"ratio"`         // new to old, minus 1; of shares their difference
	Low   rundir.Number `json:"low,omitzero"`  // 95 % interval
	High  rundir.Number `json:"high,omitzero"` //
	Shown *bool         `json:"shown,omitempty"`
	// Bound is BoundLow or BoundHigh where one side is known as a lower bound, so that the ratio is a bound too: it has
	// no interval then.
	Bound string `json:"bound,omitempty"`
	steep bool   // see [Metric].Apart
}

// The keys of metrics. TTFT and ITL, and the latency of answers in one piece, are those of one request at a time, and
// at 50 and 80 % of the saturation rate.
const (
	keyUsers       = "users"
	keyUsersPerGPU = "users_per_gpu"
	keyRate        = "saturation"
	keyOutput      = "tokens_per_s"
	KeyPerGPU      = "tokens_per_s_per_gpu"
	// keyUncached is of runs whose hit rates differ: prompt tokens that were computed, and output tokens.
	keyUncached = "uncached_tokens_per_s"
	keyAnswer   = "tokens_per_request"
	KeyAccuracy = slo.Accuracy // the share of the graded answers that are right
	KeyErrors   = "errors"
)

// operatingLoads are the loads, as fractions of the plateau, with their names in keys.
func operatingLoads() []struct {
	name  string
	share float64
} {
	return []struct {
		name  string
		share float64
	}{{"sync", 0}, {"50", 0.5}, {"80", 0.8}}
}

// Keys returns the metrics that are compared, in the order of the tables.
func Keys() []string {
	keys := []string{keyUsers, keyUsersPerGPU, keyRate, keyOutput, KeyPerGPU, keyUncached}
	for _, what := range []string{"ttft", "itl", "latency"} {
		for _, at := range operatingLoads() {
			keys = append(keys, what+"@"+at.name)
		}
	}
	return append(append(keys, TermKeys()...), KeyAccuracy, KeyErrors)
}

// Of compares setups. anyWorkload compares also runs that asked different things of their servers.
func Of(setups []setup.Setup, anyWorkload bool) (*Comparison, error) {
	if len(setups) == 1 && slices.ContainsFunc(setups[0].Marked, func(o setup.RowMark) bool { return o.Reprint }) {
		return nil, errors.New("the results are one measurement, which the document prints twice")
	}
	if len(setups) < 2 {
		return nil, errors.New("compare needs two results or more: run directories, or documents with published tables")
	}
	c := &Comparison{Schema: schema, groups: groups(setups, anyWorkload)}
	if len(c.groups) == len(setups) {
		return nil, differentWorkloads{&setups[0], &setups[1]}
	}
	several := len(c.groups) > 1
	for i := range setups {
		c.Setups = append(c.Setups, Measure(&setups[i]))
		if several {
			c.Setups[i].Workload = workload(setups[i].Run, lang.English)
		}
		c.LeftOut = append(c.LeftOut, setups[i].LeftOut...)
		c.Marked = append(c.Marked, setups[i].Marked...)
	}
	like := make([]string, len(setups))
	if !anyWorkload {
		if err := c.checkHits(setups); err != nil {
			return nil, err
		}
		like = c.hitGroups()
	}
	for _, g := range c.groups {
		for _, i := range g.members[1:] {
			c.Changes = append(c.Changes, changes(c.Setups[i], c.Setups[g.members[0]], like[i] == like[g.members[0]])...)
		}
	}
	if !several && c.groups[0].run != nil {
		c.Workload = workload(c.groups[0].run, lang.English)
	}
	for _, g := range c.groups {
		c.Tails = append(c.Tails, tails(setups, g)...)
	}
	c.Factors = factors(setups, c.Setups, like, several)
	return c, nil
}

// groups returns the setups by workload, in the order in which these occur; in one group, whose workload is not known,
// where any may be compared.
func groups(setups []setup.Setup, anyWorkload bool) []group {
	var all []group
	at := map[string]int{}
	for i := range setups {
		run := setups[i].Run
		key := workload(run, lang.English)
		if _, seen := at[key]; !seen {
			at[key] = len(all)
			all = append(all, group{run: run})
		}
		g := &all[at[key]]
		g.members = append(g.members, i)
	}
	if anyWorkload && len(all) > 1 {
		whole := group{}
		for i := range setups {
			whole.members = append(whole.members, i)
		}
		return []group{whole}
	}
	return all
}

// differentWorkloads is the error of setups of which no two have the same workload. It names two.
type differentWorkloads struct{ a, b *setup.Setup }

func (e differentWorkloads) Error() string {
	return fmt.Sprintf("%s asks for %s and %s for %s, so their numbers cannot be compared; add a result of the same workload, or compare them anyway with --any-workload",
		e.a.Origin(), workload(e.a.Run, lang.English), e.b.Origin(), workload(e.b.Run, lang.English))
}

// Incomparable reports whether [Of] failed because no two setups have the same workload, or two have unlike hit rates.
func Incomparable(err error) bool {
	switch err.(type) {
	case differentWorkloads, differentHits:
		return true
	}
	return false
}

// Workload returns what was asked of a server, with whether the model is to think.
func Workload(run *rundir.Run, l lang.Lang) string {
	parts := []string{workload(run, l)}
	if mode := setup.ThinkingText(run, l); mode != "" {
		parts = append(parts, mode)
	}
	return strings.Join(parts, lang.Comma.In(l))
}

// workload returns what was asked of a server, as far as it must be the same for a comparison. Seeds may differ.
func workload(run *rundir.Run, l lang.Lang) string {
	w := run.Workload
	answer := lengths(w.OutputTokens)
	if w.Capped {
		answer = findings.AnswerText(&w, l)
	}
	parts := []string{loadTokens.In(l, lengths(w.PromptTokens), answer)}
	if w.Capped && w.PromptTokens.Mean == 0 {
		parts = []string{loadAnswers.In(l, lengths(w.OutputTokens))}
	}
	parts = append(parts, findings.Growth(&w, l)...)
	if w.Dataset != "" {
		parts = append(parts, loadDataset.In(l, w.Dataset))
	}
	if w.Prompt != "" {
		parts = append(parts, loadPrompt.In(l, len(w.Prompt)))
	}
	return strings.Join(parts, lang.Comma.In(l))
}

func lengths(n rundir.Lengths) string {
	if n.Mean == 0 {
		return "?"
	}
	s := lang.WholeOr(2)(n.Mean, false)
	if n.Std > 0 {
		s += fmt.Sprintf("±%s (%d-%d)", lang.WholeOr(1)(n.Std, false), n.Min, n.Max)
	}
	return s
}

// Measure returns the metrics of a setup.
func Measure(s *setup.Setup) Configuration {
	m := Configuration{Name: s.Name, Origin: s.Origin(), Labels: setup.Labels(s.Run), Imported: s.Run.Source != nil}
	if s.Run.Source != nil {
		m.StageTime = s.Run.Source.StageTime
	}
	m.Hits = hitRate(s)
	m.addUsers(s)
	p := s.Plateau
	m.add(keyRate, setup.Value{Number: p.Rate, SE: plateauError(p, 1)}, p.Where)
	scale := math.NaN()
	if p.Rate.Known() && p.Rate.Value() > 0 && p.Output.Known() {
		scale = p.Output.Value() / p.Rate.Value()
	}
	length := meanAnswer(s)
	spread := outputError(s, scale, length)
	m.add(keyOutput, setup.Value{Number: p.Output, SE: spread}, p.Where)
	if at := len(m.Metrics) - 1; at >= 0 && m.Metrics[at].Key == keyOutput {
		m.Metrics[at].Burst = s.Burst()
	}
	for i := range m.Metrics {
		m.Metrics[i].Doubted = p.Doubted
	}
	if n := float64(s.Run.Labels.GPUs); n > 0 && p.Output.Known() {
		m.add(KeyPerGPU, setup.Value{Number: rundir.Exactly(p.Output.Value() / n), SE: spread / n}, p.Where)
	}
	answer := scale
	if s.Run.Source == nil && !math.IsNaN(length) { // a published table is taken at its word: its rows are whole stages
		answer = length
	}
	m.boundPlateau(p)
	m.add(keyAnswer, setup.Value{Number: rundir.Exactly(answer), SE: math.NaN()}, p.Where)
	for _, at := range operatingLoads() {
		point, ok := s.PointAtShare(at.share)
		if at.share == 0 {
			point, ok = s.SynchronousPoint()
		} else if p.Rising || p.Most.Known() { // a share of what is not known
			continue
		}
		if ok {
			ttft, itl := point.Latency(setup.TTFT), point.Latency(setup.ITL)
			// the number is that of every report; the interval that of the rows
			if c := comfortable(s.Run); c != nil && at.name == "80" {
				ttft.Number, itl.Number = c.TTFTMean, c.ITLMean
			}
			m.add("ttft@"+at.name, ttft, point.Where())
			m.add("itl@"+at.name, itl, point.Where())
			m.add("output@"+at.name, point.OutputRate(setup.Output), point.Where())
		}
	}
	m.addTerms(s)
	m.addAccuracy(s.Run, s.Origin())
	m.addErrors(s)
	return m
}

// addUsers adds how many users the configuration carries, and how many a GPU.
func (m *Configuration) addUsers(s *setup.Setup) {
	a := saturation.AnswerOf(s.Run)
	if a == nil || a.Carried == nil {
		return
	}
	c, terms := a.Carried, strings.Join(slices.Sorted(slices.Values(a.Carried.Terms)), ", ")
	se := math.NaN()
	if c.Low.Known() && c.High.Known() {
		se = (c.High.Value() - c.Low.Value()) / 2 / stats.Z95
	}
	where := s.Origin()
	if c.Within != nil {
		where += " " + lang.Row(c.Within.Stage)
	}
	for _, one := range []struct {
		key  string
		gpus int
	}{{keyUsers, 1}, {keyUsersPerGPU, m.Labels.GPUs}} {
		if one.gpus == 0 || c.Users.IsZero() {
			continue
		}
		scale := 1 / float64(one.gpus)
		m.add(one.key, setup.Value{Number: lang.Scale(c.Users, scale), SE: se * scale}, where)
		f := &m.Metrics[len(m.Metrics)-1]
		f.Terms = terms
		if !math.IsNaN(se) { // it is not even about the number
			f.Low, f.High = lang.Scale(c.Low, scale), lang.Scale(c.High, scale)
		}
	}
}

// comfortable is the latency at 80 % of the saturation rate by the answer of a run that was measured here; nil where
// its answer has none.
func comfortable(run *rundir.Run) *rundir.Comfortable {
	if a := saturation.AnswerOf(run); run.Source == nil && a != nil && a.Comfortable != nil && !a.Comfortable.BySLO {
		return a.Comfortable
	}
	return nil
}

// boundPlateau marks the metrics of the plateau as lower bounds where its rows end before it, and adds the largest values that
// rows show where rows disagree.
func (m *Configuration) boundPlateau(p setup.Plateau) {
	for i := range m.Metrics {
		f := &m.Metrics[i]
		switch f.Key {
		case keyRate:
			f.Most = p.Most
			if p.Low.Known() && p.High.Known() { // as the answer has it: it need not be even about the rate
				f.Low, f.High = p.Low, p.High
			}
		case keyOutput:
			f.Most = p.MostOutput
		case KeyPerGPU:
			f.Most = rundir.Exactly(p.MostOutput.Value() / float64(m.Labels.GPUs))
		default:
			continue
		}
		f.Repeats, f.AtLeast = p.Repeated, p.Rising
	}
}

// outputError returns the standard error of the plateau's output. It has two parts: the standard error of the rate,
// since both count the same work, and their disagreement, since output / rate should be the mean length of the answers.
func outputError(s *setup.Setup, scale, length float64) float64 {
	spread := plateauError(s.Plateau, scale)
	if math.IsNaN(length) {
		return spread
	}
	return math.Hypot(spread, s.Plateau.Rate.Value()*(scale-length))
}

// meanAnswer returns the mean length of the answers of all stages in tokens; NaN where it is not known. Output over
// rate differs from it, since the tokens of a window are not those of the answers that end in it.
func meanAnswer(s *setup.Setup) float64 {
	var tokens, n float64
	for i := range s.Run.Stages {
		if t := s.Run.Stages[i].OutputTokens; t.N > 0 && t.Mean.Known() && t.Mean.Value() > 0 {
			tokens, n = tokens+float64(t.N)*t.Mean.Value(), n+float64(t.N)
		}
	}
	return tokens / n
}

// plateauError returns the standard error of the plateau. Scale converts requests per second into its unit.
func plateauError(p setup.Plateau, scale float64) float64 {
	if !p.Low.Known() || !p.High.Known() {
		return math.NaN()
	}
	return (p.High.Value() - p.Low.Value()) / 2 / stats.Z95 * scale
}

// add adds a metric that is known.
func (m *Configuration) add(key string, v setup.Value, where string) {
	if v.Number.IsZero() {
		return
	}
	f := Metric{Key: key, Value: v.Number, Where: where, Steep: v.Steep, se: v.SE}
	if !math.IsNaN(v.SE) {
		f.Low, f.High = rundir.Exactly(v.Number.Value()-stats.Z95*v.SE), rundir.Exactly(v.Number.Value()+stats.Z95*v.SE)
	}
	m.Metrics = append(m.Metrics, f)
}

// addAccuracy adds the share of the graded answers of all rows that are right. Answers to one question are alike, so that
// the questions are the values.
func (m *Configuration) addAccuracy(run *rundir.Run, where string) {
	if run.Grades == nil || run.Grades.All.Answers == 0 {
		return
	}
	g := &run.Grades.All
	share := float64(g.Right) / float64(g.Answers)
	m.add(KeyAccuracy, setup.Value{Number: rundir.Exactly(share), SE: shareError(share, float64(g.Items))}, where)
}

// addErrors adds the share of failed requests over all rows that count; absent where requests were not counted. The
// interval is that of Agresti and Coull (The American Statistician 52 (1998)), whose upper bound is above 0 also where
// none failed.
func (m *Configuration) addErrors(s *setup.Setup) {
	ended, failed := 0, 0
	for _, r := range s.Rows {
		for _, st := range r.Measurements() {
			ended += st.Requests.OK + st.Requests.Error
			failed += st.Requests.Error
		}
	}
	m.addErrorShare(ended, failed, s.Run.Source != nil, s.Origin())
}

// addErrorShare adds the share of failed requests; imported ones have no interval.
func (m *Configuration) addErrorShare(ended, failed int, imported bool, where string) {
	if ended == 0 {
		return
	}
	n := float64(ended)
	share := float64(failed) / n
	se := shareError(share, n)
	if imported {
		se = math.NaN()
	}
	m.add(KeyErrors, setup.Value{Number: rundir.Exactly(share), SE: se}, where)
}

// Get is a metric by its key.
func (m *Configuration) Get(key string) (Metric, bool) {
	i := slices.IndexFunc(m.Metrics, func(f Metric) bool { return f.Key == key })
	if i < 0 {
		return Metric{}, false
	}
	return m.Metrics[i], true
}

// changes returns the differences of one setup from another. Where they did not have like hit rates, only what these do
// not change is compared.
func changes(m, from Configuration, like bool) []Change {
	var all []Change
	for _, key := range Keys() {
		if !like && !slices.Contains([]string{keyUsers, keyUsersPerGPU, keyUncached, KeyAccuracy, KeyErrors}, key) {
			continue
		}
		a, ok1 := from.Get(key)
		b, ok2 := m.Get(key)
		if !ok1 || !ok2 {
			continue
		}
		if c := change(b, a).boundPlateau(&m, &from, key); !c.Ratio.IsZero() {
			c.Setup, c.From, c.Key = m.Name, from.Name, key
			all = append(all, c)
		}
	}
	return all
}

// What is known of a ratio of which one side is a lower bound, or of which the rows of a side disagree.
const (
	BoundLow   = "at-least"
	BoundHigh  = "at-most"
	BoundRange = "between" // Low and High
)

// boundPlateau returns the change of a metric of the plateau where that of one side, or of both, is a lower bound, or a
// range of rows that disagree: a bound without an interval, or none.
func (c Change) boundPlateau(m, from *Configuration, key string) Change {
	if key != keyRate && key != keyOutput && key != KeyPerGPU || c.Ratio.IsZero() {
		return c
	}
	r, plain := ratio(m, from, key)
	switch {
	case plain:
		return c
	case r.Bound == BoundLow:
		return Change{Ratio: rundir.Exactly(r.Low.Value() - 1), Bound: BoundLow}
	case r.Bound == BoundHigh:
		return Change{Ratio: rundir.Exactly(r.High.Value() - 1), Bound: BoundHigh}
	case r.Bound == BoundRange:
		return Change{Ratio: c.Ratio, Low: rundir.Exactly(r.Low.Value() - 1), High: rundir.Exactly(r.High.Value() - 1),
			Bound: BoundRange}
	}
	return Change{}
}

// Ratio is what is known of the ratio of two plateaus.
type Ratio struct {
	Of    string        `json:"of"` // the values of what differs
	To    string        `json:"to"`
	Ratio rundir.Number `json:"ratio,omitzero"` // absent where there is only a bound
	Low   rundir.Number `json:"low,omitzero"`   // a bound, or the 95 % interval of Ratio
	High  rundir.Number `json:"high,omitzero"`
	// Bound is BoundLow, BoundHigh or BoundRange where there is no Ratio; empty too where nothing is known, as of two
	// lower bounds.
	Bound string `json:"bound,omitempty"`
}

// undecided reports whether either side may be the higher, because rows disagree.
func (r Ratio) undecided() bool {
	return r.Bound == BoundRange && r.Low.Value() < 1 && r.High.Value() > 1
}

// ratio returns the bounds of a metric of b over that of a, by what their rows leave open; plain where they leave
// nothing open.
func ratio(b, a *Configuration, key string) (r Ratio, plain bool) {
	x, ok1 := a.Get(key)
	y, ok2 := b.Get(key)
	if !ok1 || !ok2 || !x.Value.Known() || !y.Value.Known() || x.Value.Value() <= 0 || y.Value.Value() <= 0 {
		return r, false
	}
	top := func(f Metric) float64 {
		switch {
		case f.AtLeast:
			return math.Inf(1)
		case f.Most.Known():
			return f.Most.Value()
		}
		return f.Value.Value()
	}
	low, high := y.Value.Value()/top(x), top(y)/x.Value.Value()
	// What the rows throughput show is no bound, but none holds that they contradict: the ratio is between the two.
	if burst := y.Burst.Or(0) / x.Burst.Or(math.NaN()); burst > 0 && high > low*(1+1e-9) && (burst < low || burst > high) {
		at := y.Value.Value() / x.Value.Value()
		return Ratio{Low: rundir.Exactly(min(at, burst)), High: rundir.Exactly(max(at, burst)), Bound: BoundRange}, false
	}
	r.Low, r.High = rundir.Exactly(low), rundir.Exactly(high)
	switch {
	case low == 0 && math.IsInf(high, 1):
		return Ratio{}, false
	case low == 0:
		r.Low, r.Bound = rundir.Number{}, BoundHigh
	case math.IsInf(high, 1):
		r.Bound = BoundLow
	case high > low*(1+1e-9):
		r.Bound = BoundRange
	default:
		return Ratio{}, true
	}
	return r, false
}

// memberRatio returns what is known of the ratio of two members.
func memberRatio(of, to *Member) Ratio {
	r, plain := ratio(&of.m, &to.m, keyOutput)
	if plain {
		a, _ := to.m.Get(keyOutput)
		b, _ := of.m.Get(keyOutput)
		c := change(b, a)
		r.Ratio, r.Low, r.High = rundir.Exactly(c.Ratio.Value()+1), rundir.Exactly(c.Low.Value()+1),
			rundir.Exactly(c.High.Value()+1)
	}
	r.Of, r.To = of.Value, to.Value
	return r
}

// change returns b/a - 1 with its interval by the delta method on the logarithm. The two are independent:
// var ln(b/a) = (se(a)/a)^2 + (se(b)/b)^2. Shares, which may be 0, are subtracted instead.
func change(b, a Metric) Change {
	if a.Terms != b.Terms {
		return Change{}
	}
	if isShare(b.Key) {
		return shareDifference(b, a)
	}
	if !a.Value.Known() || !b.Value.Known() || a.Value.Value() <= 0 || b.Value.Value() <= 0 {
		return Change{}
	}
	ratio := b.Value.Value() / a.Value.Value()
	c := Change{Ratio: rundir.Exactly(ratio - 1), steep: a.Steep || b.Steep}
	half := stats.Z95 * math.Hypot(a.se/a.Value.Value(), b.se/b.Value.Value())
	if math.IsNaN(half) {
		return c
	}
	return c.withInterval(ratio*math.Exp(-half)-1, ratio*math.Exp(half)-1)
}

// shareDifference returns the difference of two shares, b minus a, with its interval.
func shareDifference(b, a Metric) Change {
	c := Change{Ratio: rundir.Exactly(b.Value.Value() - a.Value.Value())}
	half := stats.Z95 * math.Hypot(a.se, b.se)
	if math.IsNaN(half) {
		return c
	}
	return c.withInterval(c.Ratio.Value()-half, c.Ratio.Value()+half)
}

// withInterval sets the interval, and whether it shows a difference.
func (c Change) withInterval(low, high float64) Change {
	shown := low > 0 || high < 0
	c.Low, c.High, c.Shown = rundir.Exactly(low), rundir.Exactly(high), &shown
	return c
}
