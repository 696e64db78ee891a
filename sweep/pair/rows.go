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

// Row is one metric at one load: of A, of B, and how B differs from A.
type Row struct {
	Key     string        `json:"key"` // metricTTFT and "@" and the load's key; MetricOutput alone at the ceiling
	Primary bool          `json:"primary,omitempty"`
	A       rundir.Number `json:"a"` // geometric means over the rounds
	B       rundir.Number `json:"b"`
	Ratio   rundir.Number `json:"ratio"` // B to A, minus 1
	// Low and High are its 95 % interval, of this row by itself. They are absent where fewer than two blocks are whole.
	Low  rundir.Number `json:"low,omitzero"`
	High rundir.Number `json:"high,omitzero"`
	// Spoiled counts the whole blocks that do not count, since the client was the limit in one of their stages at this load.
	Spoiled int `json:"blocks_invalid,omitempty"`
	// MinDetectable is the smallest difference that this row by itself would have shown with a power of 80 %.
	MinDetectable rundir.Number `json:"sees,omitzero"`
	Shown         bool          `json:"shown"`  // the interval does not hold 0
	ShownHolm     bool          `json:"stands"` // the difference is shown also by Holm's procedure, which asks all rows at once

	Load              *rundir.PairLoad `json:"-"`
	Metric            string           `json:"-"`
	MinDetectableHolm rundir.Number    `json:"-"` // MinDetectable where all rows are asked at once

	logs   float64 // mean logarithm of B to A
	rounds int
	spread stats.Spread
	known  bool // spread is
}

// Rows returns the metrics of a comparison, over its whole blocks.
//
// The difference of a round is ln(B/A). Its spread is that of the pilot's rounds, since the number of rounds was chosen by
// it (Stein's procedure, see [stats.Spread.Needed]): the intervals then keep their level, and the comparison its power,
// whatever the true spread is. Where all rounds together show a wider interval, because the server has become less steady
// after the pilot, that one is used: it costs one per cent of power and holds up where the pilot was too quiet.
//
// Rows by themselves have intervals of 95 %. The conclusion asks all of them at once, and shall be wrong for identical
// servers once in twenty: by Holm's procedure, in which the primary metrics share four fifths of that, and all others the
// rest.
func Rows(p *rundir.Pair, a, b *rundir.Run) []Row {
	var rows []Row
	stages := [2]map[string]*rundir.Stage{byName(a), byName(b)}
	for i := range p.Loads {
		l := &p.Loads[i]
		for _, metric := range metricsAt(l) {
			r := Row{Key: key(l.Key, metric), Load: l, Metric: metric, Primary: metric == l.Primary}
			r.measure(p, stages)
			rows = append(rows, r)
		}
	}
	probabilities, levels := make([]float64, len(rows)), levels(rows)
	for i := range rows {
		probabilities[i] = 1
		if r := &rows[i]; r.known {
			probabilities[i] = r.spread.P(r.logs, r.rounds)
			r.MinDetectableHolm = rundir.Exactly(math.Expm1(r.spread.Detectable(r.rounds, levels[i], power)))
		}
	}
	for i, shown := range stats.Holm(probabilities, weights(rows), level) {
		rows[i].ShownHolm = shown && rows[i].known
	}
	return rows
}

// key returns the key of a metric at a load.
func key(load, metric string) string {
	if load == LoadCeiling {
		return metric
	}
	return metric + "@" + load
}

// Keys returns the keys that a comparison at the given loads has, or at those that it finds itself where none are given.
func Keys(rates []string, widths []string) []string {
	loads := []rundir.PairLoad{
		{Key: LoadSync}, {Key: LoadHalf}, {Key: LoadHigh}, {Key: LoadCeiling, Primary: MetricOutput},
	}
	if len(rates)+len(widths) > 0 {
		loads = nil
	}
	for _, r := range rates {
		loads = append(loads, rundir.PairLoad{Key: rateKey(r)})
	}
	for _, w := range widths {
		loads = append(loads, rundir.PairLoad{Key: widthKey(w), Primary: MetricOutput})
	}
	var keys []string
	for i := range loads {
		for _, metric := range metricsAt(&loads[i]) {
			keys = append(keys, key(loads[i].Key, metric))
		}
	}
	return keys
}

// rateKey and widthKey return the keys of loads that were asked for.
func rateKey(rate string) string   { return rate + "rps" }
func widthKey(width string) string { return "c" + width }

// metricsAt returns the metrics that say something at a load. In a closed loop the latency follows from the output; at
// the ceiling a request waits for as long as there are others.
func metricsAt(l *rundir.PairLoad) []string {
	switch {
	case l.Key == LoadCeiling:
		return []string{MetricOutput}
	case l.Primary == MetricOutput:
		return []string{MetricOutput, metricTTFT, metricITL}
	}
	return []string{metricTTFT, metricITL, MetricLatency}
}

// valueOf returns a metric of a stage.
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

// measure fills in a row. A metric that is not known in one of the rounds is not known at all: to leave out the rounds in
// which a server did not answer in time would flatter it. A block with a stage in which the client was the limit is left out as a whole: such a
// stage does not describe the server, and both orders of a block must count alike.
func (r *Row) measure(p *rundir.Pair, stages [2]map[string]*rundir.Stage) {
	var sum [2]float64
	var first, second []float64 // by which server came first
	pilot := 0                  // blocks of it that count
	for round := 1; round <= 2*p.Blocks(); round++ {
		if block := (round - 1) / 2; r.spoiled(block, stages) {
			r.Spoiled += round % 2
			continue
		} else if block < p.Plan.Pilot {
			pilot += round % 2
		}
		var logs [2]float64
		for side := range stages {
			st := stages[side][r.Load.StageName(round)]
			if st == nil || !valueOf(st, r.Metric).Known() || valueOf(st, r.Metric).Value() <= 0 {
				return
			}
			logs[side] = math.Log(valueOf(st, r.Metric).Value())
			sum[side] += logs[side]
		}
		if order := p.Orders[(round-1)/2]; order[2*((round-1)%2)] == 'A' {
			first = append(first, logs[1]-logs[0])
		} else {
			second = append(second, logs[1]-logs[0])
		}
		r.rounds++
	}
	if r.rounds == 0 {
		return
	}
	r.A, r.B = geometric(sum[0], r.rounds), geometric(sum[1], r.rounds)
	r.logs, r.spread, r.known = stats.Crossover(first, second)
	r.Ratio = rundir.Exactly(math.Expm1(r.logs))
	if !r.known {
		return
	}
	if pilot > 0 {
		_, s, ok := stats.Crossover(first[:pilot], second[:pilot])
		if ok && s.Half(r.rounds, level) > r.spread.Half(r.rounds, level) {
			r.spread = s
		}
	}
	half := r.spread.Half(r.rounds, level)
	r.Low, r.High = rundir.Exactly(math.Expm1(r.logs-half)), rundir.Exactly(math.Expm1(r.logs+half))
	r.Shown = r.Low.Known() && (r.Low.Value() > 0 || r.High.Value() < 0)
	r.MinDetectable = rundir.Exactly(math.Expm1(r.spread.Detectable(r.rounds, level, power)))
}

// spoiled reports whether the client was the limit in one of a block's stages at the row's load. Blocks count from 0.
func (r *Row) spoiled(block int, stages [2]map[string]*rundir.Stage) bool {
	for half := range 2 {
		for side := range stages {
			if st := stages[side][r.Load.StageName(2*block+half+1)]; st != nil && !st.Invalid.IsZero() {
				return true
			}
		}
	}
	return false
}

func geometric(logs float64, n int) rundir.Number { return rundir.Exactly(math.Exp(logs / float64(n))) }

// primaryShare is the share of the allowed error that the primary metrics may make: what the comparison was planned for costs little
// power, and another metric must differ clearly.
const primaryShare = 0.8

// weights returns the shares of the error that the rows may make.
func weights(rows []Row) []float64 {
	all := make([]float64, len(rows))
	primary := 0
	for _, r := range rows {
		if r.Primary {
			primary++
		}
	}
	for i, r := range rows {
		if r.Primary {
			all[i] = primaryShare / float64(primary)
		} else {
			all[i] = (1 - primaryShare) / float64(len(rows)-primary)
		}
	}
	return all
}

// levels returns the error levels at which the rows are asked first, when all are asked at once.
func levels(rows []Row) []float64 {
	all := weights(rows)
	sum := 0.0
	for _, w := range all {
		sum += w
	}
	for i := range all {
		all[i] *= level / sum
	}
	return all
}
