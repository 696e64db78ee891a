package findings

import (
	"fmt"
	"testing"
	"time"

	"llmsweep/client/note"
	"llmsweep/client/testkit"
	"llmsweep/report/lang"
	"llmsweep/sweep/measure"
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

// bracket is a sweep with the two holds of its bracket, or one of them.
func bracket(kept, failed string) *rundir.Run {
	run := sweepOf(ended("hold@8.10", rundir.Hold, 8.1, rundir.Stable),
		ended("hold@9.20", rundir.Hold, 9.2, rundir.Shedding))
	run.Saturation = &rundir.Saturation{Rate: exactly(8.5), Low: exactly(8), High: exactly(9), KeptStage: kept,
		FailedStage: failed, HighestStable: exactly(8.1), Cautions: []note.Note{note.Text.New("with care")},
		Reason: note.Note{Code: "saturation.refused", Args: map[string]any{"share": 0.12}}}
	return run
}

// fasterThan is a sweep whose last stage completed more than its answer.
func fasterThan(sat rundir.Saturation) *rundir.Run {
	sat.Rate, sat.Low, sat.High = exactly(15), exactly(14), exactly(16)
	run := sweepOf(ended("throughput", rundir.Throughput, 0, ""))
	run.Saturation, run.Stages[0].Rates.Completed = &sat, exactly(19)
	run.Stages[0].Progress = rundir.Progress{Rate: exactly(19), Low: exactly(19), High: exactly(19)}
	return run
}

func limitedBy(quota rundir.Quota) *rundir.Run {
	run := sweepOf()
	run.Answer = &rundir.Answer{Kind: rundir.Saturates, Rate: exactly(7.97), Low: exactly(7.9), High: exactly(8.1),
		Quota: &quota}
	return run
}

// paidAt is a sweep that saturates at 8 req/s, on GPUs with a price.
func paidAt(price float64, gpus int, low, high float64, change func(*rundir.Answer)) *rundir.Run {
	run := sweepOf(ended("synchronous", rundir.Synchronous, 0, ""), ended("hold@8.00", rundir.Hold, 8, rundir.Stable))
	run.Labels = rundir.Labels{Price: price, GPUs: gpus}
	run.Answer = &rundir.Answer{Kind: rundir.Saturates, Rate: exactly(8), Low: exactly(low), High: exactly(high),
		Output:      exactly(1000),
		Comfortable: &rundir.Comfortable{Rate: exactly(6.4), TTFTMean: exactly(0.2), Stages: []string{"hold@8.00"}}}
	change(run.Answer)
	return run
}

func conversing(talk *rundir.Conversation, prefix *rundir.Prefix, stages ...rundir.Stage) *rundir.Run {
	return &rundir.Run{Stages: stages, Workload: rundir.Workload{PromptTokens: rundir.Lengths{Mean: 256},
		OutputTokens: rundir.Lengths{Mean: 64}, Conversation: talk, Prefix: prefix}}
}

// late is a stage with a warning, and with a client that was the limit where it is invalid.
func late(name string, warning note.Note, invalid bool) rundir.Stage {
	s := rundir.Stage{Name: name, Warnings: []note.Note{warning}}
	if invalid {
		s.Invalid = warning
	}
	return s
}

// What is said of runs in both languages: the answer, the warnings, the load, and what programs get of its costs.
func TestSaid(t *testing.T) {
	mean := func(n float64) rundir.Lengths { return rundir.Lengths{Mean: n} }
	same := func(*rundir.Answer) {}
	talk := &rundir.Conversation{Turns: mean(8), TurnTokens: mean(96), Pause: 1}
	random := &rundir.Conversation{Turns: rundir.Lengths{Mean: 4, Std: 2, Min: 1, Max: 9}, TurnTokens: mean(96),
		Pause: 0.5, RandomPauses: true}
	undecided := rundir.Stage{Name: "concurrent@8", Requests: rundir.Requests{OK: 80},
		Rates:   rundir.Rates{Completed: exactly(10)},
		Goodput: &rundir.Goodput{Terms: []rundir.TermResult{{Term: "ttft:p95<200ms", Needs: 540}}}}
	fault := paidAt(0, 0, 7.9, 8.1, same)
	fault.Warnings = []note.Note{{Code: "habit.drops"}, saturation.FailsAlways.New(0.2, 0.19, "http_5xx")}
	fault.Answer, fault.Saturation = nil, &rundir.Saturation{Rate: exactly(19.4), Low: exactly(18.6), High: exactly(20.3)}
	others := &rundir.Run{State: rundir.Complete, Source: &rundir.Source{}, Labels: rundir.Labels{Price: 1.8, GPUs: 2},
		Stages: []rundir.Stage{ended("rate@8.00", "", 0, "")}, Saturation: &rundir.Saturation{Rate: exactly(8),
			Output: exactly(1000)}}
	unanswered := sweepOf()
	unanswered.Warnings = []note.Note{{Code: "saturation.none", Args: map[string]any{"guess": 8.0}}}
	unanswered.Answer = &rundir.Answer{Kind: rundir.Unanswerable, Needed: exactly(480)}
	lag := func(seconds float64) note.Note {
		return note.Note{Code: "client.sent-late", Args: map[string]any{"lag_p99": seconds}}
	}
	resent := note.Note{Code: "requests.resent", Args: map[string]any{"count": 64.0}}
	repeated := sweepOf(late("poisson@1", lag(0.08), false), late("poisson@2", lag(0.09), false),
		late("poisson@3", lag(0.5), false), late("poisson@4", resent, false))
	slowed := sweepOf(rundir.Stage{Name: "poisson@1"}, late("poisson@2", lag(0.08), true), rundir.Stage{Name: "poisson@3"})
	slowed.Client, slowed.Saturation = rundir.Client{}, &rundir.Saturation{Rate: exactly(2)}
	hopeless := sweepOf(late("poisson@1", lag(0.08), true), late("poisson@2", lag(0.08), true))
	hopeless.Client = rundir.Client{}
	stopped := sweepOf(late("poisson@5.00", measure.Stopped(8*time.Second), true))
	stopped.Stages[0].TTFT.P99, stopped.Stages[0].TTFTDue.P99 = exactly(0.1), exactly(8)
	frozen := ended("throughput", rundir.Throughput, 0, "")
	frozen.FrozenSince, frozen.Goodput = exactly(4.35), &rundir.Goodput{Verdict: rundir.Missed, Terms: []rundir.TermResult{
		{Term: "ttft:p90<500ms", Verdict: rundir.Missed, Value: exactly(0.026)}}}
	said := ""
	for _, c := range []struct {
		what string
		run  *rundir.Run
	}{
		{"a bracket", bracket("hold@8.10", "hold@9.20")}, {"a bracket without an end", bracket("hold@8.10", "")},
		{"a bracket without a beginning", bracket("", "hold@9.20")},
		{"a stage was faster", fasterThan(rundir.Saturation{})},
		{"a stage was faster, and a queue slows the server", fasterThan(rundir.Saturation{Overload: exactly(3)})},
		{"the server changed", fasterThan(rundir.Saturation{Cautions: []note.Note{{Code: "saturation.changed"}}})},
		{"a quota of requests", limitedBy(rundir.Quota{Period: exactly(59.98), Requests: exactly(600.2), Periods: 2})},
		{"a quota of tokens", limitedBy(rundir.Quota{Period: exactly(60), Requests: exactly(600), Tokens: exactly(12800),
			Periods: 3, ByTokens: true})},
		{"a quota of 10 s", limitedBy(rundir.Quota{Period: exactly(10), Requests: exactly(46), Periods: 4})},
		{"a quota that the server names", limitedBy(rundir.Quota{Named: exactly(1)})},
		// By hand: 1,000 tokens a second are 3.6 million an hour, so that a GPU at 1.8 an hour makes a million for 0.5, and
		// for 0.625 at 80 % of that.
		{"one GPU", paidAt(1.8, 1, 7.9, 8.1, same)}, {"eight GPUs, a wide interval", paidAt(3.6, 8, 7.2, 8.8, same)},
		{"next to nothing", paidAt(0.000018, 1, 7, 9, func(a *rundir.Answer) { a.Comfortable = nil })},
		{"no number of GPUs", paidAt(1.8, 0, 7.9, 8.1, same)}, {"no price", paidAt(0, 1, 7.9, 8.1, same)},
		{"no output", paidAt(1.8, 1, 7.9, 8.1, func(a *rundir.Answer) { a.Output = rundir.Number{} })},
		{"a bound", paidAt(1.8, 1, 0, 0, func(a *rundir.Answer) { a.Kind, a.Rate = rundir.AtLeast, rundir.Over(8) })},
		{"users", paidAt(1.8, 1, 0, 0, func(a *rundir.Answer) {
			*a = rundir.Answer{Kind: rundir.Carries, Carried: &rundir.UserCapacity{Users: exactly(20)}}
		})},
		{"results of others recommend no load", others}, {"a fault at every load comes first", fault},
		{"no answer, for a reason that is no warning again", unanswered}, {"lengths", conversing(nil, nil)},
		{"sessions and turns", conversing(talk, nil, rundir.Stage{Rates: rundir.Rates{Completed: exactly(24)}})},
		{"--requests counts conversations", conversing(talk, nil, undecided)}, {"random turns", conversing(random, nil)},
		{"turns of another tool", conversing(&rundir.Conversation{Turns: mean(2)}, nil)},
		{"a shared prefix", conversing(nil, &rundir.Prefix{Tokens: 128, Groups: 1})},
		{"turns and groups of prefixes", conversing(talk, &rundir.Prefix{Tokens: 128, Groups: 4})},
		{"the same warning in many rows", repeated}, {"the client was the limit in a row", slowed},
		{"the client was the limit in most", hopeless}, {"a stopped client has no other warning", stopped},
		{"a server that froze misses an SLO", &rundir.Run{State: rundir.Complete, Stages: []rundir.Stage{frozen}}},
	} {
		said += c.what + "\n"
		for _, l := range lang.All() {
			for _, line := range Answer(c.run, l) {
				said += "  " + line + "\n"
			}
			for _, line := range Warnings(c.run, l) {
				said += "  ! " + line + "\n"
			}
			if w := &c.run.Workload; w.PromptTokens.Mean > 0 {
				said += fmt.Sprintf("  %s; %d of growth\n", LoadBrief(w, l), len(Growth(w, l)))
			}
		}
		if saturated, atLoad := costOfMillion(c.run); !saturated.IsZero() {
			said += fmt.Sprintf("  costs %v, saturated %v\n", atLoad.Or(0), saturated.Value())
		}
	}
	testkit.CheckGolden(t, "said.txt", []byte(said))
}
