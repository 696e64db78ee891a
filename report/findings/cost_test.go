package findings

import (
	"math"
	"slices"
	"strings"
	"testing"

	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
)

// Output costs what the GPUs cost while it is made. By hand: 1,000 tokens a second are 3.6 million an hour, so that a
// GPU at 1.8 an hour makes a million for 0.5, and for 0.625 at 80 % of that.
func TestCosts(t *testing.T) {
	f := rundir.Exactly
	rows := []rundir.Stage{
		{Name: "synchronous", Role: rundir.Synchronous, State: rundir.Complete, Requests: rundir.Requests{OK: 10}},
		{Name: "hold@8.00", Role: rundir.Hold, State: rundir.Complete, Requests: rundir.Requests{OK: 10}},
	}
	comfortable := &rundir.Comfortable{Rate: f(6.4), TTFTMean: f(0.2), Stages: []string{"hold@8.00"}}
	for name, c := range map[string]struct {
		labels  rundir.Labels
		answer  rundir.Answer
		en, zh  string // empty where nothing is said
		at, sat float64
	}{
		"one GPU": {
			rundir.Labels{Price: 1.8, GPUs: 1},
			rundir.Answer{Kind: rundir.Saturates, Rate: f(8), Low: f(7.9), High: f(8.1), Output: f(1000),
				Comfortable: comfortable},
			"Costs 0.625 per million output tokens at 6.40 req/s, 0.500 at saturation (1 GPU at 1.8 an hour).",
			"每百万输出 token 的费用：6.40 req/s 时为 0.625，饱和时为 0.500（1 张 GPU，每小时 1.8）。", 0.625, 0.5,
		},
		"eight GPUs, a wide interval": {
			rundir.Labels{Price: 3.6, GPUs: 8},
			rundir.Answer{Kind: rundir.Sustains, Rate: f(8), Low: f(7.2), High: f(8.8), Output: f(1000),
				Comfortable: comfortable},
			"Costs 10.0 per million output tokens at 6.4 req/s, 8.0 at saturation (8 GPUs at 3.6 an hour each).",
			"每百万输出 token 的费用：6.4 req/s 时为 10.0，饱和时为 8.0（8 张 GPU，每张每小时 3.6）。", 10, 8,
		},
		"no interval, next to nothing": {
			rundir.Labels{Price: 0.000018, GPUs: 1},
			rundir.Answer{Kind: rundir.Saturates, Rate: f(8), Low: f(7), High: f(9), Output: f(1000)},
			"Costs 0.00000500 per million output tokens at saturation (1 GPU at 0.000018 an hour).",
			"每百万输出 token 的费用：饱和时为 0.00000500（1 张 GPU，每小时 0.000018）。", math.NaN(), 5e-6,
		},
		"no number of GPUs": {
			labels: rundir.Labels{Price: 1.8}, answer: rundir.Answer{Kind: rundir.Saturates, Rate: f(8), Output: f(1000),
				Comfortable: comfortable}},
		"no price": {
			labels: rundir.Labels{GPUs: 1}, answer: rundir.Answer{Kind: rundir.Saturates, Rate: f(8), Output: f(1000),
				Comfortable: comfortable}},
		"no output": {labels: rundir.Labels{Price: 1.8, GPUs: 1}, answer: rundir.Answer{Kind: rundir.Saturates, Rate: f(8),
			Comfortable: comfortable}},
		"a bound": {labels: rundir.Labels{Price: 1.8, GPUs: 1}, answer: rundir.Answer{Kind: rundir.AtLeast,
			Rate: rundir.Over(8), Output: f(1000)}},
		"users": {labels: rundir.Labels{Price: 1.8, GPUs: 1}, answer: rundir.Answer{Kind: rundir.Carries,
			Carried: &rundir.UserCapacity{Users: f(20)}}},
	} {
		run := &rundir.Run{
			Plan:   rundir.Plan{Kind: rundir.KindSweep},
			State:  rundir.Complete,
			Labels: c.labels,
			Stages: rows,
			Answer: &c.answer,
		}
		for l, want := range map[lang.Lang]string{lang.English: c.en, lang.Chinese: c.zh} {
			lines := Answer(run, l)
			i := slices.IndexFunc(lines,
				func(s string) bool { return strings.Contains(s, "Costs") || strings.Contains(s, "费用") })
			if got := strings.Join(lines, "\n"); (i >= 0) != (want != "") || want != "" && lines[i] != want {
				t.Errorf("%s: %s\nwant %q", name, got, want)
			}
			if i > 0 && c.answer.Comfortable != nil && !strings.Contains(lines[i-1], "6.4") {
				t.Errorf("%s: it does not follow the load that it is about: %q", name, lines)
			}
		}
		switch told := Conclude(run).Tokens; {
		case told == nil && c.en == "":
		case told == nil || c.en == "" || told.AtLoad.Known() == math.IsNaN(c.at) ||
			math.Abs(told.AtLoad.Or(0)-max(c.at, 0)) > 1e-9 && told.AtLoad.Known() ||
			math.Abs(told.AtSaturation.Value()-c.sat) > 1e-9:
			t.Errorf("%s: %+v, want %v and %v", name, told, c.at, c.sat)
		}
	}
}

// Results of others recommend no load: their output costs what it does at saturation.
func TestCostsOfResultsOfOthers(t *testing.T) {
	f := rundir.Exactly
	run := &rundir.Run{
		State: rundir.Complete, Source: &rundir.Source{}, Labels: rundir.Labels{Price: 1.8, GPUs: 2},
		Stages:     []rundir.Stage{{Name: "rate@8.00", State: rundir.Complete, Requests: rundir.Requests{OK: 10}}},
		Saturation: &rundir.Saturation{Rate: f(8), Output: f(1000)},
	}
	const want = "Costs 1.00 per million output tokens at saturation (2 GPUs at 1.8 an hour each)."
	if lines := Answer(run, lang.English); !slices.Contains(lines, want) {
		t.Errorf("%q, want %q", lines, want)
	}
}
