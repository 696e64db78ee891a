package report

import (
	"math"
	"strconv"
	"strings"

	"llmsweep/sweep/rundir"
)

// answer says in sentences what the run found out. They are made from the figures, in either language.
func answer(run *rundir.Run, l Lang) []string {
	if sent, failed := attempts(run); sent > 0 && sent == failed {
		return []string{sayNothing.in(l, strconv.Itoa(failed), strconv.Itoa(sent))}
	}
	var lines []string
	add := func(s string) {
		if s != "" {
			lines = append(lines, s)
		}
	}
	sat := run.Saturation
	if sat == nil {
		lines = append(lines, promises(run, l)...)
		if run.Plan.Kind == "sweep" && run.State == rundir.Complete {
			add(sayNoSaturation.in(l))
		}
		return lines
	}
	add(saturates(sat, l))
	lines = append(lines, promises(run, l)...)
	add(bracket(sat, l))
	if grew := backlog(run, l); grew != "" {
		add(grew)
	} else if !sat.Reason.IsZero() {
		add(Note(sat.Reason, l))
	}
	add(limit(run, l))
	add(comfortable(run, l))
	add(simulated(run, l))
	return lines
}

// attempts counts the requests of a run, and how many of them failed.
func attempts(run *rundir.Run) (due, failed int) {
	for i := range run.Stages {
		due += run.Stages[i].Requests.Due
		failed += failures(&run.Stages[i])
	}
	return due, failed
}

// saturates is the answer itself.
func saturates(sat *rundir.Saturation, l Lang) string {
	switch {
	case sat.Rate.Bound():
		return sayNotSaturated.in(l, number(rundir.Exactly(sat.Rate.Value()), rate))
	case sat.Rate.IsZero():
		return sayNoSaturation.in(l)
	}
	digits := printer(short)
	interval := ""
	if sat.Low.Known() && sat.High.Known() {
		digits = precision((sat.High.Value() - sat.Low.Value()) / 2)
		interval = sayInterval.in(l, number(sat.Low, digits), number(sat.High, digits))
	}
	s := saySaturates.in(l, number(sat.Rate, digits)) + interval
	if sat.Output.Known() {
		s += sayOutput.in(l, number(sat.Output, short))
	}
	return s + stop.in(l)
}

// precision prints as many decimals as a half-width leaves meaningful.
func precision(halfWidth float64) printer {
	if halfWidth <= 0 {
		return short
	}
	return fixed(min(max(-int(math.Floor(math.Log10(halfWidth))), 0), 4))
}

// bracket says between which rates the verdicts turned.
func bracket(sat *rundir.Saturation, l Lang) string {
	low, high := sat.HighestStable, sat.LowestSaturated
	switch {
	case low.Known() && high.Known():
		return sayBracket.in(l, number(low, rate), number(high, rate))
	case low.Known():
		return sayStable.in(l, number(low, rate))
	case high.Known():
		return saySaturated.in(l, number(high, rate))
	}
	return ""
}

// backlog says how fast work piled up at the lowest saturated rate.
func backlog(run *rundir.Run, l Lang) string {
	var lowest *rundir.Stage
	for i := range run.Stages {
		s := &run.Stages[i]
		grew := s.Verdict == rundir.Saturated && s.Invalid.IsZero() && s.Drift.Value.Known() && s.Rates.Offered.Known()
		if grew && (lowest == nil || s.Rates.Offered.Value() < lowest.Rates.Offered.Value()) {
			lowest = s
		}
	}
	if lowest == nil {
		return ""
	}
	growth := scaled(lowest.Drift.Value, lowest.Rate.Value())
	return sayBacklog.in(l, number(lowest.Rates.Offered, rate), number(growth, rate))
}

// comfortable says how the server feels at a rate that leaves it some room.
func comfortable(run *rundir.Run, l Lang) string {
	sat := run.Saturation
	if !sat.Comfortable.Known() {
		return ""
	}
	s := sayComfortable.in(l, number(sat.Comfortable, rate)) + stop.in(l)
	for i := range run.Stages {
		if st := &run.Stages[i]; st.Name == sat.ComfortableStage {
			feel := []string{feels("TTFT", &st.TTFT), feels("ITL", &st.ITL), feels(headLatency.in(l), &st.Latency)}
			s += sayFeels.in(l, number(st.Rate, rate), strings.Join(feel, comma.in(l))) + stop.in(l)
		}
	}
	return s
}

// feels is the highest percentile, up to the 99th, that the samples support.
func feels(what string, d *rundir.Dist) string {
	for _, p := range []string{"p99", "p95", "p90"} {
		if d.Supported(p) && !d.Get(p).IsZero() {
			return what + " " + p + " " + durationText(d.Get(p))
		}
	}
	return what + " p50 " + durationText(d.P50)
}

// simulated puts what was found beside what the simulator can be computed to take.
func simulated(run *rundir.Run, l Lang) string {
	capacity, found := run.Target.Capacity, run.Saturation.Rate
	switch {
	case !capacity.Known():
		return ""
	case !found.Known():
		return sayCapacityAlone.in(l, number(capacity, rate))
	}
	off := 100 * math.Abs(found.Value()-capacity.Value()) / capacity.Value()
	return sayCapacity.in(l, number(capacity, rate), number(found, rate), fixed(1)(off, false))
}

// StageLine is one stage in one line, made to stand beneath others of its kind.
func StageLine(s *rundir.Stage, l Lang) string {
	facts := stageFacts(s, l)
	for i, width := range []int{16, 11, 13, 12, 10} {
		facts[i] = pad(facts[i], width, true)
	}
	return strings.Join(facts, "  ")
}

// stageFacts are what matters most of a stage: its name, what it completed, how that felt, what came of it.
func stageFacts(s *rundir.Stage, l Lang) []string {
	facts := []string{
		clean(s.Name) + marks(s),
		number(something(completed(s)), rate) + " req/s",
		"TTFT " + durationText(s.TTFT.Mean),
		"ITL " + durationText(s.InterToken),
		number(something(output(s)), short) + " tok/s",
	}
	if s.Verdict != "" {
		facts = append(facts, verdict(s.Verdict, l))
	}
	if n := failures(s); n > 0 {
		facts = append(facts, sayFailures.in(l, strconv.Itoa(n)))
	}
	return facts
}
