package slo

import (
	"cmp"
	"math"
	"slices"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// Where an SLO ends is told by a line through what the stages near it show: the share of the requests beyond a limit,
// as log-odds, is close to linear in the rate (in an M/M/1 queue P(T > t) = exp(-(mu-lambda) t)). One stage is off by
// more than its own interval shows, since its arrivals are by chance crowded or not, and a line through several
// averages that.

// rateLimit is where terms end, and its bounds; infinite where no stage seems to miss them, and negatively so where the
// lowest one does.
type rateLimit struct{ rate, low, high float64 }

func (e rateLimit) located() bool { return (e.high-e.low)/2 <= MaxHalfWidth*e.rate }

// Highest returns the highest rate at which all terms hold, by stages with a rate and those with one request at a time,
// which count as rate 0. It does not lie beyond the saturation rate, which may be nil.
func Highest(stages []*rundir.Stage, saturation *rundir.Saturation, terms []Term) *rundir.SLO {
	stages = byRate(stages)
	out := &rundir.SLO{Terms: Strings(terms), Verdict: rundir.Unsure}
	var end rateLimit
	end, out.Limiting = lowestLimit(stages, saturation, terms)
	kept := false
	for _, s := range stages {
		switch v, _ := Judge(s, terms); {
		case Offered(s) <= end.rate && v == rundir.Met:
			out.KeptStage, kept = s.Name, true
		case Offered(s) > end.rate && (v == rundir.Missed || Overloaded(s)) && out.BrokenStage == "":
			out.BrokenStage = s.Name
		}
	}
	switch {
	case math.IsInf(end.rate, -1):
		out.Verdict, out.BrokenStage, out.Reason = rundir.Missed, stages[0].Name, noteBrokenAt.New(stages[0].Name)
	case math.IsInf(end.high, 1) && kept:
		out.Verdict, out.Rate = rundir.Met, rundir.Over(highestKept(stages, terms))
		out.Limiting, out.Reason = "", noteNoneBroke.New(out.KeptStage)
	case math.IsInf(end.high, 1), out.Limiting == rundir.LimitSaturation && !kept:
		needMore(out, stages, terms)
	case !(end.low > 0) && !kept: // no stage shows a rate that meets them
		needMore(out, stages, terms)
		out.High = rundir.Exactly(end.high)
	default:
		if out.Limiting == rundir.LimitSaturation {
			end.low = min(end.low, highestKept(stages, terms))
		}
		out.Verdict, out.Low, out.High = rundir.Met, rundir.Exactly(max(0, end.low)), rundir.Exactly(end.high)
		out.Reason = noteWide.New(out.Low.Value(), end.high)
		if end.located() {
			out.Rate, out.Reason = rundir.Exactly(end.rate), noteEnds.New(out.Limiting)
			if kept {
				out.Reason = noteKeptThenEnds.New(out.KeptStage, out.Limiting)
			}
			out.Goodput = goodputAt(stages, end.rate)
		}
	}
	return out
}

// lowestLimit returns where the first of some terms ends, and which: at the latest where the server saturates.
func lowestLimit(stages []*rundir.Stage, saturation *rundir.Saturation, terms []Term) (end rateLimit, limiting string) {
	most := math.Inf(1)
	if saturation != nil {
		most = saturation.Rate.Or(saturation.High.Or(most))
	}
	end = rateLimit{math.Inf(1), math.Inf(1), math.Inf(1)}
	for _, t := range terms {
		e := t.rateLimit(stages, most)
		if e.rate < end.rate {
			end.rate, limiting = e.rate, t.String()
		}
		end.low, end.high = min(end.low, e.low), min(end.high, e.high)
	}
	if s := saturation; s != nil && s.High.Known() {
		if most < end.rate {
			end.rate, end.low, limiting = most, min(end.low, s.Low.Or(most)), rundir.LimitSaturation
		}
		end.high = min(end.high, s.High.Value())
	}
	return end, limiting
}

func byRate(stages []*rundir.Stage) []*rundir.Stage {
	stages = slices.Clone(stages)
	slices.SortStableFunc(stages, func(s, t *rundir.Stage) int { return cmp.Compare(Offered(s), Offered(t)) })
	return stages
}

// Overloaded reports whether a stage asked for more than the server takes: something grew, or requests were refused.
// Its latencies only show that its queue is too long.
func Overloaded(s *rundir.Stage) bool {
	return s.Verdict == rundir.Saturated || s.Verdict == rundir.Shedding
}

// highestKept returns the highest rate at which a stage was shown to keep all terms.
func highestKept(stages []*rundir.Stage, terms []Term) (rate float64) {
	for _, s := range stages {
		if v, _ := Judge(s, terms); v == rundir.Met {
			rate = Offered(s)
		}
	}
	return rate
}

// goodputAt returns the goodput of the stage nearest to a rate, for that rate.
func goodputAt(stages []*rundir.Stage, rate float64) (good rundir.Number) {
	nearest := math.Inf(1)
	for _, s := range stages {
		distance := math.Abs(Offered(s) - rate)
		if s.Goodput != nil && s.Goodput.Share.Known() && distance < nearest {
			nearest, good = distance, rundir.Exactly(rate*s.Goodput.Share.Value())
		}
	}
	return good
}

// needMore fills in which stage would decide the terms with the fewest more requests.
func needMore(out *rundir.SLO, stages []*rundir.Stage, terms []Term) {
	for _, s := range stages {
		v, t := Judge(s, terms)
		if v != rundir.Unsure || Overloaded(s) || !s.Rate.Known() {
			continue
		}
		if n := t.Needs(s); n > 0 && (out.Needs == 0 || n < out.Needs) {
			out.Needs, out.NeedsStage, out.Limiting = n, s.Name, t.String()
		}
	}
	out.Reason = noteNoneJudged.New()
	if out.Needs > 0 {
		out.Reason = noteTooFew.New(out.Limiting, out.NeedsStage, out.Needs)
	}
}

// NextRate returns the rate to be held next about where the terms end, by stages and the saturation rate, which may be
// nil; 0 where enough is known: below, above and at it in turn, since a line is fixed best by its ends, and the rate
// that is named is held.
func NextRate(stages []*rundir.Stage, saturation *rundir.Saturation, terms []Term) float64 {
	end, _ := lowestLimit(byRate(stages), saturation, terms)
	near := 0
	for _, s := range stages {
		if s.Role == rundir.Probe && math.Abs(Offered(s)/end.rate-1) < 2*probeDistance {
			near++
		}
	}
	inTurn := []float64{-probeDistance, probeDistance, 0}
	if !(end.rate > 0) || math.IsInf(end.rate, 1) ||
		near >= len(inTurn) && (end.high-end.low)/2 <= probeDistance*end.rate {
		return 0
	}
	return min(end.rate*(1+inTurn[near%len(inTurn)]), end.high)
}

// point is what a stage shows of a term: the share of its values beyond the limit, and how many independent values that
// rests on. Of a mean it is the logarithm of what it is of its limit, and its standard error.
type point struct {
	rate, time float64
	share, n   float64
	log, error float64
}

// points returns what stages show of a term. How many values an independent one is worth is averaged over the stages
// near a rate: one in which by chance few values lie beyond the limit seems to have independent ones, and would
// outweigh the others. Near saturation a queue swings so slowly that a stage sees little of it, and begins before it
// has built up: it forgets what it was in about 1/(mu (1 - sqrt(rho))^2) seconds, as in an M/M/1 queue.
func (t Term) points(stages []*rundir.Stage, most float64) (points []point) {
	var sizes []float64 // of a cluster
	for _, s := range stages {
		if Overloaded(s) {
			continue
		}
		p := point{rate: Offered(s), time: s.Window}
		size := 1.0
		if t.Stat == Mean {
			v, _ := t.Of(s)
			if !(v.Value() > 0) {
				continue
			}
			p.log, p.error = math.Log(v.Value()/t.Limit), t.logMeanError(s)
		} else {
			c, ok := t.count(s)
			if !ok {
				continue
			}
			p.share, p.n, size = c.beyond/c.total, c.total, 1/c.weight()
		}
		points, sizes = append(points, p), append(sizes, size)
	}
	counts := slices.Clone(points)
	for i := range points {
		size, weights := 0.0, 0.0
		for k := range counts {
			far := math.Abs(counts[k].rate-counts[i].rate) / (lineReach * counts[i].rate)
			if far < 1 { // NaN and infinity are not
				size, weights = size+(1-far)*counts[k].n*sizes[k], weights+(1-far)*counts[k].n
			}
		}
		if weights > 0 {
			points[i].n *= weights / size
		}
		if p := &points[i]; p.time > 0 && !math.IsInf(most, 1) {
			p.n = min(p.n, valuesPerRelaxation*p.time*most*math.Pow(1-math.Sqrt(min(1, p.rate/most)), 2))
		}
	}
	return slices.DeleteFunc(points, func(p point) bool { return t.Stat != Mean && p.n < 1 })
}

func (t Term) rateLimit(stages []*rundir.Stage, most float64) rateLimit {
	points := t.points(stages, most)
	k := t.split(points)
	switch {
	case k == len(points):
		return rateLimit{math.Inf(1), math.Inf(1), math.Inf(1)}
	case k == 0 && points[0].sigmas(t) > stats.Z95:
		return rateLimit{math.Inf(-1), math.Inf(-1), math.Inf(-1)}
	case k == 0 && !math.IsInf(most, 1): // too few requests to tell
		return rateLimit{firstProbe * most, 0, math.Inf(1)}
	case k == 0:
		return rateLimit{points[0].rate, 0, math.Inf(1)}
	}
	at := (points[k-1].rate + points[k].rate) / 2
	if e := t.line(points, at); e.high < 2*e.rate {
		return e
	}
	e := rateLimit{at, 0, math.Inf(1)} // no stage is near: what single ones show
	for i := range points {
		switch z := points[i].sigmas(t); {
		case z < -stats.Z95 && points[i].rate <= at:
			e.low = points[i].rate
		case z > stats.Z95 && points[i].rate >= at:
			e.high = min(e.high, points[i].rate)
		}
	}
	return e
}

// split returns how many of some points, by rate, seem to keep the term: of all ways to split them in two, the one that
// agrees best with what each shows.
func (t Term) split(points []point) (k int) {
	best, sum := 0.0, 0.0
	for i := range points {
		sum -= points[i].miss(t) * points[i].weight(t)
		if sum > best {
			best, k = sum, i+1
		}
	}
	return k
}

// miss returns by how much a stage seems to miss the term, negative where it seems to keep it.
func (p *point) miss(t Term) float64 {
	if t.Stat == Mean {
		return p.log
	}
	return logit(p.smoothedShare()) - logit(t.tail())
}

// smoothedShare is between 0 and 1 even where no value, or each, lies beyond the limit: its log-odds are finite.
func (p *point) smoothedShare() float64 { return (p.share*p.n + 0.5) / (p.n + 1) }

// weight returns one over the variance of miss, where the term is just kept.
func (p *point) weight(t Term) float64 {
	if t.Stat == Mean {
		return 1 / (p.error * p.error)
	}
	return p.n * t.tail() * (1 - t.tail())
}

// sigmas returns miss in standard errors.
func (p *point) sigmas(t Term) float64 { return p.miss(t) * math.Sqrt(p.weight(t)) }

func logit(p float64) float64 { return math.Log(p / (1 - p)) }

// line returns where the term ends by a line through the stages about a rate. The search for where it ends halves a
// range of rates, since in steep cases a step by the slope can lead away. Where too few stages are near, it ends nearer
// to the centre.
func (t Term) line(points []point, centre float64) rateLimit {
	low, high := centre*(1-lineReach), centre*(1+lineReach)
	at, slope, error := centre, 0.0, math.Inf(1)
	for range bisections {
		at = (low + high) / 2
		var level float64
		level, slope, error = t.fit(points, at)
		below := level <= 0
		if math.IsInf(error, 1) {
			below = at < centre
		}
		if below {
			low = at
		} else {
			high = at
		}
	}
	half := stats.Z95 * intervalFactor * error / slope
	return rateLimit{at, at * (1 - half), at * (1 + half)}
}

// fit returns by how much the term is missed at a rate, with its standard error, and how that grows with the rate: by
// logistic regression on the stages near it, of which the nearest count most. It begins with a line through what the
// stages show, since far from it the regression leads away.
func (t Term) fit(points []point, at float64) (level, slope, error float64) {
	slope = usualSlope
	for k := range fits {
		var r regression
		for i := range points {
			p := &points[i]
			u := p.rate/at - 1
			far := math.Abs(u) / lineReach
			if far >= 1 {
				continue
			}
			y, variance := p.miss(t), p.error*p.error
			if t.Stat != Mean {
				share := p.smoothedShare()
				if k > 0 {
					line := level + slope*u
					share = 1 / (1 + math.Exp(-line-logit(t.tail())))
					share = min(max(share, minShare), 1-minShare)
					y = line + (p.share-share)/(share*(1-share))
				}
				variance = 1 / (p.n * share * (1 - share))
			}
			r.add(u, y, math.Pow(1-far*far*far, 3)/(variance+math.Pow(slope*stageScatter, 2)))
		}
		level, slope, error = r.solve()
		slope = max(slope, minSlope)
	}
	return level, slope, error
}

// regression holds the weighted sums of a regression on one variable.
type regression struct{ w, wu, wuu, wy, wuy float64 }

func (m *regression) add(u, y, w float64) {
	m.w, m.wu, m.wuu, m.wy, m.wuy = m.w+w, m.wu+w*u, m.wuu+w*u*u, m.wy+w*y, m.wuy+w*u*y
}

// solve returns the level at 0 with its standard error, and the slope: usualSlope, with an unknown level, where all are
// at one place.
func (m *regression) solve() (level, slope, error float64) {
	det := m.w*m.wuu - m.wu*m.wu
	if !(det > 0) {
		return 0, usualSlope, math.Inf(1)
	}
	return (m.wy*m.wuu - m.wu*m.wuy) / det, (m.w*m.wuy - m.wu*m.wy) / det, math.Sqrt(m.wuu / det)
}
