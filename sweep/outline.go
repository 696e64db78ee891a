package sweep

import (
	"slices"

	"llmsweep/sweep/experiment"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
)

// Outline is what a sweep measures on a server whose speed is assumed, and how long it takes. Times are in seconds, from a bound to a bound.
type Outline struct {
	Throughput float64       `json:"throughput_rps"` // requests per second that the server completes at most
	Latency    float64       `json:"latency_s"`      // of one request alone
	Parts      []OutlinePart `json:"parts"`
	Time       [2]float64    `json:"time_s"`
}

// OutlinePart is a part of a sweep. Some parts are left out where the answer is clear.
type OutlinePart struct {
	Part   string     `json:"part"`
	Stages [2]int     `json:"stages"`              // fewest and most
	Rates  []float64  `json:"rates_rps,omitempty"` // arrivals per second, ascending; none where the load is another
	Time   [2]float64 `json:"time_s"`
}

// The parts of a sweep, in order.
const (
	OutlineAlone      = "alone"      // one request at a time
	OutlineSearch     = "search"     // doubling the number in flight
	OutlineThroughput = "throughput" // that many in flight
	OutlineBeyond     = "beyond"     // rates beyond what was completed
	OutlineHold       = "hold"       // a rate near the answer, held
	OutlineRates      = "rates"      // rates below the answer
	OutlineSLO        = "slo"        // rates about the highest that meets the SLO
	OutlineAgain      = "again"      // some of it once more
)

// OutlineOf returns what a sweep of rates without a budget measures on a server that completes a number of requests per second at most, and takes
// some seconds for one alone.
func OutlineOf(c *Config, throughput, latency float64) Outline {
	x := &sweeper{config: *c, repeats: max(1, c.Repeats), Experiment: &experiment.Experiment{}}
	x.planSweep()
	all := x.Ahead.ForecastTodo
	pace := experiment.Pace{StageTime: max(c.StageTime, rundir.Duration(experiment.MinLatencies*latency)), StageMax: c.StageMax}
	o := Outline{Throughput: throughput, Latency: latency}
	add := func(name string, rates []float64, todo experiment.ForecastTodo) {
		part := OutlinePart{Part: name, Stages: todo.Bounds(), Rates: rates}
		if r := experiment.Forecast(pace, latency, todo); part.Stages[1] > 0 || todo.Search {
			part.Time = [2]float64{r.Low.Seconds(), r.High.Seconds()}
			o.Parts = append(o.Parts, part)
			o.Time[0], o.Time[1] = o.Time[0]+part.Time[0], o.Time[1]+part.Time[1]
		}
	}
	rates := grid(min(1/latency, throughput), throughput, c.Points)
	if c.Adaptive {
		rates = []float64{slices.Max(usualShares()) * throughput, nearEdge * throughput}
	}
	add(OutlineAlone, nil, experiment.ForecastTodo{WarmUp: true, Floor: all.Floor})
	add(OutlineSearch, nil, experiment.ForecastTodo{Search: all.Search})
	add(OutlineThroughput, nil, experiment.ForecastTodo{Ceiling: all.Ceiling})
	add(OutlineBeyond, []float64{beyondCeiling()[0] * throughput}, experiment.ForecastTodo{Probes: all.Probes})
	add(OutlineHold, []float64{saturation.HeldShare * throughput}, experiment.ForecastTodo{Holds: all.Holds})
	add(OutlineRates, rates, experiment.ForecastTodo{Rows: all.Rows})
	add(OutlineSLO, nil, experiment.ForecastTodo{SLO: all.SLO, SLOMost: all.SLOMost})
	before := o.Time[1]
	add(OutlineAgain, nil, experiment.ForecastTodo{Controls: all.Controls})
	if n := len(o.Parts) - 1; o.Parts[n].Part == OutlineAgain {
		again := experiment.ControlShare * before
		o.Parts[n].Time[1], o.Time[1] = again, before+again
	}
	return o
}
