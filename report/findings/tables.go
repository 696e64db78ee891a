package findings

import (
	"slices"
	"strconv"

	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
)

// AnswerLengths returns the table of how long the answers of each stage were; none where lengths are forced.
func AnswerLengths(run *rundir.Run) []table.Table {
	if !run.Workload.Capped || run.Source != nil || len(run.Stages) == 0 {
		return nil
	}
	columns := Pick("name", "output_tokens_mean", "output_tokens_p50", "output_tokens_p90", "output_tokens_max",
		"output_tokens_at_limit")
	for i := range columns[1:5] {
		columns[i+1].Head, columns[i+1].Sub = columns[i+1].Sub, lang.Text{}
	}
	t := TabulateStages(columns, AllStages(run), UnitUnderHead)
	t.Title = titleLengths.Text(lang.Both(func(l lang.Lang) string { return AnswerText(&run.Workload, l) }))
	return []table.Table{t}
}

// ReplicaTable returns a table for each metric of several servers: a row for each stage, a column for each server.
func ReplicaTable(run *rundir.Run) []table.Table {
	if len(run.Target.Replicas) == 0 {
		return nil
	}
	all := []table.Table{
		perReplica(run, replicaDone, func(s *rundir.ReplicaShare) table.Cell {
			return table.Number(lang.NonZero(s.Completed), "", lang.Rate)
		}),
		perReplica(run, replicaTTFT, func(s *rundir.ReplicaShare) table.Cell { return table.Statistic(&s.TTFT, "mean") }),
		perReplica(run, replicaTTFT99, func(s *rundir.ReplicaShare) table.Cell { return table.Statistic(&s.TTFT, "p99") }),
		perReplica(run, replicaITL, func(s *rundir.ReplicaShare) table.Cell { return table.Seconds(s.InterToken) }),
	}
	if replicaFailed(run) {
		all = append(all, perReplica(run, replicaFailures, func(s *rundir.ReplicaShare) table.Cell {
			return table.Cell{Text: failedOf.Text(strconv.Itoa(s.Requests.Error), strconv.Itoa(s.Requests.Due))}
		}))
	}
	return all
}

func perReplica(run *rundir.Run, title lang.Phrase, cell func(*rundir.ReplicaShare) table.Cell) table.Table {
	t := table.Table{Title: title.Text(), Columns: []table.Column{{Head: lang.HeadLoad.Text(), Left: true}}}
	for i := range run.Target.Replicas {
		t.Columns = append(t.Columns, table.Column{Head: replicaName(i)})
	}
	for _, r := range AllStages(run) {
		cells := []table.Cell{nameCell(r)}
		for i := range run.Target.Replicas {
			if i >= len(r.Stage.Replicas) {
				cells = append(cells, table.Absent())
			} else {
				cells = append(cells, cell(&r.Stage.Replicas[i]))
			}
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

func replicaFailed(run *rundir.Run) bool {
	for i := range run.Stages {
		for _, s := range run.Stages[i].Replicas {
			if s.Requests.Error > 0 {
				return true
			}
		}
	}
	return false
}

func replicaName(i int) lang.Text { return replicaNumber.Text(strconv.Itoa(i + 1)) }

// TurnTables returns the tables of turns: of the rows beside the number of users that a server carries, or of the last
// row of another run of conversations.
func TurnTables(run *rundir.Run) (all []table.Table) {
	var names []string
	if a := saturation.AnswerOf(run); a != nil && a.Carried != nil {
		for _, r := range []*rundir.CarriedRow{a.Carried.Within, a.Carried.Beyond} {
			if r != nil {
				names = append(names, r.Stage)
			}
		}
	}
	for i := range run.Stages {
		st := &run.Stages[i]
		shown := slices.Contains(names, st.Name) || len(names) == 0 && i == len(run.Stages)-1
		if shown && st.Sessions != nil && len(st.Sessions.Turns) > 0 {
			all = append(all, turnTable(st))
		}
	}
	return all
}

func turnTable(st *rundir.Stage) table.Table {
	t := table.Table{Title: titleTurns.Text(StageName(st)), Columns: []table.Column{
		{Head: headTurn.Text(), Left: true}, {Head: headTurnCount.Text()}, {Head: headPrompt.Text(), Sub: lang.Same("token")},
		{Head: headCached.Text(), Sub: lang.Same("token")}, {Head: lang.Same("TTFT p50")}, {Head: lang.Same("TTFT p95")},
	}}
	classes := map[string]lang.Phrase{rundir.FirstTurn: turnFirst, rundir.WarmTurn: turnWarm, rundir.AgainTurn: turnAgain}
	add := func(name lang.Text, g rundir.TurnGroup) {
		whole := func(n rundir.Number) table.Cell { return table.Number(n, "", lang.Fixed(0)) }
		t.Rows = append(t.Rows, []table.Cell{
			{Text: name, Tone: table.Strong}, table.Count(g.N), whole(g.Prompt), whole(g.Cached), table.Seconds(g.P50),
			table.Seconds(g.P95),
		})
	}
	if len(st.Sessions.Classes) > 1 { // else it is the first turn, which has a row of its own
		for _, g := range st.Sessions.Classes {
			add(classes[g.Class].Text(), g)
		}
	}
	for _, g := range st.Sessions.Turns {
		add(lang.Same(strconv.Itoa(g.Turn+1)), g)
	}
	return t
}
