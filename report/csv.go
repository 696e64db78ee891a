package report

import (
	"encoding/csv"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"llmsweep/report/findings"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// CSV writes one row a stage, in the order they were run, all numbers as they are stored: seconds, tokens, requests.
// Columns are named by the keys of run.json, joined by underscores: latency_s_p99 is latency_s.p99. A number that does
// not exist is empty, and so is one of which only a lower bound is known; that bound stands in the column named over,
// as in "mean=61.2 p99=58". Text that a spreadsheet would take for a formula has an apostrophe before it.
func CSV(w io.Writer, runs []rundir.Run) error {
	out := csv.NewWriter(w)
	columns := csvColumns()
	header := make([]string, len(columns))
	for i, c := range columns {
		header[i] = c.name
	}
	if err := out.Write(header); err != nil {
		return err
	}
	for i := range runs {
		for j := range runs[i].Stages {
			record := make([]string, len(columns))
			for k, c := range columns {
				record[k] = table.CSVCell(c.value(findings.StageRow{Run: &runs[i], Stage: &runs[i].Stages[j]}))
			}
			if err := out.Write(record); err != nil {
				return err
			}
		}
	}
	out.Flush()
	return out.Error()
}

// csvColumn is a column and what stands in it.
type csvColumn struct {
	name  string
	value func(r findings.StageRow) string
}

func csvColumns() []csvColumn {
	columns := slices.Concat(csvRunColumns(), csvStageColumns())
	for _, d := range []struct {
		name string
		of   func(*rundir.Stage) *rundir.Dist
	}{
		{"latency_s", findings.Latency}, {"ttft_s", findings.TTFT},
		{"ttft_due_s", func(s *rundir.Stage) *rundir.Dist { return &s.TTFTDue }},
		{"tpot_s", func(s *rundir.Stage) *rundir.Dist { return &s.TPOT }},
		{"itl_s", findings.ITL},
		{"chunk_gap_s", func(s *rundir.Stage) *rundir.Dist { return &s.ChunkGap }},
		{"lag_s", func(s *rundir.Stage) *rundir.Dist { return &s.Lag }},
		{"queued_s", func(s *rundir.Stage) *rundir.Dist { return &s.Queued }},
	} {
		columns = append(columns, csvDist(d.name, d.of)...)
	}
	return append(columns, csvJudgement()...)
}

// csvRunColumns are the same in each row of a run.
func csvRunColumns() []csvColumn {
	text := func(name string, of func(*rundir.Run) string) csvColumn {
		return csvColumn{name, func(r findings.StageRow) string { return of(r.Run) }}
	}
	return []csvColumn{
		text("started", func(r *rundir.Run) string { return r.Started.Format(time.RFC3339) }),
		text("state", func(r *rundir.Run) string { return string(r.State) }),
		text("target_url", func(r *rundir.Run) string { return r.Target.URL }),
		text("target_api", func(r *rundir.Run) string { return r.Target.API }),
		text("target_model", func(r *rundir.Run) string { return r.Target.Model }),
		text("target_engine", func(r *rundir.Run) string { return r.Target.Engine }),
		text("target_version", func(r *rundir.Run) string { return r.Target.Version }),
		text("labels_model", func(r *rundir.Run) string { return r.Labels.Model }),
		text("labels_gpu", func(r *rundir.Run) string { return r.Labels.GPU }),
		text("labels_gpus", func(r *rundir.Run) string { return positive(float64(r.Labels.GPUs)) }),
		text("labels_engine", func(r *rundir.Run) string { return r.Labels.Engine }),
		text("labels_quant", func(r *rundir.Run) string { return r.Labels.Quant }),
		text("labels_price", func(r *rundir.Run) string { return positive(r.Labels.Price) }),
		text("workload_prompt_tokens_mean", func(r *rundir.Run) string { return positive(r.Workload.PromptTokens.Mean) }),
		text("workload_output_tokens_mean", func(r *rundir.Run) string { return positive(r.Workload.OutputTokens.Mean) }),
		text("workload_dataset", func(r *rundir.Run) string { return r.Workload.Dataset }),
		text("workload_seed", func(r *rundir.Run) string { return strconv.FormatUint(r.Workload.Seed, 10) }),
	}
}

// csvStageColumns returns the columns of a stage's settings and counts.
func csvStageColumns() []csvColumn {
	return []csvColumn{
		{"name", func(r findings.StageRow) string { return findings.StageName(r.Stage) }},
		{"kind", func(r findings.StageRow) string { return r.Stage.Kind }},
		{"role", func(r findings.StageRow) string { return string(r.Stage.Role) }},
		{"stage_state", func(r findings.StageRow) string { return string(r.Stage.State) }},
		csvNumber("rate", func(s *rundir.Stage) rundir.Number { return s.Rate }),
		{"repeat", func(r findings.StageRow) string { return positive(float64(r.Stage.Repeat)) }},
		{"max_concurrency", func(r findings.StageRow) string { return positive(float64(r.Stage.MaxConcurrency)) }},
		{"started_s", func(r findings.StageRow) string { return raw(r.Stage.Started) }},
		{"elapsed_s", func(r findings.StageRow) string { return raw(r.Stage.Elapsed) }},
		{"window_from_s", func(r findings.StageRow) string { return raw(r.Stage.WindowFrom) }},
		{"window_s", func(r findings.StageRow) string { return raw(r.Stage.Window) }},
		{"requests_due", func(r findings.StageRow) string { return strconv.Itoa(r.Stage.Requests.Due) }},
		{"requests_sent", func(r findings.StageRow) string { return strconv.Itoa(r.Stage.Requests.Sent) }},
		{"requests_ok", func(r findings.StageRow) string { return strconv.Itoa(r.Stage.Requests.OK) }},
		{"requests_error", func(r findings.StageRow) string { return strconv.Itoa(r.Stage.Requests.Error) }},
		{"requests_incomplete", func(r findings.StageRow) string { return strconv.Itoa(r.Stage.Requests.Incomplete) }},
		{"requests_resent", func(r findings.StageRow) string { return strconv.Itoa(r.Stage.Requests.Resent) }},
		{"errors", func(r findings.StageRow) string { return classes(r.Stage.Errors) }},
		csvNumber("rates_offered", func(s *rundir.Stage) rundir.Number { return s.Rates.Offered }),
		csvNumber("rates_sent", func(s *rundir.Stage) rundir.Number { return s.Rates.Sent }),
		csvNumber("rates_completed", findings.CompletedCell),
		csvNumber("tokens_per_s_output", findings.Output),
		csvNumber("tokens_per_s_input", func(s *rundir.Stage) rundir.Number { return s.TokensPerS.Input }),
		csvNumber("tokens_per_s_total", func(s *rundir.Stage) rundir.Number { return s.TokensPerS.Total }),
		csvNumber("concurrency_mean", func(s *rundir.Stage) rundir.Number { return s.Concurrency.Mean }),
		{"concurrency_peak", func(r findings.StageRow) string { return strconv.Itoa(r.Stage.Concurrency.Peak) }},
		csvNumber("prompt_tokens_mean", func(s *rundir.Stage) rundir.Number { return s.PromptTokens.Mean }),
		csvNumber("asked_tokens", func(s *rundir.Stage) rundir.Number { return s.AskedTokens }),
		csvNumber("output_tokens_mean", func(s *rundir.Stage) rundir.Number { return s.OutputTokens.Mean }),
		csvNumber("output_tokens_min", func(s *rundir.Stage) rundir.Number { return s.OutputTokens.Min }),
		csvNumber("output_tokens_max", func(s *rundir.Stage) rundir.Number { return s.OutputTokens.Max }),
		csvNumber("cached_tokens", func(s *rundir.Stage) rundir.Number { return s.CachedTokens }),
		csvNumber("tokens_per_chunk", func(s *rundir.Stage) rundir.Number { return s.TokensPerChunk }),
		{"token_source", func(r findings.StageRow) string { return r.Stage.TokenSource }},
		csvNumber("inter_token_s", func(s *rundir.Stage) rundir.Number { return s.InterToken }),
	}
}

// csvJudgement returns the columns of a stage's verdict and goodput.
func csvJudgement() []csvColumn {
	return []csvColumn{
		{"verdict", func(r findings.StageRow) string { return string(r.Stage.Verdict) }},
		csvNumber("drift_value", func(s *rundir.Stage) rundir.Number { return s.Drift.Value }),
		csvNumber("drift_low", func(s *rundir.Stage) rundir.Number { return s.Drift.Low }),
		csvNumber("drift_high", func(s *rundir.Stage) rundir.Number { return s.Drift.High }),
		csvNumber("goodput_rate", func(s *rundir.Stage) rundir.Number { return goodput(s).Rate }),
		csvNumber("goodput_share", func(s *rundir.Stage) rundir.Number { return goodput(s).Share }),
		{"goodput_unknown", func(r findings.StageRow) string { return positive(float64(goodput(r.Stage).Unknown)) }},
		{"goodput_verdict", func(r findings.StageRow) string { return string(goodput(r.Stage).Verdict) }},
		{"goodput_terms", func(r findings.StageRow) string {
			var parts []string
			for _, p := range goodput(r.Stage).Terms {
				parts = append(parts, p.Term+"="+string(p.Verdict))
			}
			return strings.Join(parts, " ")
		}},
		csvNumber("client_cpu_fraction", func(s *rundir.Stage) rundir.Number { return s.ClientCPU }),
		{"invalid", func(r findings.StageRow) string { return findings.JoinNotes(r.Stage.Invalid) }},
		{"warnings", func(r findings.StageRow) string { return findings.JoinNotes(r.Stage.Warnings...) }},
	}
}

// goodput is empty where nothing was promised.
func goodput(s *rundir.Stage) rundir.Goodput {
	if s.Goodput == nil {
		return rundir.Goodput{}
	}
	return *s.Goodput
}

// csvDist are the columns of a distribution.
func csvDist(name string, of func(*rundir.Stage) *rundir.Dist) []csvColumn {
	columns := []csvColumn{{name + "_n", func(r findings.StageRow) string { return strconv.Itoa(of(r.Stage).N) }}}
	for _, f := range new(rundir.Dist).Numbers() {
		columns = append(columns, csvNumber(name+"_"+f.Name, func(s *rundir.Stage) rundir.Number { return of(s).Get(f.Name) }))
	}
	return append(columns,
		csvColumn{name + "_over", func(r findings.StageRow) string { return bounds(of(r.Stage)) }},
		csvColumn{name + "_unsupported", func(r findings.StageRow) string { return strings.Join(of(r.Stage).Unsupported, " ") }},
	)
}

func csvNumber(name string, of findings.TakeStages) csvColumn {
	return csvColumn{name, func(r findings.StageRow) string {
		if f := of(r.Stage); f.Known() {
			return raw(f.Value())
		}
		return ""
	}}
}

// bounds lists the numbers of which only a lower bound is known.
func bounds(d *rundir.Dist) string {
	var parts []string
	for _, f := range d.Numbers() {
		if f.Number.Bound() {
			parts = append(parts, f.Name+"="+raw(f.Number.Value()))
		}
	}
	return strings.Join(parts, " ")
}

func classes(errors map[string]int) string {
	var parts []string
	for _, class := range slices.Sorted(maps.Keys(errors)) {
		parts = append(parts, class+"="+strconv.Itoa(errors[class]))
	}
	return strings.Join(parts, " ")
}

func raw(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// positive is raw, and empty for what was never set.
func positive(v float64) string {
	if v == 0 {
		return ""
	}
	return raw(v)
}
