package published

import (
	"cmp"
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

// llmdHarness says in what the reports of one harness differ from those of others.
type llmdHarness struct {
	closedLoop  bool        // a bound on the requests in flight is the load, and the rate only how fast they are queued
	perToken    bool        // inter_token_latency is of gaps; else it is one mean for each request, which is TPOT here
	pooled      bool        // all gaps of all requests weigh the same
	wholeRates  bool        // the rates are over the whole test
	ownTime     bool        // run.time is of this load; else of all loads of the experiment
	window      bool        // rates are over run.time
	succeeded   bool        // requests.total counts those that succeeded, failures the kinds of errors
	arrivals    string      // the kind of arrivals, where the report does not tell
	definitions []note.Kind // what it defines otherwise
}

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
	"inference-perf": {perToken: true, pooled: true, wholeRates: true, closedLoop: true,
		definitions: []note.Kind{noteRatesWhole}},
	"aiperf": {succeeded: true},
}

// PerChunk reports whether the inter-token latency of a run is the gap between two chunks, some of them without a
// token.
func PerChunk(run *rundir.Run) bool {
	return slices.ContainsFunc(run.Warnings, func(n note.Note) bool { return n.Is(noteITLPerChunk) })
}

const (
	llmdLoadPath   = "scenario.load.standardized"
	llmdNativePath = "scenario.load.native.config"
	llmdResultPath = "results.request_performance.aggregate"
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
	tool := v.Get(llmdLoadPath + ".tool").String()
	h, ok := llmdHarnesses[strings.ToLower(tool)]
	if !ok {
		h = llmdHarness{perToken: true} // as the schema defines it
	}
	own := v.Get(llmdNativePath+".written_by").String() == llmdSelf
	if own { // whichever tool measured it
		h = llmdHarness{perToken: true, ownTime: true, wholeRates: h.wholeRates, definitions: h.definitions}
	}
	r := f.begin(v, LLMD, tool, v.Get(llmdLoadPath+".tool_version").String())
	for _, k := range h.definitions {
		r.addDefinition(k.New(tool))
	}
	if id := v.Get("run.eid"); id.String() != "" {
		r.setLabel(labelExperiment, rundir.Label{Line: f.line(id), Text: short(id.String())})
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
		plan = s.readLLMDExtension(v.Get(llmdNativePath))
		r.Run.Source.Windowed, st.Source.Windowed = tool == llmdSelf, tool == llmdSelf
	}
	s.addOthers(v.Get(llmdResultPath), llmdResultPath)
	s.keepStage()
	r.keepRun(plan)
}

func (s *jsonStage) llmdRequests(h llmdHarness) {
	q := &s.Stage.Requests
	s.count("requests.due", llmdResultPath+".requests.total", &q.Due)
	failures := s.in.Get(llmdResultPath + ".requests.failures")
	switch {
	case h.succeeded:
		q.OK = q.Due
	case failures.Type == gjson.Number:
		s.count("requests.error", llmdResultPath+".requests.failures", &q.Error)
		s.count("requests.incomplete", llmdResultPath+".requests.incomplete", &q.Incomplete)
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

// llmdTimes passes over zeros, which harnesses write where they measured nothing.
func (s *jsonStage) llmdTimes(h llmdHarness) {
	st := &s.Stage
	read := func(key, path, unit string, d *rundir.Dist) {
		path = "latency." + path
		if s.in.Get(llmdResultPath+"."+path+".mean").Num == 0 {
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
	st.ITL.N = 0 // how many gaps there were is not told
	if h.pooled {
		st.InterToken = st.ITL.Mean
	}
}

// llmdUnits are the units in which a report may have what is in the unit of the key, by their names here.
var llmdUnits = map[string]map[string]string{
	llmdSeconds:  {llmdSeconds: "s", "ms": "ms"},
	llmdPerToken: {llmdPerToken: "s", "ms/token": "ms"},
	llmdTokens:   {llmdTokens: "tok/s"},
	llmdQueries:  {llmdQueries: "req/s"},
	llmdCount:    {llmdCount: ""},
}

// llmdStat does not read a metric whose unit is not one of llmdUnits[want].
func (s *jsonStage) llmdStat(key, path, want string, numbers ...rundir.Named) {
	path = llmdResultPath + "." + path
	v := s.in.Get(path)
	if !v.Exists() || v.Type == gjson.Null {
		return
	}
	units := v.Get("units")
	unit, ok := llmdUnits[want][units.String()]
	if !ok {
		at := units
		if !units.Exists() {
			at = v
		}
		s.file.unread(at, noteLLMDUnit.New(path, short(units.String()), want))
		v.ForEach(func(k, _ gjson.Result) bool { // they are not kept either
			s.read[path+"."+k.String()] = true
			return true
		})
		return
	}
	for _, n := range numbers {
		name := map[string]string{"std": "stddev", "p999": "p99p9"}[n.Name]
		numberKey := key + "." + n.Name
		if len(numbers) == 1 { // a rate, whose key is that of its mean
			numberKey = key
		}
		s.number(numberKey, path+"."+cmp.Or(name, n.Name), n.Number, unit)
	}
}

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
	s.Stage.Elapsed = isoSeconds(s.in.Get("run.time.duration").String())
	if h.window {
		s.Stage.Window = s.Stage.Elapsed
	}
}

// isoDuration is a duration of ISO 8601 without years, months and days.
var isoDuration = regexp.MustCompile(`^PT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?$`)

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

// readLLMDExtension reads what llmsweep adds to the standard parts, and returns the kind of the run.
func (s *jsonStage) readLLMDExtension(v gjson.Result) (plan string) {
	var own llmdExtension
	if json.Unmarshal([]byte(v.Raw), &own) != nil || own.Labels.GPUs < 0 || own.Labels.Price < 0 {
		return rundir.KindRun // somebody changed it: the standard parts are still those of a report
	}
	s.setLabel(labelWriter, rundir.Label{Line: s.file.line(v), Text: llmdSelf})
	st, run := &s.Stage, &s.Run
	run.Target, run.Labels = own.Target, own.Labels
	l := &run.Labels
	for key, text := range map[string]string{
		"model": l.Model, "gpu": l.GPU, "gpus": countText(l.GPUs), "engine": l.Engine, "quant": l.Quant,
	} {
		if text != "" {
			s.setLabel(key, rundir.Label{Line: s.file.line(v.Get("labels")), Text: text})
		}
	}
	run.Workload = own.Workload
	if run.Workload.OutputTokens.Mean > 0 {
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
	for _, d := range timesOf(st) {
		d.N, d.Unsupported = 0, own.Unsupported[d.Key] // counted again, they would be those of independent requests
	}
	return cmp.Or(own.Plan, rundir.KindRun)
}
