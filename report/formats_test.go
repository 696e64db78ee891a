package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"llmsweep/client/testkit"
	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
)

// ladderRun is a ladder of closed loops, each measured whole, its first rung with failures and short answers.
func ladderRun() rundir.Run {
	run := blankRun()
	run.State, run.Plan, run.Ended = rundir.Complete, rundir.Plan{Kind: "run"}, run.Started
	run.Target.URL, run.Workload.Temperature = "http://localhost:8000/v1", rundir.Exactly(0.7)
	for _, c := range []float64{5, 10} {
		s := measured(fmt.Sprintf("concurrent@%.0f", c), "concurrent", rundir.Single, rundir.Closed, 0, c/2.5, 2.5, 105.1,
			160, 22.3, 40.1, c*50, c)
		s.MaxConcurrency, s.Whole, s.Elapsed = int(c), true, 60.01
		s.OutputTokens.Retokenized = rundir.Exactly(s.OutputTokens.Mean.Value() * float64(s.OutputTokens.N) * c / 8)
		run.Stages = append(run.Stages, s)
	}
	s := &run.Stages[0]
	s.Requests.OK, s.Requests.Error, s.Requests.Incomplete = s.Requests.OK-5, 3, 2
	s.OutputTokens.Mean, s.Latency = rundir.Exactly(97.25), boundedDist(s.Latency, 61.239, 2)
	return run
}

func TestFixedFormats(t *testing.T) {
	runs := map[string][]rundir.Run{
		"swept": {sweptRun()}, "failed": {failedRun()}, "single": {singleRun()}, "ladder": {ladderRun()},
		"several": {simulatedRun(), singleRun()},
	}
	for name, rs := range runs {
		for _, format := range []string{"stress", "serving"} {
			for _, l := range lang.All() {
				if name != "ladder" && l == lang.Chinese {
					continue // only the notes beneath differ
				}
				t.Run(name+"."+format, func(t *testing.T) {
					var b bytes.Buffer
					if err := Render(&b, format, rs, Options{Lang: l}); err != nil {
						t.Fatal(err)
					}
					testkit.CheckGolden(t, name+"."+string(l)+"."+format+".txt", b.Bytes())
				})
			}
		}
	}
}

// TestFormatsAgree: the same number reads the same in all formats that show it.
func TestFormatsAgree(t *testing.T) {
	run := ladderRun()
	run.Stages = run.Stages[1:]
	stress, serving := render(t, "stress", []rundir.Run{run}, Options{}), render(t, "serving", []rundir.Run{run},
		Options{})
	six := render(t, "markdown", []rundir.Run{run}, Options{})
	for _, c := range []struct{ six, stress, serving string }{
		{"| 4.00 req/sec |", "│ Actual Throughput          │ 4.00 requests/second     │",
			"Request throughput (req/s):              4.00\n"},
		{"| 500.00 tokens/sec |", "│ Tokens Per Second          │ 500.00                   │",
			"Output token throughput (tok/s):         500.00\n"},
		{"| 2.50 sec |", "│ Average Response Time      │ 2.50 seconds             │",
			"Mean E2E Latency (ms):                   2500.00\n"},
		{"| 105.10 ms |", "", "Mean TTFT (ms):                          105.10\n"},
	} {
		if !strings.Contains(six, c.six) || !strings.Contains(stress, c.stress) || !strings.Contains(serving, c.serving) {
			t.Errorf("%q, %q and %q are not all in\n%s\n%s\n%s", c.six, c.stress, c.serving, six, stress, serving)
		}
	}
}

// The layout of a serving block, in columns.
const (
	servingWidth = 50
	servingLabel = 40
)

// TestServingBlock: 50 columns, no trailing blanks, values from column 42 on.
func TestServingBlock(t *testing.T) {
	for line := range strings.Lines(render(t, "serving", []rundir.Run{ladderRun()}, Options{})) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case line == "" || strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "## "):
		case strings.HasPrefix(line, "-") || strings.HasPrefix(line, "="):
			if len(line) != servingWidth {
				t.Errorf("%d columns: %q", len(line), line)
			}
		case len(line) <= servingLabel+1 || line[servingLabel] != ' ' || line[servingLabel+1] == ' ' ||
			strings.HasSuffix(line, " "):
			t.Errorf("not aligned: %q", line)
		}
	}
}
