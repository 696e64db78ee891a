package progress

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"llmsweep/client/testkit"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
)

// stage is one that has ended.
func stage(name string, role rundir.Role, rate, done, ttft, output float64) rundir.Stage {
	s := rundir.Stage{
		Name: name, Role: role, State: rundir.Complete, Rates: rundir.Rates{Completed: rundir.Exactly(done)},
		TTFT: rundir.Dist{Mean: rundir.Exactly(ttft)}, TokensPerS: rundir.TokenRates{Output: rundir.Exactly(output)},
	}
	if rate > 0 {
		s.Rate, s.Rates.Offered = rundir.Exactly(rate), rundir.Exactly(rate)
	}
	return s
}

// example is the model of a sweep after some stages.
func example(l lang.Lang, columns, rows int) *model {
	m := &model{screen: &Screen{o: ScreenOptions{Lang: l, Together: true}}, columns: columns, rows: rows}
	m.content = content{
		State: State{
			Header: "sweep  http://localhost:8000  Qwen2-7B-Instruct on vLLM 0.9.2  512 -> 128 tokens",
			Stage:  Stage{Index: 7, Total: 13, Name: "poisson@71.78"},
			Now: load.Snapshot{
				Phase: load.PhaseDraining, Elapsed: 41 * time.Second, InFlight: 18, Done: 84, Failed: 3, Errors: map[string]int{"timeout": 2, "http_429": 1},
				TTFT: 16 * time.Millisecond, ITL: 7 * time.Millisecond, TokensPS: 1240,
			},
			Time: Time{Elapsed: 192 * time.Second, Low: 240 * time.Second, High: 420 * time.Second, Stage: time.Minute}, Known: true,
			Next: []lang.Text{lang.Same("2 arrival rates"), lang.Same("up to 7 probes"), lang.Same("two loads once more")},
		},
		ended: []rundir.Stage{
			stage("synchronous", rundir.Floor, 0, 11.7, 0.007, 187), stage("throughput", rundir.Ceiling, 0, 148, 0.23, 2351),
			stage("poisson@26", rundir.Grid, 26, 26, 0.010, 400), stage("poisson@56", rundir.Grid, 56, 55, 0.012, 800),
			stage("poisson@101", rundir.Grid, 101, 101, 0.0165, 1600), stage("poisson@147", rundir.Grid, 147, 144, 0.257, 2328),
		},
		errors: map[string]int{"timeout": 4},
		lines:  []string{"the server ignores min_tokens", "synchronous       11.67 req/s  TTFT 6.97 ms   ITL 5.25 ms   187 tok/s   closed", "128 in flight: 2342 output tok/s."},
	}
	for i := range 60 {
		m.content.Now.InFlight = i % 20
		m.content.Now.TokensPS = float64(20 * i)
		m.course.add(time.Unix(int64(i), 0), &m.content.State)
	}
	m.content.Now.InFlight, m.content.Now.TokensPS = 18, 1240
	return m
}

// TestScreens compares the view at the usual widths, and its help, with testdata.
func TestScreens(t *testing.T) {
	for name, c := range map[string]struct {
		l             lang.Lang
		columns, rows int
		help          bool
		pause         pauseState
	}{
		"80": {lang.English, 80, 24, false, running}, "120": {lang.English, 120, 30, false, asked}, "200": {lang.English, 200, 40, false, running},
		"80.zh": {lang.Chinese, 80, 24, false, paused}, "help": {lang.English, 80, 30, true, running}, "help.zh": {lang.Chinese, 80, 30, true, running},
	} {
		m := example(c.l, c.columns, c.rows)
		m.help, m.content.pause = c.help, c.pause
		testkit.CheckGolden(t, name+".txt", []byte(ansi.Strip(m.draw())+"\n"))
	}
}

// TestNothingIsWiderThanTheTerminal draws any content in any size: no line reaches the last column, no escape sequence of a server gets
// through, and the keys stay visible.
func TestNothingIsWiderThanTheTerminal(t *testing.T) {
	text := rapid.StringOf(rapid.SampledFrom([]rune("ab@. 模型测试é👍\t\n\x1b")))
	rapid.Check(t, func(t *rapid.T) {
		columns, rows := rapid.IntRange(20, 220).Draw(t, "columns"), rapid.IntRange(5, 60).Draw(t, "rows")
		m := example(rapid.SampledFrom(lang.All()).Draw(t, "lang"), columns, rows)
		m.help = rapid.Bool().Draw(t, "help")
		m.content.pause = pauseState(rapid.IntRange(0, 2).Draw(t, "pause"))
		m.content.ended = m.content.ended[:rapid.IntRange(0, 6).Draw(t, "ended")]
		m.content.Header, m.content.Stage.Name = table.Clean(text.Draw(t, "header")), table.Clean(text.Draw(t, "name")) // as View gives them
		m.content.errors = map[string]int{text.Draw(t, "class"): 3}
		m.content.lines = append(m.content.lines, table.Clean(text.Draw(t, "line")))
		drawn := m.draw()
		plain := ansi.Strip(drawn)
		if strings.ContainsRune(plain, '\x1b') {
			t.Fatalf("an escape sequence in %q", plain)
		}
		lines := strings.Split(plain, "\n")
		if len(lines) > rows {
			t.Fatalf("%d lines on %d rows", len(lines), rows)
		}
		for _, line := range lines {
			if w := table.Width(line); w > columns-1 {
				t.Fatalf("%d columns of %d: %q", w, columns, line)
			}
		}
		if last := lines[len(lines)-1]; strings.TrimSpace(last) == "" {
			t.Fatalf("no keys:\n%s", plain)
		}
	})
}

// TestNoWordIsCut: at 80 columns each word on the screen is one of those on a screen that is wide enough for all.
func TestNoWordIsCut(t *testing.T) {
	words := map[string]bool{}
	for _, w := range strings.Fields(ansi.Strip(example(lang.English, 400, 60).draw())) {
		words[w] = true
	}
	for _, line := range strings.Split(ansi.Strip(example(lang.English, 80, 60).draw()), "\n") {
		if strings.ContainsAny(line, "│└┴▁▂▃▄▅▆▇█") {
			continue // a drawing
		}
		for _, w := range strings.Fields(line) {
			if !words[w] && strings.Trim(w, "0123456789.") != "" {
				t.Errorf("%q in %q", w, line)
			}
		}
	}
}

// tty is a terminal: keys that are typed, and what is written.
type tty struct {
	keys *io.PipeWriter
	in   io.Reader

	mu  sync.Mutex
	out bytes.Buffer
}

func newTTY() *tty {
	r, w := io.Pipe()
	return &tty{keys: w, in: r}
}

func (t *tty) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.out.Write(b)
}

func (t *tty) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.out.String()
}

func (t *tty) options() ScreenOptions {
	return ScreenOptions{In: t.in, Out: t, Size: func() (int, int) { return 100, 30 }, Environment: []string{"TERM=xterm"}, Together: true}
}

// eventually waits for at most 10 s of real time, which is far more than it takes.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for range 1000 {
		if f() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("never: " + what)
}

// Sequences that take and give back the alternate screen.
const (
	enter = "\x1b[?1049h"
	leave = "\x1b[?1049l"
)

// TestKeys ends, pauses and explains, and gives the terminal back with the lines that stay.
func TestKeys(t *testing.T) {
	term := newTTY()
	interrupts, forced := make(chan bool, 9), make(chan bool, 9)
	o := term.options()
	o.Interrupt, o.Force = func() { interrupts <- true }, func() { forced <- true }
	s := OpenScreen(o)
	s.Start(&State{Header: "sweep of a server"})
	s.Line(nil, "a line that stays")
	eventually(t, "the header is drawn", func() bool { return strings.Contains(term.text(), "sweep of a server") })
	if !strings.Contains(term.text(), enter) {
		t.Error("it does not take the alternate screen")
	}
	if got := s.Pause(context.Background()); got != 0 {
		t.Errorf("paused for %v without being asked", got)
	}
	io.WriteString(term.keys, "p")
	eventually(t, "a pause is asked for", func() bool { return s.snapshot().pause == asked })
	done := make(chan time.Duration)
	go func() { done <- s.Pause(context.Background()) }()
	eventually(t, "it pauses", func() bool { return s.snapshot().pause == paused })
	io.WriteString(term.keys, "p")
	if got := <-done; got <= 0 {
		t.Errorf("the pause took %v", got)
	}
	io.WriteString(term.keys, "?")
	eventually(t, "help", func() bool { return strings.Contains(term.text(), "time to first token") })
	io.WriteString(term.keys, "q")
	<-interrupts
	io.WriteString(term.keys, "\x03")
	<-forced
	if len(interrupts) > 0 {
		t.Error("interrupted twice")
	}
	s.Stop()
	s.Stop() // the lines are printed once
	out := term.text()
	if n := strings.Count(out, "a line that stays\n"); n != 1 {
		t.Errorf("the line that stays is printed %d times", n)
	}
	if !strings.Contains(out, leave) || !strings.HasSuffix(out, "a line that stays\n") || strings.LastIndex(out, leave) > strings.LastIndex(out, "a line that stays") {
		t.Errorf("the end is %q", out[max(0, len(out)-200):])
	}
}

// TestPauseEndsWithTheRun: an interrupted run waits for nobody.
func TestPauseEndsWithTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Screen{}
		s.toggle()
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		if got := s.Pause(ctx); got != 3*time.Second {
			t.Errorf("waited %v", got)
		}
	})
}

// TestMeasurementNeverWaits: updates return although nothing is drawn, and the writer of a terminal that has stopped blocks nobody.
func TestMeasurementNeverWaits(t *testing.T) {
	term := newTTY()
	o := term.options()
	r, w := io.Pipe() // nobody reads
	o.Out = w
	s := OpenScreen(o)
	for i := range 10_000 {
		s.Update(&State{Now: load.Snapshot{InFlight: i}})
	}
	if got := s.snapshot().Now.InFlight; got != 9999 {
		t.Errorf("%d", got)
	}
	go io.Copy(io.Discard, r)
	s.Stop()
}

// TestErrorsAddUp: those of stages that have ended, and of the one that runs.
func TestErrorsAddUp(t *testing.T) {
	m := example(lang.English, 120, 30)
	for _, n := range []int{1, 2} {
		m.screen.Ended(nil, &rundir.Stage{Errors: map[string]int{"timeout": n, "http_500": 1}})
	}
	got := m.screen.snapshot()
	if got.errors["timeout"] != 3 || got.errors["http_500"] != 2 || len(got.ended) != 2 {
		t.Errorf("%v", got.errors)
	}
	if lines := m.failures(80); !slices.ContainsFunc(lines, func(s string) bool { return strings.Contains(s, "timeout 6, http_429 1") }) {
		t.Errorf("%q", lines)
	}
}
