package progress

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mattn/go-runewidth"
	"pgregory.net/rapid"

	"llmsweep/client/testkit"
	"llmsweep/report/lang"
	"llmsweep/sweep/load"
)

// play is half a minute of a run, with news ten times a second.
func play(v *View) {
	v.Start("sweep  http://localhost:8000  Qwen2-7B-Instruct on vLLM 0.9.2  512 -> 128 tokens")
	v.Note("the server ignores min_tokens")
	v.Stage(Stage{Index: 1, Total: 11, Name: "synchronous", Planned: 12 * time.Second})
	steps(v, 120, 12*time.Second, load.Snapshot{InFlight: 1, TTFT: 95 * time.Millisecond, ITL: 7730 * time.Microsecond, TokensPS: 65.4, Phase: load.PhaseMeasuring})
	v.StageDone("synchronous       0.51 req/s  TTFT 95.6 ms   ITL 21.0 ms   65.4 tok/s  closed")
	v.Stage(Stage{Index: 1, Total: 11, Searching: true})
	steps(v, 180, 200*time.Millisecond, load.Snapshot{InFlight: 64, Failed: 3, TTFT: 1200 * time.Millisecond, ITL: -1, TokensPS: 880, Phase: load.PhaseMeasuring})
	v.StageDone("throughput        7.20 req/s  TTFT 11.6 s    ITL 135 ms    922 tok/s   closed")
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
				play(New(&b, Options{Lang: l}))
				testkit.CheckGolden(t, "plain."+string(l)+".txt", b.Bytes())
			})
		})
	}
}

func TestBlockLeavesOnlyLines(t *testing.T) {
	t.Setenv("TERM", "xterm")
	t.Setenv("CI", "")
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		play(New(&b, Options{Width: func() int { return 100 }}))
		want := []string{
			"the server ignores min_tokens",
			"synchronous       0.51 req/s  TTFT 95.6 ms   ITL 21.0 ms   65.4 tok/s  closed",
			"throughput        7.20 req/s  TTFT 11.6 s    ITL 135 ms    922 tok/s   closed",
		}
		if diff := cmp.Diff(want, screen(b.String())); diff != "" {
			t.Errorf("left on the screen (-want +got):\n%s", diff)
		}
	})
}

// TestLinesBreakBetweenWords checks that a line wider than the terminal is not cut within a word.
func TestLinesBreakBetweenWords(t *testing.T) {
	t.Setenv("TERM", "xterm")
	t.Setenv("CI", "")
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		v := New(&b, Options{Width: func() int { return 40 }})
		v.Start("sweep")
		v.Note("the client sent requests late (lag p99 80.0 ms); give llmsweep cores of its own")
		v.Close()
		want := []string{"the client sent requests late (lag p99", "    80.0 ms); give llmsweep cores of", "    its own"}
		if diff := cmp.Diff(want, screen(b.String())); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestBlockShows(t *testing.T) {
	t.Setenv("TERM", "xterm")
	t.Setenv("CI", "")
	t.Setenv("NO_COLOR", "1")
	var all []string
	for _, width := range []int{140, 100, 80, 60, 40, 20} {
		synctest.Test(t, func(t *testing.T) {
			var b bytes.Buffer
			v := New(&b, Options{Width: func() int { return width }})
			v.Start("sweep  http://localhost:8000  通义千问 on vLLM 0.9.2  512 -> 128 tokens")
			v.Stage(Stage{Index: 7, Total: 11, Name: "poisson@3.69", Planned: time.Minute})
			time.Sleep(time.Second)
			v.Update(load.Snapshot{
				Elapsed: 41 * time.Second, InFlight: 18, Done: 84, TTFT: 106 * time.Millisecond, ITL: 35 * time.Millisecond, TokensPS: 291,
				Phase: load.PhaseMeasuring,
			}, Time{Elapsed: 192 * time.Second, Low: 280 * time.Second, High: 280 * time.Second, Stage: time.Minute})
			if strings.Contains(b.String(), "\x1b[1m") {
				t.Error("coloured in spite of NO_COLOR")
			}
			all = append(all, append(screen(b.String()), "")...)
		})
	}
	testkit.CheckGolden(t, "block.txt", []byte(strings.Join(all, "\n")))
}

func TestRedrawIsThrottled(t *testing.T) {
	t.Setenv("TERM", "xterm")
	t.Setenv("CI", "")
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		v := New(&b, Options{Width: func() int { return 80 }})
		v.Start("header")
		v.Stage(Stage{Index: 1, Total: 1, Name: "synchronous"})
		before := strings.Count(b.String(), "\r\x1b[A")
		for range 10_000 {
			time.Sleep(time.Millisecond)
			v.Update(load.Snapshot{}, Time{})
		}
		if n := strings.Count(b.String(), "\r\x1b[A") - before; n < 70 || n > 80 {
			t.Errorf("redrawn %d times in 10 s", n)
		}
	})
}

// TestBlockNeverWraps: whatever is shown, in whatever width, no line of the block reaches the last column.
func TestBlockNeverWraps(t *testing.T) {
	text := rapid.StringOf(rapid.SampledFrom([]rune("ab@. 模型测试é👍\t\n\x1b")))
	rapid.Check(t, func(t *rapid.T) {
		var b bytes.Buffer
		width := rapid.IntRange(1, 160).Draw(t, "width")
		lang := rapid.SampledFrom([]lang.Lang{lang.English, lang.Chinese}).Draw(t, "lang")
		blk := newBlock(&b, lang, func() int { return width }, rapid.Bool().Draw(t, "color"))
		s := &State{
			Header: oneLine(text.Draw(t, "header")),
			Stage:  Stage{Index: rapid.IntRange(0, 20).Draw(t, "index"), Total: 11, Name: oneLine(text.Draw(t, "name"))},
			Time:   Time{Low: time.Duration(rapid.Int64Range(-1, 1e14).Draw(t, "left")), High: time.Duration(rapid.Int64Range(-1, 1e14).Draw(t, "left")), Stage: time.Duration(rapid.Int64Range(0, 1e12).Draw(t, "planned"))},
			Now: load.Snapshot{
				Elapsed: time.Minute, InFlight: rapid.IntRange(0, 1e6).Draw(t, "in flight"), Failed: rapid.IntRange(0, 9).Draw(t, "failed"),
				TTFT: time.Duration(rapid.Int64Range(-1, 1e12).Draw(t, "ttft")), Phase: text.Draw(t, "phase"),
			},
			Known: true,
		}
		blk.draw(s, "")
		for _, line := range strings.Split(b.String(), "\r\n") {
			line = strings.TrimPrefix(escapes.ReplaceAllString(line, ""), "\r")
			if n := columns(line); n > max(width-1, 1) {
				t.Fatalf("%d columns in a terminal of %d: %q", n, width, line)
			}
		}
	})
}

func TestNarrowerWindowLeavesNoDebris(t *testing.T) {
	var b bytes.Buffer
	width := 100
	blk := newBlock(&b, lang.English, func() int { return width }, false)
	s := &State{Header: strings.Repeat("h", 99), Stage: Stage{Name: "synchronous"}}
	blk.draw(s, "")
	width = 40 // both lines now take three rows
	b.Reset()
	blk.draw(s, "")
	if got := strings.Count(b.String(), "\x1b[A"); got != 5 {
		t.Errorf("went up %d rows, want 5", got)
	}
}

func TestConcurrentUse(t *testing.T) {
	var b bytes.Buffer
	v := New(&b, Options{Plain: true})
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

var escapes = regexp.MustCompile(`\x1b\[[0-9;]*[A-Za-z]`)

func columns(s string) int {
	return (&runewidth.Condition{StrictEmojiNeutral: true}).StringWidth(s)
}

// screen is what a terminal shows in the end, as far as our own sequences go. It counts bytes, not columns.
func screen(out string) []string {
	rows, x, y := []string{""}, 0, 0
	for out != "" {
		seq := escapes.FindString(out)
		switch {
		case seq != "" && strings.HasPrefix(out, seq):
			switch seq {
			case "\x1b[A":
				y--
			case "\x1b[K":
				rows[y] = rows[y][:x]
			case "\x1b[J":
				rows = rows[:y+1]
				rows[y] = rows[y][:x]
			}
			out = out[len(seq):]
			continue
		case out[0] == '\r':
			x = 0
		case out[0] == '\n':
			if y++; y == len(rows) {
				rows = append(rows, "")
			}
		default:
			rows[y] = rows[y][:x] + out[:1] + rows[y][min(x+1, len(rows[y])):]
			x++
		}
		out = out[1:]
	}
	for len(rows) > 0 && rows[len(rows)-1] == "" {
		rows = rows[:len(rows)-1]
	}
	return rows
}
