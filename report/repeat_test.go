package report

import (
	"strings"
	"testing"

	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/published"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// repeated is a copy of a stage as it was measured once more, its numbers by times as large. Its intervals say that it may be
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
		*f = lang.Scale(*f, times)
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

// repeatedRows are the cells of the table by stage and number.
func repeatedRows(run *rundir.Run) map[string][]string {
	rows := map[string][]string{}
	for _, cells := range findings.RepeatTable(run).Rows {
		var texts []string
		for _, c := range cells {
			texts = append(texts, c.In(lang.English))
		}
		rows[texts[0]+" "+texts[2]] = texts
	}
	return rows
}

func TestRepeats(t *testing.T) {
	run := repeatedRun()
	rows := repeatedRows(&run)
	if len(rows) != 15 {
		t.Errorf("%d rows, want five metrics at three rates", len(rows))
	}
	for key, want := range map[string]string{
		"asynchronous@1.57 done":          "asynchronous@1.57|3|done|1.56 req/s|1.00 %|1.00 %",
		"asynchronous@1.57 ITL mean":      "asynchronous@1.57|3|ITL mean|26.0 ms|1.00 %|1.00 %",
		"asynchronous@4.75 output":        "asynchronous@4.75|3|output|591.40 tok/s|10.00 %+|1.00 %",
		"asynchronous@4.75 TTFT mean":     "asynchronous@4.75|3|TTFT mean|107 ms|10.00 %+|1.00 %",
		"asynchronous@10.04 done":         "asynchronous@10.04|2|done|7.27 req/s|1.40 %|1.00 %",
		"asynchronous@10.04 latency mean": "asynchronous@10.04|2|latency mean|> 62.3 s|n/a|n/a",
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

// How far an interrupted run got counts repetitions.
func TestRepeatsInWords(t *testing.T) {
	run := repeatedRun()
	run.State = rundir.Interrupted
	run.Stages = run.Stages[:4]
	if got := strings.Join(findings.State(&run, lang.English), " "); !strings.Contains(got, "Not started: 7 of 11 planned stages.") {
		t.Errorf("it got this far: %s", got)
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
		for _, r := range findings.InTable(&c.run) {
			names = append(names, r.Stage.Name)
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

// The published table of a run with repetitions is read again as one with as many rows, and the table of spreads is not taken
// for results.
func TestRepeatsAreReadAgain(t *testing.T) {
	for _, l := range lang.All() {
		run := repeatedRun()
		doc, err := published.ParseText("report.md", strings.NewReader(render(t, "markdown", []rundir.Run{run}, Options{Lang: l})))
		if err != nil || len(doc.Runs) != 1 || len(doc.Runs[0].Stages) != len(run.Stages) {
			t.Fatalf("%s: %d runs, %v", l, len(doc.Runs), err)
		}
		for i, r := range findings.InTable(&run) {
			if got := doc.Runs[0].Stages[i]; got.Kind != r.Stage.Kind || got.Rate != r.Stage.Rate {
				t.Errorf("%s: %s was read as %s", l, r.Stage.Name, got.Name)
			}
		}
	}
}
