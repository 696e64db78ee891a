package findings

import "llmsweep/report/lang"

// gradesWords are the words of the notes of package grade.
func gradesWords() lang.Words {
	return lang.Words{
		"grades.cut": lang.Say("{cut} of {answers:count answer answers} to graded questions were cut by their limit, and are neither right nor wrong: give the rows more output_tokens (or --output-tokens). The accuracy is that of the answers that ended",
			"{answers} 个计分回答中有 {cut} 个被长度上限截断，既不算对也不算错：请给各行更大的 output_tokens（或 --output-tokens）。正确率只针对已结束的回答"),
		"grades.none": lang.Say("no result was found in {none} of {answers:count answer answers} to graded questions, which count as wrong: have the prompt ask for its form (End with: The answer is ..)",
			"{answers} 个计分回答中有 {none} 个未找到结果，计为错误：请在提示词中要求答案的格式（如以“答案是……”结尾）"),
	}
}
