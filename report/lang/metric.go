package lang

import "strings"

// metricNames are the names of metrics, by key in run.json, without the statistic.
func metricNames() map[string]Phrase {
	return map[string]Phrase{
		"latency_s":           Say("latency", "总时延"),
		"ttft_s":              Say("time to first token", "首 token 时延"),
		"tpot_s":              Say("time per output token", "每输出 token 时间"),
		"itl_s":               Say("inter-token latency", "token 间时延"),
		"inter_token_s":       Say("inter-token latency", "token 间时延"),
		"rates.completed":     Say("requests per second", "每秒请求数"),
		"tokens_per_s.output": Say("output tokens per second", "每秒输出 token 数"),
	}
}

// metric returns the name of a metric by its key in run.json, such as ttft_s.mean; the key where it has no name.
func metric(key string, l Lang) string {
	names := metricNames()
	if p, ok := names[key]; ok {
		return p.In(l)
	}
	dist, _, _ := strings.Cut(key, ".")
	if p, ok := names[dist]; ok {
		return p.In(l)
	}
	return key
}
