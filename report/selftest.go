package report

import (
	"slices"
	"strconv"
	"strings"

	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/selftest"
)

const loadedPerCore = 0.5 // load average above which other processes are at work

// Selftest returns the tables of a self-test, the verdict last.
func Selftest(r *selftest.Result) []table.Section {
	lines := []lang.Text{sayMachine.Text(strconv.Itoa(r.CPUs), lang.Number(r.Load, lang.Short),
		lang.Both(func(l lang.Lang) string { return findings.TimestampsText(r.Timestamps, l) }))}
	if r.Load.Known() && r.Load.Value() > loadedPerCore*float64(r.CPUs) {
		lines = append(lines, sayLoaded.Text())
	}
	if d := r.Decode; d.PerEvent.Known() {
		lines = append(lines, sayDecode.Text(durationCell(d.PerEvent).In(lang.English)))
	}
	all := []table.Section{{Title: titleSelftest.Text(), Level: 1, Lines: lines}}
	if len(r.Levels) > 0 {
		all = append(all, table.Section{Title: titleLevels.Text(), Level: 2, Table: levelTable(r), Notes: levelNotes(r)})
	}
	if len(r.Arrivals) > 0 {
		s := table.Section{Title: titleArrivals.Text(), Level: 2, Table: arrivalTable(r)}
		if strings.Contains(table.Marks(s.Table), table.MarkUnsupported) {
			s.Notes = []lang.Text{legendFewArrivals.Text()}
		}
		all = append(all, s)
	}
	verdict := lang.Both(func(l lang.Lang) string { return findings.SelftestVerdict(&r.Trust, l) })
	return append(all, table.Section{Lines: []lang.Text{verdict}})
}

func levelTable(r *selftest.Result) table.Table {
	t := table.Table{Columns: []table.Column{
		{Head: headStreams.Text()}, {Head: headPhase.Text(), Left: true},
		{Head: headAsked.Text()}, {Head: lang.HeadOutput.Text()}, {Head: headStamp.Text(), Sub: lang.Same("p50")},
		{Head: headStamp.Text(), Sub: lang.Same("p99")}, {Head: headStamp.Text(), Sub: lang.Same("p99.9")},
		{Head: headCores.Text(), Sub: subUsed.Text()}, {Head: headMemory.Text()}, {Head: headTrust.Text(), Left: true},
	}}
	for _, v := range r.Levels {
		phase := phaseUniform
		if v.Phase == selftest.InStep {
			phase = phaseInStep
		}
		t.Rows = append(t.Rows, []table.Cell{
			table.Literal(strconv.Itoa(v.Streams)), {Text: phase.Text()},
			table.Number(rundir.Exactly(v.Rate*float64(v.Streams)), "", lang.Fixed(0)),
			table.Number(v.TokensPerS, "tok/s", lang.Fixed(0)), durationCell(v.Error.P50),
			percentileCell(v.Error.P99, v.Error, 0.99), percentileCell(v.Error.P999, v.Error, 0.999),
			table.Number(v.Cores, "", lang.Fixed(2)),
			table.Number(lang.Scale(v.PerStream, 1.0/1024), "KB", lang.Fixed(0)), trustCell(v.Limit),
		})
	}
	return t
}

func arrivalTable(r *selftest.Result) table.Table {
	t := table.Table{Columns: []table.Column{
		{Head: headArrivals.Text()}, {Head: headRequests.Text()},
		{Head: headWritten.Text(), Sub: lang.Same("p50")}, {Head: headWritten.Text(), Sub: lang.Same("p99")},
		{Head: headWritten.Text(), Sub: subMax.Text()},
		{Head: headTrust.Text(), Left: true},
	}}
	for _, a := range r.Arrivals {
		t.Rows = append(t.Rows, []table.Cell{
			{Text: lang.Same(lang.Shortest(a.Rate)), Unit: "/s"}, table.Literal(strconv.Itoa(a.Lag.N)),
			durationCell(a.Lag.P50), percentileCell(a.Lag.P99, a.Lag, 0.99), durationCell(a.Lag.Max),
			trustCell(a.Limit),
		})
	}
	return t
}

func durationCell(f rundir.Number) table.Cell {
	v := f.Value()
	switch {
	case !f.Known() || v >= 1e-3:
		return table.Seconds(f)
	case v < 1e-6:
		return table.Number(lang.Scale(f, 1e9), "ns", lang.Short)
	}
	return table.Number(lang.Scale(f, 1e6), "us", lang.Short)
}

func percentileCell(f rundir.Number, s selftest.Spread, p float64) table.Cell {
	c := durationCell(f)
	if s.N > 0 && !s.Supported(p) {
		c.Mark += table.MarkUnsupported
	}
	return c
}

func trustCell(limit string) table.Cell {
	if limit == "" {
		return table.Cell{Text: trustYes.Text(), Tone: table.Good}
	}
	return table.Cell{Text: sayNo.Text(lang.Both(func(l lang.Lang) string { return findings.LevelLimit(limit, l) })),
		Tone: table.Caution}
}

func levelNotes(r *selftest.Result) []lang.Text {
	var notes []lang.Text
	add := func(s lang.Text) {
		if !slices.Contains(notes, s) {
			notes = append(notes, s)
		}
	}
	for _, v := range r.Levels {
		switch {
		case v.Limit == selftest.LimitDescriptors:
			add(sayOpenFiles.Text(strconv.Itoa(v.Streams), strconv.Itoa(r.Descriptors)))
		case v.Failed > 0:
			add(sayFailed.Text(strconv.Itoa(v.Streams), strconv.Itoa(v.Failed), v.Failure))
		}
	}
	return append(notes, legendStamp.Text(), legendMemory.Text(), legendLevels.Text())
}
