package lang

import (
	"strings"

	"llmsweep/sweep/rundir"
)

// Punctuation between parts of sentences, and after them.
var (
	Stop      = Say(".", "。")
	Comma     = Say(", ", "，")
	Semicolon = Say("; ", "；")
	ListComma = Say(", ", "、")
	Colon     = Say(": ", "：")
	InParens  = Say(" (%s)", "（%s）")
)

// Column heads that several packages share.
var (
	HeadLoad    = Say("load", "负载")
	HeadDone    = Say("done", "完成")
	HeadLatency = Say("latency", "总时延")
	HeadOutput  = Say("output", "输出")
	SubMean     = Say("mean", "均值")
)

var (
	spanSeconds = Say("%s s", "%s 秒")
	spanMinutes = Say("%s min", "%s 分钟")
	spanHours   = Say("%s h", "%s 小时")
)

var (
	verdictStable    = Say("held", "保持")
	verdictSaturated = Say("piled up", "积压")
	verdictShedding  = Say("refused in part", "部分拒绝")
	verdictUndecided = Say("undecided", "未定")
	verdictClosed    = Say("fixed number in flight", "固定并发")
	verdictUncounted = Say("not counted", "不计入")
)

// NotCounted stands in place of the verdict of a stage in which the client was the limit. No stage has it in run.json.
const NotCounted rundir.Verdict = "not counted"

// StageName returns the name of a stage as people see it: run.json calls a stage of Poisson arrivals poisson@1.57,
// published tables call it asynchronous@1.57. Text that holds such names, or none, is treated alike.
func StageName(name string) string { return strings.ReplaceAll(name, "poisson@", "asynchronous@") }

// Verdict returns a verdict in words, and - for none.
func Verdict(v rundir.Verdict, l Lang) string {
	switch v {
	case rundir.Stable:
		return verdictStable.In(l)
	case rundir.Saturated:
		return verdictSaturated.In(l)
	case rundir.Shedding:
		return verdictShedding.In(l)
	case rundir.Undecided:
		return verdictUndecided.In(l)
	case rundir.Closed:
		return verdictClosed.In(l)
	case NotCounted:
		return verdictUncounted.In(l)
	}
	return "-"
}

var sayUnknown = Say("a note of another version of llmsweep is left out, because this version has no such rule", "略去另一版本 llmsweep 的说明，因为本版本没有相应的规则")

// metricNames are by key in run.json, without the statistic.
var metricNames = map[string]Phrase{
	"latency_s":           Say("latency", "总时延"),
	"ttft_s":              Say("time to first token", "首 token 时延"),
	"tpot_s":              Say("time per output token", "每输出 token 时间"),
	"itl_s":               Say("inter-token latency", "token 间时延"),
	"inter_token_s":       Say("inter-token latency", "token 间时延"),
	"rates.completed":     Say("requests per second", "每秒请求数"),
	"tokens_per_s.output": Say("output tokens per second", "每秒输出 token 数"),
}

// Metric returns the name of a metric by its key in run.json, such as ttft_s.mean; the key where it has no name.
func Metric(key string, l Lang) string {
	if p, ok := metricNames[key]; ok {
		return p.In(l)
	}
	dist, _, _ := strings.Cut(key, ".")
	if p, ok := metricNames[dist]; ok {
		return p.In(l)
	}
	return key
}
