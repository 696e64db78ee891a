package findings

import "llmsweep/report/lang"

// clusterWords are the words of the notes of package cluster.
func clusterWords() lang.Words {
	return lang.Words{
		"cluster.lost": lang.Say("rank {rank} ({host}) was lost in {stage}: {error}. What was measured there does not count, and the rank is left out from then on",
			"进程 {rank}（{host}）在 {stage} 中丢失：{error}。该次测量作废，此后不再使用该进程"),
		"cluster.stalled": lang.Say("rank {rank} ({host}) stood still for {time:time} in {stage}: the load was lighter than asked, and what was measured there does not count",
			"进程 {rank}（{host}）在 {stage} 中停顿了 {time:time}：负载低于要求，该次测量作废"),
		"cluster.late": lang.Say("rank {rank} ({host}) began {stage} {time:time} later than the others: what was measured there does not count",
			"进程 {rank}（{host}）比其他进程晚 {time:time} 开始 {stage}：该次测量作废"),
		"cluster.broken": lang.Say("rank {rank} ({host}) could not go on in {stage}: {error}",
			"进程 {rank}（{host}）无法继续 {stage}：{error}"),
		"cluster.differs": lang.Say("rank {rank} ({host}) would send other requests than rank 0 in {stage}: all ranks need the same command line and the same files",
			"进程 {rank}（{host}）在 {stage} 中将发送与进程 0 不同的请求：所有进程需要相同的命令行和相同的文件"),
		"cluster.unfit": lang.Say("rank {rank} ({host}) was too slow: {why:note}",
			"进程 {rank}（{host}）过慢：{why:note}"),
		"cluster.alignment": lang.Say("the clock of rank {rank} ({host}) is known only to {error:time}, more than a tenth of the mean time between two requests ({gap:time}): in-flight and backlog are that unsure; latencies are not",
			"进程 {rank}（{host}）的时钟只能确定到 {error:time}，超过平均请求间隔（{gap:time}）的十分之一：并发与积压有相应的不确定性，时延不受影响"),
		"cluster.limit-shared": lang.Say("the {limit} requests in flight are shared out over {ranks} ranks: one rank's requests may wait while another has places free",
			"并发上限 {limit} 由 {ranks} 个进程分摊：某进程的请求可能在等待，而另一进程仍有空位"),
		"cluster.stage": lang.Say("{stage}: {why:note}", "{stage}：{why:note}"),
	}
}
