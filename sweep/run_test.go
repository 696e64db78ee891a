package sweep

import (
	"context"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"llmsweep/client"
	"llmsweep/client/api"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
)

// runs measures stages against a doer in virtual time.
func runs(t *testing.T, d func() load.Doer, w load.Source, stages ...experiment.Stage) (*rundir.Run, Config) {
	t.Helper()
	run := &rundir.Run{}
	var c Config
	synctest.Test(t, func(t *testing.T) {
		c = experimentWith(d(), w)
		c.Warmup = experiment.Warmup{}
		if err := Run(t.Context(), c, stages, run); err != nil {
			t.Fatal(err)
		}
	})
	return run, c
}

func steady() load.Doer { return stalling{began: time.Now()} } // 50 ms each

func TestEachRequestOfANumberCounts(t *testing.T) {
	t.Parallel()
	run, _ := runs(t, steady, simtest.SameInAll(4, 1), experiment.NewStage(arrival.Closed{Concurrency: 10}, 100, 0),
		experiment.NewStage(arrival.Closed{Concurrency: 7}, 30, 0))
	for i, want := range []struct {
		ok      int
		seconds float64
		peak    int
	}{{100, 0.5, 10}, {30, 0.25, 7}} {
		st := run.Stages[i]
		all := st.WholeRun
		if all.Requests.OK != want.ok || all.Requests.Due != want.ok || math.Abs(all.Window-want.seconds) > 1e-6 ||
			all.Concurrency.Peak != want.peak {
			t.Errorf("%s: %+v in %v s, peak %d; want %+v", st.Name, all.Requests, all.Window, all.Concurrency.Peak, want)
		}
		if got := all.Rates.Completed.Value(); math.Abs(got-float64(want.ok)/want.seconds) > 1e-3 {
			t.Errorf("%s: %v req/s in the whole run", st.Name, got)
		}
		if got, full := st.Rates.Completed.Value(), float64(want.peak)/0.05; math.Abs(got-full) > 1e-3 {
			t.Errorf("%s: %v req/s, want %v, as while all places are busy", st.Name, got, full)
		}
	}
	if run.Saturation != nil || run.State != rundir.Complete {
		t.Errorf("saturation %v, state %s", run.Saturation, run.State)
	}
}

// Under a cap the arrivals keep to their schedule, and the wait for a place is queued, not lag and not TTFT.
func TestAnOpenLoopUnderACap(t *testing.T) {
	t.Parallel()
	run, c := runs(t, steady, simtest.SameInAll(4, 1), experiment.NewStage(arrival.Constant{Rate: 40, MaxConcurrency: 1},
		100, 0))
	st := run.Stages[0]
	if st.Requests.OK != 100 || st.Concurrency.Peak != 1 {
		t.Fatalf("%+v, peak %d", st.Requests, st.Concurrency.Peak)
	}
	// One at a time takes 50 ms each, and one is due every 25 ms: the last waits for 99*25 ms.
	if got := st.Queued.Max.Value(); math.Abs(got-99*0.025) > 1e-6 {
		t.Errorf("the longest wait is %v s, want %v", got, 99*0.025)
	}
	if st.TTFT.Max.Value() > 0.051 || math.Abs(st.TTFTDue.Max.Value()-99*0.025-0.05) > 1e-6 || st.Lag.Max.Value() > 1e-6 {
		t.Errorf("TTFT %v, from due %v, lag %v", st.TTFT.Max.Value(), st.TTFTDue.Max.Value(), st.Lag.Max.Value())
	}
	records, err := collect(c.Log, st.Name)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(records, func(a, b *rundir.Record) int { return a.Seq - b.Seq })
	for i, r := range records {
		if math.Abs(r.Due.Value()-float64(i)*0.025) > 1e-8 {
			t.Fatalf("request %d was due at %v", i, r.Due.Value())
		}
		if i > 0 && r.Sent.Value() < records[i-1].Sent.Value() {
			t.Fatalf("request %d overtook the one before", i)
		}
	}
}

func TestARunForATime(t *testing.T) {
	t.Parallel()
	run, _ := runs(t, steady, simtest.SameInAll(4, 1), experiment.NewStage(arrival.Closed{Concurrency: 4}, 0,
		10*time.Second), experiment.NewStage(arrival.Poisson{Rate: 50}, 0, 20*time.Second))
	if got := run.Stages[0].Rates.Completed.Value(); math.Abs(got-80) > 0.5 {
		t.Errorf("4 at a time of 50 ms are %v req/s, want 80", got)
	}
	if st := run.Stages[1]; st.WindowFrom+st.Window < 19.9 || st.WindowFrom+st.Window > 20.5 ||
		st.Verdict != rundir.Stable {
		t.Errorf("window %v+%v, %s", st.WindowFrom, st.Window, st.Verdict)
	}
}

// A schedule that ends ends its stage.
func TestARampEndsItsStage(t *testing.T) {
	t.Parallel()
	run, _ := runs(t, steady, simtest.SameInAll(4, 1),
		experiment.NewStage(arrival.Ramp{From: 2, To: 20, Over: 10 * time.Second}, 0, 0))
	st := run.Stages[0]
	if st.Requests.OK < 80 || st.Requests.OK > 140 || st.Window < 8 || st.Window > 10.1 {
		t.Errorf("%+v in %v s, want about 110 in 10", st.Requests, st.Window)
	}
}

// talk has conversations of three turns.
type talk struct{}

func (talk) Next() (load.Session, bool) {
	return load.Session{System: "be brief", Turns: []load.Turn{
		{User: "one", OutputTokens: 1}, {User: "two", OutputTokens: 1, Think: 2 * time.Second},
		{User: "three", OutputTokens: 1, Think: time.Second},
	}}, true
}

// echoing answers with how many messages it was sent.
type echoing struct {
	stalling
	seen chan []api.Message
}

func (e echoing) Do(ctx context.Context, call *client.Prepared, res *client.Result) {
	e.stalling.Do(ctx, call, res)
	res.Text = append(res.Text, "answer"...)
	e.seen <- call.Request.Messages
}

// A conversation carries its history, each turn due when the one before has ended and the user has thought.
func TestConversationsCarryTheirHistory(t *testing.T) {
	t.Parallel()
	seen := make(chan []api.Message, 100)
	run, c := runs(t, func() load.Doer { return echoing{stalling{began: time.Now()}, seen} }, talk{},
		experiment.NewStage(arrival.Closed{Concurrency: 1}, 2, 0))
	records, err := collect(c.Log, run.Stages[0].Name)
	if err != nil || len(records) != 6 {
		t.Fatalf("%d records, %v", len(records), err)
	}
	for i, due := range []float64{0, 2.05, 3.10, 3.15, 5.20, 6.25} {
		if r := records[i]; r.Turn != i%3 || math.Abs(r.Due.Value()-due) > 1e-6 {
			t.Errorf("record %d is turn %d due at %v, want %v", i, r.Turn, r.Due.Value(), due)
		}
	}
	close(seen)
	i := 0
	for messages := range seen {
		if len(messages) != 2+2*(i%3) || messages[0].Role != "system" || messages[len(messages)-1].Role != "user" {
			t.Errorf("turn %d was sent %+v", i%3, messages)
		}
		if i%3 == 2 && (messages[2].Content != "answer" || messages[3].Content != "two") {
			t.Errorf("the history is %+v", messages)
		}
		i++
	}
	if st := run.Stages[0]; st.Requests.Due != 6 || st.Requests.OK != 6 {
		t.Errorf("%+v", st.Requests)
	}
}
