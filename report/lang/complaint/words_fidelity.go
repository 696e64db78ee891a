package complaint

// fidelityWords are the errors of canaries, and of simulated servers that answer otherwise than they should.
func fidelityWords() [][2]string {
	return [][2]string{
		{"the share must be above 0 and at most 1 (1%%: one answer in a hundred)", "比例必须大于 0 且不超过 1（1%%：每一百个回答中有一个）"},
		{"shift must be between 0 and 5 nats", "shift 必须在 0 到 5 nat 之间"}, {"from must be at least 1 request", "from 至少为 1 个请求"},
		{"the log-probabilities have a shape that is not known", "对数概率的格式未知"},
		{"%s is larger than 64 MiB: a set of canaries has at most %d prompts", "%s 大于 64 MiB：一组金丝雀提示最多 %d 条"},
		{"%s has no prompts: write one a line", "%s 没有提示词：请每行写一条"},
		{"%s has %d prompts, and a set of canaries has at most %d", "%s 有 %d 条提示词，一组金丝雀提示最多 %d 条"},
		{"not a canary: want {\"prompt\": \"..\", \"tokens\": %d}, or a prompt as it is", "不是金丝雀提示：应为 {\"prompt\": \"..\", \"tokens\": %d}，或直接写提示词"},
		{"the prompt is empty", "提示词为空"}, {"the prompt is not UTF-8", "提示词不是 UTF-8"},
		{"the prompt is longer than %d bytes", "提示词超过 %d 字节"}, {"tokens must be between 1 and %d", "tokens 必须在 1 到 %d 之间"},
		{"%s holds a run with canaries (--fidelity), which cannot be continued: measure again", "%s 是带有金丝雀提示（--fidelity）的测量，无法继续：请重新测量"},
		{"--fidelity works on one machine: several ranks cannot share canaries yet; leave it out", "--fidelity 只能在一台机器上使用：多个进程还不能共用金丝雀提示；请去掉它"},
		{"--canaries: %w", "--canaries：%s"},
		{"--canaries must be between 1 and %d, or a file", "--canaries 必须在 1 到 %d 之间，或为文件"},
		{"--canary-share must be between 1%% and 5%%", "--canary-share 必须在 1%% 到 5%% 之间"},
		{"--canaries and --canary-share belong to --fidelity: add it", "--canaries 和 --canary-share 须与 --fidelity 一起使用"},
	}
}
