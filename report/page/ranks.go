package page

import (
	"strconv"

	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

var (
	titleRanks      = lang.Say("Ranks: the processes that sent the load", "各进程：共同发送负载")
	titleRankStages = lang.Say("How the ranks held each stage together", "各阶段中进程的同步")
	noteRanks       = lang.Say("A latency is measured by one rank's own clock. The clock's offset matters only for what is put together from all ranks: due times, requests in flight, the backlog. The offset lies between its bounds with certainty. Lag and CPU are of the worst stage.",
		"时延由进程自身的时钟测得。时钟偏差只影响由各进程汇总的量：应发时刻、并发请求数和积压。偏差必在其界限之内。滞后与 CPU 为最差阶段的值。")
	headRank      = lang.Say("rank", "进程")
	headHost      = lang.Say("host", "主机")
	headCores     = lang.Say("cores", "核数")
	headOffset    = lang.Say("clock offset", "时钟偏差")
	headBounds    = lang.Say("bounds", "界限")
	headDrift     = lang.Say("drift, ppm", "漂移（ppm）")
	headRoundTrip = lang.Say("round trip", "往返时间")
	headSenders   = lang.Say("ranks", "进程数")
	headSkew      = lang.Say("first to last start", "开始时刻之差")
	headAlignment = lang.Say("clock error at most", "时钟误差至多")
	headShares    = lang.Say("requests of each rank", "各进程的请求数")
	rankReference = lang.Say("reference", "基准")
	rankUnfit     = lang.Say("the limit in some stages", "在部分阶段成为瓶颈")
	rankLost      = lang.Say("left out: %s", "已排除：%s")
)

// ranks is what each of several processes did, and how well their clocks and starts agreed; nothing where one process sent.
func (v *view) ranks() []Section {
	if v.Run.Cluster == nil {
		return nil
	}
	each := &Grid{Table: table.Table{Title: titleRanks.Text()}, Name: "ranks-each", Open: true, Notes: []lang.Text{noteRanks.Text()}}
	for i, h := range []lang.Phrase{headRank, headHost, headCores, headOffset, headBounds, headDrift, headRoundTrip, headLag, headCPU, headFit} {
		each.Columns = append(each.Columns, table.Column{Head: h.Text(), Left: i < 2 || h == headFit})
	}
	for i := range v.Run.Cluster.Ranks {
		each.Add(rankCells(&v.Run.Cluster.Ranks[i])...)
	}
	blocks := []Block{{Table: each}}
	if t := v.rankStages(); len(t.Rows) > 0 {
		blocks = append(blocks, Block{Heading: t.Title}, Block{Table: t})
	}
	return []Section{{ID: "ranks", Title: titleRanks.Text(), Blocks: blocks}}
}

// rankCells are the cells of a rank: its clock, and whether it was fast enough.
func rankCells(r *rundir.Rank) []table.Cell {
	const perMillion = 1e6
	offset, bounds := table.Cell{Text: rankReference.Text(), Tone: table.Faint}, table.Literal(lang.Absent)
	if r.Rank != 0 {
		offset = table.Seconds(r.Clock.Offset)
	}
	if r.Clock.Low.Known() && r.Clock.High.Known() {
		bounds = table.Literal(lang.Time(r.Clock.Low) + " – " + lang.Time(r.Clock.High))
	}
	fit := table.Cell{Text: fitYes.Text(), Tone: table.Good}
	switch {
	case !r.Lost.IsZero():
		fit = table.Cell{Text: lang.Both(func(l lang.Lang) string { return rankLost.In(l, findings.Phrase(r.Lost, l)) }), Tone: table.Bad, Long: true}
	case !r.Valid:
		fit = table.Cell{Text: rankUnfit.Text(), Tone: table.Bad}
	}
	cores := table.Literal(lang.Absent)
	if r.CPUs > 0 {
		cores = table.Literal(strconv.Itoa(r.CPUs))
	}
	return []table.Cell{
		table.Literal(strconv.Itoa(r.Rank)), table.Literal(r.Host), cores, offset, bounds, table.Number(lang.Scale(r.Clock.Drift, perMillion), "", lang.Short),
		table.Seconds(r.Clock.RoundTrip), table.Seconds(r.LagP99), table.Number(lang.Scale(r.CPU, 100), "", lang.Short), fit,
	}
}

// rankStages tells for each stage how many ranks sent, how far apart they began, and how many requests each sent.
func (v *view) rankStages() *Grid {
	t := &Grid{Name: "ranks-stages", Open: true, Table: table.Table{Title: titleRankStages.Text(), Columns: []table.Column{
		{Head: lang.HeadBenchmark.Text(), Left: true}, {Head: headSenders.Text()}, {Head: headSkew.Text()}, {Head: headAlignment.Text()}, {Head: headShares.Text(), Left: true},
	}}}
	for _, row := range v.Rows {
		r := row.Stage.Ranks
		if r == nil {
			continue
		}
		shares := ""
		for i, e := range r.Each {
			if i > 0 {
				shares += " · "
			}
			shares += strconv.Itoa(e.Rank) + ": " + strconv.Itoa(e.Requests)
		}
		t.Rows = append(t.Rows, []table.Cell{
			table.Literal(findings.StageName(row.Stage)), table.Literal(strconv.Itoa(r.N)), table.Seconds(r.Skew), table.Seconds(r.Alignment), {Text: lang.Same(shares), Long: true},
		})
	}
	return t
}
