package published

import (
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"llmsweep/sweep/rundir"
)

// aiPerf is the format of aiPerf's profile_export_aiperf.json.
const aiPerf = "aiperf"

// isAIPerf reports whether v is a profile_export_aiperf.json. Each metric in it is an object with its unit.
func isAIPerf(v gjson.Result) bool {
	return v.Get("request_latency.unit").Exists() && v.Get("request_throughput.unit").Exists()
}

// readAIPerf reads a profile_export_aiperf.json.
func readAIPerf(f *jsonFile, v gjson.Result) {
	r := f.begin(v, aiPerf, "AIPerf", v.Get("aiperf_version").String())
	r.defined(noteITLPerRequest.New("AIPerf"), noteITLPerChunk.New("AIPerf (inter_chunk_latency)"), noteRatesWhole.New("AIPerf"))
	if !aiperfConfig(v, "use_server_token_count").Bool() {
		r.defined(noteTokensCounted.New("AIPerf"))
	}
	r.aiperfTarget(v)
	s := r.stageAt(v)
	st := &s.Stage
	s.aiperfLoad(v)
	s.aiperfCount("requests.ok", "request_count", &st.Requests.OK)
	s.aiperfCount("requests.error", "error_request_count", &st.Requests.Error)
	st.Requests.Due = st.Requests.OK + st.Requests.Error
	st.Requests.Sent = st.Requests.Due
	s.aiperfNumber("rates.completed", "request_throughput", "avg", &st.Rates.Completed)
	s.aiperfNumber("tokens_per_s.output", "output_token_throughput", "avg", &st.TokensPerS.Output)
	s.aiperfNumber("tokens_per_s.input", "input_token_throughput", "avg", &st.TokensPerS.Input)
	s.aiperfNumber("tokens_per_s.total", "total_token_throughput", "avg", &st.TokensPerS.Total)
	var window rundir.Number
	s.aiperfNumber("window_s", "benchmark_duration", "avg", &window)
	if window.Known() {
		st.Window, st.Elapsed = window.Value(), window.Value()
	}
	s.aiperfDist("latency_s", "request_latency", &st.Latency)
	s.aiperfDist("ttft_s", "time_to_first_token", &st.TTFT)
	s.aiperfDist("tpot_s", "inter_token_latency", &st.TPOT)
	s.aiperfDist("itl_s", "inter_chunk_latency", &st.ITL)
	s.aiperfTokens("prompt_tokens", "input_sequence_length", "total_isl", &st.PromptTokens)
	s.aiperfTokens("output_tokens", "output_sequence_length", "total_osl", &st.OutputTokens)
	s.number("concurrency.mean", "effective_concurrency.avg", &st.Concurrency.Mean, 0, "")
	s.count("concurrency.peak", "effective_concurrency.max", &st.Concurrency.Peak)
	s.aiperfGoodput()
	if n := r.Run.Workload.OutputTokens.Mean; n > 0 {
		st.AskedTokens = rundir.Exactly(n)
	}
	nameClosedOrOpen(st, st.Kind)
	st.Whole = true
	if v.Get("was_cancelled").Bool() {
		st.State, r.Run.State = rundir.Interrupted, rundir.Interrupted
	}
	s.rest(v, "", "input_config", "telemetry_data", "server_metrics", "run_info", "branch_stats", "warmup_metrics", "error_summary",
		"min_request_timestamp", "max_response_timestamp")
	s.finish()
	r.Run.Plan.StageRequests = st.Requests.Due
	r.keep("run")
}

// aiperfConfig looks for a setting by its name anywhere in the configuration: its place changed from version to version.
func aiperfConfig(v gjson.Result, name string) gjson.Result {
	return find(v.Get("input_config"), name, 6)
}

// find returns the first value under that key in nested objects and lists, down to a depth.
func find(v gjson.Result, key string, depth int) (found gjson.Result) {
	if depth == 0 || !v.IsObject() && !v.IsArray() {
		return found
	}
	if v.IsObject() {
		if x := v.Get(key); x.Type != gjson.Null {
			return x
		}
	}
	v.ForEach(func(_, child gjson.Result) bool {
		found = find(child, key, depth-1)
		return !found.Exists()
	})
	return found
}

// aiperfTarget reads who was asked for what.
func (r *jsonRun) aiperfTarget(v gjson.Result) {
	c := v.Get("input_config")
	first := func(names ...string) gjson.Result {
		for _, name := range names {
			x := find(c, name, 6)
			for x.IsArray() {
				x = x.Get("0")
			}
			if x.IsObject() {
				x = x.Get("name")
			}
			if x.Exists() && x.String() != "" {
				return x
			}
		}
		return gjson.Result{}
	}
	t := &r.Run.Target
	t.URL = first("urls", "url").String()
	t.Model = first("model_names", "models", "model", "items").String()
	if t.Model != "" {
		r.Run.Labels.Model, r.Run.Labels.Quant = labelModel(t.Model)
	}
	if endpoint := find(c, "endpoint", 6); endpoint.IsObject() {
		t.API = endpoint.Get("type").String()
	}
	r.Run.Workload.Seed = uint64(max(0, first("random_seed").Num))
	start, errStart := time.Parse("2006-01-02T15:04:05.999999999", strings.TrimSuffix(v.Get("start_time").String(), "Z"))
	end, errEnd := time.Parse("2006-01-02T15:04:05.999999999", strings.TrimSuffix(v.Get("end_time").String(), "Z"))
	if errStart == nil && errEnd == nil {
		r.Run.Started, r.Run.Ended = start, end
	}
	for _, l := range []struct {
		name string
		to   *rundir.Lengths
	}{{"isl", &r.Run.Workload.PromptTokens}, {"osl", &r.Run.Workload.OutputTokens}} {
		length := find(c, l.name, 6)
		if length.Type == gjson.Number {
			l.to.Mean = length.Num
		} else if length.IsObject() {
			l.to.Mean, l.to.Std = length.Get("mean").Num, length.Get("stddev").Num
		}
	}
	// Versions before 0.6 name the lengths in another way.
	if prompt := find(c, "prompt", 6); prompt.IsObject() {
		w := &r.Run.Workload
		w.PromptTokens.Mean = max(w.PromptTokens.Mean, prompt.Get("input_tokens.mean").Num)
		w.OutputTokens.Mean = max(w.OutputTokens.Mean, prompt.Get("output_tokens.mean").Num)
	}
}

// aiperfLoad reads what was asked: a rate, or a number in flight.
func (s *jsonStage) aiperfLoad(v gjson.Result) {
	s.Stage.Kind = "poisson"
	load := find(v.Get("input_config"), "loadgen", 3)
	find(v.Get("input_config"), "phases", 3).ForEach(func(_, phase gjson.Result) bool {
		load = phase
		return phase.Get("kind").String() == "warmup"
	})
	for _, name := range []string{"arrival_pattern", "request_rate_mode", "type"} {
		if kind := load.Get(name); kind.Type == gjson.String {
			s.Stage.Kind = kind.String()
			break
		}
	}
	for _, name := range []string{"request_rate", "rate"} {
		if rate := find(load, name, 2); rate.Type == gjson.Number && rate.Num > 0 && s.Stage.Rate.IsZero() {
			s.Stage.Rate = rundir.Exactly(rate.Num)
			s.print("rate", rate, "req/s")
		}
	}
	if c := find(load, "concurrency", 2); c.Type == gjson.Number && whole(rundir.Exactly(c.Num), &s.Stage.MaxConcurrency) == nil {
		s.print("max_concurrency", c, "")
	}
}

// aiperfUnits are the powers of ten that make aiPerf's units SI.
func aiperfUnits() map[string]int {
	return map[string]int{"ns": -9, "us": -6, "ms": -3, "sec": 0, "s": 0}
}

// aiperfNumber reads one statistic of a metric, which stands beside the metric's unit.
func (s *jsonStage) aiperfNumber(key, metric, statistic string, to *rundir.Number) {
	unit := s.in.Get(metric + ".unit").String()
	s.number(key, metric+"."+statistic, to, aiperfUnits()[unit], aiperfUnit(unit))
}

// aiperfUnit writes a unit as [ParseQuantity] knows it.
func aiperfUnit(unit string) string {
	switch unit {
	case "requests/sec", "tokens/sec", "ms", "sec":
		return unit
	}
	return ""
}

// aiperfCount reads a count, which aiPerf writes as the average of one number.
func (s *jsonStage) aiperfCount(key, metric string, to *int) { s.count(key, metric+".avg", to) }

// aiperfDist reads a metric with all its statistics.
func (s *jsonStage) aiperfDist(key, metric string, d *rundir.Dist) {
	s.count(key+".n", metric+".count", &d.N)
	for _, f := range d.Numbers() {
		name := map[string]string{"mean": "avg"}[f.Name]
		if name == "" {
			name = f.Name
		}
		s.aiperfNumber(key+"."+f.Name, metric, name, f.Number)
	}
}

// aiperfTokens reads how many tokens the requests had.
func (s *jsonStage) aiperfTokens(key, metric, total string, t *rundir.TokenStats) {
	s.count(key+".n", metric+".count", &t.N)
	s.number(key+".mean", metric+".avg", &t.Mean, 0, "")
	s.number(key+".min", metric+".min", &t.Min, 0, "")
	s.number(key+".max", metric+".max", &t.Max, 0, "")
	s.number(key+".total", total+".avg", &t.Total, 0, "")
}

// aiperfGoodput reads the rate of requests that met the objectives.
func (s *jsonStage) aiperfGoodput() {
	var rate, share rundir.Number
	s.aiperfNumber("goodput.rate", "goodput", "avg", &rate)
	if !rate.Known() {
		return
	}
	s.number("goodput.share", "good_request_fraction.avg", &share, 0, "")
	s.Stage.Goodput = &rundir.Goodput{Rate: rate, Share: share, Verdict: "unknown", Terms: []rundir.Promise{}}
}
