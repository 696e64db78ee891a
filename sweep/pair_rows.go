package sweep

import (
	"math"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// The figures that are held against each other.
const (
	FigureOutput  = "tokens_per_s"
	FigureTTFT    = "ttft"
	FigureITL     = "itl"
	FigureLatency = "latency"
)

// PairRow is one figure at one load: of A, of B, and how B differs from A.
type PairRow struct {
	Key     string // FigureTTFT and "@" and the load's key; FigureOutput alone at the ceiling
	Load    *rundir.PairLoad
	Figure  string
	Primary bool
	A, B    rundir.Number // geometric means over the rounds
	Ratio   rundir.Number // B to A, minus 1
	// Low and High are its 95 % interval, of this row by itself. It is absent where fewer than two blocks are whole.
	Low, High rundir.Number
	// Sees is the smallest difference that would have been shown in four runs of five, by this row by itself.
	Sees rundir.Number
	// Stands reports whether the difference is shown also when all rows are asked at once.
	Stands bool

	logs   float64 // mean logarithm of B to A
	rounds int
	spread stats.Spread
	known  bool // spread is
}

// PairRows are the figures of a comparison, over its whole blocks.
//
// The difference of a round is ln(B/A). Its spread is that of the pilot's rounds, since the number of rounds was chosen by
// it (Stein's procedure, see [stats.Spread.Needed]): the intervals then keep their level, and the comparison its power,
// whatever the true spread is. Where all rounds together tell of a wider interval, the server having become less steady
// after the pilot, that one is taken: it costs a per cent of power and holds up where the pilot was too quiet.
//
// Rows by themselves have intervals of 95 %. The conclusion asks all of them at once, and shall be wrong for identical
// servers once in twenty: by Holm's procedure, in which the primary figures share four fifths of that, and all others the
// rest.
func PairRows(p *rundir.Pair, a, b *rundir.Run) []PairRow {
	var rows []PairRow
	stages := [2]map[string]*rundir.Stage{byName(a), byName(b)}
	for i := range p.Loads {
		l := &p.Loads[i]
		for _, figure := range figuresAt(l) {
			r := PairRow{Key: PairKey(l.Key, figure), Load: l, Figure: figure, Primary: figure == l.Primary}
			r.measure(p, stages)
			rows = append(rows, r)
		}
	}
	probabilities, weights := make([]float64, len(rows)), rowWeights(rows)
	for i := range rows {
		probabilities[i] = 1
		if r := &rows[i]; r.known {
			probabilities[i] = r.spread.P(r.logs, r.rounds)
		}
	}
	for i, stands := range stats.Holm(probabilities, weights, pairLevel) {
		rows[i].Stands = stands && rows[i].known
	}
	return rows
}

// PairKey is what a figure at a load is called.
func PairKey(load, figure string) string {
	if load == LoadCeiling {
		return figure
	}
	return figure + "@" + load
}

// PairKeys are the keys that a comparison of the given loads has, or of those that it finds itself.
func PairKeys(rates []string, widths []string) []string {
	loads := []rundir.PairLoad{
		{Key: LoadSync}, {Key: LoadHalf}, {Key: LoadHigh}, {Key: LoadCeiling, Primary: FigureOutput},
	}
	if len(rates)+len(widths) > 0 {
		loads = nil
	}
	for _, r := range rates {
		loads = append(loads, rundir.PairLoad{Key: r + "rps"})
	}
	for _, w := range widths {
		loads = append(loads, rundir.PairLoad{Key: "c" + w, Primary: FigureOutput})
	}
	var keys []string
	for i := range loads {
		for _, figure := range figuresAt(&loads[i]) {
			keys = append(keys, PairKey(loads[i].Key, figure))
		}
	}
	return keys
}

// figuresAt are the figures that say something at a load. In a closed loop the latency is the output said otherwise; at
// the ceiling a request waits for as long as there are others.
func figuresAt(l *rundir.PairLoad) []string {
	switch {
	case l.Key == LoadCeiling:
		return []string{FigureOutput}
	case l.Primary == FigureOutput:
		return []string{FigureOutput, FigureTTFT, FigureITL}
	}
	return []string{FigureTTFT, FigureITL, FigureLatency}
}

func figureOf(st *rundir.Stage, figure string) rundir.Number {
	switch figure {
	case FigureOutput:
		return st.TokensPerS.Output
	case FigureTTFT:
		return st.TTFT.Mean
	case FigureITL:
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

// measure fills in a row. A figure that is not known in one of the rounds is not known at all: to leave out the rounds in
// which a server did not answer in time would flatter it.
func (r *PairRow) measure(p *rundir.Pair, stages [2]map[string]*rundir.Stage) {
	var sum [2]float64
	var first, second []float64 // by which came first
	for round := 1; round <= 2*p.Blocks(); round++ {
		var logs [2]float64
		for side := range stages {
			st := stages[side][r.Load.StageName(round)]
			if st == nil || !figureOf(st, r.Figure).Known() || figureOf(st, r.Figure).Value() <= 0 {
				return
			}
			logs[side] = math.Log(figureOf(st, r.Figure).Value())
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
	if pilot := min(p.Plan.Pilot, len(first)); pilot > 0 {
		_, s, ok := stats.Crossover(first[:pilot], second[:pilot])
		if ok && s.Half(r.rounds, pairLevel) > r.spread.Half(r.rounds, pairLevel) {
			r.spread = s
		}
	}
	half := r.spread.Half(r.rounds, pairLevel)
	r.Low, r.High = rundir.Exactly(math.Expm1(r.logs-half)), rundir.Exactly(math.Expm1(r.logs+half))
	r.Sees = rundir.Exactly(math.Expm1(r.spread.Detectable(r.rounds, pairLevel, pairPower)))
}

func geometric(logs float64, n int) rundir.Number { return rundir.Exactly(math.Exp(logs / float64(n))) }

// Shown reports whether the row by itself shows a difference: its interval does not hold 0.
func (r *PairRow) Shown() bool { return r.Low.Known() && (r.Low.Value() > 0 || r.High.Value() < 0) }

// SeesAtOnce is Sees where all rows are asked at once.
func SeesAtOnce(rows []PairRow, i int) rundir.Number {
	r := &rows[i]
	if !r.known {
		return rundir.Number{}
	}
	return rundir.Exactly(math.Expm1(r.spread.Detectable(r.rounds, rowLevels(rows)[i], pairPower)))
}

// primaryShare is the share of the error that the primary figures may make.
const primaryShare = 0.8

// rowWeights are the shares of the error that the rows may make.
func rowWeights(rows []PairRow) []float64 {
	weights := make([]float64, len(rows))
	primary := 0
	for _, r := range rows {
		if r.Primary {
			primary++
		}
	}
	for i, r := range rows {
		if r.Primary {
			weights[i] = primaryShare / float64(primary)
		} else {
			weights[i] = (1 - primaryShare) / float64(len(rows)-primary)
		}
	}
	return weights
}

// rowLevels are the error levels at which the rows are asked first, when all are asked at once.
func rowLevels(rows []PairRow) []float64 {
	levels := rowWeights(rows)
	sum := 0.0
	for _, w := range levels {
		sum += w
	}
	for i := range levels {
		levels[i] *= pairLevel / sum
	}
	return levels
}
