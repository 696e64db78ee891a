package published_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/tidwall/gjson"
	"pgregory.net/rapid"

	"llmsweep/report"
	"llmsweep/report/published"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
)

// inGuideLLM returns runs in GuideLLM's layout, and what is read of that.
func inGuideLLM(t interface{ Fatal(...any) }, runs ...rundir.Run) (string, []rundir.Run) {
	var b bytes.Buffer
	if err := report.Render(&b, "guidellm", runs, report.Options{}); err != nil {
		t.Fatal(err)
	}
	doc, err := published.ParseText("printed", bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if len(doc.Remarks) > 0 {
		t.Fatal(doc.Remarks)
	}
	return b.String(), doc.Runs
}

// guideStage returns what GuideLLM's layout has room for.
func guideStage(s rundir.Stage) rundir.Stage {
	tokens := func(t rundir.TokenStats) rundir.TokenStats {
		return rundir.TokenStats{N: t.N, Mean: exact(t.Mean), Min: exact(t.Min), Max: exact(t.Max), Total: exact(t.Total)}
	}
	dist := func(d rundir.Dist) rundir.Dist {
		out := rundir.Dist{N: d.N}
		for i, f := range d.Numbers() {
			*out.Numbers()[i].Number = *f.Number
		}
		return out
	}
	interToken := dist(s.TPOT)
	if !s.InterToken.IsZero() {
		interToken.Mean = s.InterToken
	}
	peak := s.Concurrency.Peak
	return rundir.Stage{
		Name: s.Name, Kind: s.Kind, Role: s.Role, Verdict: s.Verdict, Rate: s.Rate, MaxConcurrency: s.MaxConcurrency, Window: s.Window,
		WindowFrom: s.WindowFrom, Requests: s.Requests, Rates: rundir.Rates{Completed: s.Rates.Completed},
		TokensPerS: s.TokensPerS, Latency: dist(s.Latency), TTFT: dist(s.TTFT), TPOT: interToken,
		Concurrency: rundir.Concurrency{Mean: s.Concurrency.Mean, Peak: peak}, PromptTokens: tokens(s.PromptTokens), OutputTokens: tokens(s.OutputTokens),
	}
}

// exact returns a number that is known.
func exact(n rundir.Number) rundir.Number {
	if !n.Known() {
		return rundir.Number{}
	}
	return n
}

// near compares numbers, but for the last bit: they are written in milliseconds and read in seconds.
func near() cmp.Options {
	return cmp.Options{cmpopts.EquateEmpty(), cmp.Comparer(func(a, b rundir.Number) bool {
		return a.IsZero() && b.IsZero() || a.Known() == b.Known() && a.Bound() == b.Bound() && math.Abs(a.Value()-b.Value()) <= 1e-14*math.Abs(a.Value())
	})}
}

// TestGuideLLMRoundTrip tests that a run written in GuideLLM's layout is read again with the same numbers.
func TestGuideLLMRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		run := (&draw{t: t}).run("markdown")
		run.Plan.Kind = "sweep"
		run.Stages[0].MaxConcurrency = 1
		for i := range run.Stages {
			s := &run.Stages[i]
			s.Requests.Sent = s.Requests.Due
			s.Requests.Incomplete = s.Requests.Due - s.Requests.OK - s.Requests.Error
		}
		text, got := inGuideLLM(t, run)
		if len(got) != 1 || len(got[0].Stages) != len(run.Stages) {
			t.Fatalf("%d runs read of\n%s", len(got), text)
		}
		for i := range run.Stages {
			if diff := cmp.Diff(guideStage(run.Stages[i]), guideStage(got[0].Stages[i]), near()); diff != "" {
				t.Errorf("stage %d (-written +read):\n%s", i, diff)
			}
		}
		if diff := cmp.Diff(run.Labels, got[0].Labels); diff != "" {
			t.Errorf("labels (-written +read):\n%s", diff)
		}
		if run.Target.URL != got[0].Target.URL || run.Target.API != got[0].Target.API || run.Plan.Kind != got[0].Plan.Kind || !run.Started.Equal(got[0].Started) {
			t.Errorf("%+v %v was read as %+v %v", run.Target, run.Started, got[0].Target, got[0].Started)
		}
	})
}

// TestGuideLLMOfMeasuredRuns tests the round trip with runs that were measured, one alone and several in one file.
func TestGuideLLMOfMeasuredRuns(t *testing.T) {
	files, err := filepath.Glob("../../examples/real/*/*/run.json")
	if err != nil || len(files) == 0 {
		files, err = filepath.Glob("../../examples/real/*/run.json")
	}
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	var runs []rundir.Run
	for _, f := range files {
		run, err := store.Open(filepath.Dir(f))
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, *run)
	}
	_, got := inGuideLLM(t, runs...)
	if len(got) != len(runs) {
		t.Fatalf("%d runs written, %d read", len(runs), len(got))
	}
	for i := range runs {
		for j := range runs[i].Stages {
			want, have := guideStage(runs[i].Stages[j]), guideStage(got[i].Stages[j])
			want.Requests.Sent, have.Requests.Sent = 0, 0
			if want.Kind == "synchronous" {
				want.MaxConcurrency = 1
			}
			if diff := cmp.Diff(want, have, near()); diff != "" {
				t.Errorf("%s, stage %d (-written +read):\n%s", files[i], j, diff)
			}
		}
	}
}

// TestGuideLLMLayout tests that a script which reads GuideLLM's own file finds the same paths in ours: all metrics that llmsweep has.
func TestGuideLLMLayout(t *testing.T) {
	own, err := os.ReadFile("testdata/results/guidellm-0.8.1-sweep.json")
	if err != nil {
		t.Fatal(err)
	}

	doc, err := published.ParseText("own", bytes.NewReader(own))
	if err != nil {
		t.Fatal(err)
	}

	text, _ := inGuideLLM(t, doc.Runs...)
	if !json.Valid([]byte(text)) {
		t.Fatal("not JSON")
	}
	missing := map[string]bool{} // of GuideLLM's metrics, those that llmsweep does not have
	for i := range doc.Runs[0].Stages {
		theirs, ours := gjson.GetBytes(own, "benchmarks").Array()[i], gjson.Get(text, "benchmarks").Array()[i]
		theirs.Get("metrics").ForEach(func(k, v gjson.Result) bool {
			metric := "metrics." + k.String()
			if !ours.Get(metric).Exists() {
				missing[k.String()] = true
				return true
			}
			for _, status := range []string{"successful"} {
				if !v.Get(status).IsObject() {
					continue
				}
				v.Get(status).ForEach(func(statistic, value gjson.Result) bool {
					path := strings.Join([]string{metric, status, statistic.String()}, ".")
					if !ours.Get(path).Exists() && statistic.String() != "percentile_cis" {
						t.Errorf("no %s", path)
					}
					return true
				})
			}
			return true
		})
		for _, path := range []string{
			"config.strategy.type_", "duration", "start_time", "end_time", "scheduler_metrics.requests_made.successful",
			"metrics.requests_per_second.successful.mean", "metrics.request_latency.successful.percentiles.p99",
			"metrics.time_to_first_token_ms.successful.mean", "metrics.time_to_first_token_ms.successful.percentiles.p50",
			"metrics.inter_token_latency_ms.successful.mean", "metrics.output_tokens_per_second.total.mean",
		} {
			a, b := theirs.Get(path), ours.Get(path)
			if a.String() != b.String() && math.Abs(a.Num-b.Num) > 1e-9*math.Abs(a.Num) {
				t.Errorf("%s is %s, and GuideLLM has %s", path, b.Raw, a.Raw)
			}
		}
	}
	for _, name := range []string{"request_totals", "requests_per_second", "request_concurrency", "request_latency",
		"time_to_first_token_ms", "inter_token_latency_ms", "output_tokens_per_second", "tokens_per_second", "prompt_token_count", "output_token_count"} {
		if missing[name] {
			t.Errorf("no metric %s", name)
		}
	}
}
