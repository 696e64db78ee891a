package page

import "llmsweep/report/lang"

var (
	answersTitleStages = lang.Say("Answers that differ from those alone, by stage", "各阶段与单独询问时不同的回答")
	titleCandidates    = lang.Say("Answers that differ from those of %s", "与 %s 不同的回答")
	titleFront         = lang.Say("Cost and equal answers", "费用与相同的回答")
	axisDiffer         = lang.Say("answers that differ, with their 95 % interval", "不同的回答所占比例，附 95 % 区间")
	axisEqual          = lang.Say("equal answers", "相同的回答")
	axisCost           = lang.Say("cost of a million tokens", "每百万 token 的费用")
	answersAxisPerGPU  = lang.Say("output per GPU, tok/s", "每 GPU 输出，tok/s")
	answersAxisPerUser = lang.Say("tok/s per user", "单用户 tok/s")
	headSetup          = lang.Say("Configuration", "配置")
	headAnswers        = lang.Say("answers", "回答数")
	headEqual          = lang.Say("equal", "相同")
	headTies           = lang.Say("ties", "平局")
	headChanged        = lang.Say("changed", "改变")
	headUnknown        = lang.Say("differ as texts", "文本不同")
	headVerdict        = lang.Say("Verdict", "结论")
	answersHeadFront   = lang.Say("Front", "前沿")
	wordAgain          = lang.Say("alone again", "再次单独询问")
	wordFront          = lang.Say("on the front", "在前沿上")
	noteShapes         = lang.Say("Triangles: more differ than alone again. Squares: more differ, but only at ties. Filled circles: the same. Rings: undecided, or alone again.",
		"三角：不同的比再次单独询问时多。方块：更多，但只在平局处。实心圆：一致。空心圆：未定，或再次单独询问。")
	answersNoteFront = lang.Say("Filled: on the front of cost, speed and drift; no other is as good in all three and better in one.",
		"实心：在费用、速度与回答偏移的前沿上，没有其他配置三项都不逊色且有一项更好。")
)
