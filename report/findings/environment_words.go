package findings

import "llmsweep/report/lang"

var (
	envTarget   = lang.Say("Server", "服务")
	envLabels   = lang.Say("Labels", "标签")
	envWorkload = lang.Say("Workload", "工作负载")
	envTool     = lang.Say("Tool", "工具")
	envDate     = lang.Say("Started", "开始时间")
	envClock    = lang.Say("Timestamps", "时间戳")
	envClient   = lang.Say("Client", "客户端")
	envSelftest = lang.Say("Self-test", "客户端自检")
	clockKernel = lang.Say("by the kernel, when bytes arrive", "由内核在字节到达时记录")
	clockUser   = lang.Say("by the program, when it reads bytes", "由程序在读取时记录")
	clientFit   = lang.Say("lag p99 %s, %s %% of this machine's processors", "发送滞后 p99 %s，占用本机处理器 %s %%")
	lastedFor   = lang.Say("%s, lasted %s", "%s，历时 %s")
	loadPrompt  = lang.Say("%s prompt tokens", "输入 %s token")
	loadCounted = lang.Say("%s prompt tokens (the server counted %s)", "输入 %s token（服务计为 %s）")
	loadOutput  = lang.Say("%s output tokens", "输出 %s token")
	loadForced  = lang.Say("%s output tokens, forced", "输出 %s token（强制）")
	loadUpTo    = lang.Say("up to %s", "最多 %s 个")
	loadCapped  = lang.Say("up to %s output tokens", "输出最多 %s 个 token")
	loadDataset = lang.Say("data set %s", "数据集 %s")
	loadFixed   = lang.Say("one fixed prompt", "固定提示词")
	loadSeed    = lang.Say("seed %s", "随机种子 %s")
	envRanks    = lang.Say("Ranks", "进程")
)
