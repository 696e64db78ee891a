package published

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"llmsweep/client/note"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// llmdVersion is the version of the Benchmark Report. Later revisions of 0.2 only add optional fields. The format is
// https://github.com/llm-d/llm-d-benchmark/blob/main/llmdbenchmark/analysis/benchmark_report/schema_v0_2.py.
const llmdVersion = "0.2"

// WriteLLMD writes runs as Benchmark Reports of llm-d: one for each stage, an array where there are several. llm-d's
// own tools read one report a file, as [LLMDFiles] writes them.
//
// A number of which only a lower bound is known is left out, and so is the stack: llmsweep knows labels of the server,
// not how it was built. They stand in the native configuration of the load.
func WriteLLMD(w io.Writer, runs []rundir.Run) error {
	reports := llmdReportsOf(runs)
	if len(reports) == 1 {
		return table.WriteJSON(w, reports[0])
	}
	return table.WriteJSON(w, reports)
}

// LLMDFiles returns the Benchmark Reports of runs by the names of their files: path, or, where there are several, path
// with the number of the report before its ending, as llm-d writes it.
func LLMDFiles(path string, runs []rundir.Run) (map[string][]byte, error) {
	files, reports := map[string][]byte{}, llmdReportsOf(runs)
	for i, r := range reports {
		name := path
		if len(reports) > 1 {
			ending := filepath.Ext(path)
			name = strings.TrimSuffix(path, ending) + ",_stage_" + strconv.Itoa(i) + ending
		}
		var b bytes.Buffer
		if err := table.WriteJSON(&b, r); err != nil {
			return nil, err
		}
		files[name] = b.Bytes()
	}
	return files, nil
}

func llmdReportsOf(runs []rundir.Run) []llmdReport {
	var reports []llmdReport
	for i := range runs {
		for j := range runs[i].Stages {
			reports = append(reports, llmdReportOf(&runs[i], j))
		}
	}
	return reports
}

type llmdReport struct {
	Version  string  `json:"version"`
	Run      llmdRun `json:"run"`
	Scenario struct {
		Load llmdLoad `json:"load"`
	} `json:"scenario"`
	Results struct {
		Performance struct {
			Aggregate llmdAggregate `json:"aggregate"`
		} `json:"request_performance"`
	} `json:"results"`
}

// llmdRun names a report, and the experiment that it is a part of.
type llmdRun struct {
	UID  string    `json:"uid"`
	EID  string    `json:"eid"`
	Time *llmdTime `json:"time,omitempty"`
}

type llmdTime struct {
	Start    time.Time `json:"start"`
	End      time.Time `json:"end"`
	Duration string    `json:"duration"` // ISO 8601
}

type llmdLoad struct {
	Metadata struct {
		Description string `json:"description"`
	} `json:"metadata"`
	Standardized llmdStandardized `json:"standardized"`
	Native       struct {
		Args   map[string][]string `json:"args,omitempty"`
		Config llmdExtension       `json:"config"`
	} `json:"native"`
}

type llmdStandardized struct {
	Tool        string         `json:"tool"`
	ToolVersion string         `json:"tool_version"`
	Source      string         `json:"source"`
	Stage       int            `json:"stage"`
	Input       llmdLength     `json:"input_seq_len"`
	Output      *llmdLength    `json:"output_seq_len,omitempty"` // where it is enforced
	MultiTurn   *llmdMultiTurn `json:"multi_turn,omitempty"`
	Rate        *float64       `json:"rate_qps,omitempty"`
	Concurrency int            `json:"concurrency,omitempty"`
}

type llmdMultiTurn struct {
	Enabled  bool       `json:"enabled"`
	MaxTurns llmdLength `json:"max_turns"`
}

// llmdLength is a distribution of lengths in tokens, or of turns.
type llmdLength struct {
	Distribution string  `json:"distribution"` // fixed, gaussian, uniform or other
	Value        float64 `json:"value"`
	Std          float64 `json:"std_dev,omitempty"`
	Min          int     `json:"min,omitempty"`
	Max          int     `json:"max,omitempty"`
}

// llmdExtension is what the standard parts have no place for.
type llmdExtension struct {
	Writer   string          `json:"written_by"`
	Plan     string          `json:"plan"`
	Target   rundir.Target   `json:"target"`
	Labels   rundir.Labels   `json:"labels"`
	Workload rundir.Workload `json:"workload"`
	Kind     string          `json:"kind"`
	Role     rundir.Role     `json:"role"`
	Repeat   int             `json:"repeat,omitempty"`
	Verdict  rundir.Verdict  `json:"verdict,omitempty"`
	Invalid  note.Note       `json:"invalid,omitzero"`       // why the stage shows the client's limits
	Gap      rundir.Number   `json:"inter_token_s,omitzero"` // the mean of all gaps of the requests
	// Unsupported are the percentiles of which too few requests are, by the key of their metric in run.json.
	Unsupported map[string][]string `json:"unsupported,omitempty"`
}

type llmdAggregate struct {
	Requests struct {
		Total      int             `json:"total"`
		Failures   int             `json:"failures"`
		Incomplete int             `json:"incomplete"`
		Input      *llmdStatistics `json:"input_length,omitempty"`
		Output     *llmdStatistics `json:"output_length,omitempty"`
	} `json:"requests"`
	Latency struct {
		TTFT    *llmdStatistics `json:"time_to_first_token,omitempty"`
		TPOT    *llmdStatistics `json:"time_per_output_token,omitempty"` // of each request
		ITL     *llmdStatistics `json:"inter_token_latency,omitempty"`   // of each token
		Request *llmdStatistics `json:"request_latency,omitempty"`
	} `json:"latency"`
	Throughput struct {
		Input    *llmdStatistics `json:"input_token_rate,omitempty"`
		Output   *llmdStatistics `json:"output_token_rate,omitempty"`
		Total    *llmdStatistics `json:"total_token_rate,omitempty"`
		Requests *llmdStatistics `json:"request_rate,omitempty"`
	} `json:"throughput"`
}

// The format demands a mean.
type llmdStatistics struct {
	Units string   `json:"units"`
	Mean  float64  `json:"mean"`
	Std   *float64 `json:"stddev,omitempty"`
	Min   *float64 `json:"min,omitempty"`
	P50   *float64 `json:"p50,omitempty"`
	P90   *float64 `json:"p90,omitempty"`
	P95   *float64 `json:"p95,omitempty"`
	P99   *float64 `json:"p99,omitempty"`
	P999  *float64 `json:"p99p9,omitempty"`
	Max   *float64 `json:"max,omitempty"`
}

// llmdSelf is the tool of reports that this program writes.
const llmdSelf = "llmsweep"

const (
	llmdSeconds  = "s"
	llmdPerToken = "s/token"
	llmdCount    = "count"
	llmdTokens   = "tokens/s"
	llmdQueries  = "queries/s"
)

func llmdReportOf(run *rundir.Run, stage int) llmdReport {
	s := &run.Stages[stage]
	r := llmdReport{Version: llmdVersion}
	r.Run.EID = llmdID(run.Started.UTC().Format(time.RFC3339Nano), run.Target.URL)
	r.Run.UID = llmdID(r.Run.EID, strconv.Itoa(stage), s.Name)
	if !run.Started.IsZero() {
		start := run.Started.Add(rundir.Duration(s.Started))
		elapsed := "PT" + strconv.FormatFloat(s.Elapsed, 'f', -1, 64) + "S"
		r.Run.Time = &llmdTime{start, start.Add(rundir.Duration(s.Elapsed)), elapsed}
	}
	load := &r.Scenario.Load
	load.Metadata.Description = s.Name
	load.Standardized = llmdStandardizedOf(run, s)
	load.Standardized.Stage = stage
	if len(run.Command.Args) > 0 {
		load.Native.Args = map[string][]string{"argv": run.Command.Args}
	}
	load.Native.Config = llmdExtension{
		Writer: llmdSelf, Plan: run.Plan.Kind,
		Target: run.Target, Labels: run.Labels, Workload: run.Workload, Kind: s.Kind, Role: s.Role, Repeat: s.Repeat,
		Verdict: s.Verdict, Invalid: s.Invalid, Gap: s.InterToken, Unsupported: map[string][]string{},
	}
	for _, d := range timesOf(s) {
		if len(d.Unsupported) > 0 {
			load.Native.Config.Unsupported[d.Key] = d.Unsupported
		}
	}
	a := &r.Results.Performance.Aggregate
	q := &a.Requests
	q.Total = s.Requests.OK + s.Requests.Error + s.Requests.Incomplete
	q.Failures, q.Incomplete = s.Requests.Error, s.Requests.Incomplete
	q.Input, q.Output = llmdTokensOf(&s.PromptTokens), llmdTokensOf(&s.OutputTokens)
	t := &a.Latency
	t.TTFT, t.Request = llmdStatisticsOf(&s.TTFT, llmdSeconds), llmdStatisticsOf(&s.Latency, llmdSeconds)
	t.TPOT, t.ITL = llmdStatisticsOf(&s.TPOT, llmdPerToken), llmdStatisticsOf(&s.ITL, llmdPerToken)
	rate := func(n rundir.Number, units string) *llmdStatistics {
		return llmdStatisticsOf(&rundir.Dist{Mean: n}, units)
	}
	p := &a.Throughput
	p.Input, p.Output = rate(s.TokensPerS.Input, llmdTokens), rate(s.TokensPerS.Output, llmdTokens)
	p.Total, p.Requests = rate(s.TokensPerS.Total, llmdTokens), rate(s.Rates.Completed, llmdQueries)
	return r
}

func llmdStandardizedOf(run *rundir.Run, s *rundir.Stage) llmdStandardized {
	w := &run.Workload
	out := llmdStandardized{Tool: llmdSelf, ToolVersion: run.Tool.Version, Source: "random",
		Input: llmdLengthOf(w.PromptTokens)}
	switch {
	case run.Source != nil && run.Source.Format == LLMD:
		tool, version, _ := strings.Cut(run.Source.Tool, " ")
		out.Tool, out.ToolVersion, out.Source = tool, cmp.Or(version, "unknown"), "unknown"
	case run.Source != nil:
		out.Tool, out.ToolVersion, out.Source = run.Source.Format, "unknown", "unknown"
	case w.Dataset != "":
		out.Source = "sampled"
	case w.Prompt != "":
		out.Source = "unknown"
	}
	if w.PromptTokens.Mean == 0 {
		out.Input = llmdLength{Distribution: "other", Value: s.PromptTokens.Mean.Or(0)}
	}
	if w.Forced {
		out.Output = new(llmdLengthOf(w.OutputTokens))
	}
	if c := w.Conversation; c != nil {
		out.MultiTurn = &llmdMultiTurn{true, llmdLengthOf(c.Turns)}
	}
	out.Rate = numberOrNil(s.Rate)
	if out.Rate == nil {
		out.Concurrency = s.MaxConcurrency
	}
	return out
}

// llmdLengthOf calls a distribution that the format has no name for "other".
func llmdLengthOf(l rundir.Lengths) llmdLength {
	switch {
	case l.Shape == rundir.ShapeUniform:
		return llmdLength{Distribution: "uniform", Value: l.Mean, Min: l.Min, Max: l.Max}
	case l.Shape != "":
		return llmdLength{Distribution: "other", Value: l.Mean, Min: l.Min, Max: l.Max}
	case l.Std == 0:
		return llmdLength{Distribution: "fixed", Value: l.Mean}
	}
	return llmdLength{Distribution: "gaussian", Value: l.Mean, Std: l.Std, Min: l.Min, Max: l.Max}
}

func llmdStatisticsOf(d *rundir.Dist, units string) *llmdStatistics {
	if !d.Mean.Known() {
		return nil
	}
	return &llmdStatistics{
		Units: units, Mean: d.Mean.Value(), Std: numberOrNil(d.Std), Min: numberOrNil(d.Min), Max: numberOrNil(d.Max),
		P50: numberOrNil(d.P50), P90: numberOrNil(d.P90), P95: numberOrNil(d.P95), P99: numberOrNil(d.P99),
		P999: numberOrNil(d.P999),
	}
}

func llmdTokensOf(t *rundir.TokenStats) *llmdStatistics {
	return llmdStatisticsOf(&rundir.Dist{Mean: t.Mean, Min: t.Min, Max: t.Max}, llmdCount)
}

// llmdID is an identifier that is the same whenever the same run is written.
func llmdID(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		io.WriteString(h, p+"\x00")
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func numberOrNil(n rundir.Number) *float64 {
	if !n.Known() {
		return nil
	}
	return new(n.Value())
}
