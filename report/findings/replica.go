package findings

import "llmsweep/report/lang"

// replicaWords are the words of the notes on one of several servers.
func replicaWords() lang.Words {
	return lang.Words{
		"replica.slow": lang.Say("replica {replica:whole} is slower than the fastest one: TTFT {ttft:time} on average, against {fastest:time}",
			"副本 {replica:whole} 慢于最快的副本：TTFT 均值为 {ttft:time}，最快的为 {fastest:time}"),
		"replica.fails": lang.Say("replica {replica:whole} fails more often than the others: {failed:whole} of {due:whole} requests, against {others:percent} of theirs",
			"副本 {replica:whole} 的失败多于其他副本：{due:whole} 个请求中失败 {failed:whole} 个，其他副本的失败率为 {others:percent}"),
	}
}
