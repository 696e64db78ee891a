package complaint

// twinWords are the errors of twins and of what uses them.
func twinWords() [][2]string {
	return [][2]string{
		{"the records hold too few tokens, one by one, to see the steps of the engine: measure with llmsweep sweep --for-fit", "记录中逐个到达的 token 太少，看不出引擎的步：请用 llmsweep sweep --for-fit 测量"},
		{"it does not begin with the line twin: 1; llmsweep fit writes such files", "文件没有 twin: 1 一行；这类文件由 llmsweep fit 写出"},
		{"slots and step_tokens must be at least 1", "slots 与 step_tokens 至少为 1"}, {"a number in it is negative", "其中有负数"},
		{"draw %d has %d numbers and not %d", "第 %d 个 draw 有 %d 个数，应为 %d 个"}, {"%s is not a twin: %w", "%s 不是孪生模型：%s"},
		{"it is larger than 1 MiB", "文件超过 1 MiB"}, {"a step of one token takes no time", "一个 token 的步不占时间"},
		{"a cost of the step time is negative, or a probability above 1", "步时间的某项开销为负，或概率大于 1"},
		{"--ask %s: write tokens of prompt and answer, such as 512/32", "--ask %s：请写提示与回答的 token 数，如 512/32"},
		{"--for-fit varies the lengths of prompts and answers by design: leave out --adaptive, --repeats, --slo, --prompt, --dataset, --prefix-tokens and --turns", "--for-fit 按设计改变提示与回答的长度：请去掉 --adaptive、--repeats、--slo、--prompt、--dataset、--prefix-tokens 和 --turns"},
	}
}
