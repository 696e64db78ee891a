package published

import (
	"cmp"
	"fmt"
	"time"

	"github.com/tidwall/gjson"

	"llmsweep/sweep/rundir"
)

// VLLMBench is the format of `vllm bench serve --save-result`.
const VLLMBench = "vllm-bench"

// isVLLMBench reports whether v is a result of vllm bench serve, or of the benchmark_serving.py that it was before.
func isVLLMBench(v gjson.Result) bool {
	return v.Get("request_throughput").Exists() && v.Get("completed").Exists() && v.Get("total_input_tokens").Exists() &&
		v.Get("model_id").Exists()
}

func readVLLMBench(f *jsonFile, v gjson.Result) {
	const tool = "vllm bench serve"
	r := f.begin(v, VLLMBench, tool, "")
	s := r.newStage(v)
	s.readTarget(v)
	if r.Run.Target.API == "chat" { // a stream of the completions API has no chunk for the role
		r.addDefinition(noteTTFTEmptyChunk.New(tool))
	}
	r.addDefinition(noteITLPerChunk.New(tool), noteRatesWhole.New(tool))
	st := &s.Stage
	if v.Get("request_rate").Type == gjson.Number { // an infinite one, which is "inf", null or Infinity, is none
		s.number("rate", "request_rate", &st.Rate, "req/s")
	}
	s.read["request_rate"] = true
	s.count("max_concurrency", "max_concurrency", &st.MaxConcurrency)
	s.count("requests.ok", "completed", &st.Requests.OK)
	s.count("requests.error", "failed", &st.Requests.Error)
	s.count("requests.due", "num_prompts", &st.Requests.Due)
	s.seconds("window_s", "duration", &st.Window)
	s.number("prompt_tokens.total", "total_input_tokens", &st.PromptTokens.Total, "")
	s.number("output_tokens.total", "total_output_tokens", &st.OutputTokens.Total, "")
	s.number("rates.completed", "request_throughput", &st.Rates.Completed, "req/s")
	s.number("tokens_per_s.output", "output_throughput", &st.TokensPerS.Output, "tok/s")
	s.count("concurrency.peak", "max_concurrent_requests", &st.Concurrency.Peak)
	s.number("tokens_per_s.total", "total_token_throughput", &st.TokensPerS.Total, "tok/s")
	var goodput rundir.Number // the file does not say of which objectives
	s.number("goodput.rate", "request_goodput", &goodput, "req/s")
	if goodput.Known() {
		st.Goodput = &rundir.Goodput{Rate: goodput, Verdict: "unknown", Terms: []rundir.TermResult{}}
	}
	s.servingStats()
	s.finishServing()
}

func (s *jsonStage) readTarget(v gjson.Result) {
	s.Run.Target.Backend = v.Get("backend").String()
	s.Run.Labels.Engine, _ = findEngine(s.Run.Target.Backend)
	s.Run.Target.API = apiOfBackend(s.Run.Target.Backend)
	if model := v.Get("model_id").String(); model != "" {
		s.Run.Target.Model = model
		s.Run.Labels.Model, s.Run.Labels.Quant = splitModelPath(model)
	}
	if at, err := time.Parse("20060102-150405", v.Get("date").String()); err == nil {
		s.setEnd(at, v.Get("duration").Num)
	}
}

func apiOfBackend(backend string) string {
	switch backend {
	case "openai-chat", "sglang-oai-chat", "vllm-chat", "lmdeploy-chat":
		return "chat"
	case "openai", "vllm", "sglang-oai", "lmdeploy":
		return "completions"
	case "sglang", "sglang-native":
		return "sglang"
	case "tgi":
		return "tgi"
	}
	return ""
}

func (s *jsonStage) finishServing() {
	st := &s.Stage
	kind := "poisson"
	if b := s.in.Get("burstiness"); b.Type == gjson.Number && b.Num != 1 {
		kind = "gamma"
	}
	nameStage(st, kind)
	st.Whole = true
	st.Elapsed = st.Window
	if st.Requests.Due == 0 {
		st.Requests.Due = st.Requests.OK + st.Requests.Error
	}
	st.Requests.Sent = st.Requests.Due
	if !s.in.Get("failed").Exists() {
		st.Requests.Error = max(0, st.Requests.Due-st.Requests.OK)
	}
	st.Requests.Incomplete = max(0, st.Requests.Due-st.Requests.OK-st.Requests.Error)
	perRequest(&st.PromptTokens, st.Requests.OK)
	perRequest(&st.OutputTokens, st.Requests.OK)
	st.Latency.N, st.TTFT.N, st.TPOT.N = st.Requests.OK, st.Requests.OK, st.Requests.OK
	s.addOthers(s.in, "")
	s.keepStage()
	s.Run.Plan.StageRequests = st.Requests.Due
	s.keepRun(rundir.KindRun)
}

func nameStage(s *rundir.Stage, kind string) {
	s.Role = rundir.Single
	switch {
	case s.Rate.Known():
		s.Kind, s.Name = kind, fmt.Sprintf("%s@%.2f", kind, s.Rate.Value())
	case s.MaxConcurrency == 1:
		s.Kind, s.Name, s.Verdict = rundir.StageSynchronous, rundir.StageSynchronous, rundir.Closed
	case s.MaxConcurrency > 0:
		nameConcurrent(s)
	default:
		s.Kind, s.Name, s.Verdict = rundir.StageThroughput, rundir.StageThroughput, rundir.Closed
	}
}

func nameConcurrent(s *rundir.Stage) {
	s.Kind, s.Verdict = rundir.StageConcurrent, rundir.Closed
	s.Name = fmt.Sprintf("%s@%d", s.Kind, s.MaxConcurrency)
}

func (s *jsonStage) servingStats() {
	for _, m := range []struct {
		name, key string
		dist      *rundir.Dist
	}{
		{"e2el", "latency_s", &s.Stage.Latency},
		{"ttft", "ttft_s", &s.Stage.TTFT},
		{"tpot", "tpot_s", &s.Stage.TPOT},
		{"itl", "itl_s", &s.Stage.ITL},
	} {
		for _, f := range m.dist.Numbers() {
			word := cmp.Or(map[string]string{"p50": "median", "p999": `p99\.9`}[f.Name], f.Name)
			s.number(m.key+"."+f.Name, word+"_"+m.name+"_ms", f.Number, "ms")
		}
		// Where the 50th percentile was asked for, it stands there twice.
		if m.dist.P50.IsZero() {
			s.number(m.key+".p50", "p50_"+m.name+"_ms", &m.dist.P50, "ms")
		}
	}
}
