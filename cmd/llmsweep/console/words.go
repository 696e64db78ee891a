package console

import "llmsweep/report/lang"

// What the monitor says at the end.
var (
	sayCrashed = lang.Say("llmsweep crashed, which is a fault of it: please report the text above. What was measured until then is in %s", "llmsweep 崩溃了，这是它的错误：请报告以上内容。此前测得的结果保存在 %s")
	sayKilled  = lang.Say("it was killed. What was measured until then is in %s", "进程被强制终止。此前测得的结果保存在 %s")
)
