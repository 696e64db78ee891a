package findings

import "llmsweep/report/lang"

// sweepWords are the words of the notes of package sweep and the packages beneath it.
func sweepWords() lang.Words {
	return lang.Words{
		// Of a stage.
		"stage.ended-early": lang.Say("ended early: {failed} of {ended} requests failed",
			"提前结束：{ended} 个请求中有 {failed} 个失败"),
		"server.froze": lang.Say("the server stopped answering {since:time} after the stage began and did not answer again: {streams:count request requests} waited in vain. The rates include this time, and no SLO is met",
			"服务在阶段开始 {since:time} 后停止应答，此后再无应答：{streams} 个请求空等。各速率均计入这段时间，任何 SLO 都不满足"),
		"stage.too-short": lang.Say("too short: no part of it was steady; a longer stage may have one (--stage-time, --duration)",
			"时间太短：没有稳定的时段；可延长阶段（--stage-time、--duration）"),
		"stage.bookkeeping": lang.Say("{counted:tenths} requests were in flight on average, but their latencies add up to {added_up:tenths}; the two should agree",
			"平均并发为 {counted:tenths}，但由总时延算得 {added_up:tenths}；两者应当一致"),
		"requests.resent": lang.Say("{count:count request requests} sent again on a new connection, since the server had closed the first one before anything was written on it",
			"{count} 个请求经新连接重发：服务在写入任何内容之前已关闭原连接"),
		"stage.shared-reads": lang.Say("{share:percent} of the tokens arrived in the same read as the next token, since the server or the network sends them together: the gaps between them are unknown",
			"{share:percent} 的 token 与下一个 token 在同一次读取中到达（服务端或网络把它们合并发送），其间隔未知"),
		"stage.killed": lang.Say("llmsweep was killed: the {records:count record records} of this stage do not include the requests in flight at that time",
			"llmsweep 被强制终止：本阶段的 {records} 条记录不含当时进行中的请求"),
		"stage.beyond-client": lang.Say("this stage asks for more than the self-test showed this client to measure well on this machine: {excess:note}",
			"本阶段的要求超出自检所示的本机客户端能力：{excess:note}"),

		// Why a stage is invalid.
		"client.sent-late": lang.Say("the client sent requests late (lag p99 {lag_p99:time}); give llmsweep cores of its own (taskset), or run it on another machine than the server",
			"客户端发送请求过晚（延迟 p99 为 {lag_p99:time}）；请让 llmsweep 独占若干核（taskset），或在另一台机器上运行"),
		"client.read-late": lang.Say("the client read tokens late (p99 {delay_p99:time}, and {shared:percent} of them together with others); give llmsweep cores of its own (taskset), or run it on another machine than the server",
			"客户端读取 token 过晚（p99 为 {delay_p99:time}，{shared:percent} 与其他 token 一起读到）；请让 llmsweep 独占若干核（taskset），或在另一台机器上运行"),
		"client.no-cpu-left": lang.Say("the client used {cpu:percent} of this machine's cores, {gc_share:percent} of that to collect garbage; give llmsweep cores of its own (taskset), or run it on another machine than the server",
			"客户端占用了本机 {cpu:percent} 的处理器，其中 {gc_share:percent} 用于垃圾回收；请让 llmsweep 独占若干核（taskset），或在另一台机器上运行"),
		"client.stage": lang.Say("{stage}: {why:note}", "{stage}：{why:note}"),

		// Of what a plan asks of the client.
		"client.plan-beyond": lang.Say("the plan may ask for more than the self-test showed this client to measure well on this machine: {excess:note}",
			"计划的要求可能超出自检所示的本机客户端能力：{excess:note}"),
		"excess.streams": lang.Say("{asked} streams at once, where {shown} were shown",
			"同时 {asked} 个流，自检证明的为 {shown} 个"),
		"excess.tokens": lang.Say("{asked:whole} tokens/s, where {shown:whole} were shown",
			"每秒 {asked:whole} 个 token，自检证明的为 {shown:whole} 个"),
		"excess.arrivals": lang.Say("{asked:whole} arrivals/s, where {shown:whole} were shown",
			"每秒 {asked:whole} 个到达，自检证明的为 {shown:whole} 个"),

		// Of the sweep.
		"retokenize.failed": lang.Say("the answers of {stage} could not be tokenized again: {error}",
			"无法对 {stage} 的回答重新分词：{error}"),
		"server.not-idle": lang.Say("the server did not become idle after {stage}, so the next stage may include its load: {error}",
			"{stage} 之后服务未能空闲，下一阶段可能受其影响：{error}"),
		"budget.no-time-for-rate": lang.Say("the budget left no time for {rate:rate} req/s[, repetition {repeat:times}]",
			"预算不足，未测 {rate:rate} req/s[（第 {repeat:times} 次重复）]"),
		"budget.no-time-for-repeats": lang.Say("the budget leaves no time to measure each rate {repeats} times: each is measured once",
			"预算不足以将每个到达率测量 {repeats} 次：各测一次"),
		"budget.ended-ceiling-search": lang.Say("the budget ended the search for the ceiling at {in_flight} in flight: the true ceiling may be higher",
			"预算用尽，寻找上限止于并发 {in_flight}：真实上限可能更高"),
		"cap.reached": lang.Say("rates above the cap of {rate:rate} req/s (--max-rps, --max-tpm) were not tried: the ceiling found is that of the cap, not of the server",
			"未测超过限速 {rate:rate} req/s（--max-rps、--max-tpm）的到达率：所得上限来自限速，而非服务"),
		"ceiling.bounded": lang.Say("the search for the ceiling ended at --max-concurrency {max_concurrency}, and output was still growing: a larger value may find a higher ceiling",
			"寻找上限止于 --max-concurrency {max_concurrency}，而输出仍在增长：更大的值可能得到更高的上限"),
		"ceiling.step": lang.Say("{in_flight} in flight: {tokens_per_s:short} output tok/s",
			"并发 {in_flight}：输出 {tokens_per_s:short} tok/s"),
		"budget.plan": lang.Say("remaining budget {left:span}: {rates:count rate rates}[, {repeats:times} times each], a stage above saturation and one to refine the answer, {stage_time:span} each. Near saturation a stage has {requests:whole} requests, which shows a drift of {drift:percent}; a p95 needs at least {p95_from:short} req/s, a p99 {p99_from:short}",
			"剩余预算 {left:span}：{rates} 个到达率[，各 {repeats:times} 次]，另有一个高于饱和点的阶段和一个细化结果的阶段，每个 {stage_time:span}。接近饱和时每个阶段约有 {requests:whole} 个请求，可发现 {drift:percent} 的漂移；p95 至少需要 {p95_from:short} req/s，p99 至少需要 {p99_from:short}"),
		"precision.more-stages": lang.Say("the saturation rate is known to within {have:percent}; {wanted:percent} takes about {stages:count stage stages} more, {time:span}",
			"饱和点的误差为 {have:percent}；达到 {wanted:percent} 约需再测 {stages} 个阶段，{time:span}"),
		"slo.collects": lang.Say("--slo: each stage collects the {requests} requests that its percentiles need, which takes {time:span} more in all",
			"--slo：每个阶段收集其分位数所需的 {requests} 个请求，共多用 {time:span}"),
		"slo.too-slow": lang.Say("--slo: at {rate:rate} req/s and below that takes longer than a stage may ({stage_max:span}); those rows cannot be judged",
			"--slo：在 {rate:rate} req/s 及以下，所需时间超过单个阶段的上限（{stage_max:span}）；这些行无法判定"),
		"slo.search": lang.Say("--slo: then up to {stages:count stage stages}[ of {stage_max:span} or more find| find, within the budget,] the highest rate that meets it",
			"--slo：随后[最多用 {stages} 个 {stage_max:span} 以上的|在预算之内最多用 {stages} 个]阶段找出满足它的最高到达率"),

		// Of the saturation rate.
		"saturation.stable-above": lang.Say("{rate:rate} req/s was stable although it is above the saturation rate: the throughput stage did not fill the server",
			"{rate:rate} req/s 高于饱和点却稳定：throughput 阶段未能使服务满载"),
		"saturation.mixed-verdicts": lang.Say("{rate:rate} req/s was stable {stable:count time times} and saturated {saturated:count time times}: it is close to saturation, or the server varies",
			"{rate:rate} req/s 有 {stable} 次稳定、{saturated} 次饱和：该到达率接近饱和点，或服务不稳定"),
		"saturation.against-neighbours": lang.Say("{stage} was {verdict:verdict}, unlike the rates next to it",
			"{stage} 判定为{verdict:verdict}，与相邻到达率不符"),
		"saturation.ceiling-not-filled": lang.Say("the throughput stage did not fill the server: with {in_flight} in flight {completed:rate} req/s were completed, and at least {at_least:rate} when more arrived",
			"throughput 阶段未能使服务满载：并发 {in_flight} 时完成 {completed:rate} req/s，到达更多时至少完成 {at_least:rate}"),
		"saturation.overload-costs": lang.Say("overload reduces throughput: {completed:rate} req/s were completed with {in_flight} in flight, and {overloaded:rate} when more arrived than the server can take",
			"过载会降低吞吐：并发 {in_flight} 时完成 {completed:rate} req/s，到达超过其承受能力时完成 {overloaded:rate}"),
		"saturation.backlog-grew": lang.Say("at {offered:rate} req/s offered the backlog grew by {growth:short} requests per second, and {completed:rate} req/s were completed",
			"到达率为 {offered:rate} req/s 时，积压每秒增加 {growth:short} 个请求，完成 {completed:rate} req/s"),
		"saturation.ceiling": lang.Say("with {in_flight} in flight {completed:rate} req/s were completed",
			"并发 {in_flight} 时完成 {completed:rate} req/s"),
		"saturation.ceiling-none-saturated": lang.Say("with {in_flight} in flight {completed:rate} req/s were completed; no arrival rate was shown to be saturated",
			"并发 {in_flight} 时完成 {completed:rate} req/s；没有任何到达率被证明为饱和"),

		// Why a run ended as it did.
		"run.killed":            lang.Say("llmsweep was killed", "llmsweep 被强制终止"),
		"run.server-gone":       lang.Say("the server stopped answering during {stage}", "服务在 {stage} 期间停止应答"),
		"run.nothing-succeeded": lang.Say("no request succeeded", "没有任何请求成功"),
		"run.no-rates":          lang.Say("the first stages completed no request, so there are no rates to measure", "最初的阶段没有完成任何请求，因此没有可测的到达率"),
		"run.budget-over":       lang.Say("the budget of {budget:span} was over before {stage} began", "{budget:span} 的预算在 {stage} 开始前已用尽"),
		"run.failed":            lang.Say("{error}", "{error}"),
		"pair.other-failed":     lang.Say("the other server failed", "另一个服务失败"),
		"pair.side":             lang.Say("{side}: {what:note}", "{side}：{what:note}"),
		"pair.invalid":          lang.Say("{side} {stage}: {why:note}", "{side} {stage}：{why:note}"),
		"pair.side-failed":      lang.Say("{side}: {why:note}", "{side}：{why:note}"),

		// Of the SLO.
		"slo.none-broke":     lang.Say("{stage} met all terms, and no higher rate missed one", "{stage} 满足所有条款，更高的到达率也没有不满足的"),
		"slo.ends":           lang.Say("above this rate {term} is not met", "高于此到达率则不满足 {term}"),
		"slo.kept-then-ends": lang.Say("{stage} met all terms; above it {term} is not met", "{stage} 满足所有条款；更高则不满足 {term}"),
		"slo.too-few":        lang.Say("too few requests to judge {term}: {stage} needs {needs} more", "请求太少，无法判定 {term}：{stage} 还需 {needs} 个"),
		"slo.none-judged":    lang.Say("no stage could be judged", "没有可判定的阶段"),
		"slo.broken-at":      lang.Say("{stage} already misses it", "{stage} 已不满足"),

		// Why a row is left out of a comparison.
		"row.cut-short":         lang.Say("the stage was cut short", "该阶段提前结束"),
		"row.warm-up":           lang.Say("the document calls it a warm-up", "文档注明为预热"),
		"row.nothing-completed": lang.Say("nothing was completed", "没有完成任何请求"),

		// Of results of other tools.
		"published.read-from": lang.Say("read from {file}, line {line}; another tool measured it, and there are no records of its requests",
			"读自 {file} 第 {line} 行；由其他工具测得，没有各请求的记录"),
	}
}
