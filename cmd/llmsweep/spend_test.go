package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tidwall/gjson"

	"llmsweep/client/note"
	simserver "llmsweep/client/sim/server"
	"llmsweep/sweep/rundir"
)

// spentOf returns what the newest run in a directory spent, and the run.
func spentOf(t *testing.T, dir string) (rundir.Run, *rundir.Spent) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(dir, "*", rundir.RunFile))
	if len(files) == 0 {
		t.Fatal("no run directory")
	}
	raw, err := os.ReadFile(files[len(files)-1])
	var run rundir.Run
	if err == nil {
		err = json.Unmarshal(raw, &run)
	}
	if err != nil || run.Spent == nil {
		t.Fatalf("%v, spent %v", err, run.Spent)
	}
	return run, run.Spent
}

// meter is what a server bills for the answers that it sends, read from them on their way.
type meter struct {
	http.Handler
	mu             sync.Mutex
	prompt, output int64
}

func (m *meter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.Handler.ServeHTTP(&metered{w, m}, r)
}

// metered passes an answer on.
type metered struct {
	http.ResponseWriter
	meter *meter
}

func (w *metered) Write(b []byte) (int, error) {
	for line := range bytes.Lines(b) {
		if usage := gjson.GetBytes(bytes.TrimPrefix(line, []byte("data: ")), "usage"); usage.Get("total_tokens").Exists() {
			w.meter.mu.Lock()
			w.meter.prompt += usage.Get("prompt_tokens").Int()
			w.meter.output += usage.Get("completion_tokens").Int()
			w.meter.mu.Unlock()
		}
	}
	return w.ResponseWriter.Write(b)
}

func (w *metered) Flush() { w.ResponseWriter.(http.Flusher).Flush() }

func (w *metered) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// A limit ends a run in good order below it, whatever its load: exit code 0, the table, a note. What the run spent, the preflight
// included, is what the server billed.
func TestSpendingLimitsHold(t *testing.T) {
	for name, tt := range map[string]struct {
		args   []string
		tokens int64
		cost   float64
	}{
		"closed loop": {brief("run", "--concurrency", "8", "--requests", "1000"), 20_000, 0},
		"arrivals":    {brief("run", "--rate", "20", "--duration", "5m"), 0, 0.03},
		"sweep":       {quick("sweep"), 20_000, 0},
	} {
		t.Run(name, func(t *testing.T) {
			virtually(t, func(t *testing.T, w *world) {
				m := &meter{Handler: w.simulated(simserver.Options{})}
				url, stop := w.server(m)
				defer stop()
				args := append(tt.args, url, "--price-in", "1", "--price-out", "10")
				if tt.tokens > 0 {
					args = append(args, "--max-tokens-total", fmt.Sprint(tt.tokens))
				} else {
					args = append(args, "--max-cost", fmt.Sprint(tt.cost))
				}
				out, errs := w.must(args...)
				run, s := spentOf(t, w.dir)
				cost := (1*float64(m.prompt) + 10*float64(m.output)) / 1e6
				if tt.tokens > 0 && (m.prompt+m.output > tt.tokens || m.prompt+m.output < tt.tokens*8/10) ||
					tt.cost > 0 && (cost > tt.cost || cost < tt.cost*8/10) {
					t.Errorf("%d + %d tokens billed, cost %v", m.prompt, m.output, cost)
				}
				if s.PromptTokens != m.prompt || s.OutputTokens != m.output || s.UnsureTokens != 0 || math.Abs(s.Cost.Value()-cost) > 1e-9 {
					t.Errorf("spent %+v, billed %d + %d tokens, cost %v", s, m.prompt, m.output, cost)
				}
				if !s.Ended || run.State != rundir.Complete || len(run.Stages) == 0 || run.Stages[0].Requests.OK == 0 {
					t.Errorf("%+v, state %s, %d stages", s, run.State, len(run.Stages))
				}
				ended := slices.ContainsFunc(run.Warnings, func(n note.Note) bool { return n.Code == "run.spent-up" })
				if !ended || !strings.Contains(out, "Spent: ") || !strings.Contains(out, "Benchmark") {
					t.Error(run.Warnings, "\n", out, errs)
				}
			})
		})
	}
}

// A limit that is not reached changes no number.
func TestALimitChangesNoNumber(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		var stages [2]string
		for i, limit := range [][]string{nil, {"--max-tokens-total", "1000000", "--price-in", "1"}} {
			w.must(append(brief("run", "sim:", "--rate", "20", "--requests", "60", "--out", w.path(fmt.Sprint(i))), limit...)...)
			run := open(t, w.path(fmt.Sprint(i)))
			for k := range run.Stages {
				run.Stages[k].ClientCPU, run.Stages[k].ClientGC = rundir.Number{}, rundir.Number{} // of the real machine
			}
			b, err := json.Marshal(run.Stages)
			if err != nil {
				t.Fatal(err)
			}
			stages[i] = string(b)
		}
		if stages[0] != stages[1] {
			t.Errorf("without: %s\nwith:    %s", stages[0], stages[1])
		}
	})
}

// A dry run says what the run then sends, and sends nothing.
func TestDryRunSaysWhatIsSent(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		args := []string{"run", "sim:", "--concurrency", "4", "--requests", "40", "--turns", "2", "--warmup", "3", "--price-in", "2", "--price-out", "10"}
		dry, _ := w.must(append(args, "--dry-run")...)
		if files, _ := filepath.Glob(filepath.Join(w.dir, "*")); len(files) > 0 {
			t.Errorf("a dry run wrote %v", files)
		}
		if !strings.Contains(dry, "At most 80 requests") || !strings.Contains(dry, "these prices") {
			t.Error(dry)
		}
	})
}
