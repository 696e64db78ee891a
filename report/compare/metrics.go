package compare

import (
	"cmp"
	"slices"
	"strings"

	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
)

// The keys of metrics that are named in the code. TTFT and ITL are those of one request at a time, and at 50 and 80 %
// of the saturation rate.
const (
	keyUsers    = "users"
	keyEach     = "users_per_gpu"
	keyRate     = "saturation"
	keyOutput   = "tokens_per_s"
	KeyPerGPU   = "tokens_per_s_per_gpu"
	keyUncached = "uncached_tokens_per_s" // of runs whose hit rates differ: prompt tokens that were computed, and output
	keyAnswer   = "tokens_per_request"
	keyGoodput  = "good_tokens_per_s" // of requests that keep the SLO
	KeyAccuracy = slo.Accuracy        // the share of the graded answers that are right
	KeyErrors   = "errors"
)

// metric is one that is compared: a column of the tables.
type metric struct {
	key string
	table.Column
	unit  string
	print func(rundir.Number) table.Cell
	share bool // it may be 0: its change is a difference
	fewer bool // less is better
	rank  int  // on a console that shows few, from 1; 0: not shown
	told  bool // only in tables: no change of it is told
}

var metrics = allMetrics() // this is the only list of them

func allMetrics() []metric {
	percent := func(f rundir.Number) table.Cell { return table.Number(rundir.Exactly(f.Value()*100), "", lang.Short) }
	short := func(f rundir.Number) table.Cell { return table.Number(f, "", lang.Short) }
	column := func(head lang.Phrase, drop int) table.Column { return table.Column{Head: head.Text(), Drop: drop} }
	all := []metric{
		{key: keyUsers, Column: column(headUsers, 0), print: fixed(0), rank: 1},
		{key: keyEach, Column: column(headEach, 3), print: short},
		{key: keyRate, Column: column(headSaturation, 0), unit: "req/s", print: fixed(2), rank: 2},
		{key: keyOutput, Column: column(lang.HeadOutput, 0), unit: "tok/s", print: fixed(2), rank: 3},
		{key: KeyPerGPU, Column: column(headPerGPU, 3), unit: "tok/s", print: fixed(2), rank: 4},
		{key: keyUncached, Column: column(headUncached, 0), unit: "tok/s", print: fixed(2), rank: 6},
		{key: keyAnswer, Column: column(headAnswer, 1), unit: "tok", print: fixed(1), told: true},
	}
	for i, at := range operatingLoads() {
		sub, drop := lang.Same(at.name+" %"), []int{5, 2, 0}[i] // latency near the highest load differs most
		if at.share == 0 {
			sub = subAlone.Text()
		}
		for j, what := range []string{"ttft", "itl"} {
			all = append(all, metric{key: what + "@" + at.name, print: table.Seconds, fewer: true,
				rank:   [][]int{{10, 11}, {0, 0}, {8, 9}}[i][j],
				Column: table.Column{Head: lang.Same(strings.ToUpper(what)), Sub: sub, Drop: drop}})
		}
	}
	slices.SortStableFunc(all[len(all)-6:], func(a, b metric) int { return -cmp.Compare(a.key[:4], b.key[:4]) })
	return append(all,
		metric{key: slo.Speed, Column: column(headSpeed, 4), unit: "tok/s", print: fixed(2), rank: 15},
		metric{key: slo.TTFA, Column: table.Column{Head: lang.Same("TTFA"), Drop: 4}, print: table.Seconds, fewer: true, rank: 14},
		metric{key: slo.Stalls, Column: column(headStalls, 4), unit: "%", print: percent, share: true, fewer: true, rank: 16},
		metric{key: slo.Sessions, Column: column(headSession, 4), unit: "%", print: percent, share: true, rank: 13},
		metric{key: keyGoodput, Column: column(headGoodput, 4), unit: "tok/s", print: fixed(2), rank: 12},
		metric{key: KeyAccuracy, Column: column(headRight, 0), unit: "%", print: percent, share: true, rank: 7},
		metric{key: KeyErrors, Column: column(headErrors, 0), unit: "%", print: percent, share: true, fewer: true, rank: 5})
}

func fixed(decimals int) func(rundir.Number) table.Cell {
	return func(f rundir.Number) table.Cell { return table.Number(f, "", lang.Fixed(decimals)) }
}

// head is the column of a figure, with its unit.
func (m *metric) head() table.Column {
	c := m.Column
	if m.unit != "" {
		c.Sub = lang.Same(m.unit)
	}
	return c
}

func metricOf(key string) *metric {
	if i := slices.IndexFunc(metrics, func(m metric) bool { return m.key == key }); i >= 0 {
		return &metrics[i]
	}
	name, _, _ := strings.Cut(key, "@") // of a load that only a run knows
	fewer := strings.HasPrefix(name, "ttf") || name == "itl" || name == slo.Latency
	return &metric{key: key, Column: table.Column{Head: lang.Same(key)}, print: fixed(2), fewer: fewer}
}

// Keys returns the metrics whose changes are told.
func Keys() (keys []string) {
	for _, m := range metrics {
		if !m.told {
			keys = append(keys, m.key)
		}
	}
	return keys
}

// TermKeys returns the keys that are known only of runs whose SLO has such a term.
func TermKeys() []string { return []string{slo.Speed, slo.TTFA, slo.Stalls, slo.Sessions, keyGoodput} }

func isShare(key string) bool { return metricOf(key).share }

// HigherIsBetter reports whether more of a metric is better, by its key.
func HigherIsBetter(key string) bool { return !metricOf(key).fewer }

// MetricFormat returns the name of a metric by its key, and how it is printed with its unit.
func MetricFormat(key string) (name lang.Text, cell func(rundir.Number) table.Cell) {
	m := metricOf(key)
	return m.Heading(), func(n rundir.Number) table.Cell {
		c := m.print(n)
		c.Unit = cmp.Or(c.Unit, m.unit)
		return c
	}
}
