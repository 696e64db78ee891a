package sweep

import (
	"context"
	"math"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"llmsweep/client"
	"llmsweep/client/api"
	"llmsweep/client/testkit"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/simtest"
)

// goldenConfig is a sweep in short stages.
func goldenConfig(log experiment.Log) Config {
	c, server := Defaults(), simtest.NewSlotted()
	c.Doer, c.Scrape, c.Log, c.Seed = server, server.Gauges, log, 7
	c.Sources = func(stage string) load.Source { return simtest.Mixed(7, stage) }
	c.Points, c.StageTime, c.StageMax = 4, 6*time.Second, 12*time.Second
	c.Warmup = experiment.Warmup{Requests: 3}
	return c
}

func golden(t *testing.T, name string, v any) {
	t.Helper()
	testkit.CheckGolden(t, name+".json", simtest.Numbers(t, v))
}

// The numbers of a seeded sweep in virtual time stay the same.
func TestGoldenSweep(t *testing.T) {
	t.Parallel()
	run := &rundir.Run{}
	synctest.Test(t, func(t *testing.T) {
		if err := Sweep(t.Context(), goldenConfig(&store.Memory{}), run); err != nil {
			t.Fatal(err)
		}
	})
	golden(t, "sweep", run)
}

// goldenStages is one stage of each kind of load.
func goldenStages() []experiment.Stage {
	trace := []time.Duration{0, 500_111_113, 1_000_000_007, 1_100_000_031, 4_000_000_039}
	return []experiment.Stage{
		experiment.NewStage(arrival.Closed{Concurrency: 4}, 60, 0),
		experiment.NewStage(arrival.Closed{Concurrency: 3}, 0, 5*time.Second),
		experiment.NewStage(arrival.Poisson{Rate: 30}, 0, 8*time.Second),
		experiment.NewStage(arrival.Constant{Rate: 197.3, MaxConcurrency: 5}, 100, 0),
		experiment.NewStage(arrival.Gamma{Rate: 40, Gaps: arrival.Shape(0.5)}, 200, 0),
		experiment.NewStage(arrival.Ramp{From: 10, To: 50, Over: 5 * time.Second}, 0, 0),
		experiment.NewStage(arrival.Trace{Offsets: trace, Speed: 2}, 0, 0),
	}
}

func TestGoldenRun(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "run")
	run := &rundir.Run{}
	synctest.Test(t, func(t *testing.T) {
		dir, err := store.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer dir.Close()
		c := goldenConfig(dir)
		c.SLO = simtest.Terms("ttft:p90<60ms", "latency:mean<900ms")
		if err := Run(t.Context(), c, goldenStages(), run); err != nil {
			t.Fatal(err)
		}
	})
	golden(t, "run", run)

	// A killed run says what its records say: here as if all of its stages had been cut.
	golden(t, "run-killed", reopenKilled(t, run, path, func(st *rundir.Stage) bool { return st.Whole }))
}

// stageRecords measures a stage against a doer in virtual time, and returns its records in order.
func stageRecords(t *testing.T, d func(t *testing.T) load.Doer, w load.Source, s experiment.Stage) (rundir.Stage,
	[]*rundir.Record) {
	t.Helper()
	run := &rundir.Run{}
	var records []*rundir.Record
	synctest.Test(t, func(t *testing.T) {
		c := experimentWith(d(t), w)
		c.Warmup = experiment.Warmup{}
		if err := Run(t.Context(), c, []experiment.Stage{s}, run); err != nil {
			t.Fatal(err)
		}
		records = collect(t, c.Log, s.Name)
	})
	slices.SortStableFunc(records, func(a, b *rundir.Record) int { return a.Seq - b.Seq })
	return run.Stages[0], records
}

// Under a cap the arrivals keep to their schedule, and the wait for a place is queued, not lag and not TTFT.
func TestAnOpenLoopUnderACap(t *testing.T) {
	t.Parallel()
	server := func(*testing.T) load.Doer { return stallingServer{began: time.Now()} }
	st, records := stageRecords(t, server, simtest.SameInAll(4, 1), experiment.NewStage(
		arrival.Constant{Rate: 40, MaxConcurrency: 1}, 100, 0))
	if st.Requests.OK != 100 || st.Concurrency.Peak != 1 {
		t.Fatalf("%+v, peak %d", st.Requests, st.Concurrency.Peak)
	}
	// One at a time takes 50 ms each, and one is due every 25 ms: the last waits for 99*25 ms.
	if got := st.Queued.Max.Value(); math.Abs(got-99*0.025) > 1e-6 {
		t.Errorf("the longest wait is %v s, want %v", got, 99*0.025)
	}
	if st.TTFT.Max.Value() > 0.051 || math.Abs(st.TTFTDue.Max.Value()-99*0.025-0.05) > 1e-6 || st.Lag.Max.Value() > 1e-6 {
		t.Errorf("TTFT %v, from due %v, lag %v", st.TTFT.Max, st.TTFTDue.Max, st.Lag.Max)
	}
	for i, r := range records {
		if math.Abs(r.Due.Value()-float64(i)*0.025) > 1e-8 || i > 0 && r.Sent.Value() < records[i-1].Sent.Value() {
			t.Fatalf("request %d was due at %v, sent at %v", i, r.Due, r.Sent)
		}
	}
}

// A capped closed loop, and arrivals above the cap, send no more than the cap; what holds them back is queued and no
// lag, and the schedule keeps its rate.
func TestCapsHold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		caps func() *load.Caps
		most float64 // requests per second
	}{
		"requests": {func() *load.Caps { return load.NewCaps(3, 0) }, 3},
		"tokens":   {func() *load.Caps { return load.NewCaps(0, 60*20) }, 20.0 / 5},
	} {
		synctest.Test(t, func(t *testing.T) {
			config := experimentWith(stallingServer{began: time.Now()}, simtest.SameInAll(4, 1))
			config.Caps, config.StageTime = c.caps(), time.Minute
			for _, l := range []arrival.Load{arrival.Closed{Concurrency: 8}, arrival.Poisson{Rate: 2 * c.most}} {
				st := oneStage(t, config,
					func(*experiment.Experiment) experiment.Stage { return experiment.NewStage(l, 0, time.Minute) })
				if got := st.Rates.Sent.Value(); got > c.most*1.2 || got < c.most*0.8 || st.Lag.P99.Value() > 1e-6 ||
					st.Queued.P50.Value() < 0.1 {
					t.Errorf("%s, %s: %.3f req/s under a cap of %v, lag %v, queued %v", name, st.Name, got, c.most, st.Lag.P99,
						st.Queued.P50)
				}
				if st.Rate.Known() && st.Rates.Offered.Value() < 1.5*c.most {
					t.Errorf("%s: %v offered", name, st.Rates.Offered)
				}
			}
		})
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

// echoServer answers with how many messages it was sent.
type echoServer struct {
	stallingServer
	seen chan []api.Message
}

func (e echoServer) Do(ctx context.Context, call *client.Prepared, res *client.Result) {
	e.stallingServer.Do(ctx, call, res)
	res.Text = append(res.Text, "answer"...)
	e.seen <- call.Request.Messages
}

// A conversation carries its history, each turn due when the one before has ended and the user has thought.
func TestConversationsCarryTheirHistory(t *testing.T) {
	t.Parallel()
	seen := make(chan []api.Message, 100)
	server := func(*testing.T) load.Doer { return echoServer{stallingServer{began: time.Now()}, seen} }
	st, records := stageRecords(t, server, talk{}, experiment.NewStage(arrival.Closed{Concurrency: 1}, 2, 0))
	if len(records) != 6 || st.Requests.Due != 6 || st.Requests.OK != 6 {
		t.Fatalf("%d records, %+v", len(records), st.Requests)
	}
	for i, due := range []float64{0, 2.05, 3.10, 3.15, 5.20, 6.25} {
		if r := records[i]; r.Turn != i%3 || math.Abs(r.Due.Value()-due) > 1e-6 {
			t.Errorf("record %d is turn %d due at %v, want %v", i, r.Turn, r.Due, due)
		}
		messages := <-seen
		if len(messages) != 2+2*(i%3) || messages[0].Role != "system" || messages[len(messages)-1].Role != "user" ||
			i%3 == 2 && (messages[2].Content != "answer" || messages[3].Content != "two") {
			t.Errorf("turn %d was sent %+v", i%3, messages)
		}
	}
}

// A run that ends before its first request is due has not failed on the server's side.
func TestNoRequestWasDue(t *testing.T) {
	t.Parallel()
	run := runStages(t, simtest.Preset(t, "plain8"), demoWork, func(*Config) {},
		experiment.NewStage(arrival.Poisson{Rate: 0.001}, 0, 5*time.Second))
	if run.State != rundir.Failed || run.Failure.Code != "run.nothing-due" {
		t.Errorf("%s: %v", run.State, run.Failure)
	}
}
