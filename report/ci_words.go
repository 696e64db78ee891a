package report

import "llmsweep/report/lang"

var (
	sayAllFailed = lang.Say("none of its requests succeeded: %s failed", "没有一个请求成功：%s 个失败")
	sayCut       = lang.Say("it did not run to its end", "没有运行完")
	sayFrozen    = lang.Say("the server stopped answering after %s", "服务在 %s 后停止响应")
	sayUndecided = lang.Say("what was measured does not show whether %s is met", "测得的数据不足以判断是否满足 %s")
	sayNoAnswer  = lang.Say("the sweep ended before it could tell", "扫描在得出结论之前结束")

	titleFailed    = lang.Say("%s missed", "%s 不满足")
	titleUndecided = lang.Say("%s not decided", "%s 无法判定")

	sayShortened = lang.Say("Shortened: a step's summary takes at most 1 MiB. The whole report is in %s.", "已截短：一个步骤的摘要最多 1 MiB。完整报告见 %s。")
)
