package pair

import (
	"math"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// The metrics that are compared.
const (
	MetricOutput  = "tokens_per_s"
	metricTTFT    = "ttft"
	metricITL     = "itl"
	MetricLatency = "latency"
)

// level is the probability of showing any difference where there is none, over all rows together.
const level = 0.05

// Row is one metric at one load: of A, of B, and how B differs from A.
type Row struct {
	Key   string        `json:"key"` // the metric and "@" and the load's key; MetricOutput alone at the ceiling
	A     rundir.Number `json:"a"`   // geometric means over the rounds
	B     rundir.Number `json:"b"`
	Ratio rundir.Number `json:"ratio"` // B to A, minus 1
	// Low and High are its 95 % interval, of this row by itself. They are absent where fewer than two blocks are whole.
	Low  rundir.Number `json:"low,omitzero"`
	High rundir.Number `json:"high,omitzero"`
	// Spoiled counts the whole blocks that do not count, since the client was the limit in one of their stages at this
	// load.
	Spoiled int  `json:"blocks_invalid,omitempty"`
	Shown   bool `json:"shown"` // the difference is shown when all rows are asked at once, by Holm's procedure

	Load   *rundir.PairLoad `json:"-"`
	Metric string           `json:"-"`
}

// Rows returns the metrics of a comparison, over its whole blocks. The difference of a round is ln(B/A). Rows by
// themselves have intervals of 95 %; the conclusion asks all of them at once, and shall be wrong for identical servers
// once in twenty.
func Rows(p *rundir.Pair, a, b *rundir.Run) []Row {
	var rows []Row
	var chances []float64
	stages := [2]map[string]*rundir.Stage{byName(a), byName(b)}
	for i := range p.Loads {
		l := &p.Loads[i]
		for _, metric := range metricsAt(l) {
			r := Row{Key: key(l.Key, metric), Load: l, Metric: metric}
			chances = append(chances, r.measure(p, stages))
			rows = append(rows, r)
		}
	}
	for i, shown := range stats.Holm(chances, level) {
		rows[i].Shown = shown
	}
	return rows
}

func key(load, metric string) string {
	if load == LoadCeiling {
		return metric
	}
	return metric + "@" + load
}

// Keys returns the keys that a comparison at the given loads has, or at those that it finds itself where none are
// given.
func Keys(rates []float64, widths []int) []string {
	var loads []rundir.PairLoad
	for _, r := range rates {
		loads = append(loads, rundir.PairLoad{Key: rateKey(r), Rate: rundir.Exactly(r)})
	}
	for _, w := range widths {
		loads = append(loads, rundir.PairLoad{Key: widthKey(w)})
	}
	if len(loads) == 0 {
		loads = []rundir.PairLoad{
			{Key: LoadSync}, {Key: LoadHalf, Rate: rundir.Exactly(1)}, {Key: LoadHigh, Rate: rundir.Exactly(1)},
			{Key: LoadCeiling},
		}
	}
	var keys []string
	for i := range loads {
		for _, metric := range metricsAt(&loads[i]) {
			keys = append(keys, key(loads[i].Key, metric))
		}
	}
	return keys
}

// metricsAt returns the metrics that say something at a load. In a closed loop the latency follows from the output; at
// the ceiling a request waits for as long as there are others.
func metricsAt(l *rundir.PairLoad) []string {
	switch {
	case l.Key == LoadCeiling:
		return []string{MetricOutput}
	case l.Rate.Known() || l.Key == LoadSync:
		return []string{metricTTFT, metricITL, MetricLatency}
	}
	return []string{MetricOutput, metricTTFT, metricITL}
}

func valueOf(st *rundir.Stage, metric string) rundir.Number {
	switch metric {
	case MetricOutput:
		return st.TokensPerS.Output
	case metricTTFT:
		return st.TTFT.Mean
	case metricITL:
		return st.InterToken
	}
	return st.Latency.Mean
}

func byName(run *rundir.Run) map[string]*rundir.Stage {
	all := map[string]*rundir.Stage{}
	for i := range run.Stages {
		all[run.Stages[i].Name] = &run.Stages[i]
	}
	return all
}

// measure fills in a row, and returns the probability of a difference at least as large between equal servers. A metric
// that is not known in one of the rounds is not known at all: to leave out the rounds in which a server did not answer
// in time would flatter it. A block with a stage in which the client was the limit is left out as a whole: such a stage
// does not describe the server, and both orders of a block must count alike.
func (r *Row) measure(p *rundir.Pair, stages [2]map[string]*rundir.Stage) (chance float64) {
	var sum [2]float64
	var first, second []float64 // by which server came first
	for round := 1; round <= 2*p.Blocks(); round++ {
		block := (round - 1) / 2
		if r.clientLimited(block, stages) {
			r.Spoiled += round % 2
			continue
		}
		var logs [2]float64
		for side := range stages {
			st := stages[side][r.Load.StageName(round)]
			if st == nil || !valueOf(st, r.Metric).Known() || valueOf(st, r.Metric).Value() <= 0 {
				return 1
			}
			logs[side] = math.Log(valueOf(st, r.Metric).Value())
			sum[side] += logs[side]
		}
		if p.Orders[block][2*((round-1)%2)] == 'A' {
			first = append(first, logs[1]-logs[0])
		} else {
			second = append(second, logs[1]-logs[0])
		}
	}
	n := len(first) + len(second)
	if n == 0 {
		return 1
	}
	r.A, r.B = rundir.Exactly(math.Exp(sum[0]/float64(n))), rundir.Exactly(math.Exp(sum[1]/float64(n)))
	mean, spread, known := stats.Crossover(first, second)
	r.Ratio = rundir.Exactly(math.Expm1(mean))
	if !known {
		return 1
	}
	half := spread.Half(n, level)
	r.Low, r.High = rundir.Exactly(math.Expm1(mean-half)), rundir.Exactly(math.Expm1(mean+half))
	return spread.P(mean, n)
}

// clientLimited reports whether the client was the limit in one of a block's stages at the row's load. Blocks count
// from 0.
func (r *Row) clientLimited(block int, stages [2]map[string]*rundir.Stage) bool {
	for half := range 2 {
		for side := range stages {
			if st := stages[side][r.Load.StageName(2*block+half+1)]; st != nil && !st.Invalid.IsZero() {
				return true
			}
		}
	}
	return false
}
