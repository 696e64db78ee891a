package findings

import (
	"strconv"
	"strings"

	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
)

var (
	sayWaiting    = lang.Say("Still waiting for %s to join.", "仍在等待 %s 加入。")
	sayJoined     = lang.Say("%s ranks send the load together.", "%s 个进程共同发送负载。")
	sayDerived    = lang.Say("The ranks know each other by a token made from the job's number: other users of this cluster may be able to guess it. Set LLMSWEEP_CLUSTER_TOKEN to prevent that.", "各进程以由作业号生成的令牌相互识别：该集群的其他用户可能猜到它。设置 LLMSWEEP_CLUSTER_TOKEN 可避免。")
	sayConnecting = lang.Say("rank %s still tries to connect: %s", "进程 %s 仍在尝试连接：%s")
	sayRanks      = lang.Say("%s (%s)", "%s（%s）")
)

// Waiting returns a line about ranks that have not joined yet.
func Waiting(missing string, l lang.Lang) string { return sayWaiting.In(l, missing) }

// StillConnecting returns a line about a rank that cannot reach rank 0 yet.
func StillConnecting(rank int, why string, l lang.Lang) string {
	return sayConnecting.In(l, strconv.Itoa(rank), why)
}

// Joined returns a line with the number of ranks that send.
func Joined(c *rundir.Cluster, l lang.Lang) string {
	return sayJoined.In(l, strconv.Itoa(len(c.Ranks)))
}

// DerivedToken warns of a token that others may be able to guess.
func DerivedToken(l lang.Lang) string { return sayDerived.In(l) }

// ranks names the ranks of a run; empty where one process sent.
func ranks(run *rundir.Run, l lang.Lang) string {
	if run.Cluster == nil {
		return ""
	}
	var all []string
	for _, r := range run.Cluster.Ranks {
		all = append(all, r.Host)
	}
	return sayRanks.In(l, strconv.Itoa(len(all)), strings.Join(all, lang.Comma.In(l)))
}
