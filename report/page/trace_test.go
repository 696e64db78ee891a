package page

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"llmsweep/client/testkit"
	"llmsweep/report/findings"
	"llmsweep/sweep/measure"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/saturation"
	"llmsweep/sweep/slo"
)

// traces are what is drawn over time of the real run.
var traces = sync.OnceValue(func() map[string]*traceStage {
	return testkit.Must(readTrace(realRun, openReal(), overTimeLimits(len(openReal().Stages))))
})

// What is summed up agrees with the records and with run.json.
func TestTraceAgreesWithTheRecords(t *testing.T) {
	run := openReal()
	traces := testkit.Must(readTrace(realRun, run, traceLimits{Points: 300, Slowest: 4}))
	records := map[string][]*rundir.Record{}
	for r, err := range store.Records(realRun) {
		if err != nil {
			t.Fatal(err)
		}
		records[r.Stage] = append(records[r.Stage], r)
	}
	for i := range run.Stages {
		st := &run.Stages[i]
		tr, all := traces[st.Name], records[st.Name]
		if tr == nil || tr.Requests != len(all) || sum(tr.Due) != float64(len(all)) {
			t.Fatalf("%s: %d records are not all in the slices", st.Name, len(all))
		}
		tokens, busy, slowest := 0.0, 0.0, 0.0
		window := measure.WindowOf(st)
		for _, r := range all {
			tokens += r.OutputTokens.Value()
			busy += r.End.Value() - r.Sent.Value()
			if v := measure.SLOValue(slo.TTFT, r); window.Holds(r.Due.Value()) && v.Known() {
				slowest = max(slowest, v.Value())
			}
		}
		top := slices.MaxFunc(tr.Slowest, func(a, b traceRequest) int { return cmp.Compare(a.TTFT.Value(), b.TTFT.Value()) })
		highest := slices.MaxFunc(tr.Points, func(a, b tracePoint) int { return cmp.Compare(a.TTFT.Value(), b.TTFT.Value()) })
		for _, c := range []struct {
			what                 string
			got, want, tolerance float64
		}{
			{"tokens over time", sum(tr.Tokens), tokens, 1e-6}, {"request-seconds", sum(tr.InFlight) * tr.Width, busy, 0.01},
			{"values of TTFT", tr.Values[slo.TTFT].N, float64(st.TTFT.N), 0},
			{"gaps", tr.Values[slo.ITL].N, float64(st.ITL.N), 0},
			{"the slowest kept", top.TTFT.Value(), slowest, 0}, {"the slowest of run.json", st.TTFT.Max.Value(), slowest, 0},
		} {
			if math.Abs(c.got-c.want) > c.tolerance*c.want {
				t.Errorf("%s: %s are %v, want %v", st.Name, c.what, c.got, c.want)
			}
		}
		if highest.TTFT.Value() < slowest || len(tr.Points) > 300 {
			t.Errorf("%s: %d points are drawn, the highest at %v of %v", st.Name, len(tr.Points), highest.TTFT, slowest)
		}
	}
	// A directory without records has no drawings, and that is no error.
	if got, err := readTrace(t.TempDir(), run, traceLimits{}); got != nil || err != nil {
		t.Error(got, err)
	}
}

func sum(v []float64) (total float64) {
	for _, x := range v {
		total += x
	}
	return total
}

// The bins of a distribution hold what was counted; those far below are gathered in the first one that is drawn.
func TestHistogram(t *testing.T) {
	h := &traceHistogram{}
	for _, v := range []float64{0, 2e-6, 0.01, 0.011, 0.5, 12} {
		h.Add(v, 1, v == 12)
	}
	for _, least := range []float64{math.NaN(), 1e-3} {
		bars, below := h.Bars(least)
		total, first, last := 0.0, bars[0], bars[len(bars)-1]
		for _, b := range bars {
			total += b.Count
		}
		if total != 6 || h.Bounded != 1 || last.Low > 12 || last.High < 12 {
			t.Errorf("bars hold %v values, want 6; the last is %+v", total, last)
		}
		if least > 0 && (below != 2 || first.Count != 2 || first.Low > least || first.High < least) {
			t.Errorf("%v values are below %v: first bar %+v", below, least, first)
		}
	}
}

// What is drawn over time: the stage nearest to the comfortable load is shown first, each stage with records is shaded
// once, in order, with what its records hold, and no button of the slowest requests leaves out nothing or as much as
// another.
func TestDrawingsOverTime(t *testing.T) {
	run := openReal()
	var said strings.Builder
	panels := stagePanels(newView(run), traces(), map[string]any{})
	fmt.Fprintf(&said, "at %.2f req/s %s is shown first\n", saturation.AnswerOf(run).Comfortable.Rate.Value(),
		panels[slices.IndexFunc(panels, func(p Panel) bool { return p.ID == firstPanel(panels) })].Name.EN)
	f, _ := timeline(newView(run), traces())
	fig := f.Variants[0].Drawn
	for i, st := range slices.DeleteFunc(stagesByStart(run),
		func(s *rundir.Stage) bool { return traces()[s.Name] == nil }) {
		tr, area := traces()[st.Name], 0.0
		group := max(1, len(tr.Done)/24)
		for k, p := range fig.Panels[0].Series[2*i+1].Points {
			area += p.Y * tr.Width * float64(min(group, len(tr.Done)-k*group))
		}
		fmt.Fprintf(&said, "%s from %.3f, shaded from %.3f; %.3f requests, drawn %.3f\n", st.Name, st.Started,
			fig.Spans[i].Low, sum(tr.Done), area)
		list := slowest("s", findings.StageRow{Run: run, Stage: st}, tr)
		if list == nil {
			continue
		}
		fmt.Fprintf(&said, "  %d slowest requests\n", len(list.Table.Rows))
		for _, c := range list.Choices {
			fmt.Fprintf(&said, "  %s %s: %d\n", c.Metric, c.Text.EN, tr.countAbove(c.Metric, c.Value))
		}
	}
	testkit.CheckGolden(t, "time.txt", []byte(said.String()))
}
