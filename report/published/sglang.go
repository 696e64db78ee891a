package published

import (
	"path"

	"github.com/tidwall/gjson"

	"llmsweep/sweep/rundir"
)

// sgLangBench is the format of SGLang's bench_serving: JSON Lines, to which each test adds one line.
const sgLangBench = "sglang-bench"

// isSGLangBench reports whether v is a line of SGLang's bench_serving.
func isSGLangBench(v gjson.Result) bool {
	return v.Get("request_throughput").Exists() && v.Get("mean_e2e_latency_ms").Exists() && v.Get("total_throughput").Exists()
}

// readSGLangBench reads one line of bench_serving's output.
func readSGLangBench(f *jsonFile, v gjson.Result) {
	r := f.begin(v, sgLangBench, "SGLang bench_serving", "")
	r.defined(noteITLPerChunk.New("SGLang bench_serving"), noteRatesWhole.New("SGLang bench_serving"),
		noteTokensAsked.New("SGLang bench_serving"), noteLatencyToEnd.New("SGLang bench_serving"))
	s := r.stageAt(v)
	st := &s.Stage
	s.target(v)
	r.sglangServer(v.Get("server_info"))
	s.load()
	s.count("requests.ok", "completed", &st.Requests.OK)
	s.serving()
	s.number("prompt_tokens.text", "total_input_text_tokens", &st.PromptTokens.Text, 0, "")
	s.number("prompt_tokens.vision", "total_input_vision_tokens", &st.PromptTokens.Vision, 0, "")
	s.number("output_tokens.retokenized", "total_output_tokens_retokenized", &st.OutputTokens.Retokenized, 0, "")
	s.number("tokens_per_s.input", "input_throughput", &st.TokensPerS.Input, 0, "tok/s")
	s.number("tokens_per_s.total", "total_throughput", &st.TokensPerS.Total, 0, "tok/s")
	s.number("concurrency.mean", "concurrency", &st.Concurrency.Mean, 0, "")
	s.count("concurrency.peak", "max_concurrent_requests", &st.Concurrency.Peak)
	s.goodput("request_goodput")
	s.servingStats("_ms", -3, "ms")
	w := &r.Run.Workload
	w.Dataset = v.Get("dataset_name").String()
	if len(w.Dataset) >= 6 && w.Dataset[:6] == "random" {
		s.seconds("workload.prompt_tokens", "random_input_len", &w.PromptTokens.Mean, 0, "")
		s.seconds("workload.output_tokens", "random_output_len", &w.OutputTokens.Mean, 0, "")
	}
	s.finishServing()
}

// sglangServer labels a run by what the server said of itself, where it was SGLang's.
func (r *jsonRun) sglangServer(info gjson.Result) {
	if !info.IsObject() {
		return
	}
	r.Run.Target.Version = info.Get("version").String()
	if model := info.Get("model_path").String(); model != "" {
		r.Run.Target.Model = model
		r.Run.Labels.Model, r.Run.Labels.Quant = labelModel(path.Base(model))
	}
	tp, dp := info.Get("tp_size"), info.Get("dp_size")
	if tp.Type == gjson.Number {
		gpus := tp.Num * max(1, dp.Num)
		var n int
		if whole(rundir.Exactly(gpus), &n) == nil {
			r.Run.Labels.GPUs = n
		}
	}
	if quant := info.Get("quantization").String(); quant != "" && r.Run.Labels.Quant == "" {
		r.Run.Labels.Quant = quant
	}
}
