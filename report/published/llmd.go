package published

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

// LLMD is the format of llm-d's Benchmark Report 0.2, in JSON or YAML: one load, measured by any of the harnesses that
// llm-d runs.
const LLMD = "llm-d"

// llmdHarness is what the reports of one harness mean where harnesses differ.
type llmdHarness struct {
	closedLoop  bool        // a bound on the requests in flight is the load, and the rate only how fast they are queued
	perToken    bool        // inter_token_latency is of gaps; else it is one mean for each request, which is TPOT here
	pooled      bool        // and all gaps of all requests weigh the same
	wholeRates  bool        // the rates are over the whole test
	ownTime     bool        // run.time is of this load; else of all loads of the experiment
	window      bool        // and what it lasted is the time that rates are of
	succeeded   bool        // requests.total counts those that succeeded, failures the kinds of errors
	arrivals    string      // the kind of arrivals, where the report does not tell
	definitions []note.Kind // what it defines otherwise
}

// llmdHarnesses are the harnesses, by the name of the tool in a report.
var llmdHarnesses = map[string]llmdHarness{
	"guidellm": {
		ownTime: true, window: true, definitions: []note.Kind{noteITLWeighted, noteTTFTZero, noteLatencyToEnd, noteCancelled},
	},
	"vllm-benchmark": {
		perToken: true, wholeRates: true, arrivals: "poisson", definitions: []note.Kind{noteITLPerChunk, noteRatesWhole},
	},
	"inferencemax": {
		perToken: true, wholeRates: true, ownTime: true, window: true, arrivals: "poisson",
		definitions: []note.Kind{noteITLPerChunk, noteRatesWhole},
	},
	"inference-perf": {perToken: true, pooled: true, wholeRates: true, closedLoop: true, definitions: []note.Kind{noteRatesWhole}},
	"aiperf":         {succeeded: true},
}

// harnessOf returns what the reports of a tool mean; of one that is not known, what the schema says.
func harnessOf(tool string) llmdHarness {
	if h, ok := llmdHarnesses[strings.ToLower(tool)]; ok {
		return h
	}
	return llmdHarness{perToken: true}
}

// PerChunk reports whether the inter-token latency of a run is the gap between two chunks, some of them without a
// token.
func PerChunk(run *rundir.Run) bool {
	return slices.ContainsFunc(run.Warnings, func(n note.Note) bool { return n.Is(noteITLPerChunk) })
}

// The parts of a report.
const (
	llmdLoadPath   = "scenario.load.standardized."
	llmdNativePath = "scenario.load.native.config."
	llmdResultPath = "results.request_performance.aggregate."
)

// isLLMD reports whether v is a Benchmark Report, of any version.
func isLLMD(v gjson.Result) bool {
	return v.Get("version").Exists() && (v.Get("run").IsObject() || v.Get("scenario").IsObject()) &&
		(v.Get("results").IsObject() || v.Get("metrics").IsObject())
}

// readLLMD reads a report as a run of one stage. [Gather] makes runs of those that belong together.
func readLLMD(f *jsonFile, v gjson.Result) {
	if version := v.Get("version").String(); version != llmdVersion && !strings.HasPrefix(version, llmdVersion+".") {
		f.unread(v.Get("version"), noteLLMDVersion.New(short(version)))
		return
	}
	tool := v.Get(llmdLoadPath + "tool").String()
	h, own := harnessOf(tool), v.Get(llmdNativePath+"written_by").String() == llmdSelf
	if own { // whichever tool measured it
		h = llmdHarness{perToken: true, ownTime: true, wholeRates: h.wholeRates, definitions: h.definitions}
	}
	r := f.begin(v, LLMD, tool, v.Get(llmdLoadPath+"tool_version").String())
	for _, k := range h.definitions {
		r.addDefinition(k.New(tool))
	}
	if id := v.Get("run.eid"); id.String() != "" {
		r.Label(labelExperiment, rundir.Label{Line: f.line(id), Text: short(id.String())})
	}
	r.llmdStack(v)
	r.llmdTarget(v)
	r.llmdWorkload(v)
	s := r.newStage(v)
	st := &s.Stage
	s.llmdLoad(h)
	s.llmdRequests(h)
	s.llmdTimes(h)
	for _, rate := range []struct {
		key, path, unit string
		to              *rundir.Number
	}{
		{"tokens_per_s.output", "throughput.output_token_rate", llmdTokens, &st.TokensPerS.Output},
		{"tokens_per_s.input", "throughput.input_token_rate", llmdTokens, &st.TokensPerS.Input},
		{"tokens_per_s.total", "throughput.total_token_rate", llmdTokens, &st.TokensPerS.Total},
		{"rates.completed", "throughput.request_rate", llmdQueries, &st.Rates.Completed},
	} {
		s.llmdStat(rate.key, rate.path, rate.unit, rundir.Named{Name: "mean", Number: rate.to})
	}
	if r.Run.Workload.OutputTokens.Mean > 0 {
		st.AskedTokens = rundir.Exactly(r.Run.Workload.OutputTokens.Mean)
	}
	st.Whole = h.wholeRates
	s.llmdRunTime(h)
	plan := rundir.KindRun
	if own {
		plan = s.readLLMDExtension(v.Get(strings.TrimSuffix(llmdNativePath, ".")))
		r.Run.Source.Windowed, st.Source.Windowed = tool == llmdSelf, tool == llmdSelf
	}
	s.addOthers(v.Get(strings.TrimSuffix(llmdResultPath, ".")), strings.TrimSuffix(llmdResultPath, "."))
	s.keepStage()
	r.keep(plan)
}

// The keys of Source.Labels that tell which reports belong together.
const (
	labelExperiment = "experiment"
	labelStack      = "stack"
	labelWriter     = "writer" // of reports that llmsweep wrote
)

// llmdStack reads what served: model, GPUs and engine are those of all inference engines of the stack.
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
		r.Label(labelStack, rundir.Label{Line: r.file.line(stack), Text: text})
	}
	if !first.Exists() {
		return
	}
	l := &r.Run.Labels
	if len(models) > 0 {
		r.Run.Target.Model = strings.Join(models, " + ")
		l.Model, l.Quant = labelModel(r.Run.Target.Model)
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

// llmdLabel records where a label is from.
func (r *jsonRun) llmdLabel(key string, v gjson.Result) {
	r.Label(key, rundir.Label{Line: r.file.line(v), Text: short(v.String())})
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
	const split = "accelerator.parallelism."
	one, replicas := product(split+"tp", split+"dp", split+"pp"), product("replicas")
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
	return gpuModel(strings.TrimSpace(name))
}

// imageTag is the version at the end of the name of a container image.
var imageTag = regexp.MustCompile(`:v?(\d+(?:\.\d+)+[\w.+-]*)$`)

// llmdEngine returns the name and the version of an engine. Its tool is the name of a program or of an image, its
// version that of an image.
func llmdEngine(tool, version string) string {
	name, ok := labelEngine(strings.NewReplacer("/", " ", ":", " ").Replace(tool + " " + version))
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

// llmdTarget reads from the harness's own configuration who was asked, as far as the stack does not tell.
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
	t.API = labelAPI(first("config.spec.backend.request_format", "args.endpoint").String())
	if kind := first("config.api.type").String(); kind != "" {
		t.API = map[string]string{"completion": "completions", "chat": "chat"}[kind]
	}
	model := first("config.server.model_name", "config.spec.backend.model", "config.model", "args.model")
	if t.Model == "" && model.Exists() {
		t.Model = model.String()
		r.Run.Labels.Model, r.Run.Labels.Quant = labelModel(t.Model)
		r.llmdLabel("model", model)
	}
}

// llmdWorkload reads what was asked for.
func (r *jsonRun) llmdWorkload(v gjson.Result) {
	w, asked := &r.Run.Workload, v.Get(strings.TrimSuffix(llmdLoadPath, "."))
	w.PromptTokens, _ = llmdLengths(asked.Get("input_seq_len"))
	w.OutputTokens, _ = llmdLengths(asked.Get("output_seq_len"))
	if turns, ok := llmdLengths(asked.Get("multi_turn.max_turns")); ok && asked.Get("multi_turn.enabled").Bool() {
		w.Conversation = &rundir.Conversation{Turns: turns}
	}
	p := asked.Get("prefix")
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
	rate, bound := s.in.Get(llmdLoadPath+"rate_qps"), s.in.Get(llmdLoadPath+"concurrency")
	s.count("max_concurrency", llmdLoadPath+"concurrency", &st.MaxConcurrency)
	if st.MaxConcurrency == 0 || !h.closedLoop {
		s.number("rate", llmdLoadPath+"rate_qps", &st.Rate, 0, "req/s")
	}
	if rate.Num <= 0 {
		st.Rate = rundir.Number{}
	}
	nameStage(st, s.llmdArrivals(h))
	if !rate.Exists() && !bound.Exists() { // the load is unknown
		st.Kind, st.Verdict, st.Name = "", "", "stage-"+strconv.Itoa(int(s.in.Get(llmdLoadPath+"stage").Int()))
	}
}

// llmdArrivals returns the kind of arrivals, as a stage has it.
func (s *jsonStage) llmdArrivals(h llmdHarness) string {
	native := s.in.Get("scenario.load.native.config")
	for _, path := range []string{"kind", "load.type", "spec.profile.kind", "profile"} {
		if kind := native.Get(path).String(); kind == "poisson" || kind == "constant" {
			return kind
		}
	}
	return cmp.Or(h.arrivals, "asynchronous")
}

// llmdRequests reads the counts and the lengths of the requests.
func (s *jsonStage) llmdRequests(h llmdHarness) {
	q := &s.Stage.Requests
	s.count("requests.due", llmdResultPath+"requests.total", &q.Due)
	failures := s.in.Get(llmdResultPath + "requests.failures")
	switch {
	case h.succeeded:
		q.OK = q.Due
	case failures.Type == gjson.Number:
		s.count("requests.error", llmdResultPath+"requests.failures", &q.Error)
		s.count("requests.incomplete", llmdResultPath+"requests.incomplete", &q.Incomplete)
		q.OK = max(0, q.Due-q.Error-q.Incomplete)
	}
	q.Sent = q.Due
	for _, t := range []struct {
		key, path string
		to        *rundir.TokenStats
	}{
		{"prompt_tokens", "requests.input_length", &s.Stage.PromptTokens},
		{"output_tokens", "requests.output_length", &s.Stage.OutputTokens},
	} {
		s.llmdStat(t.key, t.path, llmdCount, []rundir.Named{
			{Name: "mean", Number: &t.to.Mean}, {Name: "std", Number: &t.to.Std},
			{Name: "min", Number: &t.to.Min}, {Name: "max", Number: &t.to.Max},
		}...)
		if t.to.Mean.Known() {
			t.to.N = q.OK
		}
	}
}

// llmdTimes reads the times of the requests. Harnesses write zeros where they measured nothing.
func (s *jsonStage) llmdTimes(h llmdHarness) {
	st := &s.Stage
	read := func(key, path, unit string, d *rundir.Dist) {
		if path = "latency." + path; s.in.Get(llmdResultPath+path+".mean").Num == 0 {
			return
		}
		s.llmdStat(key, path, unit, d.Numbers()...)
		if d.Mean.Known() {
			d.N = st.Requests.OK
		}
	}
	read("latency_s", "request_latency", llmdSeconds, &st.Latency)
	read("ttft_s", "time_to_first_token", llmdSeconds, &st.TTFT)
	if !h.perToken { // its time_per_output_token counts the first token, too
		read("tpot_s", "inter_token_latency", llmdPerToken, &st.TPOT)
		st.InterToken = st.TPOT.Mean
		return
	}
	read("tpot_s", "time_per_output_token", llmdPerToken, &st.TPOT)
	read("itl_s", "inter_token_latency", llmdPerToken, &st.ITL)
	if st.ITL.N = 0; h.pooled { // how many gaps there were is not told
		st.InterToken = st.ITL.Mean
	}
}

// llmdUnits are the units in which a report may have what is in the unit of the key, with the power of ten that leads
// there and what stands behind a number that was printed.
var llmdUnits = map[string]map[string]struct {
	tens int
	text string
}{
	llmdSeconds:  {llmdSeconds: {0, "s"}, "ms": {-3, "ms"}},
	llmdPerToken: {llmdPerToken: {0, "s"}, "ms/token": {-3, "ms"}},
	llmdTokens:   {llmdTokens: {0, "tok/s"}},
	llmdQueries:  {llmdQueries: {0, "req/s"}},
	llmdCount:    {llmdCount: {0, ""}},
}

// llmdStat reads statistics of a metric. One without a unit that is known for it is not read.
func (s *jsonStage) llmdStat(key, path, want string, numbers ...rundir.Named) {
	path = llmdResultPath + path
	v := s.in.Get(path)
	if !v.Exists() || v.Type == gjson.Null {
		return
	}
	unit := v.Get("units")
	u, ok := llmdUnits[want][unit.String()]
	if !ok {
		if !unit.Exists() {
			unit = v
		}
		s.file.unread(unit, noteLLMDUnit.New(path, short(v.Get("units").String()), want))
		s.markTaken(v, path)
		return
	}
	for _, n := range numbers {
		name := map[string]string{"std": "stddev", "p999": "p99p9"}[n.Name]
		at := key + "." + n.Name
		if len(numbers) == 1 { // a rate, whose key is that of its mean
			at = key
		}
		s.number(at, path+"."+cmp.Or(name, n.Name), n.Number, u.tens, u.text)
	}
}

// markTaken keeps the numbers of v out of those that are only kept.
func (s *jsonStage) markTaken(v gjson.Result, path string) {
	v.ForEach(func(k, _ gjson.Result) bool {
		s.taken[path+"."+k.String()] = true
		return true
	})
}

// llmdRunTime reads when the load was sent.
func (s *jsonStage) llmdRunTime(h llmdHarness) {
	at := func(path string) time.Time {
		for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999Z07:00"} {
			if t, err := time.Parse(layout, s.in.Get("run.time."+path).String()); err == nil {
				return t
			}
		}
		return time.Time{}
	}
	s.Run.Started, s.Run.Ended = at("start"), at("end")
	if !h.ownTime {
		return
	}
	lasted := isoSeconds(s.in.Get("run.time.duration").String())
	s.Stage.Elapsed = lasted
	if h.window {
		s.Stage.Window = lasted
	}
}

// isoDuration is a duration of ISO 8601 without years, months and days.
var isoDuration = regexp.MustCompile(`^PT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?$`)

// isoSeconds returns a duration in seconds; 0 where it is none.
func isoSeconds(text string) float64 {
	m := isoDuration.FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	seconds := 0.0
	for i, unit := range []float64{3600, 60, 1} {
		n, _ := strconv.ParseFloat(m[i+1], 64) // empty, or digits
		seconds += n * unit
	}
	if seconds > 1e9 {
		return 0
	}
	return seconds
}

// readLLMDExtension reads what llmsweep writes beside the standard parts, and returns the kind of the run.
func (s *jsonStage) readLLMDExtension(v gjson.Result) (plan string) {
	var own llmdExtension
	if json.Unmarshal([]byte(v.Raw), &own) != nil || own.Labels.GPUs < 0 || own.Labels.Price < 0 {
		return rundir.KindRun // somebody changed it: the standard parts are still those of a report
	}
	s.Label(labelWriter, rundir.Label{Line: s.file.line(v), Text: llmdSelf})
	st, run := &s.Stage, &s.Run
	run.Target, run.Labels = own.Target, own.Labels
	l := &run.Labels
	for key, text := range map[string]string{
		"model": l.Model, "gpu": l.GPU, "gpus": countText(l.GPUs), "engine": l.Engine, "quant": l.Quant,
	} {
		if text != "" {
			s.Label(key, rundir.Label{Line: s.file.line(v.Get("labels")), Text: text})
		}
	}
	if run.Workload = own.Workload; run.Workload.OutputTokens.Mean > 0 {
		st.AskedTokens = rundir.Exactly(run.Workload.OutputTokens.Mean)
	}
	if name := s.in.Get("scenario.load.metadata.description").String(); name != "" {
		st.Name = name
	}
	st.Kind, st.Role = cmp.Or(own.Kind, st.Kind), cmp.Or(own.Role, st.Role)
	st.Verdict, st.Invalid = own.Verdict, own.Invalid
	st.Repeat = max(0, own.Repeat)
	if own.Gap.Known() {
		st.InterToken = own.Gap
	}
	for _, d := range llmdDists(st) {
		d.dist.N, d.dist.Unsupported = 0, own.Unsupported[d.key] // counted again, they would be those of independent requests
	}
	return cmp.Or(own.Plan, rundir.KindRun)
}
