package findings

import (
	"slices"
	"strings"
	"testing"

	"llmsweep/client/note"
	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
)

// TestBracketSentence: the two holds of the bracket are named by the rates and times that their rows have, and
// what a reader of the rate must know comes last.
func TestBracketSentence(t *testing.T) {
	f := rundir.Exactly
	hold := func(rate float64, verdict rundir.Verdict) rundir.Stage {
		return rundir.Stage{
			Name: "hold@" + lang.Number(f(rate),
				lang.Rate), Role: rundir.Hold, State: rundir.Complete, Rate: f(rate), Verdict: verdict,
			Requests: rundir.Requests{OK: 10}, Rates: rundir.Rates{Offered: f(rate)}, WindowFrom: 10, Window: 170,
		}
	}
	for _, c := range []struct {
		kept, failed string
		want         string
	}{
		{"hold@8.10", "hold@9.20", "Why: 8.10 req/s was held for 3 min; at 9.20 req/s 12 % of the requests were refused. The client was fast enough."},
		{"hold@8.10", "", "Why: 8.10 req/s was held for 3 min; no higher rate was shown to fail. The client was fast enough."},
		{"", "hold@9.20", "Why: at 9.20 req/s 12 % of the requests were refused; no rate was held. The client was fast enough."},
	} {
		run := &rundir.Run{
			Plan: rundir.Plan{Kind: rundir.KindSweep}, State: rundir.Complete, Client: rundir.Client{Valid: true},
			Stages: []rundir.Stage{hold(8.1, rundir.Stable), hold(9.2, rundir.Shedding)},
			Saturation: &rundir.Saturation{
				Rate: f(8.5), Low: f(8), High: f(9), KeptStage: c.kept, FailedStage: c.failed, HighestStable: f(8.1),
				Reason: note.Note{
					Code: "saturation.refused",
					Args: map[string]any{"share": 0.12},
				}, Cautions: []note.Note{note.Text.New("with care")},
			},
		}
		lines := Answer(run, lang.English)
		if !slices.Contains(lines, c.want) || strings.ToLower(lines[len(lines)-1]) != "with care" {
			t.Errorf("%q, want %q", lines, c.want)
		}
	}
}

// A row says what was seen of its load where that is news: not below a rate that was held, and never "held" above the
// answer's upper end.
func TestRemarks(t *testing.T) {
	f := rundir.Exactly
	run := &rundir.Run{Saturation: &rundir.Saturation{Low: f(8), High: f(9), HighestStable: f(8.1)}}
	for _, c := range []struct {
		role    rundir.Role
		rate    float64
		verdict rundir.Verdict
		want    string
	}{
		{rundir.Grid, 4, rundir.Undecided, ""}, {rundir.Grid, 4, rundir.Saturated, "too short"},
		{rundir.Grid, 8.5, rundir.Stable, ""},
		{rundir.Grid, 8.5, rundir.Undecided, "undecided"}, {rundir.Grid, 9.5, rundir.Saturated, "piled up"},
		{rundir.Hold, 8, rundir.Stable, "held 3 min"}, {rundir.Hold, 8.5, rundir.Undecided, "undecided"},
		{rundir.Hold, 9.5, rundir.Stable, "held at first"}, {rundir.Hold, 9.5, rundir.Shedding, "refused 12 %"},
		{rundir.Single, 9.5, rundir.Saturated, "piled up"}, {rundir.Synchronous, 0, rundir.Closed, ""},
	} {
		s := &rundir.Stage{Role: c.role, State: rundir.Complete, Verdict: c.verdict, WindowFrom: 10, Window: 170}
		if c.rate > 0 {
			s.Rate, s.Rates.Offered = f(c.rate), f(c.rate)
		}
		if c.verdict == rundir.Shedding {
			s.Refused = f(0.12)
		}
		if got := remarkCell(StageRow{run, s}).Text.EN; got != c.want {
			t.Errorf("%s at %v, %s: %q, want %q", c.role, c.rate, c.verdict, got, c.want)
		}
	}
}

// TestFasterStages: what a stage completed beyond the answer is explained by what the server does.
func TestFasterStages(t *testing.T) {
	f := rundir.Exactly
	stage := func(role rundir.Role, done float64) rundir.Stage {
		return rundir.Stage{
			Name: string(role), Role: role, State: rundir.Complete, Requests: rundir.Requests{OK: 10},
			Rates:    rundir.Rates{Completed: f(done)},
			Progress: rundir.Progress{Rate: f(done), Low: f(done), High: f(done)},
		}
	}
	for name, c := range map[string]struct {
		role  rundir.Role
		want  string
		sat   rundir.Saturation
		notes []note.Note
	}{
		"plain":    {rundir.Throughput, "the rate that is completed when more arrives", rundir.Saturation{}, nil},
		"collapse": {rundir.Throughput, "a queue slows this server", rundir.Saturation{Overload: f(3)}, nil},
		"changed":  {rundir.Throughput, "", rundir.Saturation{Cautions: []note.Note{{Code: "saturation.changed"}}}, nil},
	} {
		c.sat.Rate, c.sat.Low, c.sat.High = f(15), f(14), f(16)
		run := &rundir.Run{Saturation: &c.sat, Warnings: c.notes, Stages: []rundir.Stage{stage(c.role, 19)}}
		if got := fasterStages(run, lang.English); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A fault at every load is the first sentence of an answer, in both languages.
func TestFaultAtEveryLoadFirst(t *testing.T) {
	f := rundir.Exactly
	run := &rundir.Run{State: rundir.Complete, Saturation: &rundir.Saturation{Rate: f(19.4), Low: f(18.6), High: f(20.3)}}
	run.Warnings = []note.Note{{Code: "habit.drops"}, saturation.FailsAlways.New(0.2, 0.19, "http_5xx")}
	for l, want := range map[lang.Lang]string{
		lang.English: "20 % of the requests fail at every load, also 19 % of those sent one at a time (http_5xx).",
		lang.Chinese: "各种负载下都有 20 % 的请求失败，逐个发送的请求也有 19 % 失败（http_5xx）。",
	} {
		if got := Answer(run, l); len(got) < 2 || got[0] != want {
			t.Errorf("%q, want %q first", got, want)
		}
	}
}

// TestRowVerdictWithinInterval: an SLO's interval lies between a row that is met and one that is missed; what is
// between decides nothing.
func TestRowVerdictWithinInterval(t *testing.T) {
	f := rundir.Exactly
	run := &rundir.Run{SLO: &rundir.SLO{Low: f(4), High: f(6)}}
	for _, c := range []struct {
		rate          float64
		verdict, want rundir.SLOVerdict
	}{
		{3, rundir.Met, rundir.Met}, {5, rundir.Met, rundir.Unsure}, {5, rundir.Missed, rundir.Unsure},
		{7, rundir.Missed, rundir.Missed},
	} {
		s := &rundir.Stage{Rate: f(c.rate), Goodput: &rundir.Goodput{Verdict: c.verdict}}
		s.Rates.Offered = f(c.rate)
		if got := rowVerdict(StageRow{run, s}); got != c.want {
			t.Errorf("%v at %v: %v, want %v", c.verdict, c.rate, got, c.want)
		}
	}
}

// TestQuota: a limit on the rate is said with its number, and with the flag that keeps below it.
func TestQuota(t *testing.T) {
	f := rundir.Exactly
	for _, c := range []struct {
		quota  rundir.Quota
		en, zh string
	}{
		{rundir.Quota{Period: f(59.98), Requests: f(600.2), Periods: 2},
			" Limited by a rate limit: 600 requests a minute (10.0 req/s); keep below it with --max-rps 9.5.",
			"瓶颈是速率限制：每分钟 600 个请求（10.0 req/s）；可用 --max-rps 9.5 保持在其下。"},
		{rundir.Quota{Period: f(60), Requests: f(600), Tokens: f(12800), Periods: 3, ByTokens: true},
			" Limited by a rate limit: 12,800 output tokens a minute (10.0 req/s); keep below it with --max-rps 9.5.",
			"瓶颈是速率限制：每分钟 12,800 个输出 token（10.0 req/s）；可用 --max-rps 9.5 保持在其下。"},
		{rundir.Quota{Period: f(10), Requests: f(46), Periods: 4},
			" Limited by a rate limit: 46 requests in 10 s (4.60 req/s); keep below it with --max-rps 4.3.",
			"瓶颈是速率限制：每 10 秒 46 个请求（4.60 req/s）；可用 --max-rps 4.3 保持在其下。"},
		{rundir.Quota{Named: f(1)}, " Limited by a rate limit of 7.97 req/s; keep below it with --max-rps 7.5.",
			"瓶颈是速率限制，约 7.97 req/s；可用 --max-rps 7.5 保持在其下。"},
	} {
		a := &rundir.Answer{Rate: f(7.97), Quota: &c.quota}
		for l, want := range map[lang.Lang]string{lang.English: c.en, lang.Chinese: c.zh} {
			if got := resourceLimit(&rundir.Run{}, a, l); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
	}
}
