package sweep

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"llmsweep/client"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/measure"
	"llmsweep/sweep/rundir"
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
	for _, from := range []time.Duration{20 * time.Second, 90 * time.Second} {
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
