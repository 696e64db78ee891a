package findings

import "llmsweep/report/lang"

// importedWords returns what the notes of imported results say: how other tools define their metrics, and what was taken from a document.
func importedWords() lang.Words {
	return lang.Words{
		"published.itl-weighted-by-tokens": lang.Say("the inter-token latency of {tool} is one mean per request, weighted by tokens, which hides stalls; it stands here as TPOT",
			"{tool} 的 token 间时延是每个请求一个均值，按 token 数加权，会掩盖停顿；这里记为 TPOT"),
		"published.itl-per-chunk": lang.Say("the ITL of {tool} is the gap between two chunks, however many tokens a chunk holds",
			"{tool} 的 ITL 是两个数据块之间的间隔，与块中的 token 数无关"),
		"published.ttft-empty-chunk": lang.Say("the TTFT of {tool} ends at the first chunk, even at one without text, so it may be too short",
			"{tool} 的 TTFT 算到第一个数据块，即使其中没有文本，因此可能偏短"),
		"published.ttft-missing-is-zero": lang.Say("{tool} counts a request without a first token as a TTFT of 0",
			"没有首 token 的请求，{tool} 按 TTFT 为 0 计"),
		"published.latency-to-end-of-stream": lang.Say("the latency of {tool} ends with the stream, not with the last token",
			"{tool} 的时延算到流结束，而不是最后一个 token"),
		"published.rates-include-ramp-and-drain": lang.Say("the rates of {tool} are over the whole test, ramp and drain included, so they are below what the server sustains",
			"{tool} 的速率按整个测试计算，包含起步和收尾，因此低于服务可承受的到达率"),
		"published.cancelled-at-end": lang.Say("{tool} cancels the requests that run at the end of a stage; long requests are missing from its latencies",
			"阶段结束时仍在运行的请求被 {tool} 取消，因此其时延中缺少较长的请求"),
		"published.opening-not-left-out": lang.Say("{tool} leaves nothing out at the beginning of a stage, so its rates include the ramp",
			"{tool} 不去掉阶段开头，因此其速率包含起步过程"),
		"published.contradiction": lang.Say("{label} is {taken} by line {line}, but line {other_line} has {other}",
			"{label}：第 {line} 行为 {taken}，而第 {other_line} 行为 {other}"),
		"published.flag-wins": lang.Say("{label} is {given}, as --label says; line {line} has {found}",
			"{label} 按 --label 取 {given}；第 {line} 行为 {found}"),
		"published.warm-up": lang.Say("line {line} calls it a warm-up ({text}): nothing is concluded from it",
			"第 {line} 行注明为预热（{text}）：不据此作任何结论"),
		"published.joined": lang.Say("made of {tables:count table tables}, in lines {lines}", "由 {tables} 个表格组成（第 {lines} 行）"),
		"published.out-of-order": lang.Say("the results in lines {lines} are dated after those of the later command in line {other}: only their place says that the command in line {launch} was running",
			"第 {lines} 行的结果日期晚于第 {other} 行后一条命令的结果：仅凭位置才归于第 {launch} 行的命令"),
		"published.hardware-later": lang.Say("the table of nvidia-smi in line {line} is of {at}, later than this result: that the GPUs were used in the same way before is taken from their place in the file",
			"第 {line} 行的 nvidia-smi 输出时间为 {at}，晚于该结果：此前 GPU 用法相同仅依其在文件中的位置推断"),
	}
}
