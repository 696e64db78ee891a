package compare

import (
	"math"
	"strings"

	"llmsweep/report/setup"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
	"llmsweep/sweep/stats"
)

// The keys of metrics of an SLO's terms. They are known of a run that has such a term, at one load: 80 % of the
// saturation rate, or that of the only row.
const (
	keySpeed    = slo.Speed // tokens per second of a request after its first token: the inverse of the mean time per token
	keyTTFA     = slo.TTFA  // mean
	keyStalls   = slo.Stalls
	keySessions = slo.Sessions
	keyGoodput  = "good_tokens_per_s" // of requests that keep the SLO
)

// TermKeys returns the keys that are known only of runs whose SLO has such a term.
func TermKeys() []string { return []string{keySpeed, keyTTFA, keyStalls, keySessions, keyGoodput} }

// isShare reports whether a metric is a share, which may be 0: its change is the difference of two shares.
func isShare(key string) bool {
	return key == KeyErrors || key == KeyAccuracy || key == keyStalls || key == keySessions
}

func (m *Configuration) addTerms(s *setup.Setup) {
	point, load, ok := termsLoad(s)
	terms, err := slo.ParseAll(s.Run.Plan.SLO)
	if !ok || err != nil || len(terms) == 0 {
		return
	}
	within := strings.Join(slo.Strings(terms), ", ")
	add := func(key, terms string, v setup.Value) {
		if before := len(m.Metrics); v.Number.Known() && !math.IsNaN(v.Number.Value()) {
			m.add(key, v, point.Where())
			m.Metrics[before].Terms = strings.TrimPrefix(terms+", "+load, ", ")
		}
	}
	for i := range terms {
		switch t := &terms[i]; t.Metric {
		case slo.TTFA:
			add(keyTTFA, "", point.Latency(distMean(func(s *rundir.Stage) *rundir.Dist { return &s.FirstAnswer })))
		case slo.Speed:
			v := point.Latency(distMean(func(s *rundir.Stage) *rundir.Dist {
				if !t.Unknown(s).IsZero() {
					return &rundir.Dist{}
				}
				return &s.TPOT
			}))
			speed := 1 / v.Number.Value()
			add(keySpeed, "", setup.Value{Number: rundir.Exactly(speed), SE: v.SE * speed * speed, Steep: v.Steep})
		case slo.Stalls:
			add(keyStalls, slo.Term{Metric: slo.Stalls, Limit: 1, Gap: t.Gap}.String(), point.Share(missedShare(*t)))
		case slo.Sessions:
			v := point.Share(missedShare(*t))
			v.Number = rundir.Exactly(1 - v.Number.Value())
			add(keySessions, within, v)
		}
	}
	add(keyGoodput, within, point.OutputRate(setup.Goodput))
}

// termsLoad returns where metrics of terms are compared, with the name of that load.
func termsLoad(s *setup.Setup) (p setup.Point, load string, ok bool) {
	if len(s.Rows) == 1 {
		r := &s.Rows[0]
		return setup.Point{Low: r, High: r}, r.Name(), true
	}
	if s.Plateau.Rising || s.Plateau.Most.Known() { // a share of what is not known
		return p, "", false
	}
	p, ok = s.PointAtShare(0.8)
	return p, "80 %", ok
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
