package progress

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"llmsweep/client/note"
	"llmsweep/client/testkit"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
)

// screen is what a terminal shows of what it was sent. Each status line is kept when it is overwritten.
type screen struct {
	shown    []byte
	statuses []string
}

func (s *screen) Write(b []byte) (int, error) {
	for _, c := range b {
		if c != '\r' {
			s.shown = append(s.shown, c)
			continue
		}
		start := bytes.LastIndexByte(s.shown, '\n') + 1
		if status := strings.TrimSpace(string(s.shown[start:])); status != "" {
			s.statuses = append(s.statuses, status)
		}
		s.shown = s.shown[:start]
	}
	return len(b), nil
}

// lines are those that the terminal shows, without the blanks that erased a status.
func (s *screen) lines() []string {
	all := strings.Split(string(s.shown), "\n")
	for i := range all {
		all[i] = strings.TrimRight(all[i], " ")
	}
	return all
}

// stage is one that has ended.
func stage(name string, done, ttft, output float64) *rundir.Stage {
	return &rundir.Stage{
		Name: name, State: rundir.Complete, Rates: rundir.Rates{Completed: rundir.Exactly(done)},
		TTFT: rundir.Dist{Mean: rundir.Exactly(ttft)}, TokensPerS: rundir.TokenRates{Output: rundir.Exactly(output)},
	}
}

// play is half a minute of a sweep, with news ten times a second.
func play(v *View) {
	v.Note("sweep  http://localhost:8000  Qwen2-7B-Instruct on vLLM 0.9.2  512 -> 128 tokens")
	o := v.Observe(0)
	progress := func(n int, s load.Snapshot) {
		for i := range n {
			time.Sleep(100 * time.Millisecond)
			s.Elapsed = time.Duration(i+1) * 100 * time.Millisecond
			o.Progress(s)
		}
	}
	progress(20, load.Snapshot{Phase: load.PhaseWarmUp, InFlight: 1})
	o.Expect(8)
	o.StageBegins(&rundir.Stage{Name: "synchronous"}, 12*time.Second)
	o.Left(4*time.Minute, 7*time.Minute)
	progress(120, load.Snapshot{InFlight: 1, Phase: load.PhaseMeasuring})
	o.StageEnds(stage("synchronous", 0.51, 0.0956, 65.4))
	o.Expect(8)
	o.StageBegins(&rundir.Stage{Name: "search@64"}, 0)
	progress(50, load.Snapshot{InFlight: 64, Failed: 3, Phase: load.PhaseMeasuring})
	o.Expect(0)
	o.StageBegins(&rundir.Stage{Name: "poisson@4"}, time.Minute)
	o.Note(note.Text.New("the server ignores min_tokens"))
	progress(50, load.Snapshot{InFlight: 18, Phase: load.PhaseDraining})
	o.StageEnds(stage("poisson@4", 3.9, 0.12, 480))
	v.Close()
	v.Note("after the end")
	o.Progress(load.Snapshot{})
}

// Without a terminal there is a line for each stage that has ended, and for each note. A terminal has the same lines in
// the end, and below them, while the run goes on, what it is doing.
func TestLinesAndStatus(t *testing.T) {
	for _, l := range lang.All() {
		synctest.Test(t, func(t *testing.T) {
			var plain bytes.Buffer
			play(New(&plain, l, nil))
			testkit.CheckGolden(t, "lines."+string(l)+".txt", plain.Bytes())
			s := &screen{}
			play(New(s, l, func() int { return 80 }))
			if got := strings.Join(s.lines(), "\n"); got != strings.ReplaceAll(plain.String(), " \n", "\n") {
				t.Errorf("the terminal shows in the end\n%s\nand not\n%s", got, plain.String())
			}
			changes := "" // some of those that were shown
			for i := 0; i < len(s.statuses); i += 25 {
				changes += s.statuses[i] + "\n"
			}
			testkit.CheckGolden(t, "status."+string(l)+".txt", []byte(changes))
		})
	}
}

// Whatever a status says, it leaves the last column of the terminal free, and obeys no character of a
// server.
func TestStatusFits(t *testing.T) {
	text := rapid.StringOf(rapid.SampledFrom([]rune("ab@. 模型测试é👍\t\n\r\x1b")))
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(1, 120).Draw(t, "width")
		s := &screen{}
		v := New(s, rapid.SampledFrom(lang.All()).Draw(t, "lang"), func() int { return width })
		o := v.Observe(3)
		o.StageBegins(&rundir.Stage{Name: text.Draw(t, "name")}, time.Second)
		status := string(s.shown)
		if strings.ContainsAny(status, "\x1b\n\t") || table.Width(status) > max(width-1, 0) {
			t.Fatalf("%d columns of %d: %q", table.Width(status), width, status)
		}
		v.Close()
		if len(s.lines()) != 1 || s.lines()[0] != "" {
			t.Fatalf("%q is left", s.shown)
		}
	})
}

func TestConcurrentUse(t *testing.T) {
	var b bytes.Buffer
	v := New(&b, lang.English, func() int { return 40 })
	o := v.Observe(4)
	var wg sync.WaitGroup
	wg.Go(func() {
		for range 100 {
			o.StageBegins(&rundir.Stage{Name: "synchronous"}, 0)
			o.Progress(load.Snapshot{})
		}
	})
	for range 400 {
		wg.Go(func() { v.Note("note") })
	}
	wg.Wait()
	v.Close()
}

// Each term of the SLO is shown with its value.
func TestTermsOfAStage(t *testing.T) {
	term := rundir.TermResult{Term: "ttft:p99<500ms", Verdict: rundir.Missed, Value: rundir.Exactly(0.7)}
	st := rundir.Stage{Goodput: &rundir.Goodput{Terms: []rundir.TermResult{term}}}
	if got, want := termsOf(&st, lang.English), "ttft:p99<500ms: missed (700ms)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
