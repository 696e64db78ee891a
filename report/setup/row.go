package setup

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"llmsweep/report/audit"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
)

// Row is a stage that may be relied on.
type Row struct {
	Stage  *rundir.Stage
	Where  string  // the line or the directory that it can be traced to
	Served float64 // completed requests per second; of repeats the least
	Top    float64 // the largest Served up to here

	Doubted bool            // figures of the stage were left out, because they contradict others
	Repeats []*rundir.Stage // the measurements of which Stage has the worst of each figure; empty where there was one

	topOutput rundir.Number // the largest output up to here
	printed   *rundir.Stage // with the doubted figures
}

// Includes reports whether the row was made of a stage of the run.
func (r *Row) Includes(st *rundir.Stage) bool {
	return r.printed == st || slices.Contains(r.Repeats, st)
}

// selectRows keeps the rows that may be relied on, in the order of their load.
func (s *Setup) selectRows(found []audit.Finding) (rows []Row, leftOut, marked []RowMark) {
	open := slices.ContainsFunc(s.Run.Stages, func(st rundir.Stage) bool { return st.Rate.Known() })
	for i := range s.Run.Stages {
		st := &s.Run.Stages[i]
		if !isCurvePoint(st, open, s.Run.Source != nil) {
			continue
		}
		if d := s.rejection(st, found); d != nil {
			if d.Grade != "" {
				s.dropped = append(s.dropped, st)
			}
			leftOut = append(leftOut, s.mark(st, d, nil))
			continue
		}
		marked = append(marked, s.marks(st, found)...)
		trusted := audit.DropDoubted(st)
		rows = append(rows, Row{
			Stage: trusted, Where: s.Where(st), Served: trusted.Rates.Completed.Value(), Doubted: trusted != st, printed: st,
		})
	}
	slices.SortStableFunc(rows, func(a, b Row) int { return cmp.Compare(load(a.Stage), load(b.Stage)) })
	if s.Run.Source != nil {
		rows = poolRepeats(rows)
	}
	setTops(rows, open)
	return rows, leftOut, marked
}

// setTops sets what each row and those below it were shown to serve. open is set where rates were offered.
func setTops(rows []Row, open bool) {
	for i := range rows {
		r := &rows[i]
		r.Top, r.topOutput = r.Served, r.Stage.TokensPerS.Output
		if i == 0 {
			// One request at a time that completes more than the lowest arrival rate asks for shows nothing of which
			// arrivals are served: those come at random times.
			if open && len(rows) > 1 && load(r.Stage) == 0 && rows[1].Stage.Rate.Known() && r.Served > rows[1].Served {
				r.Top, r.topOutput = 0, rundir.Number{}
			}
			continue
		}
		below := &rows[i-1]
		r.Top = max(below.Top, r.Served)
		switch {
		case !below.topOutput.Known() || r.topOutput.Value() >= below.topOutput.Value():
		case r.topOutput.IsZero(): // its answers are taken to be as long
			r.topOutput = rundir.Exactly(below.topOutput.Value() * r.Top / below.Top)
		default:
			r.topOutput = below.topOutput
		}
	}
}

// poolRepeats makes one row of the repeats of a load, which is judged by the worst of them. Repeats that were measured
// here stay rows of their own, because they have intervals.
func poolRepeats(rows []Row) []Row {
	var all []Row
	for _, r := range rows {
		last := len(all) - 1
		if last < 0 || r.Stage.Repeat == 0 || all[last].Stage.Repeat == 0 || all[last].Stage.Rate != r.Stage.Rate ||
			all[last].Stage.MaxConcurrency != r.Stage.MaxConcurrency {
			all = append(all, r)
			continue
		}
		p := &all[last]
		p.Repeats = append(p.Measurements(), r.Stage)
		p.Where, p.Doubted = joinPlaces(p.Where, r.Where), p.Doubted || r.Doubted
	}
	for i := range all {
		if r := &all[i]; len(r.Repeats) > 0 {
			r.Stage = worstFigures(r.Repeats)
			r.Served = r.Stage.Rates.Completed.Value()
		}
	}
	return all
}

// Measurements are the repeats of the row, or its only stage.
func (r *Row) Measurements() []*rundir.Stage {
	if len(r.Repeats) > 0 {
		return r.Repeats
	}
	return []*rundir.Stage{r.Stage}
}

// fewEnded is the share of the requests of a stage below which those that ended say nothing of the others.
const fewEnded = 0.1

// representative reports whether the figures of the row are those of its load: it was measured in a window, and enough
// of its requests ended. Nothing is interpolated to a row where not.
func (r *Row) representative() bool {
	n := r.Stage.Requests
	ended := n.OK + n.Error
	return (r.Stage.Source != nil || r.Stage.Window > 0) && float64(ended) >= fewEnded*float64(max(n.Due, n.Sent))
}

// worstFigures is a stage with the lowest rates and the longest times of several, and the counts of the one with the
// largest share of failed requests. A time that one of them lacks is a lower bound, a rate that one lacks is absent.
func worstFigures(repeats []*rundir.Stage) *rundir.Stage {
	failed := func(r *rundir.Stage) float64 {
		return float64(r.Requests.Error) / float64(max(1, r.Requests.OK+r.Requests.Error))
	}
	s := *slices.MaxFunc(repeats, func(a, b *rundir.Stage) int { return cmp.Compare(failed(a), failed(b)) })
	slowest := func(of func(*rundir.Stage) rundir.Number) rundir.Number {
		most := rundir.Number{}
		for _, r := range repeats {
			most = rundir.Max(most, of(r))
		}
		if slices.ContainsFunc(repeats, func(r *rundir.Stage) bool { return of(r).IsZero() }) {
			return rundir.Over(most.Value())
		}
		return most
	}
	times := func(of func(*rundir.Stage) *rundir.Dist) (d rundir.Dist) {
		for _, r := range repeats {
			d.Unsupported = append(d.Unsupported, of(r).Unsupported...)
		}
		for i, f := range d.Numbers() {
			*f.Number = slowest(func(r *rundir.Stage) rundir.Number { return *of(r).Numbers()[i].Number })
		}
		return d
	}
	least := func(of func(*rundir.Stage) rundir.Number) rundir.Number {
		low, _ := extremes(repeats, of)
		return low
	}
	s.Rates = rundir.Rates{Completed: least(completed)}
	s.TokensPerS = rundir.TokenRates{Output: least(output)}
	s.Latency = times(func(r *rundir.Stage) *rundir.Dist { return &r.Latency })
	s.TTFT = times(func(r *rundir.Stage) *rundir.Dist { return &r.TTFT })
	s.ITL = times(func(r *rundir.Stage) *rundir.Dist { return &r.ITL })
	s.TPOT = times(func(r *rundir.Stage) *rundir.Dist { return &r.TPOT })
	s.InterToken = slowest(func(r *rundir.Stage) rundir.Number { return r.InterToken })
	return &s
}

// CompletedRange returns the lowest and the highest rate that several stages completed.
func CompletedRange(stages []*rundir.Stage) (low, high float64) {
	a, b := extremes(stages, completed)
	return a.Value(), b.Value()
}

func completed(s *rundir.Stage) rundir.Number { return s.Rates.Completed }

func output(s *rundir.Stage) rundir.Number { return s.TokensPerS.Output }

// extremes returns the lowest and the highest of a figure of several stages; absent where one lacks it.
func extremes(stages []*rundir.Stage, of func(*rundir.Stage) rundir.Number) (low, high rundir.Number) {
	for _, s := range stages {
		v := of(s)
		if !v.Known() {
			return rundir.Number{}, rundir.Number{}
		}
		low = rundir.Exactly(min(low.Or(v.Value()), v.Value()))
		if v.Value() > high.Or(0) {
			high = v
		}
	}
	return low, high
}

// isCurvePoint reports whether a stage is a point of the curve. Where rates were offered, closed loops other than one
// request at a time are none: the ceiling of a published table is a burst, whose metrics are those of its queue.
func isCurvePoint(s *rundir.Stage, open, imported bool) bool {
	switch {
	case s.Quick():
		return false
	case s.Rate.Known() || synchronous(s):
		return true
	case open || imported && s.Role == rundir.Throughput:
		return false
	}
	return s.MaxConcurrency > 0
}

func synchronous(s *rundir.Stage) bool {
	return s.Kind == rundir.StageSynchronous || s.Role == rundir.Synchronous
}

// load orders rows: one at a time, then by the rate that was offered, or by how many were kept in flight.
func load(s *rundir.Stage) float64 {
	switch {
	case synchronous(s):
		return 0
	case s.Rate.Known():
		if rate, ok := audit.LikelyRate(s); ok {
			return rate
		}
		if offered := findings.Offered(s); offered.Known() {
			return offered.Value()
		}
		return s.Rate.Value()
	}
	return float64(s.MaxConcurrency)
}

// Name returns what the row is called where it was printed, else the name of its stage.
func (r *Row) Name() string { return rowName(r.Stage) }

func rowName(st *rundir.Stage) string {
	if st.Source != nil && st.Source.Heading != "" {
		return st.Source.Heading
	}
	return lang.StageName(st.Name)
}

// Where returns the file and line, or the directory, of a row.
func (s *Setup) Where(st *rundir.Stage) string {
	if st.Source != nil {
		return s.show(st.Source.File) + ":" + strconv.Itoa(st.Source.Line)
	}
	return s.show(s.Path) + " " + lang.StageName(st.Name)
}

// joinPlaces returns two places as one text: "results.md:12, 13" in one file.
func joinPlaces(place, other string) string {
	if i := strings.LastIndexByte(other, ':'); i > 0 && strings.HasPrefix(place, other[:i+1]) {
		other = other[i+1:]
	}
	return place + ", " + other
}
