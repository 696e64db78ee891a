package published

import (
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"llmsweep/sweep/rundir"
)

// evalScope is the format of evalscope perf's benchmark_summary.json, with the benchmark_percentile.json and the
// benchmark_args.json of the same directory.
const evalScope = "evalscope"

// isEvalScope reports whether v is a benchmark_summary.json, of evalscope.
func isEvalScope(v gjson.Result) bool {
	return v.Get("Test Duration (s)").Exists() || v.Get("Time taken for tests (s)").Exists() || v.Get("Percentiles").Exists()
}

// evalScopeNames are the keys of a summary: today's, and those of 1.0.
func evalScopeNames() map[string][]string {
	return map[string][]string{
		"duration": {"Test Duration (s)", "Time taken for tests (s)"}, "concurrency": {"Concurrency", "Number of concurrency"},
		"rate": {"Request Rate (req/s)", "Request rate (req/s)"}, "total": {"Total Requests", "Total requests"},
		"ok": {"Success Requests", "Succeed requests"}, "failed": {"Failed Requests", "Failed requests"},
		"requests": {"Req Throughput (req/s)", "Request throughput (req/s)"}, "latency": {"Avg Latency (s)", "Average latency (s)"},
		"input": {"Avg Input Tokens", "Average input tokens per request"}, "output": {"Avg Output Tokens", "Average output tokens per request"},
		"output rate": {"Output Throughput (tok/s)", "Output token throughput (tok/s)"},
		"total rate":  {"Total Throughput (tok/s)", "Total token throughput (tok/s)"},
		"input rate":  {"Input Throughput (tok/s)", "Input token throughput (tok/s)"},
		"ttft ms":     {"Avg TTFT (ms)"}, "ttft s": {"Average time to first token (s)"},
		"tpot ms": {"Avg TPOT (ms)"}, "tpot s": {"Average time per output token (s)"},
		"itl ms": {"Avg ITL (ms)"}, "itl s": {"Average inter-token latency (s)"},
	}
}

// readEvalScope reads a summary, or the percentiles that belong to the summary read before.
func readEvalScope(f *jsonFile, v gjson.Result) {
	if v.Get("Percentiles").Exists() {
		f.unread(v, notePercentilesAlone.New())
		return
	}
	r := f.begin(v, evalScope, "evalscope perf", "")
	r.defined(noteITLPerChunk.New("evalscope perf"), noteRatesWhole.New("evalscope perf"), noteLatencyToEnd.New("evalscope perf"))
	if v.Get("Time taken for tests (s)").Exists() { // before its keys changed, it took the first chunk for the first token
		r.defined(noteTTFTEmptyChunk.New("evalscope perf"))
	}
	s := r.stageAt(v)
	s.evalScopeSummary()
	st := &s.Stage
	nameClosedOrOpen(st, "poisson")
	st.Whole, st.Elapsed = true, st.Window
	st.Requests.Sent = st.Requests.Due
	st.Requests.Incomplete = max(0, st.Requests.Due-st.Requests.OK-st.Requests.Error)
	s.sampled(st.Requests.OK)
	st.PromptTokens.N, st.OutputTokens.N = st.Requests.OK, st.Requests.OK
	s.rest(v, "")
	s.finish()
	r.Run.Plan.StageRequests = st.Requests.Due
	r.keep("run")
}

// evalScopeSummary reads the numbers of a summary.
func (s *jsonStage) evalScopeSummary() {
	st := &s.Stage
	names := evalScopeNames()
	path := func(what string) string {
		for _, name := range names[what] {
			if s.in.Get(name).Exists() {
				return name
			}
		}
		return names[what][0]
	}
	s.seconds("window_s", path("duration"), &st.Window, 0, "s")
	// A rate of -1 asks for a closed loop, and so does INF.
	if rate := s.in.Get(path("rate")); rate.Type == gjson.Number && rate.Num > 0 {
		s.number("rate", path("rate"), &st.Rate, 0, "req/s")
	} else {
		s.count("max_concurrency", path("concurrency"), &st.MaxConcurrency)
	}
	s.count("requests.due", path("total"), &st.Requests.Due)
	s.count("requests.ok", path("ok"), &st.Requests.OK)
	s.count("requests.error", path("failed"), &st.Requests.Error)
	s.number("rates.completed", path("requests"), &st.Rates.Completed, 0, "req/s")
	s.number("tokens_per_s.output", path("output rate"), &st.TokensPerS.Output, 0, "tok/s")
	s.number("tokens_per_s.total", path("total rate"), &st.TokensPerS.Total, 0, "tok/s")
	// evalscope writes 0 for what it did not count.
	if rate := s.in.Get(path("input rate")); rate.Num > 0 {
		s.number("tokens_per_s.input", path("input rate"), &st.TokensPerS.Input, 0, "tok/s")
	}
	s.number("latency_s.mean", path("latency"), &st.Latency.Mean, 0, "s")
	s.number("prompt_tokens.mean", path("input"), &st.PromptTokens.Mean, 0, "")
	s.number("output_tokens.mean", path("output"), &st.OutputTokens.Mean, 0, "")
	for _, m := range []struct {
		what, key string
		dist      *rundir.Dist
	}{{"ttft", "ttft_s", &st.TTFT}, {"tpot", "tpot_s", &st.TPOT}, {"itl", "itl_s", &st.ITL}} {
		s.number(m.key+".mean", path(m.what+" ms"), &m.dist.Mean, -3, "ms")
		if m.dist.Mean.IsZero() {
			s.number(m.key+".mean", path(m.what+" s"), &m.dist.Mean, 0, "s")
		}
	}
}

// addPercentiles adds what benchmark_percentile.json, read as name, has to the only stage of a run.
func addPercentiles(run *rundir.Run, name, text string) error {
	rows, err := topLevel(text)
	if err != nil {
		return err
	}
	f := &jsonFile{doc: &Document{Name: name}, text: text, lines: lineStarts(text)}
	st := &run.Stages[0]
	columns := map[string]struct {
		key  string
		dist *rundir.Dist
		tens int
		unit string
	}{
		"Latency (s)": {"latency_s", &st.Latency, 0, "s"},
		"TTFT (ms)":   {"ttft_s", &st.TTFT, -3, "ms"}, "TTFT (s)": {"ttft_s", &st.TTFT, 0, "s"},
		"TPOT (ms)": {"tpot_s", &st.TPOT, -3, "ms"}, "TPOT (s)": {"tpot_s", &st.TPOT, 0, "s"},
		"ITL (ms)": {"itl_s", &st.ITL, -3, "ms"}, "ITL (s)": {"itl_s", &st.ITL, 0, "s"},
	}
	for _, row := range rows {
		label := row.Get("Percentiles").String()
		statistic := label
		if p, ok := strings.CutSuffix(label, "%"); ok {
			statistic = "p" + p
		}
		row.ForEach(func(k, v gjson.Result) bool {
			if v.Type != gjson.Number {
				return true
			}
			printed := rundir.Printed{File: name, Line: f.line(v), Text: short(v.Raw)}
			c, known := columns[k.String()]
			if to := (&rundir.Dist{}); known {
				to = c.dist
				for _, n := range to.Numbers() {
					if n.Name == statistic {
						*n.Number = rundir.Exactly(Shift(v.Num, c.tens))
						printed.Text += " " + c.unit
						st.Source.Printed[c.key+"."+statistic] = printed
						return true
					}
				}
			}
			if st.Source.Other == nil {
				st.Source.Other = map[string]rundir.Printed{}
			}
			st.Source.Other[fmt.Sprintf("%s.%s", k.String(), label)] = printed
			return true
		})
	}
	for _, d := range []*rundir.Dist{&st.Latency, &st.TTFT, &st.TPOT} {
		d.Unsupported = nil
		Counted(d, d.N)
	}
	return nil
}
