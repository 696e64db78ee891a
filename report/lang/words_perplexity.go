package lang

// perplexityWords are the errors of texts that are scored.
func perplexityWords() [][2]string {
	return [][2]string{
		{"the answer has no log-probabilities of the prompt", "回答中没有提示词的对数概率"},
		{"the log-probabilities of the prompt have a shape that is not known", "提示词的对数概率格式未知"},
		{"--text: %w", "--text：%s"},
		{"--text belongs to --live: runs have scored their own text (llmsweep run --text)", "--text 须与 --live 一起使用：运行已为自己的文本计分（llmsweep run --text）"},
		{"--text-windows and --text-bytes belong to --text: add it", "--text-windows 和 --text-bytes 须与 --text 一起使用"},
		{"--text-windows must be between 1 and %d", "--text-windows 必须在 1 到 %s 之间"},
		{"--text-bytes must be between %d and %d", "--text-bytes 必须在 %s 到 %s 之间"},
		{"--text is scored by one machine: leave it out, or score it in a run without --start-at", "--text 由一台机器计分：请去掉它，或在没有 --start-at 的测量中计分"},
		{"%s is no UTF-8 text: convert it first", "%s 不是 UTF-8 文本：请先转换"},
		{"%s has %d bytes, fewer than one window: give a longer text, or smaller windows (--text-bytes, %d or more)", "%s 有 %s 字节，不足一个窗口：请给出更长的文本或更小的窗口（--text-bytes，至少 %s）"},
		{"the run was planned with another text than now: its file (--text) has changed", "原计划的文本与现在不同：其文件（--text）已改变"},
		{"the scores of the text that the first part of the run got are gone: measure again", "前一部分得到的文本计分已丢失：请重新测量"},
	}
}
