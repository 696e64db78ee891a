package page

import (
	"strings"
	"testing"

	"golang.org/x/net/html"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

// rowsOf are the cells of a table of a page, in English.
func rowsOf(p parsed, id string) [][]string {
	var rows [][]string
	for _, n := range p.elements("table") {
		if attribute(n, "id") != id {
			continue
		}
		for tr := range n.Descendants() {
			var cells []string
			for c := range tr.ChildNodes() {
				if tr.Type == html.ElementNode && c.Data == "td" {
					cells = append(cells, words(c, "en"))
				}
			}
			if len(cells) > 0 {
				rows = append(rows, cells)
			}
		}
	}
	return rows
}

// rankedRun is a run of three machines.
func rankedRun(t *testing.T) *rundir.Run {
	run := openReal(t)
	run.Cluster = &rundir.Cluster{Ranks: []rundir.Rank{
		{Rank: 0, Host: "a<b>", CPUs: 8, Valid: true, LagP99: rundir.Exactly(0.0012), CPU: rundir.Exactly(0.05)},
		{Rank: 1, Host: "b", Clock: rundir.Clock{Offset: rundir.Exactly(-0.3), Low: rundir.Exactly(-0.3002), High: rundir.Exactly(-0.2998), Drift: rundir.Exactly(2e-6), RoundTrip: rundir.Exactly(0.0004)}},
		{Rank: 2, Host: "c", Valid: true, Lost: note.Text.New("gone")},
	}}
	run.Stages[1].Ranks = &rundir.StageRanks{N: 3, Skew: rundir.Exactly(0.004), Alignment: rundir.Exactly(0.0002), Each: []rundir.StageRank{{Requests: 7}, {Rank: 1, Requests: 5}, {Rank: 2, Requests: 0}}}
	return run
}

// The page of a run of several machines has each one's clock, its fitness and its share of the requests.
func TestRanks(t *testing.T) {
	p := write(t, rankedRun(t), "")
	check(t, p)
	each := rowsOf(p, "ranks-each")
	if len(each) != 3 {
		t.Fatalf("%d ranks are on the page: %v", len(each), each)
	}
	for i, want := range []string{"0|a<b>|8|reference|n/a|n/a|n/a|1.20 ms|5.00|yes", "1|b|n/a|-300 ms|-300 ms – -300 ms|2.00|0.400 ms|n/a|n/a|the limit in some stages", "2|c|n/a|n/a|n/a|n/a|n/a|n/a|n/a|left out: gone"} {
		if got := strings.Join(each[i], "|"); got != want {
			t.Errorf("rank %d is %q, want %q", i, got, want)
		}
	}
	stages := rowsOf(p, "ranks-stages")
	if len(stages) != 1 || strings.Join(stages[0][1:], "|") != "3|4.00 ms|0.200 ms|0: 7 · 1: 5 · 2: 0" {
		t.Errorf("the stages of the ranks are %v", stages)
	}
	if alone := write(t, openReal(t), ""); strings.Contains(alone.text, "ranks-each") {
		t.Error("a run of one process has ranks")
	}
}

// replicatedRun is a run of two servers.
func replicatedRun(t *testing.T) *rundir.Run {
	run := openReal(t)
	run.Target.Replicas = make([]rundir.Replica, 2)
	for i := range run.Stages {
		done := run.Stages[i].Rates.Completed.Value() / 2
		for j := range 2 {
			share := rundir.ReplicaShare{Completed: rundir.Exactly(done + float64(j))}
			share.TTFT.Mean = rundir.Exactly(0.01 * float64(j+1))
			run.Stages[i].Replicas = append(run.Stages[i].Replicas, share)
		}
	}
	return run
}

// The page of a run of several servers draws each one's share, and tables of them have visible headings.
func TestReplicas(t *testing.T) {
	run := replicatedRun(t)
	p := write(t, run, "")
	check(t, p)
	for _, id := range []string{"t-replica-done", "t-replica-ttft", "replicas-1"} {
		if len(rowsOf(p, id)) < len(run.Stages) {
			t.Errorf("the table %s has %d rows", id, len(rowsOf(p, id)))
		}
	}
	headings := 0
	for _, h := range p.elements("h3") {
		if strings.Contains(words(h, "en"), "by replica") {
			headings++
		}
	}
	if headings == 0 {
		t.Error("no table by replica has a heading")
	}
}
