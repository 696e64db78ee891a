package findings

import "llmsweep/report/lang"

// perplexityWords are the words of the notes of package perplexity.
func perplexityWords() lang.Words {
	return lang.Words{
		"perplexity.ignored": lang.Say("perplexity: the server does not score prompts: it ignores {ways}. llama.cpp's and Ollama's servers have no API for it; vLLM and SGLang have",
			"困惑度：服务不为提示词计分：它忽略 {ways}。llama.cpp 和 Ollama 的服务没有此 API；vLLM 和 SGLang 有"),
		"perplexity.refused": lang.Say("perplexity: the server refuses to score prompts by {ways}: {message}", "困惑度：服务拒绝以 {ways} 为提示词计分：{message}"),
		"perplexity.other-text": lang.Say("perplexity: in {windows} of {all:count window windows} the tokens that the server scored are not those of the text that was sent (or their texts do not show it), so that no perplexity is given",
			"困惑度：{all} 个窗口中有 {windows} 个，服务计分的 token 不是所发送文本的 token（或无法从其文本看出），因此不给出困惑度"),
		"perplexity.other-count": lang.Say("perplexity: in {windows} of {all:count window windows} the server counts another number of prompt tokens than it scored, so that no perplexity is given",
			"困惑度：{all} 个窗口中有 {windows} 个，服务报告的提示词 token 数与其计分的不同，因此不给出困惑度"),
		"perplexity.missing": lang.Say("perplexity: in {windows} of {all:count window windows} tokens have no log-probability, so that no perplexity is given", "困惑度：{all} 个窗口中有 {windows} 个缺少 token 的对数概率，因此不给出困惑度"),
		"perplexity.impossible": lang.Say("perplexity: in {windows} of {all:count window windows} the server gives tokens of the text the probability 0. The perplexity is then infinite, and none is given",
			"困惑度：{all} 个窗口中有 {windows} 个，服务认为文本的某些 token 概率为 0。此时困惑度为无穷大，不给出数值"),
		"perplexity.positive":     lang.Say("perplexity: in {windows} of {all:count window windows} log-probabilities are above 0, which none can be, so that no perplexity is given", "困惑度：{all} 个窗口中有 {windows} 个的对数概率大于 0，这不可能，因此不给出困惑度"),
		"perplexity.constant":     lang.Say("perplexity: in {windows} of {all:count window windows} all tokens have the same log-probability, which is no score, so that no perplexity is given", "困惑度：{all} 个窗口中有 {windows} 个的所有 token 对数概率相同，这不是计分，因此不给出困惑度"),
		"perplexity.shape":        lang.Say("perplexity: in {windows} of {all:count window windows} the scores have a shape that is not known, or hold NaN or Infinity, so that no perplexity is given", "困惑度：{all} 个窗口中有 {windows} 个的计分格式未知，或含 NaN 或 Infinity，因此不给出困惑度"),
		"perplexity.failed":       lang.Say("perplexity: {windows} of {all:count window windows} were not scored, since the request failed: {message}", "困惑度：{all} 个窗口中有 {windows} 个因请求失败而未计分：{message}"),
		"perplexity.budget":       lang.Say("perplexity: {windows} of {all:count window windows}, spread over the text, were scored in a quarter of --budget", "困惑度：在 --budget 的四分之一时间内为 {all} 个窗口中的 {windows} 个（均匀分布于文本）计了分"),
		"perplexity.pair-text":    lang.Say("perplexity is not compared: the texts differ ({baseline}, {candidate})", "困惑度不作比较：文本不同（{baseline}、{candidate}）"),
		"perplexity.pair-windows": lang.Say("perplexity is not compared: windows have {baseline} and {candidate} bytes (--text-bytes)", "困惑度不作比较：窗口分别为 {baseline} 和 {candidate} 字节（--text-bytes）"),
		"perplexity.pair-tokens": lang.Say("in {windows} of {all:count window windows} the tokenizers divide the text differently. Perplexities per token are not comparable then, bits per byte are",
			"{all} 个窗口中有 {windows} 个，两者的分词器以不同方式划分文本。此时按 token 的困惑度不可比，每字节比特数可比"),
		"perplexity.pair-few": lang.Say("perplexity is not compared: {windows:count window windows} of the text were scored by both, and at least 5 are needed", "困惑度不作比较：双方都计分的窗口只有 {windows} 个，至少需要 5 个"),
	}
}
