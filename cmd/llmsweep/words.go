package main

import "llmsweep/report/lang"

var (
	sayLabels    = lang.Say("%s has the labels %s", "%s 的标签：%s")
	sayLabelsNow = lang.Say("%s now has the labels %s", "%s 的标签现为：%s")
	sayNoLabels  = lang.Say("%s has no labels", "%s 没有标签")
)

var sayNoLoad = lang.Say("No load is given: one request at a time is measured (--concurrency 1). Others: --concurrency N, --rate R.",
	"未指定负载：逐个发送请求（--concurrency 1）。其他负载：--concurrency N、--rate R。")
