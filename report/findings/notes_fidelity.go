package findings

import "llmsweep/report/lang"

// fidelityWords are the words of the notes of package fidelity.
func fidelityWords() lang.Words {
	return lang.Words{
		"fidelity.refused": lang.Say("the server refused the canaries (temperature 0 and a fixed seed), so that its answers were not compared",
			"服务拒绝了金丝雀提示（温度 0、固定种子），因此未比较回答"),
		"fidelity.logprobs-refused": lang.Say("the server refuses to send log-probabilities: texts were compared, and ties are not told from changes",
			"服务拒绝发送对数概率：只比较了文本，无法区分平局与改变"),
		"fidelity.logprobs-not-sent": lang.Say("the server sends no log-probabilities: texts were compared, and ties are not told from changes",
			"服务不发送对数概率：只比较了文本，无法区分平局与改变"),
		"fidelity.logprobs-unknown": lang.Say("some log-probabilities have a shape that is not known: those answers were compared as texts",
			"部分对数概率的格式未知：这些回答按文本比较"),
		"fidelity.unsteady": lang.Say("asked alone a second time, {differ} of {answers:count answer answers} differed: the server does not always give the same answer at temperature 0 (it ignores the temperature or the seed, or its kernels or caches vary). Only a difference beyond that shows",
			"第二次单独询问时，{answers} 个回答中有 {differ} 个不同：服务在温度 0 下并不总给出同样的回答（忽略温度或种子，或计算核、缓存有变化）。只有超出这一程度的差异才会显示"),
		"fidelity.thinks": lang.Say("{answers:count answer answers} to canaries began with reasoning, which takes a part or all of their length: turn it off (--no-think), or give longer canaries (--canaries FILE)",
			"{answers} 个金丝雀回答以思考开头，占去部分或全部长度：请关闭思考（--no-think），或使用更长的金丝雀提示（--canaries 文件）"),
		"fidelity.other-tokens": lang.Say("{answers:count answer answers} had the same text in other tokens, and count as the same",
			"{answers} 个回答文本相同而 token 划分不同，视为相同"),
	}
}

// driftWords are the words of the notes of package drift.
func driftWords() lang.Words {
	return lang.Words{
		"drift.no-logprobs": lang.Say("one of the servers sends no log-probabilities: texts were compared, and ties are not told from changes",
			"其中一个服务不发送对数概率：只比较了文本，无法区分平局与改变"),
		"drift.tokenizers": lang.Say("{divided} of {answers:count answer answers} begin with the same text in other tokens: the servers have other tokenizers, or show tokens otherwise. Texts were compared, and ties are not told from changes",
			"{answers} 个回答中有 {divided} 个开头文本相同而 token 划分不同：两个服务的分词器不同，或 token 的表示不同。因此比较的是文本，无法区分平局与改变"),
		"drift.unsteady": lang.Say("asked alone a second time, the baseline differs from itself in {baseline} of {of_baseline} answers and the candidate in {candidate} of {of_candidate}; only a difference beyond both shows",
			"第二次单独询问时，基线的 {of_baseline} 个回答中有 {baseline} 个、候选的 {of_candidate} 个中有 {candidate} 个与自身不同；只有超出两者的差异才会显示"),
		"drift.missing": lang.Say("{answered} of {canaries:count canary canaries} were answered by both, and only those are compared",
			"{canaries} 条金丝雀提示中有 {answered} 条两者都回答了，只比较这些"),
		"drift.engines": lang.Say("the engines differ ({baseline} and {candidate}): so may their chat templates and rounding, besides what was to be compared",
			"推理引擎不同（{baseline} 与 {candidate}）：除要比较的内容外，对话模板与舍入也可能不同"),
	}
}
