package sweep

import (
	"math"
	"slices"
	"time"

	"llmsweep/sweep/arrival"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
)

// The time that a sweep takes is estimated by its plan, run on an imagined server: an engine of continuous batching, as
// LLM servers are. What a run has shown of its server counts; these stand for the rest. They fit the sweeps of
// TestTimes.
const (
	imaginedPrompts = 1.1   // times its prompt's time alone, that a request adds to the time of the others,
	imaginedAnswer  = 0.005 // and this share of the time of its answer
	imaginedSlots   = 128
	imaginedSlower  = 8    // times the latency of a lone request, at most, when the server is full
	imaginedHold    = 5    // latencies of the full server: by so much a hold is longer than at least
	imaginedGrowth  = 0.01 // of the backlog, to within which it is known, where the server keeps up
	warmUps         = 3    // lone requests before the first stage
	usualProbes     = 3    // holds about the rate of an SLO: an imagined stage tells nothing of it
)

// Outlook is what a sweep by rate is expected to take and to bring.
type Outlook struct {
	Takes    time.Duration
	Requests int
	Rows     int  // rates of the grid that last for longer than a request
	Brackets bool // the answer has two ends

	next time.Duration // of Takes, for the first stage
}

// Outlook imagines whole sweeps of two servers whose lone requests have a latency: on one prompts take no time, and on
// the other a tenth of it. Most LLM servers lie between, with a margin for the chance of the holds.
func (c *Config) Outlook(lone time.Duration) (quick, slow Outlook) {
	const heavyPrompt, margin = 0.1, 1.25
	warmUp := lone + min((warmUps-1)*lone, c.StageTime)
	if c.Budget > 0 {
		warmUp = min(warmUp, c.Budget)
	}
	imagine := func(prompt float64) Outlook {
		o := c.outlook(&rundir.Run{}, imagined{lone: lone.Seconds(), prompt: prompt * lone.Seconds()}, warmUp)
		o.Takes += warmUp
		return o
	}
	quick, slow = imagine(0), imagine(heavyPrompt)
	if quick.Takes > slow.Takes {
		quick, slow = slow, quick
	}
	quick.Takes = time.Duration(float64(quick.Takes) / margin)
	if slow.Takes = time.Duration(float64(slow.Takes) * margin); c.Budget > 0 {
		slow.Takes = min(slow.Takes, c.Budget)
	}
	return quick, slow
}

// outlook imagines the stages that a run still lacks, at a time since its begin. first is a request of the server
// before the first stage.
func (c *Config) outlook(run *rundir.Run, first imagined, at time.Duration) (o Outlook) {
	const mostStages = 100 // ends a plan that imagined stages do not end
	run = &rundir.Run{Workload: run.Workload, Stages: slices.Clone(run.Stages), Search: slices.Clone(run.Search)}
	for range mostStages {
		left := c.Budget - at
		s, ok := c.Next(run, left)
		if !ok || c.Budget > 0 && left <= 0 {
			break
		}
		took := c.imagine(run, &s, first, at)
		if c.Budget > 0 {
			took = min(took, left)
		}
		if o.Takes == 0 {
			o.next = took
		}
		at, o.Takes = at+took, o.Takes+took
	}
	for i := range run.Stages {
		o.Requests += run.Stages[i].Requests.OK
		if st := &run.Stages[i]; st.Role == rundir.Grid && st.Elapsed > st.Latency.Mean.Value() {
			o.Rows++
		}
	}
	if found := saturation.Find(run); found != nil {
		o.Brackets = found.Low.Known() && found.High.Known()
	}
	if len(c.SLO) > 0 && c.Budget == 0 {
		m := imagine(run, first)
		o.Takes += usualProbes * saturation.HoldTime(m.most(), rundir.Duration(m.lone), c.StageTime)
	}
	return o
}

// imagined is a server on which each request in flight makes the others longer, up to a number of slots. Times are in
// seconds.
type imagined struct {
	lone, prompt, each float64 // of a request alone, of its prompt, and for each other in flight
	slots              float64
}

// imagine returns the server that a run shows so far. first is what is known before the first stage.
func imagine(run *rundir.Run, first imagined) imagined {
	m := first
	if floor := run.First(rundir.Synchronous); floor != nil && floor.Latency.Mean.Known() {
		m.lone, m.prompt = floor.Latency.Mean.Value(), max(0, floor.TTFT.Mean.Or(0)-floor.InterToken.Or(0))
	}
	m.each = min(imaginedPrompts*m.prompt+imaginedAnswer*m.lone, m.lone)
	level, latency := 0.0, 0.0
	for _, step := range run.Search {
		if step.Latency.Known() {
			level, latency = float64(step.Level()), step.Latency.Value()
		}
	}
	full := run.First(rundir.Throughput)
	if full != nil && full.Latency.Mean.Known() {
		level, latency = float64(full.MaxConcurrency), full.Latency.Mean.Value()
	}
	if level > 1 {
		const least = 1e-3 // of a lone request's time
		m.each = min(max((latency-m.lone)/(level-1), least*m.lone), m.lone)
	}
	if m.slots = max(level, min(imaginedSlots, 1+(imaginedSlower-1)*m.lone/m.each)); full != nil {
		m.slots = level
	}
	return m
}

// closed returns the latency with a number in flight.
func (m *imagined) closed(n float64) float64 {
	in := min(n, m.slots)
	return (m.lone + (in-1)*m.each) * n / in
}

// open returns the latency at a rate, by Little's law.
func (m *imagined) open(rate float64) float64 {
	return min((m.lone-m.each)/max(1e-9, 1-rate*m.each), m.closed(m.slots))
}

// most returns the requests per second of the full server.
func (m *imagined) most() float64 { return m.slots / m.closed(m.slots) }

// imagine adds to a run what a stage would show, and returns how long it takes.
func (c *Config) imagine(run *rundir.Run, s *experiment.Stage, first imagined, at time.Duration) (took time.Duration) {
	m, tokens := imagine(run, first), 1.0
	most := saturation.ThroughputRate(run).Or(m.most())
	if floor := run.First(rundir.Synchronous); floor != nil {
		tokens = floor.TokensPerS.Output.Or(1) / floor.Progress.Rate.Or(1)
	}
	st := rundir.Stage{
		Name: s.Name, Kind: s.Kind, Role: s.Role, State: rundir.Complete, MaxConcurrency: s.Load.Limit(),
		Started: at.Seconds(), Verdict: rundir.Closed,
	}
	rate := s.Load.MeanRate()
	latency := m.open(rate)
	if rate > 0 {
		st.Rate, st.Rates.Offered, st.Verdict = rundir.Exactly(rate), rundir.Exactly(rate), rundir.Stable
		st.Drift = rundir.Drift{
			Value: rundir.Exactly(0), Low: rundir.Exactly(-imaginedGrowth), High: rundir.Exactly(imaginedGrowth),
		}
		if rate > most {
			st.Verdict = rundir.Saturated
		}
		took = s.MaxTime
		if s.Hold > 0 {
			took = s.Hold
			if rate > most { // it shows
				took = max(s.MinTime, s.Hold/2)
			}
			took = min(took+rundir.Duration(imaginedHold*m.closed(m.slots)), s.MaxTime)
		}
		if s.Precision > 0 { // a mean of n requests at a load x is known to about 1/((1-x)*sqrt(n))
			enough := math.Pow(s.Precision*(1-min(1, rate/most)), -2) / rate
			took = min(max(s.MinTime, s.From+time.Duration(min(enough, s.MaxTime.Seconds())*float64(time.Second))), s.MaxTime)
		}
	} else {
		n := float64(s.Load.Limit())
		latency = m.closed(n)
		rate = n / latency
		took = s.From + max(s.MinTime-s.From, rundir.Duration(s.MinWaves*latency))
		if s.Quick { // all prompts, and a little longer
			took = rundir.Duration(n*m.prompt + max(1, m.lone/10))
		}
		took = min(took, s.MaxTime)
		if k := len(run.Search); s.Fresh && k > 0 { // the requests before end first
			drain := c.Drain
			if c.Budget > 0 {
				drain = min(drain, time.Duration(experiment.DrainShare*float64(c.Budget-at)))
			}
			took += min(rundir.Duration(float64(run.Search[k-1].Level())/m.most()), drain)
		}
	}
	if !s.Chained {
		took += min(rundir.Duration(latency), s.Tail)
	}
	done := rundir.Exactly(min(rate, most))
	st.TTFT.Mean, st.Latency.Mean = rundir.Exactly(m.prompt), rundir.Exactly(latency)
	st.Requests.OK = int(math.Ceil(done.Value() * took.Seconds()))
	st.Progress = rundir.Progress{Rate: done, Low: done, High: done}
	st.TokensPerS.Output = rundir.Exactly(done.Value() * tokens)
	st.Window, st.Elapsed, st.Ended = took.Seconds(), took.Seconds(), (at + took).Seconds()
	if s.Step {
		run.Search = append(run.Search, rundir.SearchStep{
			Name: s.Name, Output: st.TokensPerS.Output, Latency: st.Latency.Mean, Error: rundir.Exactly(0), Ended: st.Ended,
			Waited: float64(st.MaxConcurrency) > m.slots,
		})
	} else {
		run.Stages = append(run.Stages, st)
	}
	return took
}

// estimateRun is for stages that were asked for. latency is that of a request so far.
func estimateRun(stages []experiment.Stage, latency time.Duration) (this, after time.Duration) {
	this = estimateStage(&stages[0], latency)
	for i := range stages[1:] {
		after += estimateStage(&stages[1+i], latency)
	}
	return this, after
}

func estimateStage(s *experiment.Stage, latency time.Duration) time.Duration {
	const slower = 2 // than alone
	rate := s.Load.MeanRate()
	switch l := s.Load.(type) {
	case arrival.Ramp:
		return l.Over + latency
	case arrival.Trace:
		return rundir.Duration(float64(len(l.Offsets))/max(rate, 1e-9)) + latency
	}
	switch {
	case s.Sessions == 0:
		return s.MinTime + slower*latency
	case rate > 0:
		return rundir.Duration(float64(s.Sessions)/rate) + latency
	}
	return time.Duration(slower * float64(latency) * float64(s.Sessions) / float64(max(1, s.Load.Limit())))
}

// Longest returns how long a sweep sends at most.
func (c *Config) Longest() time.Duration {
	if c.Budget > 0 {
		return c.Budget
	}
	const (
		mostLimits = 12 // stages that find the limits: the floor, the doublings and the throughput
		perStage   = 2  // stage times of one that is no hold, with its end
	)
	holds := searchHolds * saturation.HoldTime(1, 0, c.StageTime)
	longest := holds + time.Duration(perStage*(c.Points+mostLimits))*c.StageTime
	if c.Precision > 0 {
		longest += time.Duration(c.Points+1) * preciseTime
	}
	if len(c.SLO) > 0 {
		longest += (maxSLOProbes + maxSLOProofs) * c.StageMax
	}
	return longest
}
