// Makes the run that a sweep of a twin would give, by simulation: rows of rates up to saturation, for a workload that the
// twin's server was not measured with. Nothing in such a run is measured.

package twin

import (
	"math/rand/v2"
	"strconv"
	"time"

	"llmsweep/client/sim"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/sample"
	"llmsweep/sweep/stats"
	"llmsweep/sweep/workload"
)

// PredictedLoad is the workload that is asked about.
type PredictedLoad struct {
	Prompt, Output rundir.Lengths
	// Trace has the lengths of recorded requests, in their order; its name stands in the run. Prompt and Output are then their means.
	Trace *Mixed
	Seed  uint64
}

// PredictedLoadOf returns the load of a trace.
func PredictedLoadOf(m Mixed, seed uint64) PredictedLoad {
	l := PredictedLoad{Trace: &m, Seed: seed}
	for _, v := range m.Lengths {
		l.Prompt.Mean += float64(v[0]) / float64(len(m.Lengths))
		l.Output.Mean += float64(v[1]) / float64(len(m.Lengths))
	}
	return l
}

// drawnLength is how many lengths are drawn where they vary: as many requests as a row has.
const drawnLength = 3000

// mixed returns the lengths of the load.
func (l *PredictedLoad) mixed() Mixed {
	if l.Trace != nil {
		return *l.Trace
	}
	n := 1
	if l.Prompt.Std > 0 || l.Output.Std > 0 {
		n = drawnLength
	}
	rng := stats.Rand(l.Seed, "predicted", "lengths")
	var m Mixed
	for range n {
		m.Lengths = append(m.Lengths, [2]int{max(1, workload.Draw(l.Prompt, rng)), max(1, workload.Draw(l.Output, rng))})
	}
	return m
}

// shares are the rates of the rows, as shares of the saturation rate. Beyond 1 nothing is stable.
func shares() []float64 {
	return []float64{0.05, 0.2, 0.35, 0.5, 0.6, 0.7, 0.78, 0.85, 0.9, 0.94, 0.97, 1.05}
}

// Predict returns the run of a twin, and what it predicts for saturation. The answer's Refused is set, and the run nil, where the twin does not know.
func Predict(t *Twin, l PredictedLoad) (*rundir.Run, Answer) {
	m := l.mixed()
	a := t.Ask(m)
	if a.Refused != "" {
		return nil, a
	}
	run := &rundir.Run{
		Schema: rundir.Schema, State: rundir.Complete, Client: rundir.Client{Valid: true}, Target: rundir.Target{Model: t.Labels.Model},
		Labels:   PredictedLabels(t),
		Workload: rundir.Workload{PromptTokens: l.Prompt, OutputTokens: l.Output, Seed: l.Seed, Forced: true},
	}
	if l.Trace != nil {
		run.Workload.Dataset = l.Trace.Name
	}
	for _, share := range shares() {
		run.Stages = append(run.Stages, predictedRow(t, m, share*a.Rate, share < 1, l.Seed))
	}
	return run, a
}

// PredictedLabels returns the labels of a twin as a run has them.
func PredictedLabels(t *Twin) rundir.Labels {
	l := t.Labels
	return rundir.Labels{Model: l.Model, GPU: l.GPU, GPUs: max(1, l.GPUs), Engine: l.Engine, Quant: l.Quant, Price: l.Price}
}

// predictedRow simulates Poisson arrivals at a rate.
func predictedRow(t *Twin, m Mixed, rate float64, stable bool, from uint64) rundir.Stage {
	w := watch{ttft: sample.New(keep), latency: sample.New(keep), tpot: sample.New(keep), itl: sample.New(keep)}
	rng := stats.Rand(from, "predicted", strconv.FormatFloat(rate, 'g', -1, 64))
	r, err := sim.NewReplica(t.Config(), 0, &w)
	if err != nil { // Ask has simulated this server
		return rundir.Stage{State: rundir.Failed}
	}
	w.arrivals(r, m, rate, rng)
	name := "poisson@" + strconv.FormatFloat(rate, 'g', 4, 64)
	length := w.to.Seconds() - w.from.Seconds()
	s := rundir.Stage{
		Name: name, Kind: "poisson", Role: rundir.Grid, State: rundir.Complete, Rate: rundir.Exactly(rate), Verdict: rundir.Stable,
		WindowFrom: w.from.Seconds(), Window: length,
		Requests:   rundir.Requests{Due: w.came, Sent: w.came, OK: w.came},
		Rates:      rundir.Rates{Offered: rundir.Exactly(float64(w.came) / length), Completed: rundir.Exactly(float64(w.ended) / length)},
		TokensPerS: rundir.TokenRates{Output: rundir.Exactly(float64(w.tokens) / length)},
		TTFT:       w.dist(&w.ttft), Latency: w.dist(&w.latency), TPOT: w.dist(&w.tpot), ITL: w.dist(&w.itl),
	}
	if !stable {
		s.Verdict = rundir.Saturated
	}
	s.TTFTDue = s.TTFT
	if w.gaps > 0 {
		s.InterToken = rundir.Exactly(w.between / float64(w.gaps))
	}
	return s
}

// dist returns a distribution, worth as many independent values as there are requests.
func (w *watch) dist(s *sample.Sample) rundir.Dist { return s.DistWorth(float64(w.came)) }

// keep is how many values a sample keeps one by one.
const keep = 100_000

// watch notes what happens to the requests of a row. What comes in the opening, or is seen after the last arrival, is not in the window.
type watch struct {
	from, to                  time.Duration
	ttft, latency, tpot, itl  sample.Sample
	came, ended, tokens, gaps int
	between                   float64 // seconds, sum of the gaps
}

// arrivals sends the requests, and waits for the last answer. A fifth of them are the opening.
func (w *watch) arrivals(r *sim.Replica, m Mixed, rate float64, rng *rand.Rand) {
	const opening = 5
	at := 0.0
	var all []float64
	for range drawnLength {
		at += rng.ExpFloat64() / rate
		all = append(all, at)
	}
	w.from, w.to = rundir.Duration(all[drawnLength/opening]), rundir.Duration(at)
	for i, at := range all {
		l := m.Lengths[i%len(m.Lengths)]
		v := &sim.Visit{Arrived: rundir.Duration(at), Prompt: max(1, l[0]), Output: max(1, l[1])}
		if w.in(v.Arrived) {
			w.came++
		}
		r.Until(v.Arrived)
		r.Add(v)
	}
	r.Finish()
}

func (w *watch) in(at time.Duration) bool { return at >= w.from && at < w.to }

// Gaps implements replica.Watcher.
func (w *watch) Gaps(at, length time.Duration, tokens int) {
	if !w.in(at) {
		return
	}
	w.tokens += tokens
	w.gaps += tokens
	w.between += length.Seconds() * float64(tokens)
	for range tokens {
		w.itl.Add(at.Seconds(), length.Seconds())
	}
}

// Answered implements replica.Watcher.
func (w *watch) Answered(v *sim.Visit) {
	if w.in(v.First) {
		w.tokens++
	}
	if w.in(v.Arrived) {
		w.ttft.Add(v.Arrived.Seconds(), (v.First - v.Arrived).Seconds())
	}
}

// Ended implements replica.Watcher.
func (w *watch) Ended(v *sim.Visit) {
	if w.in(v.Last) {
		w.ended++
	}
	if !w.in(v.Arrived) {
		return
	}
	w.latency.Add(v.Arrived.Seconds(), (v.Last - v.Arrived).Seconds())
	if v.Output > 1 {
		w.tpot.Add(v.Arrived.Seconds(), (v.Last-v.First).Seconds()/float64(v.Output-1))
	}
}
