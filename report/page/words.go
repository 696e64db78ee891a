package page

import (
	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
)

// Headings.
var (
	titleAnswer      = lang.Say("The answer", "结论")
	titleCareful     = lang.Say("Be careful about", "需要注意")
	titleRates       = lang.Say("How the server behaves as load grows", "负载增加时服务的表现")
	titleStages      = lang.Say("Each stage over time", "各阶段随时间的变化")
	titleRows        = lang.Say("All stages", "全部阶段")
	titleRepeats     = lang.Say("Between repetitions", "重复测量之间")
	titleReplicas    = lang.Say("Replicas", "各副本")
	titleNotes       = lang.Say("Errors and progress", "错误与进度")
	titleErrors      = lang.Say("Errors", "错误")
	titleState       = lang.Say("How far the run got", "运行进度")
	titleClient      = lang.Say("Was the client fast enough to measure?", "客户端是否成为瓶颈？")
	titleEnvironment = lang.Say("Environment", "环境")
	titleCommand     = lang.Say("The command that repeats this run", "重复本次运行的命令")
	titleDamaged     = lang.Say("Damaged records", "记录损坏")
)

// Texts of the answer.
var (
	unitSaturation      = lang.Say("req/s: the saturation rate, which the server completes when more arrives", "req/s：饱和点，即到达过多时服务完成的速率")
	unitSustained       = lang.Say("req/s: the highest rate that the server sustains", "req/s：服务可持续承受的最高到达率")
	unitAccepted        = lang.Say("req/s: the rate that the server accepts", "req/s：服务接受的速率")
	unitAtLeast         = lang.Say("req/s: the server sustains at least this rate", "req/s：服务至少可承受的到达率")
	unitOutput          = lang.Say("output tok/s at %s", "输出 tok/s（%s）")
	unitNothing         = lang.Say("nothing was completed", "没有完成任何请求")
	interval            = lang.Say("95 %% interval: %s to %s", "95 %% 区间：%s 至 %s")
	noInterval          = lang.Say("without an interval: too little was measured", "无区间：测量不足")
	noLimit             = lang.Say("the limit was not found", "未找到极限")
	tileOutput          = lang.Say("output tok/s when saturated", "饱和时输出 tok/s")
	tileComfortable     = lang.Say("req/s is a comfortable load (80 %)", "req/s 为建议负载（80 %）")
	tileSLO             = lang.Say("req/s meets the objectives (SLO)", "req/s 以内满足目标（SLO）")
	tileDone            = lang.Say("req/s completed", "req/s 完成")
	tileTTFT            = lang.Say("TTFT p50", "TTFT p50")
	tileTTFT99          = lang.Say("TTFT p99", "TTFT p99")
	nothingCareful      = lang.Say("Nothing was noticed that would make these numbers doubtful.", "未发现会使这些数据存疑的情况。")
	nothingMeasured     = lang.Say("Nothing was measured.", "没有测得任何数据。")
	nothingMeasuredText = nothingMeasured
)

// Headings of columns.
var (
	headRole       = lang.Say("role", "作用")
	headOffered    = lang.Say("offered req/s", "到达 req/s")
	headDone       = lang.Say("done req/s", "完成 req/s")
	headOutput     = lang.Say("output tok/s", "输出 tok/s")
	headFlight     = lang.Say("in flight", "并发")
	headPercentile = lang.Say("%s %s", "%s %s")
	headLatency    = lang.Say("latency %s", "总时延 %s")
	headRequests   = lang.Say("requests", "请求")
	headLag        = lang.Say("sent late by, p99", "发送滞后 p99")
	headCPU        = lang.Say("CPU %", "CPU %")
	headGC         = lang.Say("garbage collection %", "垃圾回收 %")
	headRead       = lang.Say("read late by, p99", "读取滞后 p99")
	headFit        = lang.Say("fit", "胜任")
	headWhat       = lang.Say("what", "项目")
	headValue      = lang.Say("value", "内容")
)

// Notes beneath drawings and tables.
var (
	introStages    = lang.Say("Shaded is the window that was measured; what lies before it is the start, and after it the drain.", "阴影为测量窗口；之前为启动阶段，之后为排空阶段。")
	noRecords      = lang.Say("Without the records of the requests (records.jsonl) there are no drawings over time.", "没有请求记录（records.jsonl），因此没有随时间变化的图。")
	recordsDamaged = lang.Say("The records could be read only up to this line: %s. Drawings over time show what came before it.", "记录只能读到这一行：%s。随时间变化的图只显示此前的内容。")
	clientFit      = lang.Say("Yes. In none of the %d stages was this program the limit: it sent on time, read on time, and had CPU to spare.", "否。在全部 %d 个阶段中，本程序都不是瓶颈：发送及时，读取及时，CPU 有余量。")
	clientUnfit    = lang.Say("Not in %d of %d stages: there this program was the limit. Those rows say nothing of the server, and nothing is concluded from them.", "在 %d 个阶段中成为瓶颈（共 %d 个）。这些行不反映服务的能力，不据此作任何结论。")
	clientUnknown  = lang.Say("Not known: another tool made this result, and it does not tell.", "未知：该结果由其他工具生成，未作说明。")
	clientLate     = lang.Say("In none of the %d stages was this program the limit. In %d of them it sent requests or read tokens late at times; “Be careful about” in the answer tells by how much.", "在全部 %d 个阶段中，本程序都不是瓶颈。其中 %d 个阶段有时发送或读取滞后，程度见结论中的“需要注意”。")
	timesTaken     = lang.Say("Times are taken %s.", "时间戳：%s。")
	fitYes         = lang.Say("yes", "是")
)

// Roles of stages.
var (
	roleFloor   = lang.Say("one at a time", "逐个请求")
	roleGrid    = lang.Say("rate", "到达率")
	roleCeiling = lang.Say("maximum", "最大吞吐")
	roleProbe   = lang.Say("probe", "探测")
	roleControl = lang.Say("measured again", "复测")
	roleSingle  = lang.Say("asked for", "指定")
	roleWarmUp  = lang.Say("warm-up", "预热")
)

// Words of pages of several runs.
var (
	titleComparison   = lang.Say("Comparison of %d results", "%d 个结果的比较")
	titlePair         = lang.Say("Two servers, measured in turns", "两个服务轮流测量的比较")
	titleForest       = lang.Say("%s compared with %s", "%s 与 %s 相比")
	titleTogether     = lang.Say("All results in the same drawings", "各结果同图比较")
	titleTogetherOf   = lang.Say("%s: all results in the same drawings", "%s：各结果同图比较")
	titleIndex        = lang.Say("%d runs", "%d 次运行")
	titleIndexTable   = lang.Say("Runs", "运行列表")
	titleChoice       = lang.Say("Which configuration serves %s", "%s 的选型")
	titleChosen       = lang.Say("%s: the choice", "%s：选择")
	titleCost         = lang.Say("Cost against demand", "费用随需求的变化")
	interim           = lang.Say("The comparison goes on: %d blocks are complete. A difference that shows here may be chance: the conclusion is drawn when the comparison has ended.", "比较仍在进行：已完成 %d 个区组。此处显示的差异可能出于偶然，结论在比较结束时得出。")
	comparedWith      = lang.Say("All are held against %s.", "均与 %s 比较。")
	axisDifference    = lang.Say("difference", "差异")
	axisGPUs          = lang.Say("GPUs", "GPU 数")
	axisHour          = lang.Say("cost per hour", "每小时费用")
	axisDemand        = lang.Say("demand, %s", "需求（%s）")
	tagDemand         = lang.Say("demand %s", "需求 %s")
	tagEven           = lang.Say("break-even %s", "费用持平点 %s")
	sayOffered        = lang.Say("With drawings, as a page: add --html FILE", "带图的网页：加上 --html FILE")
	sayWritten        = lang.Say("Page with drawings: %s", "含图网页：%s")
	headMetric        = lang.Say("metric", "指标")
	headDifference    = lang.Say("difference", "差异")
	headMeaning       = lang.Say("meaning", "含义")
	headModel         = lang.Say("model", "模型")
	headEngine        = lang.Say("engine", "引擎")
	headQuant         = lang.Say("quantization", "量化")
	headSaturation    = lang.Say("saturates at req/s", "饱和 req/s")
	headIndexInterval = lang.Say("95 % interval", "95 % 区间")
	headAnswer        = lang.Say("answer", "结论")
	headUpTo          = lang.Say("up to, %s", "至多（%s）")
	meansNothing      = lang.Say("a difference is not proven", "未证实有差异")
	meansAlone        = lang.Say("shown alone, but not when all are tested together: can be chance", "单独检验有差异，一并检验则无：可能出于偶然")
	meansUnknown      = lang.Say("without an interval: cannot be judged", "无区间：无法判断")
	meansBetter       = lang.Say("better", "更好")
	meansWorse        = lang.Say("worse", "更差")
	legendBetter      = lang.Say("A filled circle: better.", "实心圆：更好。")
	legendWorse       = lang.Say("A triangle: worse.", "三角：更差。")
	legendNothing     = lang.Say("An empty circle: a difference is not proven (~: the 95 % interval includes 0).", "空心圆：未证实有差异（~：95 % 区间包含 0）。")
	legendAlone       = lang.Say("Where the bar of an empty circle is beside 0, the difference is shown alone, but not when all are tested together.", "空心圆的横线不含 0 时，单独检验有差异，与全部指标一并检验则无。")
	legendUnknown     = lang.Say("An empty square: there is no interval, so nothing tells whether it is chance.", "空心方块：没有区间，无法判断是否出于偶然。")
	legendBar         = lang.Say("The bar is the 95 % interval.", "横线为 95 % 区间。")
	axisInterval      = lang.Say(", with its 95 % interval", "及其 95 % 区间")
	noteCost          = lang.Say("Replicas are whole, so costs are steps. The lowest line at a demand is the cheapest there.", "副本为整数，因此费用呈阶梯状。某一需求处最低的线最便宜。")
	noteCostMissing   = lang.Say(" Not drawn: %s. They do not meet what is asked for, or come after the first %d; the tables of the choice say which.", "未画出：%s。它们不满足要求，或排在前 %d 名之后，详见选型的表格。")
	unitNoChoice      = lang.Say("no configuration meets the demand", "没有配置满足需求")
	unitGPU           = lang.Say("GPU", "张 GPU")
	unitGPUs          = lang.Say("GPUs", "张 GPU")
	unitHour          = lang.Say("per hour, in the currency of the prices", "每小时费用（货币同所给价格）")
	sentenceNoChoice  = lang.Say("No configuration serves %s within %s.", "没有配置能在 %[2]s 之内承载 %[1]s。")
	sentenceChoice    = lang.Say("%s, %s, %s in all, serves %s within %s.", "%s，%s，共 %s，可承载 %s，满足 %s。")
	tileMillion       = lang.Say("per million output tokens if each replica is loaded to the limit of the SLO", "每百万输出 token（各副本满载至 SLO 上限时）")
	tileMillionDemand = lang.Say("per million output tokens at %s", "每百万输出 token（需求 %s 时）")
	tileSecond        = lang.Say("per hour: %s, the next", "每小时：%s（次选）")
	sliderDemand      = lang.Say("demand", "需求")
	sliderPrice       = lang.Say("price of %s per hour", "%s 每小时价格")
)

// roleName is a role in words.
func roleName(role rundir.Role) lang.Text {
	p, ok := map[rundir.Role]lang.Phrase{
		rundir.Floor: roleFloor, rundir.Grid: roleGrid, rundir.Ceiling: roleCeiling, rundir.Probe: roleProbe, rundir.Control: roleControl,
		rundir.Single: roleSingle, rundir.WarmUp: roleWarmUp,
	}[role]
	if !ok {
		return lang.Same(string(role))
	}
	return p.Text()
}
