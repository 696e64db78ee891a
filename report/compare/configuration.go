package compare

import (
	"math"
	"slices"
	"strings"

	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
	"llmsweep/sweep/slo"
	"llmsweep/sweep/stats"
)

// Configuration is a configuration and its figures.
type Configuration struct {
	Name      string        `json:"name"`
	Origin    string        `json:"origin"`
	Labels    rundir.Labels `json:"labels"`
	Imported  bool          `json:"imported,omitempty"` // read elsewhere: there are no records
	Workload  string        `json:"workload,omitempty"` // where those of the results differ
	Figures   []Figure      `json:"figures"`
	Hits      rundir.Number `json:"cache_hits,omitzero"`   // share of the prompt tokens that were cached, as reported
	StageTime rundir.Number `json:"stage_time_s,omitzero"` // how long the stages of its document lasted
	setup     *setup.Setup
}

// Get returns a figure by its key; the zero Figure where there is none.
func (m *Configuration) Get(key string) (f Figure, ok bool) {
	i := slices.IndexFunc(m.Figures, func(f Figure) bool { return f.Key == key })
	if i < 0 {
		return f, false
	}
	return m.Figures[i], true
}

func (m *Configuration) figure(key string) Figure {
	f, _ := m.Get(key)
	return f
}

// add adds a figure if it is known.
func (m *Configuration) add(f Figure) {
	if f.Value.IsZero() || math.IsNaN(f.Value.Value()) {
		return
	}
	if f.Low.IsZero() && !math.IsNaN(f.se) {
		f.Low, f.High = rundir.Exactly(f.Value.Value()-stats.Z95*f.se), rundir.Exactly(f.Value.Value()+stats.Z95*f.se)
	}
	m.Figures = append(m.Figures, f)
}

// operatingLoad is a share of the plateau with its name in keys; 0 for one request at a time.
type operatingLoad struct {
	name  string
	share float64
}

func operatingLoads() []operatingLoad { return []operatingLoad{{"sync", 0}, {"50", 0.5}, {"80", 0.8}} }

// Measure returns the figures of a setup.
func Measure(s *setup.Setup) Configuration {
	m := Configuration{Name: s.Name, Origin: s.Origin(), Labels: setup.Labels(s.Run), Imported: s.Run.Source != nil,
		Hits: hitRate(s), setup: s}
	if m.Imported {
		m.StageTime = s.Run.Source.StageTime
	}
	m.addUsers(s)
	m.addPlateau(s)
	m.addLoads(s)
	m.addTerms(s)
	m.addAccuracy(s.Run, s.Origin())
	m.addErrors(s)
	return m
}

func (m *Configuration) addUsers(s *setup.Setup) {
	a := saturation.AnswerOf(s.Run)
	if a == nil || a.Carried == nil {
		return
	}
	c, where := a.Carried, s.Origin()
	if c.Within != nil {
		where += " " + lang.StageName(c.Within.Stage)
	}
	f := Figure{Value: c.Users, Low: c.Low, High: c.High, se: halfWidth(c.Low, c.High), Where: where,
		Terms: strings.Join(slices.Sorted(slices.Values(c.Terms)), ", ")}
	m.add(f.of(keyUsers, 1))
	if n := m.Labels.GPUs; n > 0 {
		m.add(f.of(keyEach, 1/float64(n)))
	}
}

func halfWidth(low, high rundir.Number) float64 {
	return (high.Value() - low.Value()) / 2 / stats.Z95 // NaN where one is absent
}

func (m *Configuration) addPlateau(s *setup.Setup) {
	p := s.Plateau
	rate := Figure{Key: keyRate, Value: p.Rate, Most: p.Most, Low: p.Low, High: p.High, Open: p.Rising, Where: p.Where,
		Repeated: p.Repeated, Doubted: p.Doubted, se: halfWidth(p.Low, p.High)}
	m.add(rate)
	// Rate and output count the same work, and output / rate should be the mean length of the answers: their
	// disagreement is a second part of the error.
	scale, length := p.Output.Value()/p.Rate.Value(), meanAnswer(s)
	output := rate
	output.Key, output.Value, output.Most, output.Burst = keyOutput, p.Output, p.MostOutput, s.Burst()
	output.Low, output.High, output.se = rundir.Number{}, rundir.Number{}, rate.se*scale
	if !math.IsNaN(length) {
		output.se = math.Hypot(output.se, p.Rate.Value()*(scale-length))
	}
	m.add(output)
	if n := float64(s.Run.Labels.GPUs); n > 0 && p.Output.Known() {
		each := output.of(KeyPerGPU, 1/n)
		each.Burst, each.Doubted = rundir.Number{}, false
		m.add(each)
	}
	if m.Imported || math.IsNaN(length) { // a published table is taken at its word: its rows are whole stages
		length = scale
	}
	m.add(Figure{Key: keyAnswer, Value: rundir.Exactly(length), Where: p.Where, se: math.NaN()})
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

func figureAt(key string, v setup.Value, where string) Figure {
	return Figure{Key: key, Value: v.Number, Steep: v.Steep, Where: where, se: v.SE}
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
		if a := saturation.AnswerOf(s.Run); at.name == "80" && !m.Imported && a != nil && a.Comfortable != nil &&
			!a.Comfortable.BySLO {
			// the number is that of every report; the interval that of the rows
			ttft.Number, itl.Number = a.Comfortable.TTFTMean, a.Comfortable.ITLMean
		}
		m.add(figureAt("ttft@"+at.name, ttft, point.Where()))
		m.add(figureAt("itl@"+at.name, itl, point.Where()))
		m.add(figureAt("output@"+at.name, point.OutputRate(setup.Output), point.Where()))
	}
}

// addTerms adds the metrics of an SLO's terms, at one load: 80 % of the saturation rate, or that of the only row.
func (m *Configuration) addTerms(s *setup.Setup) {
	point, load := setup.Point{}, "80 %"
	ok := len(s.Rows) == 1
	if ok {
		point, load = setup.Point{Low: &s.Rows[0], High: &s.Rows[0]}, s.Rows[0].Name()
	} else if !s.Plateau.Rising && !s.Plateau.Most.Known() { // else it is a share of what is not known
		point, ok = s.PointAtShare(0.8)
	}
	terms, err := slo.ParseAll(s.Run.Plan.SLO)
	if !ok || err != nil || len(terms) == 0 {
		return
	}
	within := strings.Join(slo.Strings(terms), ", ")
	add := func(key, terms string, v setup.Value) {
		if v.Number.Known() {
			f := figureAt(key, v, point.Where())
			f.Terms = strings.TrimPrefix(terms+", "+load, ", ")
			m.add(f)
		}
	}
	for i := range terms {
		switch t := &terms[i]; t.Metric {
		case slo.TTFA:
			add(t.Metric, "", point.Latency(distMean(func(s *rundir.Stage) *rundir.Dist { return &s.FirstAnswer })))
		case slo.Speed:
			v := point.Latency(distMean(func(s *rundir.Stage) *rundir.Dist {
				if !t.Unknown(s).IsZero() {
					return &rundir.Dist{}
				}
				return &s.TPOT
			}))
			speed := 1 / v.Number.Value()
			add(t.Metric, "", setup.Value{Number: rundir.Exactly(speed), SE: v.SE * speed * speed, Steep: v.Steep})
		case slo.Stalls:
			add(t.Metric, slo.Term{Metric: slo.Stalls, Limit: 1, Gap: t.Gap}.String(), point.Share(missedShare(*t)))
		case slo.Sessions:
			v := point.Share(missedShare(*t))
			v.Number = rundir.Exactly(1 - v.Number.Value())
			add(t.Metric, within, v)
		}
	}
	add(keyGoodput, within, point.OutputRate(setup.Goodput))
}

func distMean(of func(*rundir.Stage) *rundir.Dist) setup.MetricFunc {
	return func(s *rundir.Stage) (rundir.Number, [2]float64, bool) {
		d := of(s)
		ci, ok := d.CI[slo.Mean]
		return d.Mean, ci, ok
	}
}

// missedShare takes the share of the requests or sessions of a stage that miss a term, with the interval of Agresti and
// Coull by the number of independent ones. It is absent where that is not known of some.
func missedShare(t slo.Term) setup.MetricFunc {
	return func(s *rundir.Stage) (v rundir.Number, ci [2]float64, ok bool) {
		b := t.Counted(s)
		if b == nil || b.Of == 0 || b.Open > 0 {
			return v, ci, false
		}
		share := float64(b.Count) / float64(b.Of)
		half := stats.Z95 * shareError(share, b.Neff.Or(float64(b.Of)))
		return rundir.Exactly(share), [2]float64{share - half, share + half}, true
	}
}

// shareError returns the standard error of a share among n by Agresti and Coull (The American Statistician 52 (1998)).
// It is above 0 also for shares of 0 and 1.
func shareError(share, n float64) float64 {
	p := (share*n + 2) / (n + 4)
	return math.Sqrt(p * (1 - p) / (n + 4))
}

func (m *Configuration) addShare(key string, count, of int, n float64, where string) {
	share := float64(count) / float64(of) // NaN where there are none
	m.add(Figure{Key: key, Value: rundir.Exactly(share), Where: where, se: shareError(share, n)})
}

// addAccuracy adds the share of the graded answers of all rows that are right. Answers to one question are alike, so
// that the questions are the values.
func (m *Configuration) addAccuracy(run *rundir.Run, where string) {
	if g := run.Grades; g != nil {
		m.addShare(KeyAccuracy, g.All.Right, g.All.Answers, float64(g.All.Items), where)
	}
}

func (m *Configuration) addErrors(s *setup.Setup) {
	ended, failed := 0, 0
	for _, r := range s.Rows {
		for _, st := range r.Measurements() {
			ended, failed = ended+st.Requests.OK+st.Requests.Error, failed+st.Requests.Error
		}
	}
	n := float64(ended)
	if m.Imported {
		n = math.NaN() // they have no interval
	}
	m.addShare(KeyErrors, failed, ended, n, s.Origin())
}
