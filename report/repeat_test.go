package report

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"llmsweep/report/published"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// repeated is a copy of a stage as it was measured once more, its figures by times as large. Its intervals say that it may be
// off by a standard error of 1 %.
func repeated(of rundir.Stage, number int, times float64) rundir.Stage {
	s := of
	s.Repeat = number
	if number > 1 {
		s.Name += "#" + string(rune('0'+number))
	}
	interval := func(f rundir.Number) [2]float64 {
		return [2]float64{f.Value() * (1 - 0.01*stats.Z95), f.Value() * (1 + 0.01*stats.Z95)}
	}
	for _, f := range []*rundir.Number{&s.Rates.Completed, &s.TokensPerS.Output, &s.Latency.Mean, &s.TTFT.Mean, &s.InterToken} {
		*f = scaled(*f, times)
	}
	for _, d := range []*rundir.Dist{&s.Latency, &s.TTFT} {
		d.CI = map[string][2]float64{"mean": interval(d.Mean)}
	}
	s.ITL.CI = map[string][2]float64{"mean": interval(s.InterToken)}
	done := interval(s.Rates.Completed)
	s.Progress = rundir.Progress{Rate: s.Rates.Completed, Low: rundir.Exactly(done[0]), High: rundir.Exactly(done[1]), Batches: 12}
	return s
}

// repeatedRun measured three rates of a sweep three times each, in shuffled order. At the first they differ by as much as their
// intervals allow, at the second by ten times that; the third has bounds, and one of its repetitions was cut short.
func repeatedRun() rundir.Run {
	run := sweptRun()
	run.Plan.Points, run.Plan.Repeats = 3, 3
	low, middle, high := run.Stages[2], run.Stages[5], run.Stages[10]
	cut := repeated(high, 2, 1.5)
	cut.State = rundir.Interrupted
	run.Stages = []rundir.Stage{
		run.Stages[0], run.Stages[1],
		repeated(middle, 2, 1.1), repeated(low, 3, 1.01), repeated(high, 3, 1), cut, repeated(low, 1, 0.99),
		repeated(middle, 1, 1), repeated(low, 2, 1), repeated(high, 1, 1.02), repeated(middle, 3, 0.9),
	}
	return run
}

// near reports whether two figures agree, or that neither exists.
func near(a, b rundir.Number) bool {
	return a.IsZero() && b.IsZero() || a.Bound() == b.Bound() && math.Abs(a.Value()-b.Value()) < 1e-9*math.Abs(b.Value())+1e-12
}

func TestSpreadOf(t *testing.T) {
	exact, none := rundir.Exactly, rundir.Number{}
	nan := math.NaN()
	for name, c := range map[string]struct {
		all     []estimate
		want    spread
		exceeds bool
	}{
		"90, 100 and 110":      {[]estimate{{exact(90), 3}, {exact(100), 4}, {exact(110), 5}}, spread{exact(100), exact(0.1), exact(math.Sqrt(50./3) / 100)}, true},
		"as their errors say":  {[]estimate{{exact(9), 1}, {exact(11), 1}}, spread{exact(10), exact(math.Sqrt2 / 10), exact(0.1)}, false},
		"exactly twice":        {[]estimate{{exact(9), math.Sqrt2 / 2}, {exact(11), math.Sqrt2 / 2}}, spread{exact(10), exact(math.Sqrt2 / 10), exact(math.Sqrt2 / 20)}, false},
		"errors of some":       {[]estimate{{exact(9), nan}, {exact(11), 0.2}}, spread{exact(10), exact(math.Sqrt2 / 10), exact(0.02)}, true},
		"errors of none":       {[]estimate{{exact(9), nan}, {exact(11), nan}}, spread{exact(10), exact(math.Sqrt2 / 10), none}, false},
		"one alone":            {[]estimate{{exact(9), 0.9}}, spread{exact(9), none, exact(0.1)}, false},
		"one without a figure": {[]estimate{{exact(9), 0.9}, {none, nan}}, spread{exact(9), none, exact(0.1)}, false},
		"a bound":              {[]estimate{{exact(9), 0.9}, {rundir.Over(11), nan}}, spread{rundir.Over(10), none, none}, false},
		"nothing":              {nil, spread{}, false},
	} {
		got := spreadOf(c.all)
		if !near(got.mean, c.want.mean) || !near(got.between, c.want.between) || !near(got.within, c.want.within) {
			t.Errorf("%s: %v %v %v, want %v %v %v", name, got.mean.Value(), got.between.Value(), got.within.Value(),
				c.want.mean.Value(), c.want.between.Value(), c.want.within.Value())
		}
		if got.exceeds() != c.exceeds {
			t.Errorf("%s: exceeds is %v", name, got.exceeds())
		}
	}
}

// Neither the unit nor the order of repetitions matters.
func TestSpreadIsAShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all, other []estimate
		unit := rapid.Float64Range(1e-3, 1e3).Draw(t, "unit")
		for range rapid.IntRange(2, 6).Draw(t, "n") {
			e := estimate{rundir.Exactly(rapid.Float64Range(1, 100).Draw(t, "figure")), rapid.Float64Range(0, 10).Draw(t, "se")}
			all = append(all, e)
			other = append([]estimate{{scaled(e.figure, unit), e.se * unit}}, other...)
		}
		a, b := spreadOf(all), spreadOf(other)
		close := func(x, y rundir.Number) bool { return math.Abs(x.Value()-y.Value()) < 1e-9 }
		if !close(a.between, b.between) || !close(a.within, b.within) || !near(scaled(a.mean, unit), b.mean) {
			t.Fatalf("%+v, in another unit and order %+v", a, b)
		}
	})
}

// repeatedRows are the cells of the table by stage and figure.
func repeatedRows(run *rundir.Run) map[string][]string {
	rows := map[string][]string{}
	for _, cells := range repeats(run, English).Rows {
		var texts []string
		for _, c := range cells {
			texts = append(texts, c.String())
		}
		rows[texts[0]+" "+texts[2]] = texts
	}
	return rows
}

func TestRepeats(t *testing.T) {
	run := repeatedRun()
	rows := repeatedRows(&run)
	if len(rows) != 15 {
		t.Errorf("%d rows, want five figures at three rates", len(rows))
	}
	for key, want := range map[string]string{
		"poisson@1.57 done":          "poisson@1.57|3|done|1.56 req/s|1.00 %|1.00 %",
		"poisson@1.57 ITL mean":      "poisson@1.57|3|ITL mean|26.0 ms|1.00 %|1.00 %",
		"poisson@4.75 output":        "poisson@4.75|3|output|591.40 tok/s|10.00 %+|1.00 %",
		"poisson@4.75 TTFT mean":     "poisson@4.75|3|TTFT mean|107 ms|10.00 %+|1.00 %",
		"poisson@10.04 done":         "poisson@10.04|2|done|7.27 req/s|1.40 %|1.00 %",
		"poisson@10.04 latency mean": "poisson@10.04|2|latency mean|> 62.3 s|n/a|n/a",
	} {
		if got := strings.Join(rows[key], "|"); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	single := sweptRun()
	if rows := repeatedRows(&single); len(rows) != 0 {
		t.Errorf("a run without repetitions has %v", rows)
	}
}

// How far an interrupted run got counts repetitions; and no row of the published table tells them apart by its name, which others
// would not read.
func TestRepeatsInWords(t *testing.T) {
	run := repeatedRun()
	run.State = rundir.Interrupted
	run.Stages = run.Stages[:4]
	if got := strings.Join(progress(&run, English), " "); !strings.Contains(got, "Never begun: 7 of 11 planned stages.") {
		t.Errorf("it got this far: %s", got)
	}
	for kind, want := range map[string]string{
		"poisson": "asynchronous@2.00 req/sec", "constant": "constant@2.00 req/sec", "concurrent": "concurrent@2.00",
	} {
		s := rundir.Stage{Name: kind + "@2.00#3", Kind: kind, Repeat: 3}
		if kind != "concurrent" {
			s.Rate = rundir.Exactly(2)
		}
		if got := publishedName(&s); got != want {
			t.Errorf("%s is published as %s, want %s", s.Name, got, want)
		}
	}
}

// A run of a ladder is shown as it was asked for, whatever order it ran in.
func TestRepeatedRowsAreInOrder(t *testing.T) {
	run := singleRun()
	ladder := func(width, number int) rundir.Stage {
		s := measured("concurrent", "concurrent", rundir.Single, rundir.Closed, 0, 3, 2, 100, 160, 22, 40, 436, float64(width))
		s.MaxConcurrency, s.Name = width, "concurrent@"+string(rune('0'+width))
		return repeated(s, number, 1)
	}
	run.Stages = []rundir.Stage{ladder(8, 2), ladder(2, 1), ladder(8, 1), ladder(2, 2)}
	swept := repeatedRun()
	for _, c := range []struct {
		run  rundir.Run
		want string
	}{
		{run, "concurrent@2 concurrent@2#2 concurrent@8 concurrent@8#2"},
		{swept, "synchronous poisson@1.57 poisson@1.57#2 poisson@1.57#3 poisson@4.75 poisson@4.75#2 poisson@4.75#3 " +
			"poisson@10.04 poisson@10.04#2 poisson@10.04#3 throughput"},
	} {
		var names []string
		for _, r := range tableRows(&c.run) {
			names = append(names, r.stage.Name)
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

// The published table of a run with repetitions is read again as one with so many rows, and the table of spreads is not taken
// for results.
func TestRepeatsAreReadAgain(t *testing.T) {
	for _, lang := range []Lang{English, Chinese} {
		run := repeatedRun()
		doc, err := published.Parse("report.md", strings.NewReader(render(t, "markdown", []rundir.Run{run}, Options{Lang: lang})))
		if err != nil || len(doc.Runs) != 1 || len(doc.Runs[0].Stages) != len(run.Stages) {
			t.Fatalf("%s: %d runs, %v", lang, len(doc.Runs), err)
		}
		for i, r := range tableRows(&run) {
			if got := doc.Runs[0].Stages[i]; got.Kind != r.stage.Kind || got.Rate != r.stage.Rate {
				t.Errorf("%s: %s was read as %s", lang, r.stage.Name, got.Name)
			}
		}
	}
}
