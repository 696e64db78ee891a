package findings

import "llmsweep/report/lang"

// clusterWords are the words of the notes of package cluster.
func clusterWords() lang.Words {
	return lang.Words{
		"cluster.lost": lang.Say("rank {rank} ({host}) was lost in {stage}, and the run ended there: {error}",
			"进程 {rank}（{host}）在 {stage} 中丢失，运行到此结束：{error}"),
		"cluster.slow": lang.Say("rank {rank} ({host}) was slow: it began or sent up to {time:time} late",
			"进程 {rank}（{host}）过慢：开始或发送最多晚了 {time:time}"),
	}
}
