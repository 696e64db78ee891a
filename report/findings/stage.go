package findings

import (
	"strings"

	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// StageFacts returns the main facts of a stage: its name, rate, latencies, and what must be known of it.
func StageFacts(s *rundir.Stage, l lang.Lang) []string {
	facts := []string{
		table.Clean(StageName(s)), lang.Number(lang.NonZero(Completed(s)), lang.Rate) + " req/s",
		"TTFT " + lang.Time(s.TTFT.Mean), "ITL " + lang.Time(s.InterToken), lang.Number(lang.NonZero(Output(s)),
			lang.Short) + " tok/s",
	}
	if c := remarkCell(StageRow{new(rundir.Run), s}); !c.Text.IsZero() {
		facts = append(facts, c.Text.In(l))
	}
	return facts
}

// Widths of the columns of lines that appear one after the other.
const (
	nameWidth   = 19
	numberWidth = 7
	timeWidth   = 9
)

// StageHeading returns the heading of lines of stages that appear one after the other.
func StageHeading(l lang.Lang) string {
	return aligned(MainColumns(nil), func(c *Column) string { return c.Head.In(l) })
}

// StageLine returns a stage in a line, with the columns of the table that people see first.
func StageLine(s *rundir.Stage, l lang.Lang) string {
	r := StageRow{new(rundir.Run), s}
	return aligned(MainColumns(nil), func(c *Column) string { return table.Clean(c.Cell(r).In(l)) })
}

func aligned(columns []Column, text func(*Column) string) string {
	parts := make([]string, len(columns))
	for i := range columns {
		c, width := &columns[i], numberWidth
		switch {
		case i == 0:
			width = nameWidth
		case strings.Contains(c.ID, "_s_") && !strings.HasPrefix(c.ID, "tokens_per_s"), c.ID == "inter_token_s":
			width = timeWidth
		}
		parts[i] = table.Pad(text(c), width, c.Left)
	}
	return strings.Join(parts, " ")
}
