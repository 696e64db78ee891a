package published

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"llmsweep/sweep/rundir"
)

// The keys of Source.Labels that tell which reports belong together.
const (
	labelExperiment = "experiment"
	labelStack      = "stack"
	labelWriter     = "writer" // of reports that llmsweep wrote
)

// llmdStack takes model, GPUs and engine of all inference engines of the stack.
func (r *jsonRun) llmdStack(v gjson.Result) {
	stack := v.Get("scenario.stack")
	var models, gpus, engines, tools []string
	count, counted, first := 0, true, gjson.Result{}
	add := func(to *[]string, text string) {
		if text != "" && !slices.Contains(*to, text) {
			*to = append(*to, text)
		}
	}
	stack.ForEach(func(_, c gjson.Result) bool {
		e := c.Get("standardized")
		add(&tools, cmp.Or(e.Get("tool").String(), e.Get("kind").String()))
		if e.Get("kind").String() != "inference_engine" {
			return true
		}
		if !first.Exists() {
			first = e
		}
		add(&models, e.Get("model.name").String())
		add(&gpus, llmdGPU(e.Get("accelerator.model").String()))
		add(&engines, llmdEngine(e.Get("tool").String(), e.Get("tool_version").String()))
		n, ok := llmdGPUs(e)
		count, counted = count+n, counted && ok
		return true
	})
	if len(tools) > 0 {
		sum := sha256.Sum256([]byte(stack.Get("@ugly").Raw))
		text := short(strings.Join(tools, " + ")) + " " + hex.EncodeToString(sum[:4])
		r.setLabel(labelStack, rundir.Label{Line: r.file.line(stack), Text: text})
	}
	if !first.Exists() {
		return
	}
	l := &r.Run.Labels
	if len(models) > 0 {
		r.Run.Target.Model = strings.Join(models, " + ")
		l.Model, l.Quant = splitModelPath(r.Run.Target.Model)
		r.llmdLabel("model", first.Get("model.name"))
	}
	if len(gpus) > 0 {
		l.GPU = strings.Join(gpus, " + ")
		r.llmdLabel("gpu", first.Get("accelerator.model"))
	}
	if counted && count > 0 {
		l.GPUs = count
		r.llmdLabel("gpus", first.Get("accelerator.count"))
	}
	if len(engines) > 0 {
		l.Engine = strings.Join(engines, " + ")
		r.llmdLabel("engine", first.Get("tool_version"))
	}
}

func (r *jsonRun) llmdLabel(key string, v gjson.Result) {
	r.setLabel(key, rundir.Label{Line: r.file.line(v), Text: short(v.String())})
}

// llmdGPUs returns how many GPUs all replicas of an engine have. By the schema, the count is that of all replicas;
// llm-d writes the count of one replica or, on several nodes, of one node.
func llmdGPUs(engine gjson.Result) (n int, ok bool) {
	const most = 1 << 16
	product := func(paths ...string) int {
		n := 1
		for _, p := range paths {
			n *= int(min(max(1, engine.Get(p).Int()), most))
			n = min(n, most)
		}
		return n
	}
	count := int(min(engine.Get("accelerator.count").Int(), most))
	const parallelism = "accelerator.parallelism."
	one, replicas := product(parallelism+"tp", parallelism+"dp", parallelism+"pp"), product("replicas")
	switch {
	case count <= 0:
		return 0, false
	case count == one*replicas:
		return count, true
	}
	return max(count, one) * replicas, true
}

// llmdGPU returns the name of a GPU as a label has it: nodes of Kubernetes write dashes for spaces.
func llmdGPU(name string) string {
	if !strings.Contains(name, " ") {
		name = strings.ReplaceAll(name, "-", " ")
	}
	return withoutVendor(strings.TrimSpace(name))
}

var imageTag = regexp.MustCompile(`:v?(\d+(?:\.\d+)+[\w.+-]*)$`)

// llmdEngine returns the name and the version of an engine. Its tool is the name of a program or of an image, its
// version that of an image.
func llmdEngine(tool, version string) string {
	name, ok := findEngine(strings.NewReplacer("/", " ", ":", " ").Replace(tool + " " + version))
	if !ok {
		name = strings.Trim(tool, "/: ")
	}
	if m := imageTag.FindStringSubmatch(version); m != nil && name != "" {
		return name + " " + m[1]
	}
	if v := strings.TrimPrefix(version, "v"); name != "" && v != "" && !strings.ContainsAny(v, "/: ") {
		return name + " " + v
	}
	return name
}

// llmdTarget reads from the harness's own configuration what the stack does not tell.
func (r *jsonRun) llmdTarget(v gjson.Result) {
	native := v.Get("scenario.load.native")
	first := func(paths ...string) gjson.Result {
		for _, p := range paths {
			if x := native.Get(p); x.Type == gjson.String && x.Str != "" {
				return x
			}
		}
		return gjson.Result{}
	}
	t := &r.Run.Target
	t.URL = first("config.server.base_url", "config.spec.backend.target", "config.target", "args.base-url").String()
	t.API = apiOfURL(first("config.spec.backend.request_format", "args.endpoint").String())
	if kind := first("config.api.type").String(); kind != "" {
		t.API = map[string]string{"completion": "completions", "chat": "chat"}[kind]
	}
	model := first("config.server.model_name", "config.spec.backend.model", "config.model", "args.model")
	if t.Model == "" && model.Exists() {
		t.Model = model.String()
		r.Run.Labels.Model, r.Run.Labels.Quant = splitModelPath(t.Model)
		r.llmdLabel("model", model)
	}
}

func (r *jsonRun) llmdWorkload(v gjson.Result) {
	w, load := &r.Run.Workload, v.Get(llmdLoadPath)
	w.PromptTokens, _ = llmdLengths(load.Get("input_seq_len"))
	w.OutputTokens, _ = llmdLengths(load.Get("output_seq_len"))
	if turns, ok := llmdLengths(load.Get("multi_turn.max_turns")); ok && load.Get("multi_turn.enabled").Bool() {
		w.Conversation = &rundir.Conversation{Turns: turns}
	}
	p := load.Get("prefix")
	groups := p.Get("num_groups").Int() * p.Get("num_prefixes").Int()
	if n, ok := llmdLengths(p.Get("prefix_len")); ok && n.Std == 0 && n.Mean > 0 && groups > 0 && groups <= 1<<30 {
		w.Prefix = &rundir.Prefix{Tokens: int(n.Mean), Groups: int(groups)}
	}
}

// llmdLengths returns lengths that were asked for. Harnesses that do not know them write the mean that they measured,
// as a distribution without a deviation.
func llmdLengths(v gjson.Result) (l rundir.Lengths, ok bool) {
	const most = 1e9
	mean, std, low, high := v.Get("value").Num, v.Get("std_dev").Num, v.Get("min").Num, v.Get("max").Num
	if !(mean > 0 && mean < most && std >= 0 && std < most && low >= 0 && low < most && high >= 0 && high < most) {
		return l, false
	}
	switch v.Get("distribution").String() {
	case "fixed":
		if low != high {
			return l, false
		}
		return rundir.Lengths{Mean: mean}, true
	case "gaussian":
		if std > 0 {
			return rundir.Lengths{Mean: mean, Std: std, Min: int(low), Max: int(high)}, true
		}
	case "uniform":
		if high > 0 {
			return rundir.Lengths{Mean: mean, Min: int(low), Max: int(high), Shape: rundir.ShapeUniform}, true
		}
	}
	return l, false
}

// llmdLoad reads the load: a rate, or a number in flight. An infinite one, which JSON and this reader have as null, is
// none.
func (s *jsonStage) llmdLoad(h llmdHarness) {
	st := &s.Stage
	rate, bound := s.in.Get(llmdLoadPath+".rate_qps"), s.in.Get(llmdLoadPath+".concurrency")
	s.count("max_concurrency", llmdLoadPath+".concurrency", &st.MaxConcurrency)
	if st.MaxConcurrency == 0 || !h.closedLoop {
		s.number("rate", llmdLoadPath+".rate_qps", &st.Rate, "req/s")
	}
	if rate.Num <= 0 {
		st.Rate = rundir.Number{}
	}
	nameStage(st, s.llmdArrivals(h))
	if !rate.Exists() && !bound.Exists() { // the load is unknown
		st.Kind, st.Verdict, st.Name = "", "", "stage-"+strconv.Itoa(int(s.in.Get(llmdLoadPath+".stage").Int()))
	}
}

func (s *jsonStage) llmdArrivals(h llmdHarness) string {
	native := s.in.Get(llmdNativePath)
	for _, path := range []string{"kind", "load.type", "spec.profile.kind", "profile"} {
		if kind := native.Get(path).String(); kind == "poisson" || kind == "constant" {
			return kind
		}
	}
	return cmp.Or(h.arrivals, "asynchronous")
}
