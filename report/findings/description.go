package findings

import (
	"strconv"

	"llmsweep/report/lang"
	"llmsweep/report/table"
	traffic "llmsweep/sweep/workload"
)

var (
	sayDescribed = lang.Say("%d sessions; %s begin per second. Each value in %s stands for at least %d sessions.",
		"%d 个会话，平均每秒开始 %s 个。%s 中每个数值至少代表 %d 个会话。")
	sayLeftOut = lang.Say("%d sessions are not described, since fewer than %d are like them.",
		"有 %d 个会话未描述，因为与之相似的会话不足 %d 个。")
	sayCutOff = lang.Say("%d sessions were still open when the recording ended. How many turns they have is drawn from the other sessions.",
		"录制结束时有 %d 个会话尚未结束，其轮数按其他会话推算。")
	sayDistance = lang.Say("Distance: the largest difference between the shares of values up to a value, from 0 to 1. Within one kind, turns, lengths and pauses are drawn independently.",
		"距离：两者累积占比之差的最大值，从 0 到 1。同一类会话中，轮数、长度和停顿分别独立抽取。")
	sayReplay = lang.Say("The same load: llmsweep run URL --workload %s --rate %s --arrivals %s (the rate counts turns).",
		"相同的负载：llmsweep run URL --workload %s --rate %s --arrivals %s（速率按轮计）。")
	sayNoClients = lang.Say("The recording does not tell clients apart, or has fewer than %d: arrivals are those of all sessions together.",
		"录制的流量不区分客户端，或客户端不足 %d 个：到达过程是所有会话合计的。")
	sayClients = lang.Say("%d clients in groups of %d or more, by how many sessions they begin: the first group begins %s of them. Arrivals are drawn for each client.",
		"%d 个客户端，按会话数分组，每组至少 %d 个：第一组占全部会话的 %s。到达过程按客户端分别抽取。")

	headQuantity  = lang.Say("Quantity", "量")
	headRecorded  = lang.Say("Recorded mean", "录制均值")
	headDescribed = lang.Say("Described mean", "描述均值")
	headDistance  = lang.Say("Distance", "距离")

	sayQuantity = map[string]lang.Phrase{
		traffic.QuantityTurns:  lang.Say("turns of a session", "每个会话的轮数"),
		traffic.QuantityFirst:  lang.Say("first prompt, tokens", "首轮提示 token 数"),
		traffic.QuantityShared: lang.Say("shared at its beginning, tokens", "其开头共享的 token 数"),
		traffic.QuantityAdded:  lang.Say("added by each later turn, tokens", "之后每轮新增 token 数"),
		traffic.QuantityWhole:  lang.Say("prompt with history, tokens", "含历史的提示 token 数"),
		traffic.QuantityOutput: lang.Say("answer, tokens", "回答 token 数"),
		traffic.QuantityPause:  lang.Say("pause between turns, s", "轮间停顿，秒"),
	}
)

// Description returns what a description of traffic says and how well it reproduces it. file is where it was written.
func Description(d *traffic.Description, file string) []table.Section {
	short := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	s := table.Section{Lines: []lang.Text{sayDescribed.Text(d.Sessions, short(d.Rate), file, d.K)}, Table: table.Table{Columns: []table.Column{
		{Head: headQuantity.Text(), Left: true}, {Head: headRecorded.Text()}, {Head: headDescribed.Text()}, {Head: headDistance.Text()},
	}}}
	if d.LeftOut > 0 {
		s.Lines = append(s.Lines, sayLeftOut.Text(d.LeftOut, d.K))
	}
	if d.CutOff > 0 {
		s.Lines = append(s.Lines, sayCutOff.Text(d.CutOff))
	}
	turns := 1.0
	for _, q := range d.Distances {
		if q.Quantity == traffic.QuantityTurns {
			turns = q.Recorded
		}
		s.Table.Rows = append(s.Table.Rows, []table.Cell{
			{Text: sayQuantity[q.Quantity].Text()}, table.Literal(short(q.Recorded)), table.Literal(short(q.Described)), table.Literal(strconv.FormatFloat(q.Distance, 'f', 3, 64)),
		})
	}
	arrivals, clients := "gamma:"+short(d.Shape), sayNoClients.Text(d.K)
	if len(d.Clients) > 0 {
		n := 0
		for _, c := range d.Clients {
			n += c.Number
		}
		arrivals, clients = "clients", sayClients.Text(n, d.K, strconv.FormatFloat(100*d.Clients[0].Share, 'f', 0, 64)+" %")
	}
	s.Notes = append(s.Notes, sayDistance.Text(), clients)
	if d.Rate > 0 && d.Shape > 0 {
		s.Notes = append(s.Notes, sayReplay.Text(file, strconv.FormatFloat(d.Rate*turns, 'g', 4, 64), arrivals))
	}
	return []table.Section{s}
}
