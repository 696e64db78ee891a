package findings

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// Field returns what CSV has in a column: the number in SI units, or a word. A number that does not exist is empty, and
// so is one of which only a lower bound is known.
func Field(c *Column, r StageRow) string {
	if c.Number == nil {
		return c.Word(r)
	}
	if n := c.Number(r.Stage); n.Known() {
		return formatNumber(n.Value())
	}
	return ""
}

func runColumns() []Column {
	text := func(id string, of func(*rundir.Run) string) Column {
		return csvTextColumn(id, func(r StageRow) string { return of(r.Run) })
	}
	return []Column{
		text("started", func(r *rundir.Run) string {
			if r.Started.IsZero() {
				return ""
			}
			return r.Started.Format(time.RFC3339)
		}),
		text("state", func(r *rundir.Run) string { return string(r.State) }),
		text("target_url", func(r *rundir.Run) string { return r.Target.URL }),
		text("target_api", func(r *rundir.Run) string { return r.Target.API }),
		text("target_model", func(r *rundir.Run) string { return r.Target.Model }),
		text("target_engine", func(r *rundir.Run) string { return r.Target.Engine }),
		text("target_version", func(r *rundir.Run) string { return r.Target.Version }),
		text("labels_model", func(r *rundir.Run) string { return r.Labels.Model }),
		text("labels_gpu", func(r *rundir.Run) string { return r.Labels.GPU }),
		text("labels_gpus", func(r *rundir.Run) string { return nonZeroText(float64(r.Labels.GPUs)) }),
		text("labels_engine", func(r *rundir.Run) string { return r.Labels.Engine }),
		text("labels_quant", func(r *rundir.Run) string { return r.Labels.Quant }),
		text("labels_price", func(r *rundir.Run) string { return nonZeroText(r.Labels.Price) }),
		text("workload_prompt_tokens_mean", func(r *rundir.Run) string { return nonZeroText(r.Workload.PromptTokens.Mean) }),
		text("workload_output_tokens_mean", func(r *rundir.Run) string { return nonZeroText(r.Workload.OutputTokens.Mean) }),
		text("workload_dataset", func(r *rundir.Run) string { return r.Workload.Dataset }),
		text("workload_seed", func(r *rundir.Run) string {
			if r.Source != nil {
				return ""
			}
			return strconv.FormatUint(r.Workload.Seed, 10)
		}),
	}
}

func settingColumns() []Column {
	seconds := func(id string, of func(*rundir.Stage) float64) Column {
		return csvTextColumn(id, func(r StageRow) string { return csvNumber(r.Stage, id, of(r.Stage)) })
	}
	return []Column{
		wordColumn("name", lang.HeadLoad.Text(), func(r StageRow) string { return StageName(r.Stage) }, nameCell),
		csvTextColumn("kind", func(r StageRow) string { return r.Stage.Kind }),
		wordColumn("role", headRole.Text(), func(r StageRow) string { return string(r.Stage.Role) },
			func(r StageRow) table.Cell { return table.Cell{Text: roleName(r.Stage.Role)} }),
		csvTextColumn("stage_state", func(r StageRow) string { return string(r.Stage.State) }),
		csvNumberColumn("rate", func(s *rundir.Stage) rundir.Number { return s.Rate }),
		csvTextColumn("repeat", func(r StageRow) string { return nonZeroText(float64(r.Stage.Repeat)) }),
		csvTextColumn("max_concurrency", func(r StageRow) string { return nonZeroText(float64(r.Stage.MaxConcurrency)) }),
		seconds("started_s", func(s *rundir.Stage) float64 { return s.Started }),
		seconds("elapsed_s", func(s *rundir.Stage) float64 { return s.Elapsed }),
		seconds("window_from_s", func(s *rundir.Stage) float64 { return s.WindowFrom }),
		seconds("window_s", func(s *rundir.Stage) float64 { return s.Window }),
	}
}

func goodput(s *rundir.Stage) rundir.Goodput {
	if s.Goodput == nil {
		return rundir.Goodput{}
	}
	return *s.Goodput
}

func lowerBounds(d *rundir.Dist) string {
	var parts []string
	for _, f := range d.Numbers() {
		if f.Number.Bound() {
			parts = append(parts, f.Name+"="+formatNumber(f.Number.Value()))
		}
	}
	return strings.Join(parts, " ")
}

func errorCounts(errors map[string]int) string {
	var parts []string
	for _, class := range slices.Sorted(maps.Keys(errors)) {
		parts = append(parts, class+"="+strconv.Itoa(errors[class]))
	}
	return strings.Join(parts, " ")
}

// csvNumber is empty for a 0 that the document it was read from does not have.
func csvNumber(s *rundir.Stage, key string, v float64) string {
	if _, printed := s.Source.At(key); v == 0 && s.Source != nil && !printed {
		return ""
	}
	return formatNumber(v)
}

func formatNumber(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func nonZeroText(v float64) string {
	if v == 0 {
		return ""
	}
	return formatNumber(v)
}
