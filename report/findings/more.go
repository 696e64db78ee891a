package findings

import (
	"slices"
	"strings"

	"llmsweep/client/note"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// beyondNoise is the factor by which a stage must have completed more than the answer to be worth a sentence: single stages differ by a few per
// cent besides their own noise.
const beyondNoise = 1.02

// moreDone names the stages that completed more than the saturation rate and its interval, as the table shows them. Where a note of the run gives
// one already, nothing is returned.
func moreDone(run *rundir.Run, l lang.Lang) string {
	sat := run.Saturation
	if sat == nil || !sat.Rate.Known() || !sat.High.Known() || slices.ContainsFunc(run.Warnings, namesMore) {
		return ""
	}
	var rows []string
	for _, r := range AllStages(run) {
		s := r.Stage
		if s.Role == rundir.Floor && len(sat.Cautions) > 0 { // they tell of it
			continue
		}
		counts := s.Role != rundir.Control && s.Role != rundir.WarmUp && WholeStages(s) && s.Invalid.IsZero()
		if counts && s.Progress.Low.Known() && s.Progress.Low.Value() > beyondNoise*sat.High.Value() {
			rows = append(rows, table.Clean(StageName(s))+lang.InParens.In(l, sayDone.In(l, lang.Number(s.Rates.Completed, lang.Rate))))
		}
	}
	if len(rows) == 0 {
		return ""
	}
	say := sayMoreDone
	if sat.Overload.Known() {
		say = sayMoreLooped
	}
	return say.In(l, lang.Number(sat.High, lang.Estimate(sat.Low, sat.High)), strings.Join(rows, lang.ListComma.In(l)))
}

// namesMore reports whether a note tells of a stage that completed more than the answer, or that the server was another one then.
func namesMore(n note.Note) bool {
	return slices.Contains([]string{"saturation.overload-costs", overloadOrChange, "saturation.stable-above", "saturation.now"}, n.Code)
}
