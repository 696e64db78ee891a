package progress

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"llmsweep/client/testkit"
	"llmsweep/report/lang"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
)

// play is half a minute of a run, with news ten times a second.
func play(v *View) {
	v.Start("sweep  http://localhost:8000  Qwen2-7B-Instruct on vLLM 0.9.2  512 -> 128 tokens")
	v.Note("the server ignores min_tokens")
	v.Stage(Stage{Index: 1, Total: 11, Name: "synchronous", Planned: 12 * time.Second})
	steps(v, 120, 12*time.Second, load.Snapshot{InFlight: 1, TTFT: 95 * time.Millisecond, ITL: 7730 * time.Microsecond, TokensPS: 65.4, Phase: load.PhaseMeasuring})
	v.Note("synchronous       0.51 req/s  TTFT 95.6 ms   ITL 21.0 ms   65.4 tok/s  closed")
	v.Stage(Stage{Index: 1, Total: 11, Searching: true})
	steps(v, 180, 200*time.Millisecond, load.Snapshot{InFlight: 64, Failed: 3, TTFT: 1200 * time.Millisecond, ITL: -1, TokensPS: 880, Phase: load.PhaseMeasuring})
	v.Note("throughput        7.20 req/s  TTFT 11.6 s    ITL 135 ms    922 tok/s   closed")
	v.Close()
	v.Update(load.Snapshot{}, Time{})
}

func steps(v *View, n int, planned time.Duration, s load.Snapshot) {
	for i := range n {
		time.Sleep(100 * time.Millisecond)
		s.Done, s.Elapsed = i/5, time.Duration(i+1)*100*time.Millisecond
		v.Update(s, Time{Elapsed: s.Elapsed + time.Second, Low: 280*time.Second - s.Elapsed, High: 280*time.Second - s.Elapsed, Stage: planned})
	}
}

func TestPlain(t *testing.T) {
	for _, l := range lang.All() {
		t.Run(string(l), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var b bytes.Buffer
				play(New(l, Lines(&b, l)))
				testkit.CheckGolden(t, "plain."+string(l)+".txt", b.Bytes())
			})
		})
	}
}

func TestConcurrentUse(t *testing.T) {
	var b bytes.Buffer
	v := New(lang.English, Lines(&b, lang.English))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 100 {
				v.Stage(Stage{Name: "synchronous"})
				v.Update(load.Snapshot{}, Time{})
				v.Note("note")
			}
		})
	}
	wg.Wait()
	v.Close()
}

// TestPlaces tells where a sweep stands, in words: the number of stages is a goal only while some are sure to follow.
func TestPlaces(t *testing.T) {
	rows := experiment.ForecastTodo{Part: experiment.PartGrid, Rows: 2, Probes: experiment.ForecastCounts{Low: 1.5, High: 7}}
	edge := experiment.ForecastTodo{Part: experiment.PartEdge, Probes: experiment.ForecastCounts{High: 4}}
	for _, c := range []struct {
		follows experiment.ForecastTodo
		names   []string
		want    string
	}{
		{rows, nil, "stage 1 of 3 (grid of rates), up to 7 more"},
		{edge, nil, "stage 1 (edge), up to 4 more"},
		{experiment.ForecastTodo{Part: experiment.PartControl}, nil, "stage 1 (control)"},
		{experiment.ForecastTodo{}, []string{"poisson@5"}, "stage 1 of 2"},
		{experiment.ForecastTodo{}, nil, "stage 1 of 1"},
	} {
		v := New(lang.English, Lines(io.Discard, lang.English))
		o := v.Observe(9)
		o.Follows(c.follows, c.names)
		o.StageBegins(&rundir.Stage{Name: "poisson@4"}, time.Minute)
		if got := place(v.state.Stage, lang.English); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
		v.Close()
	}
}

// TestProlonged tells why a stage goes on past its planned time, and until when.
func TestProlonged(t *testing.T) {
	for _, c := range []struct {
		now  load.Snapshot
		want string
	}{
		{load.Snapshot{Phase: load.PhaseMeasuring, Elapsed: 30 * time.Second, Until: 3 * time.Minute, Awaits: load.AwaitsVerdict}, ""},
		{load.Snapshot{Phase: load.PhaseMeasuring, Elapsed: 90 * time.Second, Until: 3 * time.Minute, Awaits: load.AwaitsVerdict}, "goes on until 180 s at most: not decided yet"},
		{load.Snapshot{Phase: load.PhaseDraining, Elapsed: 90 * time.Second, Until: 2 * time.Minute}, "until 120 s at most"},
		{load.Snapshot{Phase: load.PhaseMeasuring, Elapsed: 90 * time.Second}, ""},
	} {
		if got := prolonged(&State{Now: c.now, Time: Time{Stage: time.Minute}}, lang.English); got != c.want {
			t.Errorf("%+v: %q, want %q", c.now, got, c.want)
		}
	}
}

// TestTermStates: the rates at which a term is met end below the lowest at which it is missed.
func TestTermStates(t *testing.T) {
	row := func(rate float64, v rundir.Promised, value float64) rundir.Stage {
		return rundir.Stage{Rate: rundir.Exactly(rate), Rates: rundir.Rates{Offered: rundir.Exactly(rate)}, Goodput: &rundir.Goodput{Verdict: v, Terms: []rundir.Promise{{Term: "ttft:p99<500ms", Verdict: v, Value: rundir.Exactly(value)}}}}
	}
	stages := []rundir.Stage{row(2, rundir.Kept, 0.1), row(6, rundir.Broken, 0.7), row(4, rundir.Kept, 0.3), row(7, rundir.Kept, 0.4), row(5, rundir.Unsure, 0.5)}
	want := []string{"ttft:p99<500ms: met up to 4.00 req/s, missed from 6.00 req/s"}
	if got := termStates(stages, lang.English); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := termsOf(&stages[1], lang.English), "ttft:p99<500ms: missed (700ms)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := termStates(stages[4:], lang.English); !slices.Equal(got, []string{"ttft:p99<500ms: not decided yet"}) {
		t.Errorf("%q", got)
	}
}

// TestNoSilence: plain lines come at least every half minute, whatever the run does, and end with it.
func TestNoSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		v := New(lang.English, Lines(&b, lang.English))
		v.Start("sweep")
		for range 30 { // before the first stage
			time.Sleep(time.Second)
			v.Update(load.Snapshot{Phase: load.PhaseWarmUp, TTFT: -1, ITL: -1}, Time{Low: -1})
		}
		time.Sleep(100 * time.Second) // one request takes long
		v.Close()
		time.Sleep(time.Hour)
		synctest.Wait()
		want := []string{
			"00:00  sweep", "00:01  warm-up  0 in flight", "00:11  warm-up  0 in flight", "00:21  warm-up  0 in flight", "00:51  warm-up  no news for 30 s", "01:21  warm-up  no news for 60 s", "01:51  warm-up  no news for 90 s",
		}
		lines := strings.Split(strings.TrimSpace(b.String()), "\n")
		if len(lines) != len(want) {
			t.Fatalf("%s", b.String())
		}
		for i, w := range want {
			if !strings.HasPrefix(lines[i], w) {
				t.Errorf("%q, want %q", lines[i], w)
			}
		}
	})
}
