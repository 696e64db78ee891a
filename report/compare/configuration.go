package compare

import (
	"math"
	"slices"
	"strings"

	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
	"llmsweep/sweep/stats"
)

// Configuration is a configuration and its metrics.
type Configuration struct {
	Name      string        `json:"name"`
	Origin    string        `json:"origin"`
	Labels    rundir.Labels `json:"labels"`
	Imported  bool          `json:"imported,omitempty"` // read elsewhere: there are no records
	Workload  string        `json:"workload,omitempty"` // where those of the results differ
	Metrics   []Metric      `json:"figures"`
	Hits      rundir.Number `json:"cache_hits,omitzero"`   // share of the prompt tokens that were cached, as reported
	StageTime rundir.Number `json:"stage_time_s,omitzero"` // how long the stages of its document lasted
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
	// Terms are those of the SLO within which users are carried, or that it is about, with their load.
	Terms   string `json:"terms,omitempty"`
	Where   string `json:"where"`                // the rows it rests on
	Steep   bool   `json:"rows_apart,omitempty"` // it is read between two rows that are too far apart for an interval
	Doubted bool   `json:"doubted,omitempty"`    // it rests on figures that the audit doubts
	// Burst is what the row throughput of a document printed, which sends all requests at once.
	Burst rundir.Number `json:"throughput_row,omitzero"`
	se    float64       // standard error, NaN where there is none
}

// operatingLoad is a share of the plateau with its name in keys; 0 for one request at a time.
type operatingLoad struct {
	name  string
	share float64
}

func operatingLoads() []operatingLoad { return []operatingLoad{{"sync", 0}, {"50", 0.5}, {"80", 0.8}} }

// Measure returns the metrics of a setup.
func Measure(s *setup.Setup) Configuration {
	m := Configuration{Name: s.Name, Origin: s.Origin(), Labels: setup.Labels(s.Run), Imported: s.Run.Source != nil}
	if s.Run.Source != nil {
		m.StageTime = s.Run.Source.StageTime
	}
	m.Hits = hitRate(s)
	m.addUsers(s)
	m.addPlateau(s)
	m.addLoads(s)
	m.addTerms(s)
	m.addAccuracy(s.Run, s.Origin())
	m.addErrors(s)
	return m
}

func (m *Configuration) addPlateau(s *setup.Setup) {
	p := s.Plateau
	m.add(keyRate, setup.Value{Number: p.Rate, SE: plateauError(p, 1)}, p.Where)
	scale := math.NaN()
	if p.Rate.Known() && p.Rate.Value() > 0 && p.Output.Known() {
		scale = p.Output.Value() / p.Rate.Value()
	}
	length := meanAnswer(s)
	// Rate and output count the same work, and output / rate should be the mean length of the answers: their
	// disagreement is a second part of the error.
	spread := plateauError(p, scale)
	if !math.IsNaN(length) {
		spread = math.Hypot(spread, p.Rate.Value()*(scale-length))
	}
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
}

func (m *Configuration) addLoads(s *setup.Setup) {
	for _, at := range operatingLoads() {
		point, ok := s.PointAtShare(at.share)
		if at.share == 0 {
			point, ok = s.SynchronousPoint()
		} else if s.Plateau.Rising || s.Plateau.Most.Known() { // a share of what is not known
			continue
		}
		if !ok {
			continue
		}
		ttft, itl := point.Latency(setup.TTFT), point.Latency(setup.ITL)
		if a := saturation.AnswerOf(s.Run); at.name == "80" && s.Run.Source == nil && a != nil &&
			a.Comfortable != nil && !a.Comfortable.BySLO {
			// the number is that of every report; the interval that of the rows
			ttft.Number, itl.Number = a.Comfortable.TTFTMean, a.Comfortable.ITLMean
		}
		m.add("ttft@"+at.name, ttft, point.Where())
		m.add("itl@"+at.name, itl, point.Where())
		m.add("output@"+at.name, point.OutputRate(setup.Output), point.Where())
	}
}

func (m *Configuration) addUsers(s *setup.Setup) {
	a := saturation.AnswerOf(s.Run)
	if a == nil || a.Carried == nil {
		return
	}
	c := a.Carried
	se := math.NaN()
	if c.Low.Known() && c.High.Known() {
		se = (c.High.Value() - c.Low.Value()) / 2 / stats.Z95
	}
	where := s.Origin()
	if c.Within != nil {
		where += " " + lang.StageName(c.Within.Stage)
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
		f.Terms = strings.Join(slices.Sorted(slices.Values(c.Terms)), ", ")
		if !math.IsNaN(se) { // it is not even about the number
			f.Low, f.High = lang.Scale(c.Low, scale), lang.Scale(c.High, scale)
		}
	}
}

// boundPlateau marks the metrics of the plateau as lower bounds where its rows end before it, and adds the largest
// values that rows show where rows disagree.
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

// meanAnswer returns the mean length of all answers in tokens; NaN where it is unknown. Output over rate differs from
// it, since the tokens of a window are not those of the answers that end in it.
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

// add adds a metric if it is known.
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

// addAccuracy adds the share of the graded answers of all rows that are right. Answers to one question are alike, so
// that the questions are the values.
func (m *Configuration) addAccuracy(run *rundir.Run, where string) {
	if run.Grades == nil || run.Grades.All.Answers == 0 {
		return
	}
	g := &run.Grades.All
	share := float64(g.Right) / float64(g.Answers)
	m.add(KeyAccuracy, setup.Value{Number: rundir.Exactly(share), SE: shareError(share, float64(g.Items))}, where)
}

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

// addErrorShare adds the share of failed requests where they were counted; imported ones have no interval.
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

// Get returns a metric by its key.
func (m *Configuration) Get(key string) (Metric, bool) {
	i := slices.IndexFunc(m.Metrics, func(f Metric) bool { return f.Key == key })
	if i < 0 {
		return Metric{}, false
	}
	return m.Metrics[i], true
}
