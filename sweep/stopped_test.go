package sweep

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"llmsweep/client"
	"llmsweep/client/note"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/measure"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
)

// sleeper is an observer that stops the program once, in a stage.
type sleeper struct {
	experiment.NoObserver
	after, slept time.Duration
	done         bool
}

func (s *sleeper) Progress(now load.Snapshot) {
	if !s.done && now.Phase == load.PhaseMeasuring && now.Elapsed > s.after {
		s.done = true
		time.Sleep(s.slept)
	}
}

// outageServer is a server that nothing listens for at times.
type outageServer struct {
	load.Doer
	from, to time.Time
}

func (o outageServer) Do(ctx context.Context, p *client.Prepared, res *client.Result) {
	if now := time.Now(); now.After(o.from) && now.Before(o.to) {
		res.Fail(time.Since(res.Epoch), client.ClassConnect, "connection refused")
		return
	}
	o.Doer.Do(ctx, p, res)
}

// Whichever stage of a sweep a stop of this program or of the server falls into, its row is marked, measured again and
// left out of the answer, and the others are those of a sweep without it. Refused connections are no limit of a server
// that was started again.
func TestASweepGoesOnAfterAStop(t *testing.T) {
	skipWithRaces(t)
	t.Parallel()
	sweep := func(change func(c *Config)) (roles []rundir.Role, run *rundir.Run) {
		run = sweepServer(t, demo(t), demoWork, func(c *Config) { c.Points = 4; change(c) })
		for i := range run.Stages {
			if !strings.HasSuffix(run.Stages[i].Name, experiment.AgainSuffix) {
				roles = append(roles, run.Stages[i].Role)
			}
		}
		return roles, run
	}
	want, whole := sweep(func(*Config) {})
	truth := whole.Saturation.Rate.Value()
	for _, at := range []time.Duration{time.Second, 30 * time.Second} { // in the floor and a hold
		roles, run := sweep(func(c *Config) { c.Observer = &sleeper{after: at, slept: 8 * time.Second} })
		stopped := slices.IndexFunc(run.Stages, func(st rundir.Stage) bool {
			return measure.WasStopped(st.Invalid) && hasNote(&st, "client.stopped")
		})
		if rate := run.Saturation.Rate.Value(); len(roles) != len(run.Stages)-1 || !slices.Equal(roles, want) ||
			math.Abs(rate/truth-1) > 0.1 || stopped < 0 || !run.Client.Valid {
			t.Errorf("stopped at %v: %d stages, %v and %.2f req/s, want %v and %.2f", at, len(run.Stages), roles, rate, want,
				truth)
		}
	}
	for _, from := range []time.Duration{90 * time.Second} {
		_, run := sweep(func(c *Config) {
			c.Doer = outageServer{c.Doer, time.Now().Add(from), time.Now().Add(from + 10*time.Second)}
		})
		away := 0
		for i := range run.Stages {
			st := &run.Stages[i]
			if n := st.Errors[string(client.ClassConnect)]; n > st.Requests.OK/10 {
				if away++; !measure.WasAway(st.Invalid) || st.Verdict == rundir.Shedding || !hasNote(st, "server.away") {
					t.Errorf("away after %v: %s: %v, %v", from, st.Name, st.Invalid, st.Verdict)
				}
			}
		}
		if rate := run.Saturation.Rate.Value(); math.Abs(rate/truth-1) > 0.1 || away == 0 || !run.Client.Valid {
			t.Errorf("away after %v: %.2f req/s, want %.2f; %d rows; client valid %v", from, rate, truth, away, run.Client.Valid)
		}
	}
}

// closedLoops returns n stages of closed loops, each wider than the one before.
func closedLoops(n, requests int) (all []experiment.Stage) {
	for i := range n {
		all = append(all, experiment.NewStage(arrival.Closed{Concurrency: i + 1}, requests, 0))
	}
	return all
}

// neverIdle is a server that others use: it never becomes idle. It counts the time that was waited for it.
func neverIdle(waited *time.Duration) func(context.Context) error {
	return func(ctx context.Context) error {
		began := time.Now()
		<-ctx.Done()
		*waited += time.Since(began)
		return errors.New("3 requests run, sent by other clients")
	}
}

// A server that is always busy is waited for less and less, and not at all after the last stage.
func TestWaitsForABusyServerShorten(t *testing.T) {
	t.Parallel()
	for _, stages := range []int{1, 20} {
		var waited, drain time.Duration
		runStages(t, simtest.Preset(t, "demo"), demoWork, func(c *Config) { c.Idle, drain = neverIdle(&waited), c.Drain },
			closedLoops(stages, 40)...)
		if stages == 1 && waited > 0 || stages > 1 && (waited < drain || waited > 3*drain) {
			t.Errorf("waited %v between %d stages", waited, stages)
		}
	}
}

// phases collects the phases that an observer is told of.
type phases struct {
	experiment.NoObserver
	seen map[string]int
}

func (p phases) Progress(s load.Snapshot) { p.seen[s.Phase]++ }

// A budget is kept also where the server never becomes idle and its cache is emptied between rows, most of it is spent
// on stages, and the progress shows the wait. A run that goes on tells what the first part met.
func TestABusyServerDoesNotSpendTheBudget(t *testing.T) {
	t.Parallel()
	const budget = 2 * time.Minute
	var waited time.Duration
	var config Config
	e, shown := &slowCache{takes: time.Second, refuses: []bool{true}}, phases{seen: map[string]int{}}
	run := sweepServer(t, demo(t), demoWork, func(c *Config) {
		e.began = time.Now()
		c.Idle, c.Empty, c.Budget, c.Points, c.Observer = neverIdle(&waited), e.Empty, budget, 3, shown
		config = *c
	})
	took := run.Ended.Sub(run.Started)
	if took > budget+budget/100 || waited > budget/4 || run.State != rundir.Complete || run.Saturation == nil {
		t.Errorf("took %v of %v, of which %v for an idle server; %s after %d stages, saturation %+v", took, budget, waited,
			run.State, len(run.Stages), run.Saturation)
	}
	if shown.seen[load.PhaseIdle] == 0 {
		t.Error("the wait was not shown")
	}
	if rows, steps := len(run.Stages), len(run.Search); len(e.at) != rows+steps || steps == 0 {
		t.Errorf("emptied %d times for %d rows and %d steps", len(e.at), rows, steps)
	}
	run.State = rundir.Interrupted
	again := sweepServer(t, demo(t), demoWork, func(c *Config) {
		c.Budget, c.Points, c.Log, c.Before = budget, 3, config.Log, run
	})
	for _, want := range []string{"server.cache-kept", "server.cache-emptied"} {
		if !slices.Contains(codes(again.Warnings), want) {
			t.Errorf("the run that goes on has the warnings %v", codes(again.Warnings))
		}
	}
}

// slowCache is a cache that takes a while to be emptied, and refuses some times.
type slowCache struct {
	began   time.Time
	takes   time.Duration
	refuses []bool // by the number of the try; afterwards it does as asked
	at      []time.Duration
}

func (e *slowCache) Empty(context.Context) note.Note {
	n := len(e.at)
	e.at = append(e.at, time.Since(e.began))
	time.Sleep(e.takes)
	if n < len(e.refuses) && e.refuses[n] {
		return note.Kind{Code: "probe.cache-engine", Args: []string{"engine"}}.New("Ollama")
	}
	return note.Note{}
}

// The cache is emptied before each row, and the time that it takes belongs to none. A server that refuses is asked once
// more, and the run tells it once.
func TestTheCacheIsEmptiedBetweenRows(t *testing.T) {
	t.Parallel()
	const kept, emptied = "server.cache-kept", "server.cache-emptied"
	for name, c := range map[string]struct {
		refuses []bool
		tries   int
		want    []string
	}{
		"never":         {nil, 5, []string{emptied}},
		"always":        {[]bool{true, true, true, true, true}, 2, []string{kept}},
		"at first":      {[]bool{true}, 5, []string{kept, emptied}},
		"now and again": {[]bool{false, true, false, true}, 4, []string{emptied, kept}},
	} {
		e := &slowCache{takes: 3 * time.Second, refuses: c.refuses}
		run := runStages(t, simtest.Preset(t, "demo"), demoWork, func(c *Config) { c.Empty, e.began = e.Empty, time.Now() },
			closedLoops(5, 20)...)
		if len(e.at) != c.tries || !slices.Equal(codes(run.Warnings), c.want) || run.State != rundir.Complete {
			t.Errorf("%s: %d tries, %v, %s; want %d and %v", name, len(e.at), codes(run.Warnings), run.State, c.tries, c.want)
		}
		for _, n := range run.Warnings {
			if n.Code == kept && n.String("stage") != run.Stages[slices.Index(c.refuses, true)].Name {
				t.Errorf("%s: %v", name, n)
			}
		}
		ends := 0.0
		for i := range run.Stages[:c.tries] {
			st := &run.Stages[i]
			if at := e.at[i].Seconds(); at < ends || at+e.takes.Seconds() > st.Started+1e-6 ||
				st.OfWholeRun().Requests.OK != 20 || st.Latency.Max.Value() > 1 {
				t.Errorf("%s: %s began at %v s, after one that ended at %v s; the cache was emptied at %v", name, st.Name,
					st.Started, ends, at)
			}
			ends = st.Ended
		}
	}
}

// An interrupt during the wait ends the run as any other does.
func TestAnInterruptWhileTheCacheIsEmptied(t *testing.T) {
	t.Parallel()
	simtest.Beside(t, simtest.Preset(t, "demo"), func(t *testing.T, d load.Doer) {
		c, run := experimentWith(d, demoWork), &rundir.Run{}
		ctx, cancel := context.WithCancelCause(t.Context())
		c.Empty = func(ctx context.Context) note.Note {
			cancel(experiment.ErrInterrupted)
			<-ctx.Done()
			return note.Kind{Code: "probe.cache-engine"}.New()
		}
		if err := Run(ctx, c, closedLoops(1, 5), run); err != nil {
			t.Fatal(err)
		}
		if run.State != rundir.Interrupted || len(run.Stages) > 0 || len(run.Warnings) > 0 {
			t.Errorf("%s with %d rows, %v", run.State, len(run.Stages), run.Warnings)
		}
	})
}
