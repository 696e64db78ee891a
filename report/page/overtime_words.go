package page

import "llmsweep/report/lang"

// Headings.
var (
	titleTime    = lang.Say("%s over time", "%s 随时间的变化")
	titleSlowest = lang.Say("The slowest requests behind a percentile", "百分位数以上最慢的请求")
)

// Words in drawings.
var (
	axisTime     = lang.Say("time since the stage began", "阶段开始后的时间")
	axisArrivals = lang.Say("requests per second", "每秒请求数")
	axisFlight   = lang.Say("requests in flight", "并发请求数")
	axisTokens   = lang.Say("output tok/s", "输出 tok/s")
	axisPoints   = lang.Say("TTFT of each request", "每个请求的 TTFT")
	axisKV       = lang.Say("KV cache in use", "KV 缓存占用")
	axisRequests = lang.Say("requests", "请求数")
	axisGaps     = lang.Say("gaps between tokens", "token 间隔数")
	wordDue      = lang.Say("arrived", "到达")
	wordDone     = lang.Say("completed", "完成")
	wordFlight   = lang.Say("in flight", "并发")
	wordRunning  = lang.Say("running", "运行中")
	wordWaiting  = lang.Say("waiting", "排队")
	wordKV       = lang.Say("KV cache", "KV 缓存")
	tagWindow    = lang.Say("measured window", "测量窗口")
)

// Headings of columns.
var (
	headRequest     = lang.Say("request", "请求")
	headDueS        = lang.Say("due at (s)", "应发时刻（秒）")
	headQueuedS     = lang.Say("held by the client (s)", "客户端等待（秒）")
	headTTFTS       = lang.Say("TTFT (s)", "TTFT（秒）")
	headLatencyS    = lang.Say("latency (s)", "总时延（秒）")
	headFromS       = lang.Say("from (s)", "起始（秒）")
	headAtS         = lang.Say("at (s)", "时刻（秒）")
	headPreemptions = lang.Say("preemptions", "抢占次数")
	headTokens      = lang.Say("tokens", "token 数")
	headStatus      = lang.Say("status", "状态")
	headQueued      = lang.Say("held by the client", "客户端等待")
	headLongest     = lang.Say("longest gap", "最长间隔")
	headStrip       = lang.Say("gaps between tokens, in order", "各 token 间隔（按先后）")
	headFrom        = lang.Say("from", "从")
	headTo          = lang.Say("to", "到")
	headCount       = lang.Say("count", "数量")
)

// Notes beneath drawings and tables.
var (
	noteAllDrawn   = lang.Say("All %d requests are drawn.", "共 %d 个请求，全部画出。")
	noteSomeDrawn  = lang.Say("%d of %d requests are drawn; the slowest and the fastest in each of %d equal parts of the time always are.", "画出 %d 个请求，共 %d 个；将时间等分为 %d 段，每段内最慢与最快的请求都画出。")
	noteNoReadings = lang.Say(" The server reported nothing about its own load.", "服务未提供自身负载信息。")
	noteBounded    = lang.Say("%s of %s values are at least what is drawn: those requests were cut off.", "%s 个值（共 %s 个）至少为所画数值：这些请求被中断。")
	noteBelow      = lang.Say("%s values below %s are in the first bar.", "%s 个低于 %s 的值计入第一个柱。")
	noteSlowest    = lang.Say("Of the requests due in the window, the slowest few by each metric are kept here: %d of %d. records.jsonl has all. Held by the client: from due to sent, before the server saw the request.", "此处保留窗口内按各指标最慢的少数请求：%d 个，共 %d 个。全部记录见 records.jsonl。客户端等待：从应发到实际发出，此时服务尚未收到请求。")
	tableSlices    = lang.Say("Numbers over time", "随时间变化的数值")
	tablePoints    = lang.Say("The requests that are drawn", "画出的请求")
	tableServer    = lang.Say("What the server said of its load", "服务报告的负载")
)
