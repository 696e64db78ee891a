package page

import "llmsweep/report/lang"

// Headings.
var (
	titleTTFT    = lang.Say("Time to first token (TTFT)", "首 token 时延（TTFT）")
	titleITL     = lang.Say("Time between tokens (ITL)", "token 间时延（ITL）")
	titleLatency = lang.Say("Latency of whole answers", "完整回答的总时延")
)

// Words in drawings.
var (
	meansStable    = lang.Say(": the server kept up", "：服务跟得上")
	meansSaturated = lang.Say(": it fell behind, requests pile up", "：服务跟不上，请求堆积")
	meansShedding  = lang.Say(": it refused requests to keep up", "：服务拒绝部分请求")
	meansUndecided = lang.Say(": too little was measured to tell", "：测量不足，无法判定")
	meansClosed    = lang.Say(": a fixed number in flight, so there is no rate to keep up with", "：固定并发数，没有需要跟上的到达率")
	meansUncounted = lang.Say(": the client was the limit", "：客户端成为瓶颈")
)

// Headings of columns.
var (
	HeadFailed   = lang.Say("failed", "失败")
	HeadVerdict  = lang.Say("verdict", "判定")
	headInterval = lang.Say(" (95 %)", "（95 %）")
)

// Words of the page around its contents, by key; the template asks for them.
var (
	pageSkip       = lang.Say("Skip to the answer", "跳到结论")
	pageTheme      = lang.Say("Theme", "主题")
	pagePrint      = lang.Say("Print", "打印")
	pageNumbers    = lang.Say("Numbers as a table", "数据表")
	pageMarkdown   = lang.Say("Copy as Markdown", "复制为 Markdown")
	pageCSV        = lang.Say("Copy as CSV", "复制为 CSV")
	pageCopy       = lang.Say("Copy", "复制")
	pageCopied     = lang.Say("Copied", "已复制")
	pageMore       = lang.Say("Show all", "显示全部")
	pageShown      = lang.Say("Show:", "显示：")
	pageAxis       = lang.Say("Axis:", "坐标轴：")
	pageStage      = lang.Say("Stage", "阶段")
	pageAllStages  = lang.Say("all", "全部")
	pageMarkers    = lang.Say("Markers", "标记")
	pageBehind     = lang.Say("Requests at or beyond:", "达到或超过：")
	pageUse        = lang.Say("Point at a drawing, or use the arrow keys in it, to read its numbers. A click or Enter keeps them; press Escape to unpin.", "将指针移到图上，或在图中使用方向键，即可读数。单击或按回车键固定，按 Esc 取消固定。")
	pageContents   = lang.Say("Contents", "目录")
	pageMade       = lang.Say("Made by llmsweep. This file needs no network: nothing is loaded from anywhere.", "由 llmsweep 生成。本文件无需网络，不从任何地方加载内容。")
	pageUncertain  = lang.Say("Shaded bands and bars are 95 % intervals. An arrow up: the value is at least this. A pale marker: too few independent requests support it.", "阴影带与误差线为 95 % 区间。向上箭头：数值至少为此。浅色标记：独立的请求太少，不足以支持。")
	pageNoMatch    = lang.Say("No kept request is that slow.", "没有保留的请求达到此值。")
	pageLanguage   = lang.Say("中文", "English")
	pageNoScript   = lang.Say("Without JavaScript all is shown at once.", "未启用 JavaScript，内容全部展开。")
	pageLight      = lang.Say("light", "浅色")
	pageDark       = lang.Say("dark", "深色")
	pageSystem     = lang.Say("as the system", "跟随系统")
	pageUnfiltered = lang.Say("all kept requests", "全部保留的请求")
)

// Words of pages of several runs.
var (
	headRun      = lang.Say("run", "运行")
	headReplicas = lang.Say("replicas", "副本数")
)
