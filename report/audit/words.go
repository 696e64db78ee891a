package audit

import (
	"sync"

	"llmsweep/report/lang"
)

// Words around findings.
var (
	sayResult     = lang.Say("%d result", "%d 个结果")
	sayResults    = lang.Say("%d results", "%d 个结果")
	sayRow        = lang.Say("%d row", "%d 行")
	sayRows       = lang.Say("%d rows", "%d 行")
	sayImpossible = lang.Say("%d impossible", "%d 处不可能")
	sayDoubtful   = lang.Say("%d doubtful", "%d 处存疑")
	sayRemark     = lang.Say("%d remark", "%d 处备注")
	sayAlike      = lang.Say("%s: the same remark in lines %s (--all prints each)", "%s：第 %s 行有相同的备注（--all 逐条列出）")
	sayRemarks    = lang.Say("%d remarks", "%d 处备注")
	sayNothing    = lang.Say("nothing found", "未发现问题")
	sayUnread     = lang.Say("not read: %s", "未能读取：%s")
	sayLine       = lang.Say("line %d", "第 %d 行")
	sayCaution    = lang.Say("%s (line %d), %s: %s", "%s（第 %d 行），%s：%s")
	sayTolerates  = lang.Say("Tolerates %s", "容差：%s")
)

// Words returns the words of findings.
var Words = sync.OnceValue(func() lang.Words {
	return lang.Words{
		"audit.zeros": lang.Say("{completed} completed, and latency {latency}: nothing was measured, which is n/a and not 0",
			"完成 {completed}，总时延 {latency}：没有测到任何数据，应为 n/a 而非 0"),
		"audit.unit": lang.Say("{metric:metric} {printed}: the rest of the column is in {unit}, and in {unit} it would be {would_be}, which fits",
			"{metric:metric} {printed}：该列其余单位为 {unit}，若以 {unit} 计则为 {would_be}，与该列相符"),
		"audit.ttft": lang.Say("mean time to first token {ttft} is above mean latency {latency}",
			"首 token 时延均值 {ttft} 大于总时延均值 {latency}"),
		"audit.latency": lang.Say("latency {latency}, but TTFT {ttft} + {gaps:tenths} gaps x {gap} = {sum}",
			"总时延 {latency}，但 TTFT {ttft} + {gaps:tenths} 个间隔 x {gap} = {sum}"),
		"audit.tokens-above": lang.Say("[{output} over {completed} is ]{tokens} tokens per request, and {asked} were asked for",
			"[{output} 除以 {completed} 得]每个请求 {tokens} 个 token，而要求为 {asked} 个"),
		"audit.tokens-below": lang.Say("[{output} over {completed} is ]{tokens} tokens per request, fewer than half of the {asked} asked for",
			"[{output} 除以 {completed} 得]每个请求 {tokens} 个 token，不足要求的 {asked} 个的一半"),
		"audit.offered": lang.Say("{completed} req/s completed of {offered} offered: the rest must be left over from the stage before",
			"到达 {offered} req/s，却完成 {completed} req/s：多出的部分只能是上一阶段遗留的请求"),
		"audit.offered-doubtful": lang.Say("{completed} req/s completed, {more} above the {offered} offered: more than chance explains in a stage of {window:whole} s, so some were left over from the stage before",
			"完成 {completed} req/s，比到达的 {offered} 高 {more}：在 {window:whole} 秒的阶段内超出偶然范围，可能有上一阶段遗留的请求"),
		"audit.tokens-apart": lang.Say("{output} over {completed} is {tokens} tokens per request, and {typical} in the other rows",
			"{output} 除以 {completed} 得每个请求 {tokens} 个 token，而其余各行为 {typical} 个"),
		"audit.backlog": lang.Say("mean time to first token {ttft}, and {later_ttft} at a higher rate (line {line}, {completed} completed): requests waited for those left over from an earlier stage",
			"首 token 时延均值为 {ttft}，而到达率更高时为 {later_ttft}（第 {line} 行，完成 {completed}）：请求在等待上一阶段遗留的请求"),
		"audit.order": lang.Say("{metric:metric} {higher} {value} is below {lower} {lower_value}",
			"{metric:metric} {higher} {value} 小于 {lower} {lower_value}"),
		"audit.mean-outside": lang.Say("{metric:metric}: the mean {mean} is outside {min} to {max}",
			"{metric:metric}：均值 {mean} 不在 {min} 至 {max} 之间"),
		"audit.printed": lang.Say("{metric:metric} {printed}", "{metric:metric} {printed}"),
		"audit.copied": lang.Say("{same:note}: the same as in line {line} ({row}), while latency is {latency} and {other_latency}",
			"{same:note}：与第 {line} 行（{row}）相同，而总时延分别为 {latency} 和 {other_latency}"),
		"audit.grid": lang.Say("{rate} req/s is not on the even grid of the other rates; its free place nearest to that is {grid_rate}",
			"{rate} req/s 不在其余到达率的等距网格上，网格上最近的空位为 {grid_rate}"),
		"audit.arithmetic": lang.Say("{metric:metric} {printed} is printed, but {made_of} = {is}",
			"{metric:metric} 所列为 {printed}，但 {made_of} = {is}"),
		"audit.retokenized": lang.Say("{again:whole} tokens by their text, and {reported:whole} were reported ({factor}): the stream repeats or loses text, or the text does not tokenize back to the same tokens",
			"按文本计为 {again:whole} 个 token，报告为 {reported:whole} 个（{factor}）：流式输出有重复或丢失，或文本重新分词后与原 token 不同"),
		"audit.tpot": lang.Say("mean time per output token {tpot} is {factor:tenths} times mean inter-token latency {itl}",
			"每输出 token 时间均值 {tpot} 是 token 间时延均值 {itl} 的 {factor:tenths} 倍"),
		"audit.default-limit": lang.Say("Max Tokens {asked} and {other_asked} (line {line}) both took {time} with a spread of {spread:percent}, and the response in line {response_line} stopped at {stopped_at} tokens: the server ignored Max Tokens[, and {counted:rate} tokens per request is not its count]",
			"Max Tokens 为 {asked} 和 {other_asked}（第 {line} 行）时均用时 {time}，离散 {spread:percent}，且第 {response_line} 行的回答停在 {stopped_at} 个 token：服务忽略了 Max Tokens[，每个请求 {counted:rate} 个 token 也不是它的计数]"),
		"audit.closed-loop": lang.Say("{in_flight:whole} of {concurrency} in flight on average: the script waits for each batch ({requests} requests of {latency} took {took}; with {concurrency} always in flight, they end within {at_most})",
			"平均并发 {in_flight:whole}（设定为 {concurrency}）：脚本每批都等待最慢的请求（{requests} 个用时 {latency} 的请求共用 {took}；若始终保持并发 {concurrency}，应在 {at_most} 内结束）"),
		"audit.even": lang.Say("{tokens} tokens per request counted, but response times vary by {spread:percent} only: one limit seems to have ended all requests, and Max Tokens is {asked}, so the count is not the server's",
			"每个请求计得 {tokens} 个 token，但响应时间仅相差 {spread:percent}：所有请求似乎都在同一上限结束，而 Max Tokens 为 {asked}，该计数并非服务的计数"),
		"audit.ceiling": lang.Say("{ceiling} req/s as the ceiling, but offered {offered} the server completed {completed}, {less} less (line {line}): one of the two is no steady rate",
			"上限为 {ceiling} req/s，但到达 {offered} 时只完成 {completed}，少 {less}（第 {line} 行）：二者之一并非稳定速率"),
		"audit.instants": lang.Say("{later} at {at}, but {earlier} at {earlier_at}", "{later} 在 {at}，而 {earlier} 在 {earlier_at}"),
		"audit.gaps": lang.Say("{gaps} gaps add up to {sum}, and {passed} passed between the first and the last token",
			"{gaps} 个间隔合计 {sum}，而首末 token 相隔 {passed}"),
		"audit.stopped": lang.Say("stopped by length at {tokens:whole} tokens, and {asked} were asked for",
			"因长度停在 {tokens:whole} 个 token，而要求为 {asked} 个"),
		"audit.empty":   lang.Say("succeeded with 0 output tokens", "成功，但输出为 0 个 token"),
		"audit.several": lang.Say("{requests} requests, the first: {first:note}", "{requests} 个请求，第一个：{first:note}"),
	}
})

// Words of the grades.
var (
	gradeImpossible = lang.Say("impossible", "不可能")
	gradeDoubtful   = lang.Say("doubtful", "存疑")
	gradeRemark     = lang.Say("remark", "备注")
)

// In returns the grade in words.
func (g Grade) In(l lang.Lang) string {
	switch g {
	case Doubtful:
		return gradeDoubtful.In(l)
	case Remark:
		return gradeRemark.In(l)
	}
	return gradeImpossible.In(l)
}
