package report

import (
	"cmp"
	"slices"
	"strconv"

	"llmsweep/sweep/rundir"
)

// take picks one figure of a stage.
type take func(s *rundir.Stage) rundir.Number

// publishedFields are the six columns of the published tables. Their headings and units are a format that others read,
// so they are the same in every language.
func publishedFields() []field {
	perSecond := func(unit string, f take) func(row) Cell {
		return func(r row) Cell { return quantity(something(f(r.stage)), unit, rate) }
	}
	milliseconds := func(f take) func(row) Cell {
		return func(r row) Cell { return quantity(scaled(f(r.stage), 1e3), "ms", rate) }
	}
	return []field{
		{Column{Head: "Benchmark", Left: true}, func(r row) Cell { return Cell{Text: publishedName(r.stage)} }},
		{Column{Head: "Requests per Second"}, perSecond("req/sec", completed)},
		{Column{Head: "Request Latency"}, func(r row) Cell { return quantity(r.stage.Latency.Mean, "sec", rate) }},
		{Column{Head: "Time to First Token"}, milliseconds(func(s *rundir.Stage) rundir.Number { return s.TTFT.Mean })},
		{Column{Head: "Inter Token Latency"}, milliseconds(func(s *rundir.Stage) rundir.Number { return s.InterToken })},
		{Column{Head: "Output Token Throughput"}, perSecond("tokens/sec", output)},
	}
}

// rowFields are what the six columns leave out.
func rowFields(l Lang) []field {
	dist := func(head, name string, of func(*rundir.Stage) *rundir.Dist) field {
		return field{Column{Head: head + " " + name}, percentile(name, of)}
	}
	return []field{
		{Column{Head: headBenchmark.in(l), Left: true}, func(r row) Cell {
			return Cell{Text: r.stage.Name, Mark: marks(r.stage)}
		}},
		{Column{Head: headAnswered.in(l)}, func(r row) Cell { return tally(r, r.stage.Requests.OK) }},
		{Column{Head: headFailed.in(l)}, func(r row) Cell { return tally(r, failures(r.stage)) }},
		{Column{Head: headOffered.in(l)}, func(r row) Cell { return openLoop(r.stage, "req/s") }},
		{Column{Head: headInFlight.in(l)}, func(r row) Cell { return quantity(r.stage.Concurrency.Mean, "", tenths) }},
		dist("TTFT", "p50", ttft), dist("TTFT", "p99", ttft),
		dist("ITL", "p50", itl), dist("ITL", "p99", itl),
		dist(headLatency.in(l), "p50", latency), dist(headLatency.in(l), "p99", latency),
		lengthField(l),
		verdictField(l),
	}
}

// lengthField is how long answers were, beside how long they were asked to be where that is not the same.
func lengthField(l Lang) field {
	return field{Column{Head: headLength.in(l), Sub: "tokens"}, func(r row) Cell {
		got := r.stage.OutputTokens.Mean
		if !got.Known() {
			return Cell{Text: absent, Tone: Faint}
		}
		if lengths(r.stage, l) == "" {
			return Cell{Text: number(got, short)}
		}
		return Cell{Text: sayOfAsked.in(l, number(got, short), number(r.stage.AskedTokens, short)), Tone: Bad}
	}}
}

// anyLength reports whether some answers were not as long as asked.
func anyLength(runs []rundir.Run, l Lang) bool {
	return slices.ContainsFunc(runs, func(run rundir.Run) bool {
		return slices.ContainsFunc(run.Stages, func(s rundir.Stage) bool { return lengths(&s, l) != "" })
	})
}

// consoleFields are the columns of the console table. Failures have one only where there are any, and so have lengths where
// they are not those asked for.
func consoleFields(l Lang, runs []rundir.Run) []field {
	mean := subMean.in(l)
	fields := []field{
		{Column{Head: headBenchmark.in(l), Left: true}, func(r row) Cell {
			return Cell{Text: r.stage.Name, Mark: marks(r.stage), Tone: Strong}
		}},
		{Column{Head: headOffered.in(l), Sub: "req/s", Drop: 2}, func(r row) Cell { return openLoop(r.stage, "") }},
		{Column{Head: headDone.in(l), Sub: "req/s"}, func(r row) Cell { return quantity(something(completed(r.stage)), "", rate) }},
		{Column{Head: headFailed.in(l)}, func(r row) Cell { return faults(r.stage) }},
		{Column{Head: headLatency.in(l), Sub: mean, Drop: 6}, average(latency)},
		{Column{Head: "TTFT", Sub: mean, Drop: 7}, average(ttft)},
		{Column{Head: "TTFT", Sub: "p99"}, percentile("p99", ttft)},
		{Column{Head: "ITL", Sub: mean, Drop: 4}, func(r row) Cell { return timed(r.stage.InterToken) }},
		{Column{Head: "ITL", Sub: "p99", Drop: 3}, percentile("p99", itl)},
		{Column{Head: headOutput.in(l), Sub: "tok/s"}, func(r row) Cell { return quantity(something(output(r.stage)), "", short) }},
		{Column{Head: headInFlight.in(l), Sub: mean, Drop: 1}, func(r row) Cell { return quantity(r.stage.Concurrency.Mean, "", tenths) }},
		lengthField(l),
		verdictField(l),
	}
	fields[len(fields)-1].Drop = 5
	fields = slices.Insert(fields, len(fields)-2, sloFields(l, runs)...)
	if !anyLength(runs, l) {
		fields = slices.Delete(fields, len(fields)-2, len(fields)-1)
	}
	if !anyFailure(runs) {
		fields = slices.Delete(fields, 3, 4)
	}
	return fields
}

func completed(s *rundir.Stage) rundir.Number { return s.Rates.Completed }
func output(s *rundir.Stage) rundir.Number    { return s.TokensPerS.Output }
func latency(s *rundir.Stage) *rundir.Dist    { return &s.Latency }
func ttft(s *rundir.Stage) *rundir.Dist       { return &s.TTFT }
func itl(s *rundir.Stage) *rundir.Dist        { return &s.ITL }

// quantity is a cell with a figure in a fixed unit.
func quantity(f rundir.Number, unit string, p printer) Cell {
	if f.IsZero() {
		return Cell{Text: absent, Tone: Faint}
	}
	return Cell{Text: number(f, p), Unit: unit}
}

// timed is a cell with a duration in the unit that reads best.
func timed(f rundir.Number) Cell {
	digits, unit := duration(f)
	if unit == "" {
		return Cell{Text: digits, Tone: Faint}
	}
	return Cell{Text: digits, Unit: unit}
}

// average is a cell with the mean of a distribution.
func average(of func(*rundir.Stage) *rundir.Dist) func(row) Cell {
	return func(r row) Cell { return timed(of(r.stage).Mean) }
}

// percentile is a cell with a percentile, marked where too few samples support it.
func percentile(name string, of func(*rundir.Stage) *rundir.Dist) func(row) Cell {
	return func(r row) Cell {
		d := of(r.stage)
		c := timed(d.Get(name))
		if c.Text != absent && !d.Supported(name) {
			c.Mark = markUnsupported
		}
		return c
	}
}

// openLoop is the rate that was offered; a closed loop offers none.
func openLoop(s *rundir.Stage, unit string) Cell {
	if s.Rates.Offered.IsZero() {
		return Cell{Text: "-", Tone: Faint}
	}
	return quantity(s.Rates.Offered, unit, rate)
}

func count(n int) Cell { return Cell{Text: strconv.Itoa(n)} }

// tally is a number of requests; a published table does not say.
func tally(r row, n int) Cell {
	if n == 0 && r.stage.Source != nil {
		return Cell{Text: absent, Tone: Faint}
	}
	return count(n)
}

// faults is the number of failed requests, which stands out where there are any.
func faults(s *rundir.Stage) Cell {
	if n := failures(s); n > 0 {
		return Cell{Text: strconv.Itoa(n), Tone: Bad}
	}
	return Cell{Text: "-", Tone: Faint}
}

func verdictField(l Lang) field {
	return field{Column{Head: headVerdict.in(l), Left: true}, func(r row) Cell {
		return Cell{Text: verdict(r.stage.Verdict, l), Tone: verdictTone(r.stage.Verdict)}
	}}
}

func verdictTone(v string) Tone {
	switch v {
	case rundir.Stable:
		return Good
	case rundir.Saturated:
		return Bad
	case rundir.Undecided:
		return Caution
	}
	return Faint
}

// failures is how many requests failed: by class where the classes are counted, which reaches past the window.
func failures(s *rundir.Stage) int {
	n := 0
	for _, k := range s.Errors {
		n += k
	}
	return cmp.Or(n, s.Requests.Error)
}

func anyFailure(runs []rundir.Run) bool {
	for i := range runs {
		for j := range runs[i].Stages {
			if failures(&runs[i].Stages[j]) > 0 {
				return true
			}
		}
	}
	return false
}
