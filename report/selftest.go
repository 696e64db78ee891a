package report

import (
	"strconv"

	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/selftest"
)

// loaded is the load average a core beyond which others are at work.
const loaded = 0.5

// Selftest returns the tables of a self-test, the verdict last.
func Selftest(r *selftest.Result, l lang.Lang) []table.Section {
	lines := []string{sayMachine.In(l, strconv.Itoa(r.CPUs), lang.Number(r.Load, lang.Short), findings.TimestampsText(r.Timestamps, l))}
	if r.Load.Known() && r.Load.Value() > loaded*float64(r.CPUs) {
		lines = append(lines, sayLoaded.In(l))
	}
	if d := r.Decode; d != nil {
		lines = append(lines, sayDecode.In(l, findings.Whole(d.PerCoreSecond), minute(d.PerEvent).String(), lang.Number(d.AllocsPerEvent, lang.Short)))
	}
	all := []table.Section{{Title: titleSelftest.In(l), Level: 1, Lines: lines}}
	if len(r.Levels) > 0 {
		all = append(all, table.Section{Title: titleLevels.In(l), Level: 2, Table: levels(r, l), Notes: levelNotes(r, l)})
	}
	if len(r.Arrivals) > 0 {
		s := table.Section{Title: titleArrivals.In(l), Level: 2, Table: arrivals(r, l)}
		if table.Shows([]table.Table{s.Table}, func(c table.Cell) bool { return c.Mark != "" }) {
			s.Notes = []string{legendFewArrivals.In(l)}
		}
		all = append(all, s)
	}
	return append(all, table.Section{Lines: []string{findings.SelftestVerdict(r.Summary(), l)}})
}

// levels is the table of streams.
func levels(r *selftest.Result, l lang.Lang) table.Table {
	t := table.Table{Columns: []table.Column{
		{Head: headStreams.In(l)}, {Head: headPhase.In(l), Left: true}, {Head: headBusy.In(l), Left: true},
		{Head: headAsked.In(l)}, {Head: lang.HeadOutput.In(l)}, {Head: headStamp.In(l), Sub: "p50"}, {Head: headStamp.In(l), Sub: "p99"}, {Head: headStamp.In(l), Sub: "p99.9"},
		{Head: headShared.In(l)}, {Head: headDelay.In(l), Sub: lang.SubMean.In(l)}, {Head: headCores.In(l), Sub: subUsed.In(l)},
		{Head: headMemory.In(l)}, {Head: headTrust.In(l), Left: true},
	}}
	for _, v := range r.Levels {
		beside := besideNothing
		if v.Busy {
			beside = besideHog
		}
		phase := phaseUniform
		if v.Phase == selftest.InStep {
			phase = phaseInStep
		}
		t.Rows = append(t.Rows, []table.Cell{
			{Text: strconv.Itoa(v.Streams)}, {Text: phase.In(l)}, {Text: beside.In(l)},
			table.Number(rundir.Exactly(v.Rate*float64(v.Streams)), "", lang.Fixed(0)), table.Number(v.TokensPerS, "tok/s", lang.Fixed(0)), minute(v.Error.P50), supported(minute(v.Error.P99), v.Error, 0.99), supported(minute(v.Error.P999), v.Error, 0.999),
			table.Number(lang.Scale(v.Shared, 100), "%", lang.Short), minute(v.DelayMean), table.Number(v.Cores, "", lang.Fixed(2)),
			table.Number(lang.Scale(v.PerStream, 1.0/1024), "KB", lang.Fixed(0)), trusted(v.Limit, l),
		})
	}
	return t
}

// arrivals is the table of rates.
func arrivals(r *selftest.Result, l lang.Lang) table.Table {
	t := table.Table{Columns: []table.Column{
		{Head: headArrivals.In(l)}, {Head: headRequests.In(l)},
		{Head: headSchedule.In(l), Sub: "p50"}, {Head: headSchedule.In(l), Sub: "p99"}, {Head: headSchedule.In(l), Sub: subMax.In(l)},
		{Head: headWritten.In(l), Sub: "p50"}, {Head: headWritten.In(l), Sub: "p99"}, {Head: headWritten.In(l), Sub: subMax.In(l)},
		{Head: headTrust.In(l), Left: true},
	}}
	for _, a := range r.Arrivals {
		t.Rows = append(t.Rows, []table.Cell{
			{Text: lang.Shortest(a.Rate), Unit: "/s"}, {Text: strconv.Itoa(a.Lag.N)},
			minute(a.Lag.P50), supported(minute(a.Lag.P99), a.Lag, 0.99), minute(a.Lag.Max),
			minute(a.Written.P50), supported(minute(a.Written.P99), a.Written, 0.99), minute(a.Written.Max), trusted(a.Limit, l),
		})
	}
	return t
}

// minute is a cell with a duration far below a second.
func minute(f rundir.Number) table.Cell {
	switch v := f.Value(); {
	case !f.Known() || v >= 1e-3:
		return table.Seconds(f)
	case v < 1e-6:
		return table.Number(lang.Scale(f, 1e9), "ns", lang.Short)
	}
	return table.Number(lang.Scale(f, 1e6), "us", lang.Short)
}

// supported marks a percentile that too few values support.
func supported(c table.Cell, s selftest.Spread, p float64) table.Cell {
	if s.N > 0 && !s.Supported(p) {
		c.Mark += table.MarkUnsupported
	}
	return c
}

func trusted(limit string, l lang.Lang) table.Cell {
	if limit == "" {
		return table.Cell{Text: trustYes.In(l), Tone: table.Good}
	}
	return table.Cell{Text: sayNo.In(l, findings.LevelLimit(limit, l)), Tone: table.Caution}
}

// levelNotes explain the table of streams.
func levelNotes(r *selftest.Result, l lang.Lang) []string {
	var notes []string
	said := map[string]bool{}
	add := func(s string) {
		if !said[s] {
			said[s] = true
			notes = append(notes, s)
		}
	}
	for _, v := range r.Levels {
		switch {
		case v.Limit == selftest.LimitDescriptors:
			add(sayOpenFiles.In(l, strconv.Itoa(v.Streams), strconv.Itoa(r.Descriptors)))
		case v.Failed > 0:
			add(sayFailed.In(l, strconv.Itoa(v.Streams), strconv.Itoa(v.Failed), v.Failure))
		}
	}
	for _, say := range []lang.Phrase{legendStamp, legendMemory, legendLevels} {
		add(say.In(l))
	}
	return notes
}
