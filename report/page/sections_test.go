package page

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"llmsweep/report/choose"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
)

// singleSLORun is a run of one stage with an SLO.
func singleSLORun(t *testing.T, v rundir.SLOVerdict) *rundir.Run {
	run := openReal(t)
	st := run.Stages[2]
	st.Goodput = &rundir.Goodput{
		Verdict: v,
		Terms:   []rundir.TermResult{{Term: "ttft:p90<500ms", Verdict: v, Value: rundir.Exactly(0.7)}},
	}
	run.Stages, run.Saturation, run.Answer, run.SLO, run.Warnings, run.Client = []rundir.Stage{
		st,
	}, nil, nil, nil, nil, rundir.Client{
		Valid: true,
	}
	run.Plan = rundir.Plan{Kind: rundir.KindRun, SLO: []string{"ttft:p90<500ms"}}
	return run
}

// The words of a page are explained at its end, in both languages.
func TestPageGlossary(t *testing.T) {
	p := writeRun(t, singleSLORun(t, rundir.Met), "")
	for lang, want := range map[string]string{"en": "time from sending the request to the first token",
		"zh": "从发出请求到首个 token 的时间"} {
		if text := elementText(p.elements("main")[0], lang); !strings.Contains(text, want) {
			t.Errorf("%s: no %q", lang, want)
		}
	}
}

// The page of a gate begins with its verdict; one stage has no curves, and nothing is said of what was not noticed.
func TestSLOVerdictHeadline(t *testing.T) {
	for v, want := range map[rundir.SLOVerdict]string{rundir.Met: "met", rundir.Missed: "missed",
		rundir.Unsure: "unsure"} {
		run := singleSLORun(t, v)
		h := newRunPage(run).headline()
		if h.Verdict.Text.EN != want || h.Unit.EN != "ttft:p90<500ms" || len(h.Also) != 1 ||
			h.Also[0].Number != "700 ms" {
			t.Errorf("%s: %+v", v, h)
		}
		p := writeRun(t, run, "")
		checkPage(t, p)
		text := elementText(p.elements("main")[0], "en")
		for _, not := range []string{"as load grows", "Nothing was noticed", "all 1 stages"} {
			if strings.Contains(text, not) {
				t.Errorf("the page says %q", not)
			}
		}
		if at := strings.Index(text, want); at < 0 || at > 40 {
			t.Errorf("%q stands at %d of the page", want, at)
		}
	}
}

// A run that goes on is never called killed.
func TestLivePageInProgress(t *testing.T) {
	run := openReal(t)
	run.State = rundir.Running
	var live, dead strings.Builder
	if err := Run(&live, run, "", WriteOptions{Live: "1"}); err != nil {
		t.Fatal(err)
	}
	if err := Run(&dead, run, "", WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(live.String(), "Killed") || !strings.Contains(live.String(), "In progress.") ||
		!strings.Contains(live.String(), `data-live="1"`) {
		t.Error("the live page does not say that the run goes on")
	}
	if !strings.Contains(dead.String(), "Killed") || strings.Contains(dead.String(), `data-live="1"`) {
		t.Error("the page of a run that was killed does not say so")
	}
}

// The stage nearest to the comfortable load is shown first.
func TestFirstStage(t *testing.T) {
	run := openReal(t)
	got := operatingStage(run)
	if got == nil {
		t.Fatal("none")
	}
	load := saturation.AnswerOf(run).Comfortable.Rate.Value()
	for i := range run.Stages {
		s := &run.Stages[i]
		if s.Verdict == rundir.Stable && s.Rate.Known() && isDrawn(s) &&
			math.Abs(s.Rates.Offered.Value()-load) < math.Abs(got.Rates.Offered.Value()-load) {
			t.Errorf("%s is shown first, and %s is nearer to %v", got.Name, s.Name, load)
		}
	}
	traces, err := readTrace(realRun, run, overTimeLimits(len(run.Stages)))
	if err != nil {
		t.Fatal(err)
	}
	all := stagePanels(newRunPage(run).view, traces, map[string]any{})
	shown := firstPanel(all)
	if i := slices.IndexFunc(all, func(p Panel) bool { return p.ID == shown }); !strings.HasPrefix(all[i].Name.EN,
		findings.StageName(got)) {
		t.Errorf("%s is shown first, and %s is the comfortable stage", all[i].Name.EN, got.Name)
	}
}

// The whole run over time holds each stage with records once, in order, and what its records hold.
func TestTimeline(t *testing.T) {
	run := openReal(t)
	traces, err := readTrace(realRun, run, overTimeLimits(len(run.Stages)))
	if err != nil {
		t.Fatal(err)
	}
	f, ok := timeline(newRunPage(run).view, traces)
	if !ok {
		t.Fatal("the run is not drawn")
	}
	fig, last := f.Variants[0].Drawn, 0.0
	if len(fig.Spans) != len(traces) {
		t.Errorf("%d stages are shaded", len(fig.Spans))
	}
	for i, st := range slices.DeleteFunc(stagesByStart(run), func(s *rundir.Stage) bool { return traces[s.Name] == nil }) {
		if span := fig.Spans[i]; span.Low < last || span.Low != st.Started {
			t.Errorf("%s is shaded from %v, the stage before to %v", st.Name, span.Low, last)
		}
		last = fig.Spans[i].Low
		done, drawn := 0.0, fig.Panels[0].Series[2*i+1]
		for _, n := range traces[st.Name].Done {
			done += n
		}
		area, tr := 0.0, traces[st.Name]
		for k, p := range drawn.Points {
			group := max(1, len(tr.Done)/24)
			area += p.Y * tr.Width * float64(min(group, len(tr.Done)-k*group))
		}
		if math.Abs(area-done) > 1e-6*done {
			t.Errorf("%s: %v requests are drawn of %v", st.Name, area, done)
		}
	}
}

// A list of slowest requests has no button that leaves out nothing, or as much as another.
func TestSlowestButtons(t *testing.T) {
	run := openReal(t)
	traces, err := readTrace(realRun, run, overTimeLimits(len(run.Stages)))
	if err != nil {
		t.Fatal(err)
	}
	for i := range run.Stages {
		s := &run.Stages[i]
		list := slowest("s", findings.StageRow{Run: run, Stage: s}, traces[s.Name])
		if list == nil {
			continue
		}
		metric, rows := "", 0
		for _, c := range list.Choices {
			if c.Metric != metric {
				metric, rows = c.Metric, len(list.Table.Rows)
			}
			n := traces[s.Name].countAbove(c.Metric, c.Value)
			if n == 0 || n >= rows {
				t.Errorf("%s: %s leaves %d rows of %d", s.Name, c.Text.EN, n, rows)
			}
			rows = n
		}
	}
}

// Costs are those of the prices; more runs than can be told apart have drawings of their own over the same axes, each
// with a name of what differs.
func TestManyConfigurations(t *testing.T) {
	setups := publishedSetups(t)
	o := chooseOptions(t)
	choices, err := choose.Of(setups, o)
	if err != nil {
		t.Fatal(err)
	}
	own := rankSetups(&choices[0], setups)
	for i, k := range choices[0].Ranked {
		if own[i].Name != k.Name {
			t.Errorf("number %d is %s, and rank %[1]d is %s", i+1, own[i].Name, k.Name)
		}
	}
	f, ok := costOfSpeed("c", own, setupNames(own), o.Prices)
	if !ok || len(f.Switches) < 2 {
		t.Fatalf("%v, %d buttons", ok, len(f.Switches))
	}
	row := 0
	for i := range own {
		price, _ := o.Prices.GPUHour(own[i].Run.Labels)
		for _, r := range own[i].Rows {
			p, ok := speedPoint(r.Stage, 1)
			if !ok || own[i].Impossible(r.Stage) {
				continue
			}
			want := price * float64(own[i].Run.Labels.GPUs) / p.Y / 3600 * 1e6
			if got := f.Table.Rows[row][4]; got.Text.EN != table.Number(rundir.Exactly(want), "", lang.Short).Text.EN {
				t.Errorf("%s, %s costs %s a million, want %v", own[i].Name, r.Stage.Name, got.Text.EN, want)
			}
			row++
		}
	}
	if row != len(f.Table.Rows) || row < 30 {
		t.Errorf("%d rows of %d", row, len(f.Table.Rows))
	}
	if _, ok := costOfSpeed("c", own, setupNames(own), choose.Prices{}); ok {
		t.Error("costs without prices")
	}
	for _, apart := range []bool{true, false} {
		together := newOverlay(own, distinctParts(setupNames(own)), "")
		together.split = apart
		for _, f := range together.figures() {
			ticks := map[string]bool{} // of small drawings, which have the same axes
			for i, one := range f.Variants[0].Small {
				ticks[strings.Join(regexp.MustCompile(`class="tick"[^<]*<`).FindAllString(string(one.SVG), -1), "")] = true
				if want := distinctParts(setupNames(own))[i]; one.Title != want || strings.Contains(want, "Qwen2-7B-Instruct") {
					t.Errorf("%s: a drawing is called %q, want %q", f.Name, one.Title, want)
				}
			}
			if len(ticks) > 1 {
				t.Errorf("%s: %d kinds of axes", f.Name, len(ticks))
			}
			if small := len(f.Variants[0].Small); apart && strings.HasPrefix(f.Name, "all-") && small != len(own) ||
				!apart && small > 0 {
				t.Errorf("%s: %d drawings of %d configurations", f.Name, small, len(own))
			}
		}
	}
}

// Names are told apart by the parts that differ; a name alone, or one without such a part, stays.
func TestDistinctNames(t *testing.T) {
	for _, c := range []struct{ names, want []string }{
		{[]string{"Q-7B, 1 x L20, vLLM", "Q-7B-Int4, 1 x L20, vLLM", "Q-7B, 2 x L20, vLLM"},
			[]string{"1 x L20", "Int4, 1 x L20", "2 x L20"}},
		{[]string{"Q-7B, 1 x L20, vLLM", "Q-14B, 1 x L20, vLLM"}, []string{"Q-7B", "Q-14B"}},
		{[]string{"Q-7B, 1 x L20, vLLM"}, []string{"Q-7B, 1 x L20, vLLM"}},
		{[]string{"a", "b"}, []string{"a", "b"}},
	} {
		if got := distinctParts(c.names); !slices.Equal(got, c.want) {
			t.Errorf("%q are called %q, want %q", c.names, got, c.want)
		}
	}
}
