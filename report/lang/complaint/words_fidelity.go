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
		{"%s has no canaries: measure it with --fidelity", "%s 没有金丝雀提示：请用 --fidelity 测量"},
		{"%s has no answers to its canaries: measure it again with --fidelity", "%s 没有金丝雀提示的回答：请用 --fidelity 重新测量"},
		{"%s and %s answered none of the same canaries: measure one of them again", "%s 与 %s 没有共同回答的金丝雀提示：请重新测量其中一个"},
		{"%s asked other canaries (set %s, %d of them) than %s (set %s, %d): only answers to the same can be compared; measure both with the same --canaries", "%s 的金丝雀提示（%s，%d 条）与 %s（%s，%d 条）不同：只能比较对相同提示的回答；请用相同的 --canaries 测量两者"},
		{"%s asked by --api %s and %s by --api %s: only one of them puts prompts into the model's chat template, so that answers cannot be compared; use one --api for both", "%s 使用 --api %s，%s 使用 --api %s：只有一方把提示词放入模型的对话模板，因此回答无法比较；请对两者使用相同的 --api"},
		{"%s was measured with %s and %s with %s, so that answers cannot be compared; measure both alike", "%s 测量时使用 %s，%s 使用 %s，因此回答无法比较；请以相同方式测量两者"},
		{"neither --think nor --no-think", "既无 --think 也无 --no-think"},
		{"%s holds published results, which have no answers to compare: leave it out, or leave out --fidelity", "%s 是公开的结果，没有可比较的回答：请去掉它，或去掉 --fidelity"},
		{"%q: write a limit on answers such as match>90%% or kl<0.05", "%s：请写出对回答的界限，如 match>90%% 或 kl<0.05"},
		{"%q: there is no metric %s of answers; there are %s", "%s：没有回答的指标 %s；有 %s"},
		{"%q: shares are in per cent, such as match>90%%, and others are not, such as kl<0.05", "%s：比例用百分数，如 match>90%%；其他不用，如 kl<0.05"},
		{"%q: a share is between 0%% and 100%%", "%s：比例在 0%% 到 100%% 之间"},
		{"%q: %s is no number", "%s：%s 不是数"},
		{"--fail-if %w", "--fail-if %s"},
		{"the interval of %s of %s, %s, includes the limit (ask more canaries)", "%[2]s 的 %[1]s（%[3]s）的区间包含界限（请使用更多金丝雀提示）"},
		{"--canaries: %w", "--canaries：%s"},
		{"--canaries must be between 1 and %d, or a file", "--canaries 必须在 1 到 %d 之间，或为文件"},
		{"--canary-share must be between 1%% and 5%%", "--canary-share 必须在 1%% 到 5%% 之间"},
		{"--canaries and --canary-share belong to --fidelity: add it", "--canaries 和 --canary-share 须与 --fidelity 一起使用"},
	}
}
