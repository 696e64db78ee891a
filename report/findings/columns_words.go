package findings

import (
	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
)

// Headings of columns.
var (
	headAccuracy = lang.Say("accuracy", "正确率")
	headAnswered = lang.Say("answered", "成功")
	headFailed   = lang.Say("failed", "失败")
	headGoodput  = lang.Say("goodput", "有效吞吐")
	headInFlight = lang.Say("in flight", "并发")
	headLength   = lang.Say("length", "输出长度")
	headAtLimit  = lang.Say("cut at the limit", "达到上限")
	headOffered  = lang.Say("offered", "到达")
	headInput    = lang.Say("input", "输入")
	headRefused  = lang.Say("refused", "拒绝")
	headRequests = lang.Say("requests", "请求")
	headRole     = lang.Say("role", "作用")
	headSLO      = lang.Say("SLO", "SLO")
	headVerdict  = lang.Say("verdict", "判定")

	headFirstAnswer = lang.Say("first answer", "首个回答 token")
	headRunning     = lang.Say("running", "运行中")
	headWaiting     = lang.Say("waiting", "排队")
	headKV          = lang.Say("KV cache", "KV 缓存")
	headPreemptions = lang.Say("preempted", "抢占")
	headSteps       = lang.Say("steps", "步数")
	headQueue       = lang.Say("queue", "排队时间")
	headAccepted    = lang.Say("accepted", "接受率")
	headPerStep     = lang.Say("per step", "每步")
	headPerChunk    = lang.Say("per chunk", "每块")
	headPrefix      = lang.Say("prefix hits", "前缀命中")
)

// Words in cells.
var (
	sayOfAsked = lang.Say("%s of %s", "%s（要求 %s）")
	sloKept    = lang.Say("met", "满足")
	sloBroken  = lang.Say("missed", "不满足")
	sloUnsure  = lang.Say("unsure", "未定")

	roleFloor   = lang.Say("one at a time", "逐个请求")
	roleGrid    = lang.Say("rate", "到达率")
	roleCeiling = lang.Say("maximum", "最大吞吐")
	roleProbe   = lang.Say("probe", "探测")
	roleHold    = lang.Say("held", "长测")
	roleSingle  = lang.Say("asked for", "指定")
	roleWarmUp  = lang.Say("warm-up", "预热")
)

// roleName is a role in words.
func roleName(role rundir.Role) lang.Text {
	p, ok := map[rundir.Role]lang.Phrase{
		rundir.Floor: roleFloor, rundir.Grid: roleGrid, rundir.Ceiling: roleCeiling, rundir.Probe: roleProbe, rundir.Hold: roleHold,
		rundir.Single: roleSingle, rundir.WarmUp: roleWarmUp,
	}[role]
	if !ok {
		return lang.Same(string(role))
	}
	return p.Text()
}
