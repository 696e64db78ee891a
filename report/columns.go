package report

import (
	"slices"
	"strconv"

	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// rowFields returns the columns that the six-column table does not have.
func rowFields(l lang.Lang) []findings.StageField {
	dist := func(head, name string, of func(*rundir.Stage) *rundir.Dist) findings.StageField {
		return findings.NewStageField(table.Column{Head: head + " " + name}, percentile(name, of))
	}
	return []findings.StageField{
		findings.NewStageField(table.Column{Head: lang.HeadBenchmark.In(l), Left: true}, func(r findings.StageRow) table.Cell {
			return table.Cell{Text: findings.StageName(r.Stage), Mark: findings.StageMarks(r.Stage)}
		}),
		findings.NewStageField(table.Column{Head: headAnswered.In(l)}, func(r findings.StageRow) table.Cell { return tally(r, r.Stage.Requests.OK) }),
		findings.NewStageField(table.Column{Head: headFailed.In(l)}, func(r findings.StageRow) table.Cell { return tally(r, findings.FailedStages(r.Stage)) }),
		findings.NewStageField(table.Column{Head: headOffered.In(l)}, func(r findings.StageRow) table.Cell { return openLoop(r.Stage, "req/s") }),
		findings.NewStageField(table.Column{Head: headInFlight.In(l)}, func(r findings.StageRow) table.Cell { return table.Number(r.Stage.Concurrency.Mean, "", lang.Tenths) }),
		dist("TTFT", "p50", findings.TTFT), dist("TTFT", "p99", findings.TTFT),
		dist("ITL", "p50", findings.ITL), dist("ITL", "p99", findings.ITL),
		dist(lang.HeadLatency.In(l), "p50", findings.Latency), dist(lang.HeadLatency.In(l), "p99", findings.Latency),
		lengthField(l),
		verdictField(l),
	}
}

// lengthField returns the mean length of answers, and the requested length where it differs.
func lengthField(l lang.Lang) findings.StageField {
	return findings.NewStageField(table.Column{Head: headLength.In(l), Sub: "tokens"}, func(r findings.StageRow) table.Cell {
		got := r.Stage.OutputTokens.Mean
		if !got.Known() {
			return table.Cell{Text: lang.Absent, Tone: table.Faint}
		}
		if findings.WrongLength(r.Stage, l) == "" {
			return table.Cell{Text: lang.Number(got, lang.Short)}
		}
		return table.Cell{Text: sayOfAsked.In(l, lang.Number(got, lang.Short), lang.Number(r.Stage.AskedTokens, lang.Short)), Tone: table.Bad}
	})
}

// anyLength reports whether some answers were not as long as asked.
func anyLength(runs []rundir.Run, l lang.Lang) bool {
	return slices.ContainsFunc(runs, func(run rundir.Run) bool {
		return slices.ContainsFunc(run.Stages, func(s rundir.Stage) bool { return findings.WrongLength(&s, l) != "" })
	})
}

// consoleFields are the columns of the console table. Failures have one only where there are any, and so have lengths where
// they are not those asked for.
func consoleFields(l lang.Lang, runs []rundir.Run) []findings.StageField {
	mean := lang.SubMean.In(l)
	fields := []findings.StageField{
		findings.NewStageField(table.Column{Head: lang.HeadBenchmark.In(l), Left: true}, func(r findings.StageRow) table.Cell {
			return table.Cell{Text: findings.StageName(r.Stage), Mark: findings.StageMarks(r.Stage), Tone: table.Strong}
		}),
		findings.NewStageField(table.Column{Head: headOffered.In(l), Sub: "req/s", Drop: 2}, func(r findings.StageRow) table.Cell { return openLoop(r.Stage, "") }),
		findings.NewStageField(table.Column{Head: lang.HeadDone.In(l), Sub: "req/s"}, func(r findings.StageRow) table.Cell {
			return table.Number(lang.NonZero(findings.CompletedCell(r.Stage)), "", lang.Rate)
		}),
		findings.NewStageField(table.Column{Head: headRefused.In(l)}, func(r findings.StageRow) table.Cell { return refused(r.Stage) }),
		findings.NewStageField(table.Column{Head: headFailed.In(l)}, func(r findings.StageRow) table.Cell { return faults(r.Stage) }),
		findings.NewStageField(table.Column{Head: lang.HeadLatency.In(l), Sub: mean, Drop: 4}, average(findings.Latency)),
		findings.NewStageField(table.Column{Head: "TTFT", Sub: mean, Drop: 7}, average(findings.TTFT)),
		findings.NewStageField(table.Column{Head: "TTFT", Sub: "p99"}, percentile("p99", findings.TTFT)),
		findings.NewStageField(table.Column{Head: "ITL", Sub: mean, Drop: 6}, func(r findings.StageRow) table.Cell { return table.Seconds(r.Stage.InterToken) }),
		findings.NewStageField(table.Column{Head: "ITL", Sub: "p99", Drop: 3}, percentile("p99", findings.ITL)),
		findings.NewStageField(table.Column{Head: lang.HeadOutput.In(l), Sub: "tok/s"}, func(r findings.StageRow) table.Cell {
			return table.Number(lang.NonZero(findings.Output(r.Stage)), "", lang.Short)
		}),
		findings.NewStageField(table.Column{Head: headInFlight.In(l), Sub: mean, Drop: 1}, func(r findings.StageRow) table.Cell { return table.Number(r.Stage.Concurrency.Mean, "", lang.Tenths) }),
		lengthField(l),
		verdictField(l),
	}
	fields[len(fields)-1].Drop = 5
	fields = slices.Insert(fields, len(fields)-2, sloFields(l, runs)...)
	fields = slices.Insert(fields, len(fields)-2, fidelityFields(l, runs)...)
	fields = slices.Insert(fields, len(fields)-2, gradedFields(l, runs)...)
	if !anyLength(runs, l) {
		fields = slices.Delete(fields, len(fields)-2, len(fields)-1)
	}
	if !findings.AnyFailed(runs) {
		fields = slices.Delete(fields, 4, 5)
	}
	if !anyRefused(runs) {
		fields = slices.Delete(fields, 3, 4)
	}
	return fields
}

// average is a cell with the mean of a distribution.
func average(of func(*rundir.Stage) *rundir.Dist) func(findings.StageRow) table.Cell {
	return func(r findings.StageRow) table.Cell { return table.Seconds(of(r.Stage).Mean) }
}

// percentile is a cell with a percentile, marked where too few samples support it.
func percentile(name string, of func(*rundir.Stage) *rundir.Dist) func(findings.StageRow) table.Cell {
	return func(r findings.StageRow) table.Cell {
		d := of(r.Stage)
		c := table.Seconds(d.Get(name))
		if c.Text != lang.Absent && !d.Supported(name) {
			c.Mark = table.MarkUnsupported
		}
		return c
	}
}

// openLoop is the rate that was offered; a closed loop offers none.
func openLoop(s *rundir.Stage, unit string) table.Cell {
	if s.Rates.Offered.IsZero() {
		return table.Cell{Text: "-", Tone: table.Faint}
	}
	return table.Number(s.Rates.Offered, unit, lang.Rate)
}

// tally is a number of requests; a published table does not say.
func tally(r findings.StageRow, n int) table.Cell {
	if n == 0 && r.Stage.Source != nil {
		return table.Cell{Text: lang.Absent, Tone: table.Faint}
	}
	return table.Count(n)
}

// anyRefused reports whether a server refused requests in any of the runs.
func anyRefused(runs []rundir.Run) bool {
	return slices.ContainsFunc(runs, func(run rundir.Run) bool {
		return slices.ContainsFunc(run.Stages, func(s rundir.Stage) bool { return s.Refused.Known() })
	})
}

// refused is the share of the requests that the server refused.
func refused(s *rundir.Stage) table.Cell {
	if !s.Refused.Known() {
		return table.Cell{Text: "-", Tone: table.Faint}
	}
	return table.Cell{Text: lang.Percent(s.Refused.Value()), Tone: table.Bad}
}

// faults is the number of failed requests, which stands out where there are any.
func faults(s *rundir.Stage) table.Cell {
	if n := findings.FailedStages(s); n > 0 {
		return table.Cell{Text: strconv.Itoa(n), Tone: table.Bad}
	}
	return table.Cell{Text: "-", Tone: table.Faint}
}

func verdictField(l lang.Lang) findings.StageField {
	return findings.NewStageField(table.Column{Head: headVerdict.In(l), Left: true}, func(r findings.StageRow) table.Cell {
		return table.Cell{Text: lang.Verdict(r.Stage.Verdict, l), Tone: verdictTone(r.Stage.Verdict)}
	})
}

func verdictTone(v rundir.Verdict) table.Tone {
	switch v {
	case rundir.Stable:
		return table.Good
	case rundir.Saturated, rundir.Shedding:
		return table.Bad
	case rundir.Undecided:
		return table.Caution
	}
	return table.Faint
}
