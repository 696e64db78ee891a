package progress

import (
	"bytes"
	"sync"
	"testing"
	"testing/synctest"
	"time"

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
