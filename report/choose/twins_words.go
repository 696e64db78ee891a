package choose

import (
	"llmsweep/report/lang"
	"llmsweep/sweep/twin"
)

var (
	titleNumbers   = lang.Say("Numbers of the twin", "孪生模型的数值")
	titleTwin      = lang.Say("Twin of %s", "%s 的孪生模型")
	titleCheck     = lang.Say("Stages left out of the fit, predicted and measured", "未参与拟合的阶段：预测值与实测值")
	titleBeside    = lang.Say("Predicted by the twin %s, beside what was measured", "孪生模型 %s 的预测值与实测值")
	titleLatencies = lang.Say("Predicted latencies in ms, and 95 % intervals", "预测时延（毫秒）与 95 % 区间")
	titleAsked     = lang.Say("Predictions", "预测")

	headKey        = lang.Say("number", "参数")
	headValue      = lang.Say("value", "值")
	headInterval   = lang.Say("95 % interval", "95 % 区间")
	headMeaning    = lang.Say("meaning", "含义")
	headStage      = lang.Say("stage", "阶段")
	headUse        = lang.Say("the fit", "拟合")
	headRequests   = lang.Say("req/s", "req/s")
	headTwinOutput = lang.Say("tok/s", "tok/s")
	headTTFT50     = lang.Say("TTFT p50 ms", "TTFT p50 ms")
	headTTFT99     = lang.Say("TTFT p99 ms", "TTFT p99 ms")
	headGap50      = lang.Say("ITL p50 ms", "ITL p50 ms")
	headGap99      = lang.Say("ITL p99 ms", "ITL p99 ms")
	headWorkload   = lang.Say("prompt / answer tokens", "提示词 / 回答 token 数")
	headSaturation = lang.Say("saturates at req/s", "饱和点 req/s")
	headAtRate     = lang.Say("at req/s", "对应 req/s")
	headRemark     = lang.Say("remark", "备注")

	wordPredicted        = lang.Say("predicted", "预测")
	wordTwinMeasured     = lang.Say("measured", "实测")
	wordError            = lang.Say("error", "误差")
	wordTwinExtrapolated = lang.Say("extrapolation: beyond the lengths that were measured", "外推：超出实测的长度范围")

	saySteps         = lang.Say("Fitted to %[1]d steps of up to %[2]d requests; prompts of %[3]d-%[4]d and answers of %[5]d-%[6]d tokens.", "由 %[1]d 个引擎步拟合，每步最多 %[2]d 个请求；提示词 %[3]d-%[4]d 个 token，回答 %[5]d-%[6]d 个。")
	sayPassed        = lang.Say("The check passed: output rates and mean gaps are off by %s %% (root mean square).", "检验通过：输出速率与平均间隔的误差为 %s %%（均方根）。")
	sayMissed        = lang.Say("The check FAILED: output rates and mean gaps are off by %s %% (root mean square). Each has to be within 10 %%, and median TTFTs within 30 %% or 5 ms. Do not plan with this twin.", "检验未通过：输出速率与平均间隔的误差为 %s %%（均方根）。每一项须在 10 %% 以内，TTFT 中位数须在 30 %% 或 5 毫秒以内。请勿用此模型做规划。")
	sayMissedBy      = lang.Say("The check FAILED: %s. Output rates and mean gaps together are off by %s %% (root mean square). Do not plan with this twin.", "检验未通过：%s。输出速率与平均间隔合计误差为 %s %%（均方根）。请勿用此模型做规划。")
	sayMissedPart    = lang.Say("%s is off in %s (limit %s %%)", "%s 的误差：%s（上限 %s %%）")
	headGapMean      = lang.Say("mean ITL", "平均 ITL")
	sayUnsteady      = lang.Say("The stages are off by %s %% from what the costs of the other stages predict. The server or its machine was not equally fast at all times, or works otherwise than the model. The intervals of predictions include it.", "用其他阶段的开销预测各阶段，误差为 %s %%：服务或其机器的速度并非始终一致，或其工作方式与模型不同。预测区间已包含此误差。")
	sayUnlike        = lang.Say("Against what the other stages predict: %s.", "与其他阶段的预测相比：%s。")
	saySlower        = lang.Say("%s was slower by %s %%", "%s 慢 %s %%")
	sayFaster        = lang.Say("%s was faster by %s %%", "%s 快 %s %%")
	sayLatencies     = lang.Say("At random arrivals, at 80 % of the low end of the saturation rate. An error of the step times is larger in latencies: where answers are slower, more of them share a step.", "随机到达，速率为饱和点下限的 80 %。步时间的误差在时延中更大：回答越慢，共享一步的回答越多。")
	sayTwinPredicted = lang.Say("Predicted, not measured. The interval includes the uncertainty of the fit.", "为预测值，并非实测。区间包含拟合的不确定性。")

	saySlots     = lang.Say("at most %[1]d requests were seen to run at once, and none to wait for a slot: how many the server runs is not known, and %[2]d are supposed. A closed loop of more requests would show it: llmsweep sweep URL --for-fit --max-concurrency N", "最多见到 %[1]d 个请求同时运行，且没有请求等待槽位：服务能同时运行多少未知，假定为 %[2]d。更多请求的闭环可测出：llmsweep sweep URL --for-fit --max-concurrency N")
	sayKV        = lang.Say("the KV cache never ran out; at most %d tokens were in it. A closed loop of longer prompts would show its size: llmsweep sweep URL --for-fit --prompt-tokens N", "KV 缓存从未用尽，最多存有 %d 个 token。更长提示词的闭环可测出其大小：llmsweep sweep URL --for-fit --prompt-tokens N")
	sayBudget    = lang.Say("no step was shown to be full; the largest seems to have had %d tokens. Longer prompts beside running answers would show the limit: llmsweep sweep URL --for-fit --prompt-tokens N", "没有步被证明已满，最大的一步约有 %d 个 token。与生成同时进行的更长提示词可测出上限：llmsweep sweep URL --for-fit --prompt-tokens N")
	sayOneLength = lang.Say("all prompts were equally long, so that this cost cannot be told from others: llmsweep sweep URL --for-fit varies the lengths", "所有提示词长度相同，无法将此开销与其他开销区分：llmsweep sweep URL --for-fit 会改变长度")
	saySmallCost = lang.Say("too small beside the other costs to be told from 0 in what was measured; it matters only for longer prompts and larger batches: llmsweep sweep URL --for-fit --prompt-tokens N", "与其他开销相比太小，在实测中无法与 0 区分；仅对更长的提示词和更大的批有影响：llmsweep sweep URL --for-fit --prompt-tokens N")

	sayNoCost = lang.Say("no cost of a step can be told from 0: the steps varied more than what was in them explains. Measure again where nothing else runs, or with longer prompts: llmsweep sweep URL --for-fit --prompt-tokens N", "没有任何步的开销可与 0 区分：步时间的波动超过其内容所能解释的程度。请在没有其他负载时重新测量，或使用更长的提示：llmsweep sweep URL --for-fit --prompt-tokens N")

	refusedLength = lang.Say("refused: all measured prompts or answers were equally long, and this length is another; measure with llmsweep sweep --for-fit", "拒绝预测：实测的提示词或回答长度都相同，与此不同；请用 llmsweep sweep --for-fit 测量")
	refusedFar    = lang.Say("refused: more than twice the longest that was measured", "拒绝预测：超过实测最长值的两倍")
	refusedWide   = lang.Say("not known: what was measured leaves a range of more than a factor of 4", "未知：实测留下的范围超过 4 倍")
	refusedHolds  = lang.Say("refused: the server cannot hold a request of this length", "拒绝预测：服务无法容纳这样长的请求")
)

var (
	sayInvalidStages  = lang.Say("In %d of %d stages the client was the limit (!), not the server: their times are the client's as well, and the twin is not that of the server. Measure again on a machine that keeps up, or with less load.", "%[2]d 个阶段中有 %[1]d 个受限于客户端（!）而非服务：其时间也包含客户端的时间，该孪生模型不能代表服务。请在跟得上的机器上重新测量，或降低负载。")
	sayRefined        = lang.Say("The regression failed its check. The costs were refined by simulation, until the distributions were nearest to the measured ones.", "回归未通过检验；已用模拟调整各项开销，使分布与实测最接近。")
	sayFailedCheck    = lang.Say("The twin failed its held-out check.", "该孪生模型未通过留出检验。")
	saySaturation     = lang.Say("Saturation: predicted %[1]s req/s (%[2]s), measured %[3]s (%[4]s): off by %[5]s.", "饱和点：预测 %[1]s req/s（%[2]s），实测 %[3]s（%[4]s），误差 %[5]s。")
	saySaturationOnly = lang.Say("Saturation: predicted %[1]s req/s (%[2]s), measured %[3]s: off by %[4]s.", "饱和点：预测 %[1]s req/s（%[2]s），实测 %[3]s，误差 %[4]s。")
	saySaturationOf   = lang.Say("Saturation (%[1]s, which kept all slots busy): predicted %[2]s output tok/s (%[3]s), measured %[4]s: off by %[5]s.", "饱和点（%[1]s，槽位全满）：预测输出 %[2]s tok/s（%[3]s），实测 %[4]s，误差 %[5]s。")
	sayFull           = lang.Say("Saturation (%[1]s, which kept all slots busy): predicted %[2]s output tok/s, measured %[3]s: off by %[4]s.", "饱和点（%[1]s，槽位全满）：预测输出 %[2]s tok/s，实测 %[3]s，误差 %[4]s。")
	sayNoSaturation   = lang.Say("Saturation: ", "饱和点：")
)

// useOf names how a fit used a stage.
func useOf(code string) lang.Phrase {
	switch code {
	case twin.RoleHeldOut:
		return lang.Say("left out", "留出")
	case twin.RoleFitted:
		return lang.Say("fitted", "已拟合")
	}
	return lang.Say("not seen", "未见过")
}

// meaningOf explains it.
func meaningOf(code string) lang.Phrase {
	switch code {
	case twin.RoleHeldOut:
		return lang.Say("the stage was left out of a fit to the others, and predicted by it.", "拟合其他阶段时留出该阶段，再由其预测。")
	case twin.RoleFitted:
		return lang.Say("the twin was fitted to this stage, so that its error is smaller than that of a prediction.", "孪生模型由该阶段拟合而来，其误差小于真正的预测。")
	}
	return lang.Say("the stage is of a run that the twin was not fitted to.", "该阶段属于未参与拟合的运行。")
}

// refusal is why a twin does not answer.
func refusal(code string) lang.Phrase {
	switch code {
	case twin.RefusedLength:
		return refusedLength
	case twin.RefusedWide:
		return refusedWide
	case twin.RefusedHolds:
		return refusedHolds
	}
	return refusedFar
}

// meaning explains a number.
func meaning(key string, l lang.Lang) string {
	switch key {
	case "step.read.fixed_ms":
		return lang.Say("step that waits for memory: fixed part", "访存受限的步：固定部分").In(l)
	case "step.read.context_us":
		return lang.Say("... per 1000 tokens in the cache", "……缓存中每 1000 个 token").In(l)
	case "step.read.token_us":
		return lang.Say("... per token computed", "……每个计算的 token").In(l)
	case "step.read.experts_ms":
		return lang.Say("... of all experts", "……全部专家").In(l)
	case "step.compute.fixed_ms":
		return lang.Say("step that waits for arithmetic: fixed part", "算力受限的步：固定部分").In(l)
	case "step.compute.token_us":
		return lang.Say("... per token computed, prompts included", "……每个计算的 token（含提示词）").In(l)
	case "step.compute.sample_us":
		return lang.Say("... per output token", "……每个输出 token").In(l)
	case "step.compute.pair_ns":
		return lang.Say("... per 1000 pairs of attention", "……每 1000 个注意力对").In(l)
	case "slots":
		return lang.Say("requests that run at once", "同时运行的请求数").In(l)
	case "step_tokens":
		return lang.Say("tokens of a step, prompt chunks included", "每步的 token 数（含提示词分块）").In(l)
	case "kv_tokens":
		return lang.Say("size of the KV cache in tokens", "KV 缓存的 token 数").In(l)
	case "latency_ms":
		return lang.Say("from sending a request until the engine knows of it", "从发出请求到引擎得知的时间").In(l)
	case "jitter":
		return lang.Say("spread of step times (sigma of the logarithm)", "步时间的离散程度（对数的标准差）").In(l)
	}
	return key
}

// TwinFailed says that a twin failed its check.
func TwinFailed(file string, l lang.Lang) string { return sayFailedTwin.In(l, file) }

var sayFailedTwin = lang.Say("%s failed its held-out check: what it does is not what the server does.", "%s 未通过留出检验：其行为与真实服务不符。")

// TwinRefusal is why a twin does not predict, in words.
func TwinRefusal(code string, l lang.Lang) string { return refusal(code).In(l) }
