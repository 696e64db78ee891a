package lang

// gradesWords are the errors of graded questions.
func gradesWords() [][2]string {
	return [][2]string{
		{"the answer is empty", "答案为空"},
		{"accuracy takes a share of the answers below 100%%, as in accuracy>80%%", "accuracy 取回答的比例，低于 100%%，如 accuracy>80%%"},
		{"--slo '%s' is about graded answers: give a --dataset whose rows have an answer, on one machine and not with --graded 0 (llmsweep help grading)", "--slo '%s' 针对计分的回答：请在一台机器上给出各行带答案的 --dataset，且不用 --graded 0（llmsweep help grading）"},
		{"there is no grading %q: want exact, number, choice or regexp", "没有计分方式 %s：应为 exact、number、choice 或 regexp"},
		{"%q is no letter from A to J", "%s 不是 A 到 J 的字母"},
		{"%q is no number", "%s 不是数"},
		{"a share must be between 0 and 1 (10%%: one answer in ten)", "比例必须在 0 到 1 之间（10%%：每十个回答中有一个）"},
		{"the run was planned with other canaries than now: their file has changed, or this llmsweep has others", "原计划的金丝雀提示与现在不同：其文件已改变，或此 llmsweep 的内置提示不同"},
		{"the answers to canaries that the first part of the run got are gone: measure again", "前一部分得到的金丝雀提示回答已丢失：请重新测量"},
		{"the graded answers that the first part of the run got are gone: measure again", "前一部分得到的计分回答已丢失：请重新测量"},
	}
}
