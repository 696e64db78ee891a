package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"llmsweep/client/note"
	simserver "llmsweep/client/sim/server"
	"llmsweep/cmd/llmsweep/console"
	"llmsweep/sweep/rundir"
)

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

// metered starts a server with a meter.
func (w *world) metered() (m *meter, url string) {
	w.t.Helper()
	m = &meter{Handler: w.simulated(simserver.Options{})}
	url, _ = w.server(m)
	return m, url
}

// TestSpendingLimitsHold: a limit ends a run in good order below it, whatever its load: exit code 0, the table, a note.
// What the run spent, the preflight included, is what the server billed.
func TestSpendingLimitsHold(t *testing.T) {
	for name, tt := range map[string]struct {
		args []string
		cost float64
	}{
		"closed loop": {brief("run", "--concurrency", "8", "--requests", "1000"), 0.05},
		"arrivals":    {brief("run", "--rate", "20", "--duration", "5m"), 0.03},
		"sweep":       {quick("sweep"), 0.05},
	} {
		t.Run(name, func(t *testing.T) {
			virtually(t, func(t *testing.T, w *world) {
				m, url := w.metered()
				out, errs := w.must(append(tt.args, url, "--price-in", "1", "--price-out", "10", "--max-cost",
					fmt.Sprint(tt.cost))...)
				run := open(t, w.path("llmsweep-run"))
				s, cost := run.Spent, (1*float64(m.prompt)+10*float64(m.output))/1e6
				if cost > tt.cost || cost < tt.cost*8/10 || s.PromptTokens != m.prompt || s.OutputTokens != m.output ||
					s.UnsureTokens != 0 || math.Abs(s.Cost.Value()-cost) > 1e-9 {
					t.Errorf("spent %+v, billed %d + %d tokens, cost %v", s, m.prompt, m.output, cost)
				}
				ended := slices.ContainsFunc(run.Warnings, func(n note.Note) bool { return n.Code == "run.spent-up" })
				if !s.Ended || run.State != rundir.Complete || run.Stages[0].Requests.OK == 0 || !ended ||
					!containsAll(out, "Spent: ", "in flight") {
					t.Errorf("%+v, state %s, %v\n%s\n%s", s, run.State, run.Warnings, out, errs)
				}
			})
		})
	}
}

// TestALimitThatDoesNotPay: a limit that does not pay for a useful measurement is refused before anything is sent, with
// the limit that does; with that one, a stage is measured.
func TestALimitThatDoesNotPay(t *testing.T) {
	for name, args := range map[string][]string{"sweep": {"sweep", "--stage-time", "2s", "--points", "2",
		"--max-concurrency", "32"}, "run": {"run", "--concurrency", "8", "--requests", "1000"}} {
		t.Run(name, func(t *testing.T) {
			virtually(t, func(t *testing.T, w *world) {
				m, url := w.metered()
				args := append(args, url, "--no-selftest", "--plain", "--price-in", "3", "--price-out", "15", "--max-cost")
				code, _, errs := w.llmsweep(append(args, "0.02")...)
				_, told, _ := strings.Cut(errs, "Raise it to ")
				enough, _, _ := strings.Cut(told, ",")
				if code != console.WrongUsage || m.prompt > 0 || !strings.Contains(errs, "--max-cost 0.02 does not pay") {
					t.Fatalf("exit %d, %d prompt tokens billed, %s", code, m.prompt, errs)
				}
				w.must(append(args, enough)...)
				if run := open(t, w.path("llmsweep-run")); len(run.Stages) == 0 || run.Stages[0].Requests.OK == 0 {
					t.Errorf("with %s, %d stages, %+v", enough, len(run.Stages), run.Spent)
				}
			})
		})
	}
}

// TestDryRunBoundsWhatIsSent: a dry run says what the run then sends at most, and sends nothing. A sweep has a bound
// where a limit gives it one. A limit that is not reached changes no number.
func TestDryRunBoundsWhatIsSent(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		m, url := w.metered()
		args := brief("run", url, "--concurrency", "4", "--requests", "40", "--price-in", "2", "--price-out", "10")
		dry, _ := w.must(append(args, "--dry-run")...)
		if files, _ := filepath.Glob(w.path("*")); len(files) > 0 || m.prompt > 0 {
			t.Errorf("a dry run wrote %v, and was billed %d tokens", files, m.prompt)
		}
		var prompt, output int64
		_, tokens, _ := strings.Cut(dry, "preflight.\n")
		if _, err := fmt.Sscanf(tokens, "At most %d prompt tokens and %d output tokens", &prompt, &output); err != nil {
			t.Fatal(err, dry)
		}
		w.must(args...)
		if prompt < m.prompt || output < m.output || prompt > 2*m.prompt || output > 2*m.output {
			t.Errorf("at most %d + %d tokens, and then %d + %d", prompt, output, m.prompt, m.output)
		}
		for limit, bound := range map[string]bool{"--max-rps=5": true, "--max-tpm=6000": true, "--max-cost=1": true,
			"--budget=5m": false} {
			out, _ := w.must(quick("sweep", url, "--dry-run", "--price-in", "2", limit)...)
			if !strings.Contains(out, "If a request takes 2 s alone, a plain server is swept in about ") ||
				strings.Contains(out, "At most ") != bound || strings.Contains(out, "does not bound") == bound {
				t.Errorf("%s: %s", limit, out)
			}
		}
		w.exits(console.Done, "Give --price-in and --price-out", "run", "sim:", "--requests", "3", "--max-tokens", "10",
			"--dry-run")
		var stages []string
		for _, limit := range []string{"", "--max-cost 1 --price-in 1"} {
			out := w.path(fmt.Sprint("run", len(stages)))
			w.must(append(brief("run", "sim:", "--rate", "20", "--requests", "60", "--out", out), strings.Fields(limit)...)...)
			run := open(t, out)
			for k := range run.Stages {
				run.Stages[k].ClientCPU, run.Stages[k].ClientGC = rundir.Number{}, rundir.Number{} // of the real machine
			}
			b, err := json.Marshal(run.Stages)
			noError(t, err)
			stages = append(stages, string(b))
		}
		if stages[0] != stages[1] {
			t.Errorf("without: %s\nwith:    %s", stages[0], stages[1])
		}
	})
}

// TestThePreflightKeepsToTheLimits: preflight, calibration, warm-up and stages together keep to --max-rps and
// --max-tpm: an account with a limit of 3 requests a minute, or of 600 tokens, refuses nothing.
func TestThePreflightKeepsToTheLimits(t *testing.T) {
	for flag, limit := range map[string]string{"--max-rps": "0.05", "--max-tpm": "600"} {
		t.Run(flag, func(t *testing.T) {
			virtually(t, func(t *testing.T, w *world) {
				m := &meter{Handler: w.simulated(simserver.Options{})}
				began, keeper := time.Now(), &bodies{Handler: m}
				url, _ := w.server(keeper)
				w.must(brief("run", url, "--concurrency", "2", "--requests", "4", flag, limit)...)
				sent := keeper.at
				for i := 1; i < len(sent); i++ {
					if gap := sent[i].Sub(sent[i-1]); flag == "--max-rps" && gap < 20*time.Second-time.Millisecond {
						t.Errorf("requests %d and %d are %v apart", i-1, i, gap)
					}
				}
				if took := time.Since(began).Minutes(); flag == "--max-tpm" && float64(m.prompt+m.output) > 600*took+100+200 ||
					len(sent) < 8 {
					t.Errorf("%d requests, %d tokens in %.2f minutes", len(sent), m.prompt+m.output, took)
				}
			})
		})
	}
}
