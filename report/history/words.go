package history

import "llmsweep/report/lang"

var (
	titleHistory = lang.Say("History of %d runs", "%d 次运行的历史")
	titleChanges = lang.Say("Changes", "变化")
	titleSeries  = lang.Say("Series", "序列")
	headMetric   = lang.Say("Metric", "指标")
	headConfig   = lang.Say("Configuration", "配置")
	headChange   = lang.Say("change", "变化")
	headSince    = lang.Say("Since", "起始")
	headRun      = lang.Say("Run", "运行")
	headRuns     = lang.Say("runs", "次数")
	headLatest   = lang.Say("latest", "最新值")
	headSpread   = lang.Say("spread", "离散度")
	headNeeded   = lang.Say("runs for 5 %", "检测 5 % 所需次数")
	subBetween   = lang.Say("between runs", "运行间")

	sayStep = lang.Say("%s of %s became %s %% %s (%s-%s) between %s and %s%s",
		"%[2]s 的 %[1]s 在 %[7]s 与 %[8]s 之间%[4]s %[3]s %%（%[5]s-%[6]s）%[9]s")
	sayDrift = lang.Say("%s of %s became %s %% %s (%s-%s) little by little from %s to %s%s",
		"%[2]s 的 %[1]s 自 %[7]s 至 %[8]s 逐渐%[4]s %[3]s %%（%[5]s-%[6]s）%[9]s")
	sayCommits  = lang.Say(" (commit %s to %s)", "（commit %s 至 %s）")
	sayOthers   = lang.Say("%d other series did not change", "其余 %d 个序列没有变化")
	sayNone     = lang.Say("none of the %d series changed", "%d 个序列均未变化")
	sayNeeds    = lang.Say("A difference of 5 %% in %s takes %d runs on either side.", "检测 %s 的 5 %% 差异，每侧需要 %d 次运行。")
	sayTooFew   = lang.Say("The spread between runs is known from %d runs on.", "至少 %d 次运行才能得知运行之间的离散度。")
	wordLonger  = lang.Say("longer", "变长")
	wordShorter = lang.Say("shorter", "变短")
	wordHigher  = lang.Say("higher", "升高")
	wordLower   = lang.Say("lower", "降低")
	unknownDay  = lang.Say("an unknown day", "未知日期")
	atLoad      = lang.Say("%s at %s", "%s（%s）")

	legendSpread = lang.Say("Spread: standard deviation between runs without a change. The interval of one run does not include it.",
		"离散度：无变化时各次运行之间的标准差；单次运行的置信区间不包含它。")
	legendAlarms = lang.Say("Without a change, one shows by chance after one of %s rounds of runs.", "若没有变化，平均每 %s 轮运行才会误报一次。")
	legendLittle = lang.Say("%d series have fewer than %d runs: too few to find a change.", "%d 个序列的运行少于 %d 次，不足以发现变化。")
)
