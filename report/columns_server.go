package report

import (
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// gauge is a column with one of the server's own numbers.
func gauge(head string, print lang.Printer, of func(*rundir.Server) rundir.Number) findings.StageField {
	return findings.NewStageField(table.Column{Head: head}, func(r findings.StageRow) table.Cell {
		if r.Stage.Server == nil {
			return table.Cell{Text: lang.Absent, Tone: table.Faint}
		}
		return table.Number(of(r.Stage.Server), "", print)
	})
}

// serverFields returns the server's own metrics: means over the window, and the highest share of its cache.
func serverFields(l lang.Lang) []findings.StageField {
	share := func(f rundir.Number) rundir.Number { return lang.Scale(f, 100) }
	return []findings.StageField{
		findings.NewStageField(table.Column{Head: lang.HeadBenchmark.In(l), Left: true}, func(r findings.StageRow) table.Cell {
			return table.Cell{Text: findings.StageName(r.Stage), Mark: findings.StageMarks(r.Stage)}
		}),
		gauge(headRunning.In(l), lang.Tenths, func(s *rundir.Server) rundir.Number { return s.Running }),
		gauge(headWaiting.In(l), lang.Tenths, func(s *rundir.Server) rundir.Number { return s.Waiting }),
		gauge(headKV.In(l)+" %", lang.Tenths, func(s *rundir.Server) rundir.Number { return share(s.KVUsageMax) }),
		gauge(headPreemptions.In(l), lang.Fixed(0), func(s *rundir.Server) rundir.Number { return s.Preemptions }),
		gauge(headPrefix.In(l)+" %", lang.Tenths, func(s *rundir.Server) rundir.Number { return share(s.PrefixHitRate) }),
	}
}

// anyServer reports whether some row has such numbers.
func anyServer(run *rundir.Run) bool {
	for i := range run.Stages {
		if run.Stages[i].Server != nil {
			return true
		}
	}
	return false
}
