package published

import (
	"io"
	"strconv"
	"strings"

	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// guideLayout is the version of GuideLLM whose layout [GuideLLM] writes.
const guideLayout = "0.8.1"

// writtenBy marks a file in GuideLLM's layout that llmsweep wrote.
const writtenBy = "llmsweep"

// WriteGuideLLM writes runs in the layout of GuideLLM 0.8's benchmarks.json, for scripts that read it: one report, or a list of
// reports where there is more than one run. Each stage is a benchmark. The metrics are llmsweep's own, under GuideLLM's names:
//
//   - inter_token_latency_ms has the mean of all tokens, as GuideLLM's does, and percentiles of each request's mean;
//   - token rates count every token that arrived in the window, which GuideLLM calls "total"; they stand under "successful" too;
//   - a number that llmsweep does not have is null, such as the 25th percentile; of one of which only a lower bound is known, the
//     bound stands under "over".
//
// Requests are not listed. "written_by" says that the file is not GuideLLM's own.
func WriteGuideLLM(w io.Writer, runs []rundir.Run) error {
	reports := make([]guideReport, len(runs))
	for i := range runs {
		reports[i] = guideReportOf(&runs[i])
	}
	if len(reports) == 1 {
		return table.WriteJSON(w, reports[0])
	}
	return table.WriteJSON(w, reports)
}

// guideReport is a benchmarks.json.
type guideReport struct {
	Metadata struct {
		Version   int    `json:"version"`
		GuideLLM  string `json:"guidellm_version"`
		WrittenBy string `json:"written_by"`
		Version2  string `json:"llmsweep_version,omitempty"`
	} `json:"metadata"`
	Config struct {
		Metadata struct {
			Labels map[string]string `json:"labels"`
		} `json:"metadata"`
		Spec guideSpec `json:"spec"`
	} `json:"config"`
	Benchmarks []guideBenchmark `json:"benchmarks"`
}

// guideSpec is what was asked.
type guideSpec struct {
	Backend struct {
		Kind          string `json:"kind"`
		Target        string `json:"target"`
		Model         string `json:"model"`
		RequestFormat string `json:"request_format,omitempty"`
	} `json:"backend"`
	Profile guideProfile  `json:"profile"`
	Data    []guideData   `json:"data"`
	Seed    guideSeedKind `json:"seed"`
}

type guideProfile struct {
	Kind string `json:"kind"`
}

type guideSeedKind struct {
	Kind  string `json:"kind"`
	Value uint64 `json:"value"`
}

type guideData struct {
	Kind         string   `json:"kind"`
	PromptTokens *float64 `json:"prompt_tokens"`
	PromptStd    *float64 `json:"prompt_tokens_stdev"`
	OutputTokens *float64 `json:"output_tokens"`
	OutputStd    *float64 `json:"output_tokens_stdev"`
}

// guideBenchmark is one stage.
type guideBenchmark struct {
	Type   string `json:"type_"`
	Config struct {
		RunIndex int           `json:"run_index"`
		Strategy guideStrategy `json:"strategy"`
		Profile  guideProfile  `json:"profile"`
		Stage    guideOwn      `json:"llmsweep"`
	} `json:"config"`
	Scheduler struct {
		Start *float64    `json:"start_time"`
		End   *float64    `json:"end_time"`
		Made  guideCounts `json:"requests_made"`
	} `json:"scheduler_metrics"`
	Metrics  guideMetrics `json:"metrics"`
	Start    *float64     `json:"start_time"`
	End      *float64     `json:"end_time"`
	Duration float64      `json:"duration"`
	Warmup   float64      `json:"warmup_duration"`
	Cooldown float64      `json:"cooldown_duration"`
}

// guideOwn is what GuideLLM's layout has no place for.
type guideOwn struct {
	Name    string         `json:"name"`
	Role    rundir.Role    `json:"role"`
	Verdict rundir.Verdict `json:"verdict,omitempty"`
}

type guideStrategy struct {
	Type           string   `json:"type_"`
	Rate           *float64 `json:"rate,omitempty"`
	Streams        int      `json:"streams,omitempty"`
	MaxConcurrency *int     `json:"max_concurrency"`
}

type guideCounts struct {
	Successful int `json:"successful"`
	Errored    int `json:"errored"`
	Incomplete int `json:"incomplete"`
	Total      int `json:"total"`
}

type guideMetrics struct {
	Totals            guideCounts `json:"request_totals"`
	RequestsPerSecond guideStatus `json:"requests_per_second"`
	Concurrency       guideStatus `json:"request_concurrency"`
	Latency           guideStatus `json:"request_latency"`
	PromptTokens      guideStatus `json:"prompt_token_count"`
	OutputTokens      guideStatus `json:"output_token_count"`
	TTFT              guideStatus `json:"time_to_first_token_ms"`
	InterToken        guideStatus `json:"inter_token_latency_ms"`
	InputPerSecond    guideStatus `json:"prompt_tokens_per_second"`
	OutputPerSecond   guideStatus `json:"output_tokens_per_second"`
	TokensPerSecond   guideStatus `json:"tokens_per_second"`
}

// guideStatus is a distribution for each way a request can end. llmsweep keeps no metrics of requests that failed.
type guideStatus struct {
	Successful guideDist  `json:"successful"`
	Total      *guideDist `json:"total,omitempty"`
}

// guideDist is a distribution.
type guideDist struct {
	Mean        *float64           `json:"mean"`
	Median      *float64           `json:"median"`
	Mode        *float64           `json:"mode"`
	Variance    *float64           `json:"variance"`
	Std         *float64           `json:"std_dev"`
	Min         *float64           `json:"min"`
	Max         *float64           `json:"max"`
	Count       int                `json:"count"`
	Sum         *float64           `json:"total_sum"`
	Percentiles guidePercentiles   `json:"percentiles"`
	MeanCI      *guideInterval     `json:"mean_ci"`
	Over        map[string]float64 `json:"over,omitempty"`
}

type guideInterval struct {
	Lower float64 `json:"lower"`
	Upper float64 `json:"upper"`
}

type guidePercentiles struct {
	P001 *float64 `json:"p001"`
	P01  *float64 `json:"p01"`
	P05  *float64 `json:"p05"`
	P10  *float64 `json:"p10"`
	P25  *float64 `json:"p25"`
	P50  *float64 `json:"p50"`
	P75  *float64 `json:"p75"`
	P90  *float64 `json:"p90"`
	P95  *float64 `json:"p95"`
	P99  *float64 `json:"p99"`
	P999 *float64 `json:"p999"`
}

// guideReportOf returns a run in GuideLLM's layout.
func guideReportOf(run *rundir.Run) guideReport {
	var r guideReport
	r.Metadata.Version, r.Metadata.GuideLLM, r.Metadata.WrittenBy, r.Metadata.Version2 = 2, guideLayout, writtenBy, run.Tool.Version
	l := run.Labels
	r.Config.Metadata.Labels = map[string]string{}
	for key, value := range map[string]string{"model": l.Model, "gpu": l.GPU, "engine": l.Engine, "quant": l.Quant} {
		if value != "" {
			r.Config.Metadata.Labels[key] = value
		}
	}
	if l.GPUs > 0 {
		r.Config.Metadata.Labels["gpus"] = strconv.Itoa(l.GPUs)
	}
	if l.Price > 0 {
		r.Config.Metadata.Labels["price"] = strconv.FormatFloat(l.Price, 'g', -1, 64)
	}
	spec := &r.Config.Spec
	spec.Backend.Kind, spec.Backend.Target, spec.Backend.Model = "openai_http", run.Target.URL, run.Target.Model
	spec.Backend.RequestFormat = map[string]string{"chat": "/v1/chat/completions", "completions": "/v1/completions"}[run.Target.API]
	w := run.Workload
	spec.Data = []guideData{{
		Kind: "synthetic_text", PromptTokens: orNull(w.PromptTokens.Mean), PromptStd: orNull(w.PromptTokens.Std),
		OutputTokens: orNull(w.OutputTokens.Mean), OutputStd: orNull(w.OutputTokens.Std),
	}}
	spec.Seed = guideSeedKind{"static", w.Seed}
	spec.Profile.Kind = "sweep"
	if run.Plan.Kind != rundir.KindSweep && len(run.Stages) > 0 {
		spec.Profile.Kind = run.Stages[0].Kind
	}
	for i := range run.Stages {
		b := guideBenchmarkOf(run, &run.Stages[i])
		b.Config.RunIndex, b.Config.Profile = i, spec.Profile
		r.Benchmarks = append(r.Benchmarks, b)
	}
	return r
}

// guideBenchmarkOf returns a stage in GuideLLM's layout.
func guideBenchmarkOf(run *rundir.Run, s *rundir.Stage) guideBenchmark {
	b := guideBenchmark{Type: "generative_benchmark", Duration: s.Window, Warmup: s.WindowFrom}
	st := &b.Config.Strategy
	st.Type, st.Rate = s.Kind, known(s.Rate, 0)
	if s.MaxConcurrency > 0 {
		st.MaxConcurrency = &s.MaxConcurrency
	}
	if s.Kind == "concurrent" {
		st.Streams = s.MaxConcurrency
	}
	b.Config.Stage = guideOwn{s.Name, s.Role, s.Verdict}
	if !run.Started.IsZero() {
		began := float64(run.Started.UnixNano())/1e9 + s.Started
		start, end, over := began+s.WindowFrom, began+s.WindowFrom+s.Window, began+s.Elapsed
		b.Start, b.End, b.Scheduler.Start, b.Scheduler.End = &start, &end, &began, &over
	}
	b.Scheduler.Made = guideCounts{s.Requests.OK, s.Requests.Error, s.Requests.Incomplete, s.Requests.Due}
	m := &b.Metrics
	m.Totals = b.Scheduler.Made
	m.RequestsPerSecond = guideRate(s.Rates.Completed)
	m.Concurrency = guideRate(s.Concurrency.Mean)
	if s.Concurrency.Peak > 0 {
		peak := float64(s.Concurrency.Peak)
		m.Concurrency.Successful.Max, m.Concurrency.Total.Max = &peak, &peak
	}
	m.InputPerSecond, m.OutputPerSecond = guideRate(s.TokensPerS.Input), guideRate(s.TokensPerS.Output)
	m.TokensPerSecond = guideRate(s.TokensPerS.Total)
	m.Latency.Successful = guideDistOf(&s.Latency, 0)
	m.TTFT.Successful = guideDistOf(&s.TTFT, 3)
	interToken := s.TPOT
	if !s.InterToken.IsZero() {
		interToken.Mean = s.InterToken
	}
	m.InterToken.Successful = guideDistOf(&interToken, 3)
	m.PromptTokens.Successful, m.OutputTokens.Successful = guideTokensOf(&s.PromptTokens), guideTokensOf(&s.OutputTokens)
	return b
}

// guideRate returns a rate, which has no distribution.
func guideRate(n rundir.Number) guideStatus {
	d := guideDistOf(&rundir.Dist{Mean: n}, 0)
	total := d
	return guideStatus{d, &total}
}

// guideDistOf returns a distribution, times ten to the power of tens.
func guideDistOf(d *rundir.Dist, tens int) guideDist {
	out := guideDist{
		Mean: known(d.Mean, tens), Median: known(d.P50, tens), Std: known(d.Std, tens), Min: known(d.Min, tens), Max: known(d.Max, tens),
		Count: d.N,
		Percentiles: guidePercentiles{
			P50: known(d.P50, tens), P90: known(d.P90, tens), P95: known(d.P95, tens), P99: known(d.P99, tens), P999: known(d.P999, tens),
		},
	}
	if out.Std != nil {
		variance := *out.Std * *out.Std
		out.Variance = &variance
	}
	if ci, ok := d.CI["mean"]; ok {
		out.MeanCI = &guideInterval{shift(ci[0], tens), shift(ci[1], tens)}
	}
	for _, f := range d.Numbers() {
		if f.Number.Bound() {
			if out.Over == nil {
				out.Over = map[string]float64{}
			}
			name := map[string]string{"std": "std_dev"}[f.Name]
			if name == "" {
				name = f.Name
			}
			out.Over[name] = shift(f.Number.Value(), tens)
		}
	}
	return out
}

// guideTokensOf returns how many tokens the requests had.
func guideTokensOf(t *rundir.TokenStats) guideDist {
	return guideDist{Mean: known(t.Mean, 0), Min: known(t.Min, 0), Max: known(t.Max, 0), Count: t.N, Sum: known(t.Total, 0)}
}

// known returns a number that is known, shifted by tens powers of ten.
func known(n rundir.Number, tens int) *float64 {
	if !n.Known() {
		return nil
	}
	v := shift(n.Value(), tens)
	return &v
}

// orNull returns v, or nil where it is not above 0, which JSON writes as null.
func orNull(v float64) *float64 {
	if v <= 0 {
		return nil
	}
	return &v
}

// shift returns v times ten to the power of tens, without the rounding error of a multiplication.
func shift(v float64, tens int) float64 {
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(v, 'e', -1, 64), "e")
	e, _ := strconv.Atoi(exponent)                                        // FormatFloat wrote it
	moved, _ := strconv.ParseFloat(mantissa+"e"+strconv.Itoa(e+tens), 64) // and this is well formed too
	return moved
}
