package findings

import (
	"math"
	"slices"
	"strings"
	"testing"

	"llmsweep/client/note"
	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
)

var exactly = rundir.Exactly

// ended is a stage that ended, in a window of three minutes.
func ended(name string, role rundir.Role, rate float64, verdict rundir.Verdict) rundir.Stage {
	s := rundir.Stage{Name: name, Role: role, State: rundir.Complete, Verdict: verdict, WindowFrom: 10, Window: 170,
		Requests: rundir.Requests{OK: 10}}
	if rate > 0 {
		s.Rate, s.Rates.Offered = exactly(rate), exactly(rate)
	}
	if verdict == rundir.Shedding {
		s.Refused = exactly(0.12)
	}
	return s
}

func sweepOf(stages ...rundir.Stage) *rundir.Run {
	return &rundir.Run{Plan: rundir.Plan{Kind: rundir.KindSweep}, State: rundir.Complete, Stages: stages,
		Client: rundir.Client{Valid: true}}
}

// The two holds of the bracket are named by the rates and times that their rows have, and what a reader of the rate
// must know comes last.
func TestBracketSentence(t *testing.T) {
	for _, c := range []struct{ kept, failed, want string }{
		{"hold@8.10", "hold@9.20", "8.10 req/s was held for 3 min; at 9.20 req/s 12 % of the requests were refused"},
		{"hold@8.10", "", "8.10 req/s was held for 3 min; no higher rate was shown to fail"},
		{"", "hold@9.20", "at 9.20 req/s 12 % of the requests were refused; no rate was held"},
	} {
		run := sweepOf(ended("hold@8.10", rundir.Hold, 8.1, rundir.Stable),
			ended("hold@9.20", rundir.Hold, 9.2, rundir.Shedding))
		run.Saturation = &rundir.Saturation{Rate: exactly(8.5), Low: exactly(8), High: exactly(9), KeptStage: c.kept,
			FailedStage: c.failed, HighestStable: exactly(8.1), Cautions: []note.Note{note.Text.New("with care")},
			Reason: note.Note{Code: "saturation.refused", Args: map[string]any{"share": 0.12}}}
		lines := Answer(run, lang.English)
		if !slices.Contains(lines, "Why: "+c.want+". The client was fast enough.") || lines[len(lines)-1] != "with care" {
			t.Errorf("%q, want %q", lines, c.want)
		}
	}
}

// A row says what was seen of its load where that is news: not below a rate that was held, and never "held" above the
// answer's upper end.
func TestRemarks(t *testing.T) {
	run := &rundir.Run{Saturation: &rundir.Saturation{Low: exactly(8), High: exactly(9), HighestStable: exactly(8.1)}}
	for _, c := range []struct {
		role    rundir.Role
		rate    float64
		verdict rundir.Verdict
		want    string
	}{
		{rundir.Grid, 4, rundir.Undecided, ""}, {rundir.Grid, 4, rundir.Saturated, "too short"},
		{rundir.Grid, 8.5, rundir.Stable, ""}, {rundir.Grid, 8.5, rundir.Undecided, "undecided"},
		{rundir.Grid, 9.5, rundir.Saturated, "piled up"}, {rundir.Hold, 8, rundir.Stable, "held 3 min"},
		{rundir.Hold, 8.5, rundir.Undecided, "undecided"}, {rundir.Hold, 9.5, rundir.Stable, "held at first"},
		{rundir.Hold, 9.5, rundir.Shedding, "refused 12 %"}, {rundir.Single, 9.5, rundir.Saturated, "piled up"},
		{rundir.Synchronous, 0, rundir.Closed, ""},
	} {
		s := ended("", c.role, c.rate, c.verdict)
		if got := remarkCell(StageRow{run, &s}).Text.EN; got != c.want {
			t.Errorf("%s at %v, %s: %q, want %q", c.role, c.rate, c.verdict, got, c.want)
		}
	}
}

// What a stage completed beyond the answer is explained by what the server does.
func TestFasterStages(t *testing.T) {
	for want, sat := range map[string]rundir.Saturation{
		"the rate that is completed when more arrives": {}, "a queue slows this server": {Overload: exactly(3)},
		"": {Cautions: []note.Note{{Code: "saturation.changed"}}},
	} {
		sat.Rate, sat.Low, sat.High = exactly(15), exactly(14), exactly(16)
		run := sweepOf(ended("throughput", rundir.Throughput, 0, ""))
		run.Saturation, run.Stages[0].Rates.Completed = &sat, exactly(19)
		run.Stages[0].Progress = rundir.Progress{Rate: exactly(19), Low: exactly(19), High: exactly(19)}
		if got := fasterStages(run, lang.English); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// An SLO's interval lies between a row that is met and one that is missed; what is between decides nothing.
func TestRowVerdictWithinInterval(t *testing.T) {
	run := &rundir.Run{SLO: &rundir.SLO{Low: exactly(4), High: exactly(6)}}
	for _, c := range []struct {
		rate          float64
		verdict, want rundir.SLOVerdict
	}{{3, rundir.Met, rundir.Met}, {5, rundir.Met, rundir.Unsure}, {5, rundir.Missed, rundir.Unsure},
		{7, rundir.Missed, rundir.Missed}} {
		s := ended("", rundir.Grid, c.rate, "")
		s.Goodput = &rundir.Goodput{Verdict: c.verdict}
		if got := rowVerdict(StageRow{run, &s}); got != c.want {
			t.Errorf("%v at %v: %v, want %v", c.verdict, c.rate, got, c.want)
		}
	}
}

// A limit on the rate is said with its number, and with the flag that keeps below it.
func TestQuota(t *testing.T) {
	for _, c := range []struct {
		quota          rundir.Quota
		en, zh, maxRPS string
	}{
		{rundir.Quota{Period: exactly(59.98), Requests: exactly(600.2), Periods: 2},
			": 600 requests a minute (10.0 req/s)", "：每分钟 600 个请求（10.0 req/s）", "9.5"},
		{rundir.Quota{Period: exactly(60), Requests: exactly(600), Tokens: exactly(12800), Periods: 3, ByTokens: true},
			": 12,800 output tokens a minute (10.0 req/s)", "：每分钟 12,800 个输出 token（10.0 req/s）", "9.5"},
		{rundir.Quota{Period: exactly(10), Requests: exactly(46), Periods: 4},
			": 46 requests in 10 s (4.60 req/s)", "：每 10 秒 46 个请求（4.60 req/s）", "4.3"},
		{rundir.Quota{Named: exactly(1)}, " of 7.97 req/s", "，约 7.97 req/s", "7.5"},
	} {
		a := &rundir.Answer{Rate: exactly(7.97), Quota: &c.quota}
		for l, want := range map[lang.Lang]string{
			lang.English: " Limited by a rate limit" + c.en + "; keep below it with --max-rps " + c.maxRPS + ".",
			lang.Chinese: "瓶颈是速率限制" + c.zh + "；可用 --max-rps " + c.maxRPS + " 保持在其下。",
		} {
			if got := resourceLimit(&rundir.Run{}, a, l); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
	}
}

// Output costs what the GPUs cost while it is made. By hand: 1,000 tokens a second are 3.6 million an hour, so that a
// GPU at 1.8 an hour makes a million for 0.5, and for 0.625 at 80 % of that.
func TestCosts(t *testing.T) {
	comfortable := &rundir.Comfortable{Rate: exactly(6.4), TTFTMean: exactly(0.2), Stages: []string{"hold@8.00"}}
	answer := func(kind rundir.AnswerKind, low, high float64, c *rundir.Comfortable) *rundir.Answer {
		return &rundir.Answer{Kind: kind, Rate: exactly(8), Low: exactly(low), High: exactly(high), Output: exactly(1000),
			Comfortable: c}
	}
	plain := answer(rundir.Saturates, 7.9, 8.1, comfortable)
	none, bound := *plain, *answer(rundir.AtLeast, 8, 8, nil)
	none.Output, bound.Rate, bound.Low, bound.High = rundir.Number{}, rundir.Over(8), rundir.Number{}, rundir.Number{}
	nan := math.NaN()
	for _, c := range []struct {
		price   float64
		gpus    int
		answer  *rundir.Answer
		en, zh  string // its end; empty where nothing is said
		at, sat float64
	}{
		{1.8, 1, plain, "Costs 0.625 per million output tokens at 6.40 req/s, 0.500 at saturation (1 GPU at 1.8 an hour).",
			"6.40 req/s 时为 0.625，饱和时为 0.500（1 张 GPU，每小时 1.8）。", 0.625, 0.5},
		{3.6, 8, answer(rundir.Sustains, 7.2, 8.8, comfortable), // a wide interval
			"Costs 10.0 per million output tokens at 6.4 req/s, 8.0 at saturation (8 GPUs at 3.6 an hour each).",
			"6.4 req/s 时为 10.0，饱和时为 8.0（8 张 GPU，每张每小时 3.6）。", 10, 8},
		{0.000018, 1, answer(rundir.Saturates, 7, 9, nil),
			"Costs 0.00000500 per million output tokens at saturation (1 GPU at 0.000018 an hour).",
			"饱和时为 0.00000500（1 张 GPU，每小时 0.000018）。", nan, 5e-6},
		{1.8, 0, plain, "", "", nan, nan}, {0, 1, plain, "", "", nan, nan}, {1.8, 1, &none, "", "", nan, nan},
		{1.8, 1, &bound, "", "", nan, nan},
		{1.8, 1, &rundir.Answer{Kind: rundir.Carries, Carried: &rundir.UserCapacity{Users: exactly(20)}}, "", "", nan, nan},
	} {
		run := sweepOf(ended("synchronous", rundir.Synchronous, 0, ""), ended("hold@8.00", rundir.Hold, 8, rundir.Stable))
		run.Labels, run.Answer = rundir.Labels{Price: c.price, GPUs: c.gpus}, c.answer
		for l, want := range map[lang.Lang]string{lang.English: c.en, lang.Chinese: c.zh} {
			lines := Answer(run, l)
			i := slices.IndexFunc(lines, func(s string) bool {
				return strings.HasPrefix(s, "Costs ") || strings.HasPrefix(s, "每百万输出 token 的费用：")
			})
			if (i >= 0) != (want != "") || i >= 0 && !strings.HasSuffix(lines[i], want) {
				t.Errorf("%v, %d GPUs: %q, want %q", c.price, c.gpus, lines, want)
			}
			if i > 0 && c.answer.Comfortable != nil && !strings.Contains(lines[i-1], "6.4") {
				t.Errorf("it does not follow the load that it is about: %q", lines)
			}
		}
		got := [2]rundir.Number{}
		if told := Conclude(run).Tokens; told != nil {
			got = [2]rundir.Number{told.AtLoad, told.AtSaturation}
		}
		for i, want := range []float64{c.at, c.sat} {
			if got[i].Known() == math.IsNaN(want) || math.Abs(got[i].Value()-want) > 1e-9 {
				t.Errorf("%v, %d GPUs: %v, want %v and %v", c.price, c.gpus, got, c.at, c.sat)
			}
		}
	}
}

// What an answer says of runs that are unlike most.
func TestAnswers(t *testing.T) {
	sessions := &rundir.Run{Stages: []rundir.Stage{{Rates: rundir.Rates{Completed: exactly(24)}}}}
	if got := Answer(sessions, lang.English); len(got) != 0 {
		t.Errorf("single requests: %q", got)
	}
	sessions.Workload.Conversation = &rundir.Conversation{Turns: rundir.Lengths{Mean: 8}}
	conversations := &rundir.Run{Workload: sessions.Workload, Stages: []rundir.Stage{{
		Name: "concurrent@8", Requests: rundir.Requests{OK: 80}, Rates: rundir.Rates{Completed: exactly(10)},
		Goodput: &rundir.Goodput{Terms: []rundir.TermResult{{Term: "ttft:p95<200ms", Needs: 540}}},
	}}}
	fault := &rundir.Run{State: rundir.Complete,
		Saturation: &rundir.Saturation{Rate: exactly(19.4), Low: exactly(18.6), High: exactly(20.3)},
		Warnings:   []note.Note{{Code: "habit.drops"}, saturation.FailsAlways.New(0.2, 0.19, "http_5xx")}}
	of := ended("rate@8.00", "", 0, "")
	others := &rundir.Run{State: rundir.Complete, Source: &rundir.Source{}, Labels: rundir.Labels{Price: 1.8, GPUs: 2},
		Stages: []rundir.Stage{of}, Saturation: &rundir.Saturation{Rate: exactly(8), Output: exactly(1000)}}
	unanswered := sweepOf()
	unanswered.Warnings = []note.Note{{Code: "saturation.none", Args: map[string]any{"guess": 8.0}}}
	unanswered.Answer = &rundir.Answer{Kind: rundir.Unanswerable, Needed: exactly(480)}
	if got := Warnings(unanswered, lang.English); len(got) > 0 {
		t.Errorf("the reason of the answer is a warning, too: %q", got)
	}
	for _, c := range []struct {
		run    *rundir.Run
		en, zh string
	}{
		{sessions, "Rates count turns. A session has 8 turns: 24.00 turns/s are 3.00 sessions/s.",
			"速率按轮计。每个会话 8 轮：24.00 轮/s 即 3.00 会话/s。"},
		// --requests counts conversations
		{conversations, "about 620 requests would decide it, 78 conversations: --requests 78, or --duration 62s", ""},
		{fault, "20 % of the requests fail at every load, also 19 % of those sent one at a time (http_5xx).",
			"各种负载下都有 20 % 的请求失败，逐个发送的请求也有 19 % 失败（http_5xx）。"},
		// Results of others recommend no load: their output costs what it does at saturation.
		{others, "Costs 1.00 per million output tokens at saturation (2 GPUs at 1.8 an hour each).", ""},
		{unanswered, "No rate was held", ""},
		{unanswered, "Run it again with --budget 8m to find the limit.", ""},
	} {
		for l, want := range map[lang.Lang]string{lang.English: c.en, lang.Chinese: c.zh} {
			got := Answer(c.run, l)
			if !strings.Contains(strings.Join(got, "\n"), want) || c.run == fault && got[0] != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
	}
}

// The lengths of a workload tell how its prompts grow and what they share.
func TestLoadBrief(t *testing.T) {
	w := rundir.Workload{PromptTokens: rundir.Lengths{Mean: 256}, OutputTokens: rundir.Lengths{Mean: 64}}
	mean := func(n float64) rundir.Lengths { return rundir.Lengths{Mean: n} }
	talk := &rundir.Conversation{Turns: mean(8), TurnTokens: mean(96), Pause: 1}
	random := &rundir.Conversation{Turns: rundir.Lengths{Mean: 4, Std: 2, Min: 1, Max: 9}, TurnTokens: mean(96),
		Pause: 0.5, RandomPauses: true}
	for _, c := range []struct {
		talk   *rundir.Conversation
		prefix *rundir.Prefix
		en, zh string
		parts  int // of Growth
	}{
		{nil, nil, "256 -> 64 tokens", "256 -> 64 token", 0},
		{talk, nil, "8 turns: 256, then +96 -> 64 tokens, think time 1 s",
			"8 轮：256，之后每轮 +96 -> 64 token，用户停顿 1 s", 1},
		{random, nil, "4±2 (1-9) turns: 256, then +96 -> 64 tokens, think time 0.5 s on average",
			"4±2 (1-9) 轮：256，之后每轮 +96 -> 64 token，用户停顿平均 0.5 s", 1},
		{&rundir.Conversation{Turns: mean(2)}, nil, "256 -> 64 tokens, 2 turns", "256 -> 64 token，2 轮", 1},
		{nil, &rundir.Prefix{Tokens: 128, Groups: 1}, "256 -> 64 tokens, the first 128 tokens shared",
			"256 -> 64 token，前 128 个 token 相同", 1},
		{talk, &rundir.Prefix{Tokens: 128, Groups: 4},
			"8 turns: 256, then +96 -> 64 tokens, think time 1 s, the first 128 tokens shared in 4 groups",
			"8 轮：256，之后每轮 +96 -> 64 token，用户停顿 1 s，前 128 个 token 相同（共 4 组）", 2},
	} {
		w.Conversation, w.Prefix = c.talk, c.prefix
		if en, zh, n := LoadBrief(&w, lang.English), LoadBrief(&w, lang.Chinese), len(Growth(&w, lang.English)); en != c.en ||
			zh != c.zh || n != c.parts {
			t.Errorf("%q, %q, %d parts; want %+v", en, zh, n, c)
		}
	}
}
