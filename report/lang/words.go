package lang

// The answer.
var (
	Stop      = Say(".", "。")
	Comma     = Say(", ", "，")
	Semicolon = Say("; ", "；")
	ListComma = Say(", ", "、")
	Colon     = Say(": ", "：")
	InParens  = Say(" (%s)", "（%s）")
)

// Words that head columns in several places.
var (
	HeadBenchmark = Say("Benchmark", "阶段")
	HeadDone      = Say("done", "完成")
	HeadLatency   = Say("latency", "总时延")
	HeadOutput    = Say("output", "输出")
	SubMean       = Say("mean", "均值")
)
