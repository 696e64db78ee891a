package findings

import (
	"strconv"
	"strings"

	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// StageLine is one stage in one line, made to stand beneath others of its kind.
func StageLine(s *rundir.Stage, l lang.Lang) string {
	facts := StageFacts(s, l)
	for i, width := range []int{20, 11, 13, 12, 10} {
		facts[i] = table.Pad(facts[i], width, true)
	}
	return strings.Join(facts, "  ")
}

// StageFacts returns the main facts of a stage: its name, rate, latencies and verdict.
func StageFacts(s *rundir.Stage, l lang.Lang) []string {
	facts := []string{
		table.Clean(StageName(s)) + StageMarks(s),
		lang.Number(lang.NonZero(CompletedCell(s)), lang.Rate) + " req/s",
		"TTFT " + lang.Time(s.TTFT.Mean), "ITL " + lang.Time(s.InterToken), lang.Number(lang.NonZero(Output(s)), lang.Short) + " tok/s",
	}
	if v := judgement(s); v != "" {
		facts = append(facts, lang.Verdict(v, l))
	}
	if n := FailedStages(s); n > 0 {
		facts = append(facts, sayFailures.In(l, strconv.Itoa(n)))
	}
	return facts
}
