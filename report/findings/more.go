package findings

import (
	"strings"

	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
)

// noiseFactor is the factor by which a stage must have completed more than the answer to be worth a sentence: single
// stages differ by a few per cent besides their own noise.
const noiseFactor = 1.02

// fasterStages names the stages that completed more than the saturation rate and its interval, as the table shows them.
// Where the server changed meanwhile, nothing is returned.
func fasterStages(run *rundir.Run, l lang.Lang) string {
	a := saturation.AnswerOf(run)
	if a == nil || !a.Rate.Known() || !a.High.Known() || len(a.Cautions) > 0 {
		return ""
	}
	var rows []string
	for _, r := range AllStages(run) {
		s := r.Stage
		counts := s.Role != rundir.WarmUp && IsComplete(s) && s.Invalid.IsZero()
		if counts && s.Progress.Low.Known() && s.Progress.Low.Value() > noiseFactor*a.High.Value() {
			rows = append(rows, table.Clean(StageName(s))+
				lang.InParens.In(l, sayDone.In(l, lang.Number(s.Rates.Completed, lang.Rate))))
		}
	}
	if len(rows) == 0 {
		return ""
	}
	say := sayMoreDone
	if a.Kind == rundir.Sustains {
		say = sayMoreLooped
	}
	return say.In(l, lang.Number(a.High, lang.Estimate(a.Low, a.High)), strings.Join(rows, lang.ListComma.In(l)))
}
