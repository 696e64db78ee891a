package findings

import (
	"strconv"

	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
)

// EarlyStopping returns MLPerf's verdicts beside those of llmsweep, on each percentile of the SLO in each stage.
func EarlyStopping(run *rundir.Run) (s table.Section, ok bool) {
	s = table.Section{Title: titleMLPerf.Text(), Level: 2, Notes: []lang.Text{noteMLPerf.Text()},
		Table: table.Table{Columns: []table.Column{
			{Head: headMLStage.Text(), Left: true}, {Head: headMLTerm.Text(), Left: true}, {Head: headRequests.Text()},
			{Head: headMLBeyond.Text()},
			{Head: headMLAllowed.Text()}, {Head: headMLNeeds.Text()}, {Head: headMLPasses.Text(), Left: true},
			{Head: headSLO.Text(), Left: true},
		}}}
	whole := func(n int) table.Cell { return table.Literal(strconv.Itoa(n)) }
	for _, r := range AllStages(run) {
		if r.Stage.Goodput == nil {
			continue
		}
		for _, p := range r.Stage.Goodput.Terms {
			term, err := slo.Parse(p.Term)
			if err != nil {
				continue
			}
			e, known := term.EarlyStopping(r.Stage)
			if !known {
				continue
			}
			allowed, verdict := whole(e.Allowed), table.Cell{Text: wordMLFails.Text(), Tone: table.Bad}
			if e.Allowed < 0 {
				allowed = table.Absent()
			}
			if e.Passes() {
				verdict = table.Cell{Text: wordMLPasses.Text(), Tone: table.Good}
			}
			s.Table.Rows = append(s.Table.Rows, []table.Cell{
				table.Literal(StageName(r.Stage)), table.Literal(p.Term), whole(e.Requests), whole(e.Beyond), allowed,
				whole(e.Needs), verdict, SLOCell(p.Verdict),
			})
		}
	}
	return s, len(s.Table.Rows) > 0
}
