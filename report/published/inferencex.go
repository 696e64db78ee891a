package published

import (
	"fmt"

	"github.com/tidwall/gjson"

	"llmsweep/sweep/rundir"
)

// inferenceX is the format of inferenceX's aggregated results (InferenceMAX, as it was called): agg_*.json, or a list of those.
const inferenceX = "inferencex"

// isInferenceX reports whether v is an aggregated result of inferenceX.
func isInferenceX(v gjson.Result) bool {
	return v.Get("tput_per_gpu").Exists() && v.Get("hw").Exists() && v.Get("framework").Exists()
}

// readInferenceX reads an aggregated result. Its times are in seconds although its names are those of vLLM's benchmark, its rates
// are per GPU.
func readInferenceX(f *jsonFile, v gjson.Result) {
	r := f.begin(v, inferenceX, "InferenceX", "")
	r.defined(noteTTFTEmptyChunk.New("InferenceX"), noteITLPerChunk.New("InferenceX"), noteRatesWhole.New("InferenceX"))
	l := &r.Run.Labels
	if model := v.Get("model").String(); model != "" {
		r.Run.Target.Model = model
		r.Run.Labels.Model, r.Run.Labels.Quant = labelModel(model)
	}
	l.GPU = v.Get("hw").String()
	l.Quant = v.Get("precision").String()
	framework := v.Get("framework").String()
	r.Run.Target.Backend = framework
	if engine, ok := labelEngine(framework); ok {
		l.Engine = engine
	} else {
		l.Engine = framework
	}
	s := r.stageAt(v)
	st := &s.Stage
	l.GPUs = s.inferenceXGPUs()
	s.seconds("workload.prompt_tokens", "isl", &r.Run.Workload.PromptTokens.Mean, 0, "")
	s.seconds("workload.output_tokens", "osl", &r.Run.Workload.OutputTokens.Mean, 0, "")
	s.count("max_concurrency", "conc", &st.MaxConcurrency)
	s.servingStats("", 0, "s")
	if l.GPUs > 0 {
		r.defined(notePerGPU.New("InferenceX", l.GPUs))
		s.inferenceXRates(l.GPUs)
	}
	if n := r.Run.Workload.OutputTokens.Mean; n > 0 {
		st.AskedTokens = rundir.Exactly(n)
	}
	nameClosedOrOpen(st, "poisson")
	st.Whole = true
	s.rest(v, "")
	s.finish()
	r.keep("run")
}

// inferenceXGPUs returns the number of GPUs. Tensor, pipeline and prefill-context parallelism multiply; a disaggregated server has
// GPUs for prefill and others for decode.
func (s *jsonStage) inferenceXGPUs() int {
	at := func(path string) int {
		n, _ := s.value(path, 0)
		count := 1
		if n.Known() && whole(n, &count) != nil {
			return 0
		}
		return count
	}
	if s.in.Get("is_multinode").Bool() {
		return at("num_prefill_gpu") + at("num_decode_gpu")
	}
	if !s.in.Get("tp").Exists() {
		return 0
	}
	gpus := at("tp") * at("pp") * at("pcp_size")
	for path := range s.taken { // they label the run, but no number of run.json has their name
		if path == "tp" || path == "pp" || path == "pcp_size" {
			delete(s.taken, path)
		}
	}
	return gpus
}

// inferenceXRates reads the rates of all GPUs together, where each GPU counts in the rate per GPU.
func (s *jsonStage) inferenceXRates(gpus int) {
	total := func(path string, n int) rundir.Number {
		v := s.in.Get(path)
		if v.Type != gjson.Number || n == 0 {
			return rundir.Number{}
		}
		return rundir.Exactly(v.Num * float64(n))
	}
	decode, prefill := gpus, gpus
	if s.in.Get("is_multinode").Bool() {
		decode, prefill = int(s.in.Get("num_decode_gpu").Num), int(s.in.Get("num_prefill_gpu").Num)
		if decode == 0 {
			decode = gpus
		}
	}
	t := &s.Stage.TokensPerS
	t.Total, t.Output, t.Input = total("tput_per_gpu", gpus), total("output_tput_per_gpu", decode), total("input_tput_per_gpu", prefill)
	if t.Output.Known() && s.Run.Workload.OutputTokens.Mean > 0 {
		s.Run.Source.Heading = fmt.Sprintf("%s, %d in flight", s.in.Get("image").String(), s.Stage.MaxConcurrency)
	}
}
