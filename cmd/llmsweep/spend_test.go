package main

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"llmsweep/client/note"
	simserver "llmsweep/client/sim/server"
	"llmsweep/cmd/llmsweep/console"
	"llmsweep/sweep/rundir"
)

// TestSpendingLimitsHold: a limit ends a run in good order below it, whatever its load: exit code 0, the table, a note.
// What the run spent, the preflight included, is what the server billed.
func TestSpendingLimitsHold(t *testing.T) {
	each(t, map[string][]string{
		"closed loop": brief("run", "--concurrency", "8", "--requests", "1000", "--max-cost", "0.05"),
		"arrivals":    brief("run", "--rate", "20", "--duration", "5m", "--max-cost", "0.03"),
		"sweep":       quick("sweep", "--max-cost", "0.05"),
	}, func(t *testing.T, w *world, args []string) {
		server, url := w.watched(simserver.Options{})
		out, errs := w.must(append(args, url, "--price-in", "1", "--price-out", "10")...)
		run := open(t, w.path("llmsweep-run"))
		s, cost, most := run.Spent, (1*float64(server.prompt)+10*float64(server.output))/1e6, run.Spent.MaxCost.Value()
		if cost > most || cost < most*8/10 || s.PromptTokens != server.prompt || s.OutputTokens != server.output ||
			s.UnsureTokens != 0 || math.Abs(s.Cost.Value()-cost) > 1e-9 {
			t.Errorf("spent %+v, billed %d + %d tokens, cost %v", s, server.prompt, server.output, cost)
		}
		ended := slices.ContainsFunc(run.Warnings, func(n note.Note) bool { return n.Code == "run.spent-up" })
		if !s.Ended || run.State != rundir.Complete || run.Stages[0].Requests.OK == 0 || !ended ||
			!containsAll(out, "Spent: ", "in flight") {
			t.Errorf("%+v, state %s, %v\n%s\n%s", s, run.State, run.Warnings, out, errs)
		}
	})
}

// TestALimitThatDoesNotPay: a limit that does not pay for a useful measurement is refused before anything is sent, with
// the limit that does; with that one, a stage is measured.
func TestALimitThatDoesNotPay(t *testing.T) {
	each(t, map[string]string{"sweep": "sweep --stage-time 2s --points 2 --max-concurrency 32",
		"run": "run --concurrency 8 --requests 1000"}, func(t *testing.T, w *world, line string) {
		server, url := w.watched(simserver.Options{})
		args := append(strings.Fields(line), url, "--no-selftest", "--price-in", "3", "--price-out", "15", "--max-cost")
		errs := w.exits(console.WrongUsage, "--max-cost 0.02 does not pay", append(args, "0.02")...)
		_, told, _ := strings.Cut(errs, "Raise it to ")
		enough, _, _ := strings.Cut(told, ",")
		if server.prompt > 0 {
			t.Fatalf("%d prompt tokens billed, %s", server.prompt, errs)
		}
		w.must(append(args, enough)...)
		if run := open(t, w.path("llmsweep-run")); len(run.Stages) == 0 || run.Stages[0].Requests.OK == 0 {
			t.Errorf("with %s, %d stages, %+v", enough, len(run.Stages), run.Spent)
		}
	})
}

// TestDryRunBoundsWhatIsSent: a dry run says what the run then sends at most, and sends nothing. A sweep has a bound
// where a limit gives it one. A limit that is not reached changes no number. What must be known before the first stage
// takes one wait for a first token.
func TestDryRunBoundsWhatIsSent(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		server, url := w.watched(simserver.Options{})
		args := brief("run", url, "--concurrency", "4", "--requests", "40", "--price-in", "2", "--price-out", "10")
		dry, _ := w.must(append(args, "--dry-run")...)
		if files, _ := filepath.Glob(w.path("*")); len(files) > 0 || server.prompt > 0 {
			t.Errorf("a dry run wrote %v, and was billed %d tokens", files, server.prompt)
		}
		var prompt, output int64
		_, tokens, _ := strings.Cut(dry, "preflight.\n")
		if _, err := fmt.Sscanf(tokens, "At most %d prompt tokens and %d output tokens", &prompt, &output); err != nil {
			t.Fatal(err, dry)
		}
		const ttft = 2 * time.Second
		server.wait = ttft
		began := time.Now()
		w.must(args...)
		first := slices.IndexFunc(server.bodies, func(b []byte) bool { return gjson.GetBytes(b, "max_tokens").Int() == 8 })
		if at := server.at[first].Sub(began); first != 3 || at < ttft || at > 2*ttft { // all is asked at the same time
			t.Errorf("%d requests before the warm-up, which was sent after %v", first, at)
		}
		if m := server; prompt < m.prompt || output < m.output || prompt > 2*m.prompt || output > 2*m.output {
			t.Errorf("at most %d + %d tokens, and then %d + %d", prompt, output, m.prompt, m.output)
		}
		for limit, bound := range map[string]bool{"--max-rps=5": true, "--max-tpm=6000": true, "--max-cost=1": true,
			"--budget=5m": false} {
			out, _ := w.must(quick("sweep", url, "--dry-run", "--price-in", "2", limit)...)
			if !strings.Contains(out, "If a request takes 1 s alone, a sweep takes about ") ||
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
			stages = append(stages, inJSON(t, open(t, out).Stages))
		}
		if stages[0] != stages[1] {
			t.Errorf("without: %s\nwith:    %s", stages[0], stages[1])
		}
	})
}

// TestThePreflightKeepsToTheLimits: preflight, calibration, warm-up and stages together keep to --max-rps and
// --max-tpm: an account with a limit of 3 requests a minute, or of 600 tokens, refuses nothing.
func TestThePreflightKeepsToTheLimits(t *testing.T) {
	each(t, map[string]string{"requests": "--max-rps=0.05", "tokens": "--max-tpm=600"},
		func(t *testing.T, w *world, limit string) {
			began := time.Now()
			server, url := w.watched(simserver.Options{})
			w.must(brief("run", url, "--concurrency", "2", "--requests", "4", limit)...)
			sent, tokens := server.at, float64(server.prompt+server.output)
			for i := 1; i < len(sent); i++ {
				if gap := sent[i].Sub(sent[i-1]); limit == "--max-rps=0.05" && gap < 20*time.Second-time.Millisecond {
					t.Errorf("requests %d and %d are %v apart", i-1, i, gap)
				}
			}
			if took := time.Since(began).Minutes(); limit == "--max-tpm=600" && tokens > 600*took+100+200 || len(sent) < 8 {
				t.Errorf("%d requests, %v tokens in %.2f minutes", len(sent), tokens, took)
			}
		})
}
