package findings

import (
	"strconv"

	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// ReplicaTable returns what each of several servers did: a table for each metric, with a row for each stage and a column for each server. There
// are none where one server was measured.
func ReplicaTable(run *rundir.Run, l lang.Lang) []table.Table {
	if len(run.Target.Replicas) == 0 {
		return nil
	}
	all := []table.Table{
		perReplica(run, l, replicaDone.In(l), func(s *rundir.ReplicaShare) table.Cell { return table.Number(lang.NonZero(s.Completed), "", lang.Rate) }),
		perReplica(run, l, replicaTTFT.In(l), func(s *rundir.ReplicaShare) table.Cell { return table.Seconds(s.TTFT.Mean) }),
		perReplica(run, l, replicaTTFT99.In(l), func(s *rundir.ReplicaShare) table.Cell {
			c := table.Seconds(s.TTFT.P99)
			if c.Text != lang.Absent && !s.TTFT.Supported("p99") {
				c.Mark = table.MarkUnsupported
			}
			return c
		}),
		perReplica(run, l, replicaITL.In(l), func(s *rundir.ReplicaShare) table.Cell { return table.Seconds(s.InterToken) }),
	}
	if replicaFailed(run) {
		all = append(all, perReplica(run, l, replicaFailures.In(l), func(s *rundir.ReplicaShare) table.Cell {
			return table.Cell{Text: failedOf.In(l, strconv.Itoa(s.Requests.Error), strconv.Itoa(s.Requests.Due))}
		}))
	}
	return all
}

// perReplica returns the table of one metric.
func perReplica(run *rundir.Run, l lang.Lang, title string, cell func(*rundir.ReplicaShare) table.Cell) table.Table {
	fields := []StageField{NewStageField(table.Column{Head: lang.HeadBenchmark.In(l), Left: true}, func(r StageRow) table.Cell {
		return table.Cell{Text: StageName(r.Stage), Mark: StageMarks(r.Stage)}
	})}
	for i := range run.Target.Replicas {
		fields = append(fields, NewStageField(table.Column{Head: ReplicaRows(i, l)}, func(r StageRow) table.Cell {
			if i >= len(r.Stage.Replicas) {
				return table.Cell{Text: lang.Absent, Tone: table.Faint}
			}
			return cell(&r.Stage.Replicas[i])
		}))
	}
	return TabulateStages(title, fields, AllStages(run))
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

// ReplicaRows returns the name of one of several servers, by its index.
func ReplicaRows(i int, l lang.Lang) string { return replicaNumber.In(l, strconv.Itoa(i+1)) }

// The words of tables of several servers.
var (
	replicaNumber   = lang.Say("replica %s", "副本 %s")
	replicaDone     = lang.Say("Requests completed per second, by replica", "各副本每秒完成的请求数")
	replicaTTFT     = lang.Say("TTFT mean, by replica", "各副本的 TTFT 均值")
	replicaTTFT99   = lang.Say("TTFT p99, by replica", "各副本的 TTFT p99")
	replicaITL      = lang.Say("ITL mean, by replica", "各副本的 ITL 均值")
	replicaFailures = lang.Say("Failed requests, by replica", "各副本失败的请求数")
	failedOf        = lang.Say("%s of %s", "%[2]s 中的 %[1]s")
)
