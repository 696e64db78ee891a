package choose

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/twin"
)

// held is the table of the stages that a fit left out.
func held(c *twin.Check) table.Section {
	var rows []twin.ComparisonRow
	s := table.Section{Title: titleCheck.Text(), Level: 2, Rest: true}
	for _, r := range c.Rows {
		rows = append(rows, twin.ComparisonRow{Stage: r.Stage, Use: twin.RoleHeldOut, Predicted: r.Predicted, Measured: r.Measured})
		if r.Full && r.Measured.Output > 0 {
			s.Lines = append(s.Lines, sayFull.Text(r.Stage, short(r.Predicted.Output), short(r.Measured.Output), relative(r.Predicted.Output, r.Measured.Output)))
		}
	}
	s.Table = rowsTable(rows, false)
	return s
}

// verdict is what the held-out check found.
func verdict(c *twin.Check, l lang.Lang) string {
	mean := fmt.Sprintf("%.1f", 100*c.Error)
	if c.Passed {
		return sayPassed.In(l, mean)
	}
	if parts := missed(c.Misses(), l); parts != "" {
		return sayMissedBy.In(l, parts, mean)
	}
	return sayMissed.In(l, mean)
}

// missed lists the parts of a check that failed, each with its stages and its limit.
func missed(all []twin.Miss, l lang.Lang) string {
	names := map[string]string{twin.PartOutput: headTwinOutput.In(l), twin.PartGap: headGapMean.In(l), twin.PartTTFT: headTTFT50.In(l)}
	var parts []string
	for _, part := range []string{twin.PartOutput, twin.PartGap, twin.PartTTFT} {
		var where []string
		limit := 0.0
		for _, m := range all {
			if m.Part == part {
				where = append(where, fmt.Sprintf("%s %+.0f %%", table.Clean(m.Stage), 100*m.Error))
				limit = m.Limit
			}
		}
		if len(where) > 0 {
			parts = append(parts, sayMissedPart.In(l, names[part], strings.Join(where, lang.ListComma.In(l)), fmt.Sprintf("%.0f", 100*limit)))
		}
	}
	return strings.Join(parts, lang.Semicolon.In(l))
}

// rowsTable has three rows for each stage: predicted, measured, and the error; and one with intervals where the stage is new.
func rowsTable(all []twin.ComparisonRow, use bool) table.Table {
	metrics := slices.DeleteFunc(twinMetrics(), func(m twinMetric) bool { return !m.Shown })
	t := table.Table{Columns: []table.Column{{Head: headStage.Text(), Left: true}}}
	if use {
		t.Columns = append(t.Columns, table.Column{Head: headUse.Text(), Left: true})
	}
	t.Columns = append(t.Columns, table.Column{Head: lang.Same(""), Left: true})
	for _, m := range metrics {
		t.Columns = append(t.Columns, table.Column{Head: m.Head.Text()})
	}
	for _, r := range all {
		rows := [3][]table.Cell{{{Text: lang.Same(r.Stage), Tone: table.Strong}}, {{}}, {{}}}
		if use {
			rows[0] = append(rows[0], table.Cell{Text: useOf(r.Use).Text()})
			rows[1], rows[2] = append(rows[1], table.Cell{}), append(rows[2], table.Cell{})
		}
		for i, word := range []lang.Phrase{wordPredicted, wordTwinMeasured, wordError} {
			rows[i] = append(rows[i], table.Cell{Text: word.Text()})
		}
		for _, m := range metrics {
			p, v := m.Of(&r.Predicted), m.Of(&r.Measured)
			for i, text := range []string{known(p), known(v), relative(p, v)} {
				rows[i] = append(rows[i], table.Literal(text))
			}
		}
		t.Rows = append(t.Rows, rows[0])
		if r.High != (twin.Metrics{}) {
			t.Rows = append(t.Rows, intervals(&r, metrics))
		}
		t.Rows = append(t.Rows, rows[1:]...)
	}
	return t
}

// intervals is the row below the predictions of a new stage, in a table with its use.
func intervals(r *twin.ComparisonRow, metrics []twinMetric) []table.Cell {
	row := []table.Cell{{}, {}, {Text: headInterval.Text()}}
	for _, m := range metrics {
		cell := table.Absent()
		if high := m.Of(&r.High); high > 0 {
			cell = table.Literal(threeDigits(m.Of(&r.Low), high))
		}
		row = append(row, cell)
	}
	return row
}

// twinMetric is a number of a stage that is compared.
type twinMetric struct {
	Key   string // in CSV, with the unit
	Head  lang.Phrase
	Of    func(*twin.Metrics) float64 // 0 where there is none
	Shown bool                        // in tables of stages
	// Latency is set for those of the table of latencies.
	Latency bool
}

// twinMetrics returns the numbers that are compared, in the order of tables.
func twinMetrics() []twinMetric {
	return []twinMetric{
		{"requests_per_s", headRequests, func(m *twin.Metrics) float64 { return m.Requests }, true, false},
		{"output_tokens_per_s", headTwinOutput, func(m *twin.Metrics) float64 { return m.Output }, true, false},
		{"ttft_p50_ms", headTTFT50, func(m *twin.Metrics) float64 { return m.TTFT50 }, true, true},
		{"ttft_p99_ms", headTTFT99, func(m *twin.Metrics) float64 { return m.TTFT99 }, true, true},
		{"itl_p50_ms", headGap50, func(m *twin.Metrics) float64 { return m.Gap50 }, true, true},
		{"itl_p99_ms", headGap99, func(m *twin.Metrics) float64 { return m.Gap99 }, true, false},
		{"itl_mean_ms", headGapMean, func(m *twin.Metrics) float64 { return m.GapMean }, false, true},
	}
}

// known is a number that may not exist.
func known(v float64) string {
	if v == 0 {
		return lang.Absent
	}
	return short(v)
}

// TwinBeside shows a run and what a twin predicts of it.
func TwinBeside(c *twin.Comparison) []table.Section {
	s := table.Section{Title: titleBeside.Text(table.Clean(c.Twin)), Level: 1, Table: rowsTable(c.Rows, true)}
	if c.Failed {
		s.Lines = append(s.Lines, sayFailedCheck.Text())
	}
	uses, refusals := map[string]bool{}, map[string]bool{}
	if line := twinSaturation(c.Saturation); !line.IsZero() {
		s.Lines = append(s.Lines, line)
		refusals[c.Saturation.Refused] = true
	}
	for _, r := range c.Rows {
		uses[r.Use] = true
		if r.Refused != "" && !refusals[r.Refused] {
			refusals[r.Refused] = true
			s.Lines = append(s.Lines, lang.Both(func(l lang.Lang) string { return TwinRefusal(r.Refused, l) }))
		}
	}
	for _, u := range []string{twin.RoleHeldOut, twin.RoleFitted, twin.RoleNew} {
		if uses[u] {
			s.Notes = append(s.Notes, useOf(u).Text().Plus(lang.Colon.Text()).Plus(meaningOf(u).Text()))
		}
	}
	return []table.Section{s}
}

// twinSaturation is the saturation rate in a sentence; empty for none.
func twinSaturation(s *twin.ComparedSaturation) lang.Text {
	switch {
	case s == nil:
		return lang.Text{}
	case s.Refused != "":
		return sayNoSaturation.Text().Plus(refusal(s.Refused).Text())
	case s.Stage != "":
		return saySaturationOf.Text(s.Stage, short(s.Predicted), between(s.Interval), short(s.Measured), relative(s.Predicted, s.Measured))
	case s.Between[1] > 0:
		return saySaturation.Text(short(s.Predicted), between(s.Interval), short(s.Measured), between(s.Between), relative(s.Predicted, s.Measured))
	}
	return saySaturationOnly.Text(short(s.Predicted), between(s.Interval), short(s.Measured), relative(s.Predicted, s.Measured))
}

func between(i [2]float64) string { return short(i[0]) + " - " + short(i[1]) }

// TwinBesideJSON writes a comparison.
func TwinBesideJSON(w io.Writer, c *twin.Comparison) error { return table.WriteJSON(w, c) }

// TwinBesideCSV writes a row for each stage and metric: stage, use, metric, predicted, measured, error (a share), and the ends of the 95 % interval of
// the prediction. What is not known is empty. The saturation rate is the first row.
func TwinBesideCSV(w io.Writer, c *twin.Comparison) error {
	out := csv.NewWriter(w)
	write := func(stage, use, metric string, p, m, low, high float64) {
		record := []string{table.CSVCell(stage), use, metric, field(p), field(m), "", field(low), field(high)}
		if p != 0 && m != 0 {
			record[5] = strconv.FormatFloat(p/m-1, 'f', 4, 64)
		}
		_ = out.Write(record) // the error is out.Error's
	}
	_ = out.Write([]string{"stage", "use", "metric", "predicted", "measured", "error", "low", "high"})
	if s := c.Saturation; s != nil {
		metric := "saturation_requests_per_s"
		if s.Stage != "" {
			metric = "saturation_output_tokens_per_s"
		}
		write(s.Stage, s.Use, metric, s.Predicted, s.Measured, s.Interval[0], s.Interval[1])
	}
	for _, r := range c.Rows {
		for _, m := range twinMetrics() {
			write(r.Stage, r.Use, m.Key, m.Of(&r.Predicted), m.Of(&r.Measured), m.Of(&r.Low), m.Of(&r.High))
		}
	}
	out.Flush()
	return out.Error()
}

// field is a number in CSV.
func field(v float64) string {
	if v == 0 {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
