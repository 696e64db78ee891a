package findings

import (
	"fmt"
	"slices"
	"strings"

	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// ParsePercentiles reads percentiles as people write them, such as 50,95 or p99.9.
func ParsePercentiles(texts []string) (names []string, err error) {
	var known []string
	for _, f := range new(rundir.Dist).Numbers() {
		if strings.HasPrefix(f.Name, "p") {
			known = append(known, f.Name)
		}
	}
	for _, text := range texts {
		name := "p" + strings.ReplaceAll(strings.TrimPrefix(strings.TrimSpace(text), "p"), ".", "")
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("--percentiles %s: there are %s", text, strings.Join(known, ", "))
		}
		names = append(names, name)
	}
	return names, nil
}

// MainColumns returns the columns of the first table, with these percentiles of TTFT; nil for the usual ones.
func MainColumns(percentiles []string) []Column {
	if percentiles == nil {
		percentiles = []string{"p90", "p99"}
	}
	ids := []string{"name", "rates_offered", "rates_completed", "ttft_s_mean"}
	for _, p := range percentiles {
		ids = append(ids, "ttft_s_"+p)
	}
	columns := Pick(append(ids, "inter_token_s", "latency_s_mean", "tokens_per_s_output", "concurrency_mean", "remark")...)
	for i := range columns {
		c := &columns[i]
		switch {
		case c.ID == "tokens_per_s_output":
			c.Head = lang.Same("tok/s")
		case strings.HasPrefix(c.ID, "ttft_s_p"):
			c.Head = c.Sub
		case c.ID == "remark": // most rows have none
			c.Head = lang.Text{}
		}
		c.Sub, c.Unit = lang.Text{}, ""
	}
	return hideGrowing(columns)
}

// PercentileColumns returns the columns of the table of percentiles; nil for the usual ones. Of TPOT it has the mean,
// which the six-column table lacks, and the last of them.
func PercentileColumns(percentiles []string) []Column {
	if percentiles == nil {
		percentiles = []string{"p50", "p90", "p99"}
	}
	ids := []string{"name", "rates_offered"}
	for _, metric := range []string{"ttft_s_", "itl_s_", "tpot_s_", "latency_s_"} {
		statistics := percentiles
		if metric == "tpot_s_" {
			statistics = append([]string{"mean"}, percentiles[max(0, len(percentiles)-1):]...)
		}
		for _, statistic := range statistics {
			ids = append(ids, metric+statistic)
		}
	}
	columns := Pick(append(ids, "concurrency_mean", "remark")...)
	return hideGrowing(columns)
}

// hideGrowing hides latencies where requests piled up: they depend on how long that lasted.
func hideGrowing(columns []Column) []Column {
	for i := range columns {
		c := &columns[i]
		if !strings.HasPrefix(c.ID, "ttft_s_") && !strings.HasPrefix(c.ID, "latency_s_") {
			continue
		}
		cell, first := c.Cell, c.ID == "ttft_s_mean" || c.ID == "ttft_s_p50"
		c.Cell = func(r StageRow) table.Cell {
			switch {
			case !r.Stage.Rate.Known() || r.Stage.Verdict != rundir.Saturated || atOrBelowHeldRate(r):
				return cell(r)
			case first:
				return table.Cell{Text: cellGrows.Text(), Tone: table.Bad}
			}
			return table.None()
		}
	}
	return columns
}

// DropConstants leaves out the columns after the first in which all rows say the same.
func DropConstants(t table.Table) table.Table {
	keep := func(i int) bool {
		return i == 0 || slices.ContainsFunc(t.Rows, func(row []table.Cell) bool {
			return row[i].In(lang.English) != t.Rows[0][i].In(lang.English)
		})
	}
	kept := table.Table{Title: t.Title, Rows: make([][]table.Cell, len(t.Rows))}
	for i, c := range t.Columns {
		if !keep(i) {
			continue
		}
		kept.Columns = append(kept.Columns, c)
		for j, row := range t.Rows {
			kept.Rows[j] = append(kept.Rows[j], row[i])
		}
	}
	return kept
}
