package published

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

// guideLLM is the format of GuideLLM's benchmarks.json, of versions 0.4 to 0.8.
const guideLLM = "guidellm"

func isGuideLLM(v gjson.Result) bool {
	return v.Get("benchmarks").IsArray() && (v.Get("metadata.guidellm_version").Exists() ||
		v.Get("benchmarks.0.metrics.request_totals").Exists())
}

func readGuideLLM(f *jsonFile, v gjson.Result) {
	r := f.begin(v, guideLLM, "GuideLLM", v.Get("metadata.guidellm_version").String())
	r.addDefinition(noteITLWeighted.New("GuideLLM"), noteTTFTZero.New("GuideLLM"), noteLatencyToEnd.New("GuideLLM"),
		noteCancelled.New("GuideLLM"))
	if v.Get("benchmarks.0.warmup_duration").Num == 0 {
		r.addDefinition(noteNoWarmup.New("GuideLLM"))
	}
	r.guideTarget(v)
	labels := map[string]string{}
	v.Get("config.metadata.labels").ForEach(func(k, value gjson.Result) bool {
		labels[k.String()] = value.String()
		return true
	})
	if bad := r.guideLabels(labels); !bad.IsZero() {
		f.unread(v.Get("config.metadata.labels"), bad)
	}
	benchmarks := v.Get("benchmarks")
	if len(benchmarks.Array()) == 0 {
		f.unread(v, noteNoBenchmark.New())
		return
	}
	plan := rundir.KindRun
	first := benchmarks.Get("0.start_time").Num
	benchmarks.ForEach(func(_, b gjson.Result) bool {
		if r.guideStage(b, first) {
			plan = rundir.KindSweep
		}
		return true
	})
	r.Run.Workload.Seed = max(v.Get("config.spec.seed.value").Uint(),
		benchmarks.Get("0.config.requests.random_seed").Uint())
	if len(r.Run.Stages) > 0 {
		r.Run.Started = unix(benchmarks.Get("0.start_time"))
		r.Run.Ended = unix(benchmarks.Get(fmt.Sprintf("%d.end_time", len(benchmarks.Array())-1)))
	}
	r.keepRun(plan)
}

// guideTarget looks under "args", where GuideLLM wrote the target up to 0.7, and under "config.spec".
func (r *jsonRun) guideTarget(v gjson.Result) {
	first := func(paths ...string) gjson.Result {
		for _, p := range paths {
			if x := v.Get(p); x.Type != gjson.Null && x.String() != "" {
				return x
			}
		}
		return gjson.Result{}
	}
	t := &r.Run.Target
	t.URL = first("config.spec.backend.target", "args.target", "args.backend_kwargs.target",
		"benchmarks.0.config.backend.target").String()
	t.Model = first("config.spec.backend.model", "args.model", "args.backend_kwargs.model",
		"benchmarks.0.config.backend.model").String()
	t.API = apiOfURL(first("config.spec.backend.request_format", "args.data_request_formatter", "args.request_type",
		"args.backend_kwargs.request_format").String())
	switch first("args.data_request_formatter", "args.request_type").String() {
	case "chat_completions":
		t.API = "chat"
	case "text_completions":
		t.API = "completions"
	}
	if t.Model != "" {
		r.Run.Labels.Model, r.Run.Labels.Quant = splitModelPath(t.Model)
	}
	w := &r.Run.Workload
	data := first("config.spec.data.0", "args.data.0")
	if data.IsObject() {
		w.PromptTokens.Mean, w.OutputTokens.Mean = data.Get("prompt_tokens").Num, data.Get("output_tokens").Num
		w.PromptTokens.Std, w.OutputTokens.Std = data.Get("prompt_tokens_stdev").Num, data.Get("output_tokens_stdev").Num
		return
	}
	w.Dataset = data.String()
	for part := range strings.SplitSeq(data.String(), ",") {
		key, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		q, err := ParseQuantity(value)
		if err != nil || !q.Number.Known() {
			continue
		}
		switch key {
		case "prompt_tokens":
			w.PromptTokens.Mean, w.Dataset = q.Number.Value(), ""
		case "output_tokens":
			w.OutputTokens.Mean, w.Dataset = q.Number.Value(), ""
		case "prompt_tokens_stdev":
			w.PromptTokens.Std = q.Number.Value()
		case "output_tokens_stdev":
			w.OutputTokens.Std = q.Number.Value()
		}
	}
}

// guideStage reads a benchmark of a file whose first one started at an instant.
func (r *jsonRun) guideStage(b gjson.Result, first float64) (sweep bool) {
	s := r.newStage(b)
	st := &s.Stage
	sweep = s.guideStrategy(b)
	s.count("requests.ok", "metrics.request_totals.successful", &st.Requests.OK)
	s.count("requests.error", "metrics.request_totals.errored", &st.Requests.Error)
	s.count("requests.incomplete", "metrics.request_totals.incomplete", &st.Requests.Incomplete)
	s.count("requests.due", "metrics.request_totals.total", &st.Requests.Due)
	st.Requests.Sent = st.Requests.Due
	s.seconds("window_s", "duration", &st.Window)
	s.seconds("window_from_s", "warmup_duration", &st.WindowFrom)
	from, to := b.Get("scheduler_metrics.start_time"), b.Get("scheduler_metrics.end_time")
	if to.Num > from.Num {
		st.Elapsed = to.Num - from.Num
	}
	if at := b.Get("start_time").Num; first > 0 && at >= first {
		st.Started = at - first
	}

	s.number("rates.completed", "metrics.requests_per_second.successful.mean", &st.Rates.Completed, "req/s")
	// Tokens that arrived in the window count, whichever request they belong to: that is GuideLLM's "total".
	s.number("tokens_per_s.output", "metrics.output_tokens_per_second.total.mean", &st.TokensPerS.Output, "tok/s")
	s.number("tokens_per_s.input", "metrics.prompt_tokens_per_second.total.mean", &st.TokensPerS.Input, "tok/s")
	s.number("tokens_per_s.total", "metrics.tokens_per_second.total.mean", &st.TokensPerS.Total, "tok/s")
	s.number("concurrency.mean", "metrics.request_concurrency.total.mean", &st.Concurrency.Mean, "")
	s.count("concurrency.peak", "metrics.request_concurrency.total.max", &st.Concurrency.Peak)
	s.guideDist("latency_s", "metrics.request_latency.successful", &st.Latency, "s")
	s.guideDist("ttft_s", "metrics.time_to_first_token_ms.successful", &st.TTFT, "ms")
	s.guideDist("tpot_s", "metrics.inter_token_latency_ms.successful", &st.TPOT, "ms")
	// Its count is of tokens, the weights of the requests.
	st.InterToken = st.TPOT.Mean
	st.TPOT.N = min(st.TPOT.N, st.Requests.OK)
	s.guideTokens("prompt_tokens", "metrics.prompt_token_count.successful", &st.PromptTokens)
	s.guideTokens("output_tokens", "metrics.output_token_count.successful", &st.OutputTokens)
	if n := r.Run.Workload.OutputTokens.Mean; n > 0 {
		st.AskedTokens = rundir.Exactly(n)
	}
	b.Get("metrics").ForEach(func(k, metric gjson.Result) bool {
		path := "metrics." + k.String()
		switch {
		case metric.Type == gjson.Number:
			s.addOther(path, metric)
		case metric.Get("successful").IsObject():
			s.addOthers(metric.Get("successful"), path+".successful")
		case metric.Get("count").Exists():
			s.addOthers(metric, path)
		}
		return true
	})
	s.addOthers(b.Get("scheduler_metrics"), "scheduler_metrics",
		"scheduler_metrics.start_time", "scheduler_metrics.end_time", "scheduler_metrics.request_start_time",
		"scheduler_metrics.request_end_time", "scheduler_metrics.measure_start_time",
		"scheduler_metrics.measure_end_time")
	s.keepStage()
	return sweep
}

func (s *jsonStage) guideStrategy(b gjson.Result) (sweep bool) {
	st := &s.Stage
	strategy := b.Get("config.strategy")
	kind := cmp.Or(strategy.Get("type_").String(), strategy.Get("kind").String())
	profile := b.Get("config.profile")
	sweep = profile.Get("type_").String() == "sweep" || profile.Get("kind").String() == "sweep"
	st.Kind, st.Role = kind, rundir.Single
	s.count("max_concurrency", "config.strategy.max_concurrency", &st.MaxConcurrency)
	switch kind {
	case rundir.StageSynchronous:
		st.Name, st.Verdict, st.MaxConcurrency = kind, rundir.Closed, 1
	case rundir.StageThroughput:
		st.Name, st.Verdict = kind, rundir.Closed
	case rundir.StageConcurrent:
		if streams := strategy.Get("streams"); streams.Type == gjson.Number {
			s.count("max_concurrency", "config.strategy.streams", &st.MaxConcurrency)
		}
		nameConcurrent(st)
	default:
		if kind == "async" {
			st.Kind = "constant"
		}
		s.number("rate", "config.strategy.rate", &st.Rate, "req/s")
		st.Name = st.Kind
		if st.Rate.Known() {
			st.Name = fmt.Sprintf("%s@%.2f", st.Kind, st.Rate.Value())
		}
	}
	if sweep {
		st.Role = cmp.Or(rundir.RoleOf(kind), rundir.Grid)
	}
	return sweep
}

// guideDist reads a distribution. GuideLLM's percentiles are of a step function; of few values they differ from
// interpolated ones.
func (s *jsonStage) guideDist(key, path string, d *rundir.Dist, unit string) {
	s.count(key+".n", path+".count", &d.N)
	if d.N == 0 {
		return // GuideLLM writes zeros where nothing was measured
	}
	for _, f := range d.Numbers() {
		name := map[string]string{"std": "std_dev", "mean": "mean", "min": "min", "max": "max"}[f.Name]
		s.number(key+"."+f.Name, path+"."+cmp.Or(name, "percentiles."+f.Name), f.Number, unit)
		interval := ".percentile_cis." + f.Name
		if f.Name == "mean" {
			interval = ".mean_ci"
		}
		low, _ := s.value(path+interval+".lower", unit)
		high, _ := s.value(path+interval+".upper", unit)
		if low.Known() && high.Known() {
			if d.CI == nil {
				d.CI = map[string][2]float64{}
			}
			d.CI[f.Name] = [2]float64{low.Value(), high.Value()}
		}
	}
}

func (s *jsonStage) guideTokens(key, path string, t *rundir.TokenStats) {
	s.count(key+".n", path+".count", &t.N)
	if t.N == 0 {
		return
	}
	s.number(key+".mean", path+".mean", &t.Mean, "")
	s.number(key+".min", path+".min", &t.Min, "")
	s.number(key+".max", path+".max", &t.Max, "")
	s.number(key+".total", path+".total_sum", &t.Total, "")
}

// guideLabels reads labels that were given to GuideLLM 0.8 with --label. It returns a note on the first one that it
// could not read.
func (r *jsonRun) guideLabels(labels map[string]string) note.Note {
	l := &r.Run.Labels
	for key, to := range map[string]*string{"model": &l.Model, "gpu": &l.GPU, "engine": &l.Engine, "quant": &l.Quant} {
		if v := labels[key]; v != "" {
			*to = v
		}
	}
	if v := labels["gpus"]; v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 {
			return noteLabelNoCount.New("gpus", short(v))
		}
		l.GPUs = n
	}
	if v := labels["price"]; v != "" {
		n, err := strconv.ParseFloat(v, 64)
		if err != nil || !(n > 0) || n > 1e9 {
			return noteLabelNoPrice.New("price", short(v))
		}
		l.Price = n
	}
	return note.Note{}
}
