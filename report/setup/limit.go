package setup

import (
	"cmp"
	"slices"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
	"llmsweep/sweep/slo"
)

// Limit is the highest load at which all terms hold.
type Limit struct {
	Rate   float64       // requests per second, completed
	Users  rundir.Number // for whom all terms hold; only [Setup.UserLimit] sets it
	Output rundir.Number
	// Low and High are the 95 % interval of Rate, or of Users; absent where single rows decide. Where Doubted is set,
	// they are the rows between which it lies; High is absent where no row ends it.
	Low, High rundir.Number
	// Doubted reports whether rows between Low and High were left out, or do not tell the term, because their figures
	// contradict others.
	Doubted bool
	// BracketOnly reports that the limit is known only to lie between Low and High: Rate is then Low.
	BracketOnly bool
	// Point is where it lies: the last row that keeps all terms, or between that and the first that breaks one.
	Point Point
	Ending
	LowerMiss *Miss // at a lower load; nil where there is none
}

// Ending is why a limit is not higher.
type Ending struct {
	LimitingTerm *slo.Term // nil where the rows end first
	MissedRow    *Row      // shows that LimitingTerm is missed; nil where none does
	Unjudged     bool      // the first row beyond does not tell: the metric is absent, unsupported or a bound
	Backlog      bool      // the first row beyond was shown to be saturated, its terms aside
	LevelsOff    bool      // rows at higher loads keep all terms, and completed no more
}

// Miss is a row that misses a term.
type Miss struct {
	Row  *Row
	Term *slo.Term
}

// Interpolated reports whether the limit lies between two rows, where the term that ends it reaches its limit.
func (l *Limit) Interpolated() bool {
	return l.LimitingTerm != nil && !l.BracketOnly && !l.Unjudged && l.Point.Low != l.Point.High && l.Point.Weight > 0
}

// Refusal is the reason why no load meets the terms.
type Refusal struct {
	Row      *Row // the lowest that breaks a term, else the lowest; nil where there is no row
	Term     *slo.Term
	Number   rundir.Number
	Unjudged bool // the term cannot be judged: the metric is absent, or the requests decide nothing
	// MetRow is the highest row below Row that keeps all terms; nil where there is none. The limit lies between them.
	MetRow    *Row
	Undecided bool // the rows decide nothing, whichever the term
	NoUsers   bool // the load in question is a number of users, and none was measured
}

// RateLimit finds the highest load at which all terms hold: the lowest of the limits of the terms. Rows are taken from
// the lowest load up; the first that breaks the term, or was saturated, ends it. A row that cannot be judged is passed
// over where one at a higher load keeps the term, and ends it where none does. Between the last row that keeps a term
// and the first that breaks it the metric is taken as linear, from the worst so far: a hull that never falls as the
// load grows. Where the row beyond is only a bound, cannot be judged or does not tell, nothing beyond the last good row
// counts. A row beyond that was measured to keep all terms counts, where it served more.
//
// A sweep that was measured here has its answer by all of its rows ([saturation.AnswerOf]), which its report gives too:
// that is taken, whatever single rows say.
func (s *Setup) RateLimit(terms []slo.Term) (Limit, *Refusal) {
	if len(s.Runs) > 0 {
		return poolLimits(s.Runs, func(one *Setup) (Limit, *Refusal) { return one.RateLimit(terms) })
	}
	if len(s.Rows) == 0 {
		return Limit{}, &Refusal{}
	}
	if s.Run.Source == nil && s.Run.Plan.Kind == rundir.KindSweep {
		return s.sweepLimit(terms)
	}
	lowest, refusal := s.lowestLimit(terms)
	if best := s.bestMet(terms); best >= 0 && (refusal != nil || s.Rows[best].Served > lowest.Rate) {
		return s.limitAtRow(best, terms), nil
	}
	return lowest, refusal
}

func (s *Setup) lowestLimit(terms []slo.Term) (lowest Limit, _ *Refusal) {
	lastMet := 0 // the last row that keeps the limiting term
	for i := range terms {
		good := s.lastMet(&terms[i])
		if good < 0 {
			return Limit{}, s.refusal(terms)
		}
		l := s.termLimit(good, &terms[i])
		// Rows that complete no more than those below them give two terms one rate: the one missed first ends it.
		sooner := lowest.LimitingTerm == nil || l.LimitingTerm != nil && good < lastMet
		if i == 0 || l.Rate < lowest.Rate || l.Rate == lowest.Rate && sooner {
			lowest, lastMet = l, good
		}
	}
	return lowest, nil
}

// lastMet returns the last row that keeps a term before one that breaks it or was saturated; -1 where there is none.
func (s *Setup) lastMet(t *slo.Term) int {
	good := -1
	for i, r := range s.Rows {
		verdict := t.Verdict(r.Stage)
		if verdict == rundir.Missed || r.Stage.Verdict == rundir.Saturated {
			break
		}
		if verdict == rundir.Met {
			good = i
		}
	}
	return good
}

// bestMet returns the row that served the most of those that keep all terms, below the first that was saturated; -1
// where there is none. A synchronous row that shows nothing of arrivals does not count.
func (s *Setup) bestMet(terms []slo.Term) int {
	best := -1
	for i := range s.Rows {
		r := &s.Rows[i]
		if r.Stage.Verdict == rundir.Saturated {
			break
		}
		if r.Top < r.Served || best >= 0 && r.Served < s.Rows[best].Served {
			continue
		}
		if verdict, _ := slo.Judge(r.Stage, terms); verdict == rundir.Met {
			best = i
		}
	}
	return best
}

// limitAtRow is the limit at a row that keeps all terms. The first row beyond it that does not ends it.
func (s *Setup) limitAtRow(at int, terms []slo.Term) Limit {
	row := &s.Rows[at]
	l := Limit{Point: Point{Low: row, High: row}, Rate: row.Served, Output: row.Stage.TokensPerS.Output}
	for i := range at {
		if verdict, t := slo.Judge(s.Rows[i].Stage, terms); verdict == rundir.Missed {
			l.LowerMiss = &Miss{&s.Rows[i], t}
		}
	}
	for i := at + 1; i < len(s.Rows); i++ {
		high := &s.Rows[i]
		verdict, t := slo.Judge(high.Stage, terms)
		l.Backlog = high.Stage.Verdict == rundir.Saturated
		if verdict == rundir.Met && !l.Backlog {
			continue
		}
		l.LimitingTerm, l.Unjudged = t, verdict == rundir.Unsure
		if verdict == rundir.Missed {
			l.MissedRow = high
		}
		s.setDoubt(&l, row, high)
		return l
	}
	l.LevelsOff = at+1 < len(s.Rows)
	s.setDoubt(&l, row, nil)
	return l
}

// sweepLimit returns the answer of a sweep, judged anew where it was for other terms.
func (s *Setup) sweepLimit(terms []slo.Term) (Limit, *Refusal) {
	found := s.Run.SLO
	if found == nil || !slices.Equal(slices.Sorted(slices.Values(found.Terms)),
		slices.Sorted(slices.Values(slo.Strings(terms)))) {
		var rows []*rundir.Stage
		for i := range s.Rows {
			rows = append(rows, s.Rows[i].Stage)
		}
		found = slo.Highest(rows, s.Run.Saturation, terms)
	}
	var limiting *slo.Term
	for i := range terms {
		if terms[i].String() == found.Limiting {
			limiting = &terms[i]
		}
	}
	rate, bracketOnly := found.Rate, false
	if rate.IsZero() && found.Verdict == rundir.Met && found.Low.Known() && found.High.Known() && found.Low.Value() > 0 {
		rate, bracketOnly = found.Low, true
	}
	if rate.IsZero() {
		return Limit{}, s.sweepRefusal(found, limiting, terms)
	}
	l := Limit{Rate: rate.Value(), Low: found.Low, High: found.High, BracketOnly: bracketOnly,
		Ending: Ending{LimitingTerm: limiting, MissedRow: s.missedRow(found, limiting)}}
	point, above := s.pointAtLoad(l.Rate)
	if above == nil { // it is the highest row, or the rows above were left out
		last := &s.Rows[len(s.Rows)-1]
		l.Point, l.Output = Point{Low: last, High: last}, last.topOutput
	} else {
		l.Point, l.Output = point, point.OutputRate(Output).Number
		l.Backlog = found.Limiting == rundir.LimitSaturation
	}
	// Rates of tokens and of requests come from windows of their own, and their quotient is not a length: answers are as
	// long as those of the rows on either side.
	a, b := l.Point.Low.Stage.OutputTokens.Mean, l.Point.High.Stage.OutputTokens.Mean
	if a.Known() && b.Known() {
		l.Output = rundir.Exactly(l.Rate * (a.Value() + l.Point.Weight*(b.Value()-a.Value())))
	}
	return l, nil
}

// missedRow returns the row in which an answer found that the limiting term is missed; nil where no row shows that.
func (s *Setup) missedRow(found *rundir.SLO, limiting *slo.Term) *Row {
	i := slices.IndexFunc(s.Rows, func(r Row) bool { return r.Stage.Name == found.BrokenStage })
	if i < 0 || limiting == nil || limiting.Verdict(s.Rows[i].Stage) != rundir.Missed {
		return nil
	}
	return &s.Rows[i]
}

// UserLimit finds the most users for whom all terms hold: the answer of a sweep by users. Rate and Output are read
// between the rows on either side.
func (s *Setup) UserLimit(terms []slo.Term) (Limit, *Refusal) {
	if len(s.Runs) > 0 {
		return poolLimits(s.Runs, func(one *Setup) (Limit, *Refusal) { return one.UserLimit(terms) })
	}
	var rows []rundir.Stage
	for i := range s.Rows {
		rows = append(rows, *s.Rows[i].Stage)
	}
	if len(saturation.UserRows(rows)) == 0 {
		return Limit{}, &Refusal{NoUsers: true}
	}
	c := saturation.UserCapacity(rows, terms)
	if c.Users.IsZero() {
		return Limit{}, s.refusal(terms)
	}
	p, _ := s.pointAtLoad(c.Users.Value())
	l := Limit{Users: rundir.Exactly(c.Users.Value()), Low: c.Low, High: c.High, Point: p,
		Rate: p.Low.Served + p.Weight*(p.High.Served-p.Low.Served), Output: p.OutputRate(Output).Number}
	if i := slices.IndexFunc(terms, func(t slo.Term) bool { return t.String() == c.Term }); i >= 0 {
		l.LimitingTerm = &terms[i]
	}
	return l, nil
}

func (s *Setup) sweepRefusal(found *rundir.SLO, limiting *slo.Term, terms []slo.Term) *Refusal {
	name := cmp.Or(found.NeedsStage, found.BrokenStage)
	i := slices.IndexFunc(s.Rows, func(r Row) bool { return r.Stage.Name == name })
	r := &Refusal{Row: &s.Rows[max(i, 0)], Term: limiting, Unjudged: found.Verdict != rundir.Missed}
	for j := range max(i, 0) {
		if verdict, _ := slo.Judge(s.Rows[j].Stage, terms); verdict == rundir.Met {
			r.MetRow = &s.Rows[j]
		}
	}
	if limiting == nil && r.Unjudged { // nothing tells which term it is
		return &Refusal{Row: r.Row, Undecided: true}
	}
	if limiting != nil {
		r.Number, _ = limiting.Of(r.Row.Stage)
	}
	return r
}

// refusal names the lowest row that breaks a term or was saturated, else the lowest.
func (s *Setup) refusal(terms []slo.Term) *Refusal {
	at := slices.IndexFunc(s.Rows, func(r Row) bool {
		verdict, _ := slo.Judge(r.Stage, terms)
		return verdict == rundir.Missed || r.Stage.Verdict == rundir.Saturated
	})
	r := &Refusal{Row: &s.Rows[max(at, 0)]}
	if verdict, t := slo.Judge(r.Row.Stage, terms); t != nil {
		r.Term, r.Unjudged = t, verdict == rundir.Unsure
		r.Number, _ = t.Of(r.Row.Stage)
	}
	return r
}

// termLimit is the limit of a term above the row good, the last that keeps it.
func (s *Setup) termLimit(good int, t *slo.Term) Limit {
	low := &s.Rows[good]
	served := &s.Rows[slices.IndexFunc(s.Rows, func(r Row) bool { return r.Top >= low.Top })]
	l := Limit{Point: Point{Low: served, High: served}, Rate: low.Top, Output: served.topOutput}
	if good+1 == len(s.Rows) {
		l.LevelsOff = served != low
		s.setDoubt(&l, low, nil)
		return l
	}
	high := &s.Rows[s.endRow(good, t)]
	l.Backlog = high.Stage.Verdict == rundir.Saturated
	weight := 0.0
	if verdict := t.Verdict(high.Stage); verdict != rundir.Met {
		l.LimitingTerm, l.Unjudged, weight = t, verdict == rundir.Unsure, s.crossing(good, high, t)
		if verdict == rundir.Missed {
			l.MissedRow = high
		}
	}
	s.setDoubt(&l, low, high)
	if l.Backlog || weight == 0 || high.Top == low.Top {
		return l
	}
	l.Point = Point{Low: low, High: high, Weight: weight}
	l.Rate += weight * (high.Top - low.Top)
	if l.Output.Known() && high.topOutput.Known() {
		l.Output = rundir.Exactly(l.Output.Value() + weight*(high.topOutput.Value()-l.Output.Value()))
	}
	return l
}

// setDoubt makes the limit between two rows a doubted one where a row between them was left out, or does not tell the
// term without its doubtful figures. high is nil where the rows end.
func (s *Setup) setDoubt(l *Limit, low, high *Row) {
	inside := func(st *rundir.Stage) bool {
		return load(st) > load(low.Stage) && (high == nil || load(st) < load(high.Stage))
	}
	doubted := high != nil && l.Unjudged && high.Doubted || slices.ContainsFunc(s.dropped, inside) ||
		slices.ContainsFunc(s.Rows, func(r Row) bool { return r.Doubted && inside(r.Stage) })
	if !doubted {
		return
	}
	l.Doubted, l.Low = true, rundir.Exactly(low.Top)
	if high != nil && !l.Unjudged {
		l.High = rundir.Exactly(high.Top)
	}
}

// endRow returns the row that ends a term above the row good: the next one, unless its doubtful figures were left out
// and a row further up breaks the term.
func (s *Setup) endRow(good int, t *slo.Term) int {
	for i := good + 1; i < len(s.Rows); i++ {
		if t.Verdict(s.Rows[i].Stage) == rundir.Missed || !s.Rows[i].Doubted {
			return i
		}
	}
	return good + 1
}

// crossing returns the fraction of the way from row good to the next at which a term's metric reaches its limit,
// starting at the worst value so far; 0 where the next row is a bound, cannot be judged or does not tell.
func (s *Setup) crossing(good int, next *Row, t *slo.Term) float64 {
	value, _ := t.Of(next.Stage)
	worst := s.worstValue(good, t)
	if t.Verdict(next.Stage) != rundir.Missed || !next.representative() || !value.Known() || worst >= t.Limit ||
		value.Value() <= worst {
		return 0
	}
	return (t.Limit - worst) / (value.Value() - worst)
}

func (s *Setup) worstValue(upTo int, t *slo.Term) float64 {
	worst := 0.0
	for i := range upTo + 1 {
		if f, _ := t.Of(s.Rows[i].Stage); f.Known() {
			worst = max(worst, f.Value())
		}
	}
	return worst
}
