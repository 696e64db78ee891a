package findings

import (
	"strconv"

	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// ReplicaTable returns what each of several servers did: a table for each metric, with a row for each stage and a
// column for each server. There are none where one server was measured.
func ReplicaTable(run *rundir.Run) []table.Table {
	if len(run.Target.Replicas) == 0 {
		return nil
	}
	all := []table.Table{
		perReplica(run, replicaDone, func(s *rundir.ReplicaShare) table.Cell {
			return table.Number(lang.NonZero(s.Completed),
				"", lang.Rate)
		}),
		perReplica(run, replicaTTFT, func(s *rundir.ReplicaShare) table.Cell { return table.Seconds(s.TTFT.Mean) }),
		perReplica(run, replicaTTFT99, func(s *rundir.ReplicaShare) table.Cell { return table.Percentile(&s.TTFT, "p99") }),
		perReplica(run, replicaITL, func(s *rundir.ReplicaShare) table.Cell { return table.Seconds(s.InterToken) }),
	}
	if replicaFailed(run) {
		all = append(all, perReplica(run, replicaFailures, func(s *rundir.ReplicaShare) table.Cell {
			return table.Cell{Text: failedOf.Text(strconv.Itoa(s.Requests.Error), strconv.Itoa(s.Requests.Due))}
		}))
	}
	return all
}

// perReplica returns the table of one metric.
func perReplica(run *rundir.Run, title lang.Phrase, cell func(*rundir.ReplicaShare) table.Cell) table.Table {
	t := table.Table{Title: title.Text(), Columns: []table.Column{{Head: lang.HeadLoad.Text(), Left: true}}}
	for i := range run.Target.Replicas {
		t.Columns = append(t.Columns, table.Column{Head: replicaRows(i)})
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

// replicaFailed reports whether some request to one of several servers failed.
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

// replicaRows returns the name of one of several servers, by its index.
func replicaRows(i int) lang.Text { return replicaNumber.Text(strconv.Itoa(i + 1)) }
