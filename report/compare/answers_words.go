package compare

import "llmsweep/report/lang"

// Headings and columns.
var (
	answersTitle    = lang.Say("Answers, compared with those of %s", "回答：与 %s 的回答比较")
	headEqual       = lang.Say("equal", "相同")
	headTies        = lang.Say("ties", "平局")
	headChanged     = lang.Say("changed", "改变")
	headFirst       = lang.Say("first difference", "首个差异")
	headShift       = lang.Say("log-prob shift", "对数概率偏移")
	headKL          = lang.Say("KL", "KL")
	headLength      = lang.Say("longer by", "变长")
	headMalformed   = lang.Say("malformed", "异常文本")
	answersHeadLoad = lang.Say("equal under load", "负载下相同")
	headItself      = lang.Say("equal to itself", "与自身相同")
	checkedVerdict  = lang.Say("verdict", "结论")
	checkedBaseline = lang.Say("baseline", "基线")
	wordCharacters  = lang.Say("characters", "字符")
	wordBoth        = lang.Say("tok or characters", "tok 或字符")
)

// What a comparison shows.
var (
	answersSaySame = lang.Say("The answers of %s are as those of %s: %s of %s are equal; at most %s more differ than of the same server asked twice (95 %%).",
		"%s 的回答与 %s 一致：%[4]s 个中有 %[3]s 个相同；比同一服务询问两次至多多 %[5]s 不同（95 %%）。")
	sayTies = lang.Say("The answers of %s are as those of %s except for ties, where two tokens are nearly as likely: %s of %s are equal, %d differ at a tie and %d elsewhere, no more than chance explains.",
		"除平局（两个 token 几乎同样可能）外，%s 的回答与 %s 一致：%[4]s 个中有 %[3]s 个相同，%[5]d 个在平局处不同，%[6]d 个在别处不同（不超出偶然）。")
	sayDiffers = lang.Say("The answers of %s differ from those of %s: %s of %s are equal, %d differ at a tie of two tokens and %d elsewhere%s.",
		"%s 的回答与 %s 不同：%[4]s 个中有 %[3]s 个相同，%[5]d 个在两个 token 的平局处不同，%[6]d 个在别处不同%[7]s。")
	sayTexts = lang.Say("The answers of %s differ from those of %s: %s of %s texts are equal. Without comparable tokens, ties cannot be told from changes.",
		"%s 的回答与 %s 不同：%[4]s 个文本中有 %[3]s 个相同。没有可比的 token，无法区分平局与真正的改变。")
	sayUndecided = lang.Say("Whether the answers of %s are as those of %s is undecided: %s of %s are equal, and up to %s more may differ than of the same server asked twice (95 %%). More canaries would tell (--canaries).",
		"%s 的回答是否与 %s 一致尚未定论：%[4]s 个中有 %[3]s 个相同，可能比同一服务询问两次至多多 %[5]s 不同（95 %%）。更多金丝雀提示可以判定（--canaries）。")
	sayFirst = lang.Say(", on average after %s tokens", "，平均在第 %s 个 token 之后")

	legendColumns = lang.Say("Canaries asked alone: the first answers of each configuration against those of the baseline, with 95 % intervals. Equal to itself: the same server asked a second time. A tie: the first token that differs is less than 0.1 nat less likely for the baseline.",
		"单独询问的金丝雀提示：各配置的首次回答与基线比较，附 95 % 区间。与自身相同：同一服务第二次询问。平局：首个不同的 token 对基线而言概率低不到 0.1 nat。")
	legendLoad = lang.Say("Equal under load: answers within the stages, against the baseline's first answers.", "负载下相同：各阶段中的回答与基线的首次回答相比。")
	legendKL   = lang.Say("KL and log-prob shift are means up to the first difference; KL counts only listed tokens, and is a lower bound.", "KL 与对数概率偏移为首个差异之前的平均值；KL 只计列出的 token，是下限。")
)
