package page

import (
	"strings"
	"testing"

	"golang.org/x/net/html"

	"llmsweep/sweep/rundir"
)

// rowsOf are the cells of a table of a page, in English.
func rowsOf(p parsedPage, id string) [][]string {
	var rows [][]string
	for _, n := range p.elements("table") {
		if attribute(n, "id") != id {
			continue
		}
		for tr := range n.Descendants() {
			var cells []string
			for c := range tr.ChildNodes() {
				if tr.Type == html.ElementNode && c.Data == "td" {
					cells = append(cells, elementText(c, "en"))
				}
			}
			if len(cells) > 0 {
				rows = append(rows, cells)
			}
		}
	}
	return rows
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
	p := writeRun(t, run, "")
	checkPage(t, p)
	for _, id := range []string{"t-replica-done", "t-replica-ttft", "replicas-1"} {
		if len(rowsOf(p, id)) < len(run.Stages) {
			t.Errorf("the table %s has %d rows", id, len(rowsOf(p, id)))
		}
	}
	headings := 0
	for _, h := range p.elements("h3") {
		if strings.Contains(elementText(h, "en"), "by replica") {
			headings++
		}
	}
	if headings == 0 {
		t.Error("no table by replica has a heading")
	}
}
