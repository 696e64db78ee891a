package published

import (
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

// readVLLMBench reads a result of vllm bench serve.
func readVLLMBench(f *jsonFile, v gjson.Result) {
	r := f.begin(v, VLLMBench, "vllm bench serve", "")
	s := r.stageAt(v)
	s.target(v)
	if r.Run.Target.API == "chat" { // a stream of the completions API has no chunk for the role
		r.defined(noteTTFTEmptyChunk.New("vllm bench serve"))
	}
	r.defined(noteITLPerChunk.New("vllm bench serve"), noteRatesWhole.New("vllm bench serve"))
	st := &s.Stage
	s.load()
	s.count("requests.ok", "completed", &st.Requests.OK)
	s.count("requests.error", "failed", &st.Requests.Error)
	s.count("requests.due", "num_prompts", &st.Requests.Due)
	s.serving()
	s.count("concurrency.peak", "max_concurrent_requests", &st.Concurrency.Peak)
	s.number("tokens_per_s.total", "total_token_throughput", &st.TokensPerS.Total, 0, "tok/s")
	s.goodput("request_goodput")
	s.servingStats("_ms", -3, "ms")
	s.finishServing()
}

// target reads who was asked.
func (s *jsonStage) target(v gjson.Result) {
	s.Run.Target.Backend = v.Get("backend").String()
	s.Run.Labels.Engine, _ = labelEngine(s.Run.Target.Backend)
	s.Run.Target.API = apiOfBackend(s.Run.Target.Backend)
	if model := v.Get("model_id").String(); model != "" {
		s.Run.Target.Model = model
		s.Run.Labels.Model, s.Run.Labels.Quant = labelModel(model)
	}
	if at, err := time.Parse("20060102-150405", v.Get("date").String()); err == nil {
		s.Ended(at, v.Get("duration").Num)
	}
}

// apiOfBackend returns the API that a backend of the serving benchmarks stands for, empty where the name does not say.
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

// load reads what was asked: a rate, or a bound on the number in flight. An infinite rate, which is "inf", null or Infinity, is
// no rate.
func (s *jsonStage) load() {
	if v := s.get("request_rate"); v.Type == gjson.Number {
		s.number("rate", "request_rate", &s.Stage.Rate, 0, "req/s")
	}
	s.count("max_concurrency", "max_concurrency", &s.Stage.MaxConcurrency)
}

// serving reads what all serving benchmarks write under the same names.
func (s *jsonStage) serving() {
	st := &s.Stage
	s.seconds("window_s", "duration", &st.Window, 0, "s")
	s.number("prompt_tokens.total", "total_input_tokens", &st.PromptTokens.Total, 0, "")
	s.number("output_tokens.total", "total_output_tokens", &st.OutputTokens.Total, 0, "")
	s.number("rates.completed", "request_throughput", &st.Rates.Completed, 0, "req/s")
	s.number("tokens_per_s.output", "output_throughput", &st.TokensPerS.Output, 0, "tok/s")
}

// goodput reads the rate of requests that met the objectives. The file does not say which objectives those were.
func (s *jsonStage) goodput(path string) {
	var rate rundir.Number
	s.number("goodput.rate", path, &rate, 0, "req/s")
	if rate.Known() {
		s.Stage.Goodput = &rundir.Goodput{Rate: rate, Verdict: "unknown", Terms: []rundir.Promise{}}
	}
}

// finishServing keeps the only stage of a serving benchmark.
func (s *jsonStage) finishServing() {
	st := &s.Stage
	kind := "poisson"
	if b := s.in.Get("burstiness"); b.Type == gjson.Number && b.Num != 1 {
		kind = "gamma"
	}
	nameClosedOrOpen(st, kind)
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
	s.perToken()
	s.sampled(st.Requests.OK)
	s.rest(s.in, "", "server_info")
	s.finish()
	s.Run.Plan.StageRequests = st.Requests.Due
	s.keep("run")
}
