package report

import (
	"strconv"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/selftest"
)

// What a self-test found.
var (
	titleSelftest = phrase{"This client on this machine", "本机上的客户端能力"}
	titleLevels   = phrase{"Streams at once", "并发流"}
	titleArrivals = phrase{"Arrivals", "到达"}
	headStreams   = phrase{"streams", "流数"}
	headPhase     = phrase{"phases", "相位"}
	headCores     = phrase{"cores", "CPU"}
	headBusy      = phrase{"beside", "干扰"}
	headAsked     = phrase{"asked", "要求"}
	headStamp     = phrase{"stamp error", "时间戳误差"}
	headShared    = phrase{"shared", "合并接收"}
	headDelay     = phrase{"read delay", "读取延迟"}
	headMemory    = phrase{"a stream", "每流内存"}
	headTrust     = phrase{"trust", "可信"}
	headArrivals  = phrase{"arrivals", "到达率"}
	headRequests  = phrase{"requests", "请求数"}
	headSchedule  = phrase{"schedule lag", "调度延迟"}
	headWritten   = phrase{"written after", "写出延迟"}
	subUsed       = phrase{"used", "占用核数"}
	subMax        = phrase{"max", "最大"}
	phaseUniform  = phrase{"uniform", "均匀"}
	phaseInStep   = phrase{"in step", "同步"}
	besideNothing = phrase{"-", "-"}
	besideHog     = phrase{"busy cores", "各核满载"}
	trustYes      = phrase{"yes", "是"}

	sayNo            = phrase{"no: %s", "否：%s"}
	limitDescriptors = phrase{"more than may be open", "超出可打开数"}
	limitFailed      = phrase{"failures", "有失败"}
	limitShared      = phrase{"fell behind", "跟不上"}
	limitUnreached   = phrase{"not reached", "未达到"}
	limitError       = phrase{"inexact", "误差大"}
	limitCPU         = phrase{"too busy", "占用过高"}
	limitLag         = phrase{"late", "发送晚"}
	limitUnknown     = phrase{"nothing to compare", "无对照"}

	sayDecode     = phrase{"Reads %s events a second of one core, %s each, where many wait: %s allocations an event.", "积压读取时单核每秒处理 %s 个事件，每个 %s，每个事件 %s 次内存分配。"}
	sayMachine    = phrase{"%s cores; load average %s as it began; timestamps %s.", "%s 核；开始时系统平均负载 %s；时间戳%s。"}
	sayLoaded     = phrase{"Other processes keep this machine busy: these figures are of what they leave.", "本机正被其他进程占用：以下数据只反映其剩余能力。"}
	sayOpenFiles  = phrase{"%s streams need more files than the %s that this process may open (ulimit -n).", "%s 个流需要的文件数超过本进程上限 %s（ulimit -n）。"}
	sayFailed     = phrase{"%s streams: %s failed, for example: %s", "%s 个流：%s 个失败，例如：%s"}
	sayTrust      = phrase{"On this machine trust rows up to %s streams and %s tokens/s", "在本机上，不超过 %s 个流、每秒 %s 个 token 的行可信"}
	sayTrustRates = phrase{", and up to %s arrivals/s", "，到达率不超过每秒 %s 个"}
	sayTrustAll   = phrase{"; more streams were not tried.", "；更多的流未测。"}
	sayTrustNext  = phrase{"; %s streams were too many (%s), and nothing in between was tried.", "；%s 个流已超出能力（%s），其间未测。"}
	sayTrustNone  = phrase{"On this machine trust no row: %s streams were too many (%s), and fewer were not tried.", "在本机上没有可信的行：%s 个流已超出能力（%s），更少的未测。"}
	sayNoRates    = phrase{"; requests left late at each rate that was tried", "；所有已测到达率下请求都发送过晚"}

	legendStamp       = phrase{"stamp error: the instant of a token against the server's own, both by the monotonic clock; what was received together with the next token of its stream (shared) is known to be a bound, and left out", "时间戳误差：token 时刻与服务端自身记录之差，均为单调时钟；与同一流的下一个 token 一起接收者（合并接收）仅为上界，不计入"}
	legendLevels      = phrase{"trusted: stamp error p99 within 1 ms, shared within 1 %, 80 % of the cores at most, no failures, at least 90 % of the tokens asked for sent (else the level is not reached, and says nothing); arrivals: written within 1 ms at p99", "可信：时间戳误差 p99 不超过 1 ms，合并接收不超过 1 %，CPU 占用不超过 80 %，无失败，且至少发出所要求 token 的 90 %（否则记为未达到，该档不说明任何问题）；到达：p99 在 1 ms 内写出"}
	legendFewArrivals = phrase{"? too few for this percentile: the median decides", "? 数量太少，不足以支持该分位数：以中位数判定"}
	legendMemory      = phrase{"a stream: resident memory for each, its record included", "每流内存：每个流占用的常驻内存，含其记录"}
)

// loaded is the load average a core beyond which others are at work.
const loaded = 0.5

// Selftest is what a self-test measured, the verdict last.
func Selftest(r *selftest.Result, l Lang) []Section {
	lines := []string{sayMachine.in(l, strconv.Itoa(r.CPUs), number(r.Load, short), timestamps(r.Timestamps, l))}
	if r.Load.Known() && r.Load.Value() > loaded*float64(r.CPUs) {
		lines = append(lines, sayLoaded.in(l))
	}
	if d := r.Decode; d != nil {
		lines = append(lines, sayDecode.in(l, grouped(d.PerCoreSecond), minute(d.PerEvent).String(), number(d.AllocsPerEvent, short)))
	}
	all := []Section{{Title: titleSelftest.in(l), Level: 1, Lines: lines}}
	if len(r.Levels) > 0 {
		all = append(all, Section{Title: titleLevels.in(l), Level: 2, Table: levels(r, l), Notes: levelNotes(r, l)})
	}
	if len(r.Arrivals) > 0 {
		s := Section{Title: titleArrivals.in(l), Level: 2, Table: arrivals(r, l)}
		if shows([]Table{s.Table}, func(c Cell) bool { return c.Mark != "" }) {
			s.Notes = []string{legendFewArrivals.in(l)}
		}
		all = append(all, s)
	}
	return append(all, Section{Lines: []string{SelftestVerdict(r.Summary(), l)}})
}

// levels is the table of streams.
func levels(r *selftest.Result, l Lang) Table {
	t := Table{Columns: []Column{
		{Head: headStreams.in(l)}, {Head: headPhase.in(l), Left: true}, {Head: headBusy.in(l), Left: true},
		{Head: headAsked.in(l)}, {Head: headOutput.in(l)}, {Head: headStamp.in(l), Sub: "p50"}, {Head: headStamp.in(l), Sub: "p99"}, {Head: headStamp.in(l), Sub: "p99.9"},
		{Head: headShared.in(l)}, {Head: headDelay.in(l), Sub: subMean.in(l)}, {Head: headCores.in(l), Sub: subUsed.in(l)},
		{Head: headMemory.in(l)}, {Head: headTrust.in(l), Left: true},
	}}
	for _, v := range r.Levels {
		beside := besideNothing
		if v.Busy {
			beside = besideHog
		}
		phase := phaseUniform
		if v.Phase == selftest.InStep {
			phase = phaseInStep
		}
		t.Rows = append(t.Rows, []Cell{
			{Text: strconv.Itoa(v.Streams)}, {Text: phase.in(l)}, {Text: beside.in(l)},
			Number(rundir.Exactly(v.Rate*float64(v.Streams)), "", 0), Number(v.TokensPerS, "tok/s", 0), minute(v.Error.P50), supported(minute(v.Error.P99), v.Error, 0.99), supported(minute(v.Error.P999), v.Error, 0.999),
			Digits(scaled(v.Shared, 100), "%"), minute(v.DelayMean), Number(v.Cores, "", 2),
			Number(scaled(v.PerStream, 1.0/1024), "KB", 0), trusted(v.Limit, l),
		})
	}
	return t
}

// arrivals is the table of rates.
func arrivals(r *selftest.Result, l Lang) Table {
	t := Table{Columns: []Column{
		{Head: headArrivals.in(l)}, {Head: headRequests.in(l)},
		{Head: headSchedule.in(l), Sub: "p50"}, {Head: headSchedule.in(l), Sub: "p99"}, {Head: headSchedule.in(l), Sub: subMax.in(l)},
		{Head: headWritten.in(l), Sub: "p50"}, {Head: headWritten.in(l), Sub: "p99"}, {Head: headWritten.in(l), Sub: subMax.in(l)},
		{Head: headTrust.in(l), Left: true},
	}}
	for _, a := range r.Arrivals {
		t.Rows = append(t.Rows, []Cell{
			{Text: plain(a.Rate), Unit: "/s"}, {Text: strconv.Itoa(a.Lag.N)},
			minute(a.Lag.P50), supported(minute(a.Lag.P99), a.Lag, 0.99), minute(a.Lag.Max),
			minute(a.Written.P50), supported(minute(a.Written.P99), a.Written, 0.99), minute(a.Written.Max), trusted(a.Limit, l),
		})
	}
	return t
}

// minute is a cell with a duration far below a second.
func minute(f rundir.Number) Cell {
	switch v := f.Value(); {
	case !f.Known() || v >= 1e-3:
		return timed(f)
	case v < 1e-6:
		return Digits(scaled(f, 1e9), "ns")
	}
	return Digits(scaled(f, 1e6), "us")
}

// supported marks a percentile that too few values support.
func supported(c Cell, s selftest.Spread, p float64) Cell {
	if s.N > 0 && !s.Supported(p) {
		c.Mark += markUnsupported
	}
	return c
}

func trusted(limit string, l Lang) Cell {
	if limit == "" {
		return Cell{Text: trustYes.in(l), Tone: Good}
	}
	return Cell{Text: sayNo.in(l, why(limit, l)), Tone: Caution}
}

// why is why a level is not trusted.
func why(limit string, l Lang) string {
	reasons := map[string]phrase{
		selftest.LimitDescriptors: limitDescriptors, selftest.LimitFailed: limitFailed, selftest.LimitShared: limitShared,
		selftest.LimitError: limitError, selftest.LimitCPU: limitCPU, selftest.LimitLag: limitLag, selftest.LimitUnknown: limitUnknown, selftest.LimitUnreached: limitUnreached,
	}
	if say, ok := reasons[limit]; ok {
		return say.in(l)
	}
	return limit
}

// levelNotes explain the table of streams.
func levelNotes(r *selftest.Result, l Lang) []string {
	var notes []string
	said := map[string]bool{}
	add := func(s string) {
		if !said[s] {
			said[s] = true
			notes = append(notes, s)
		}
	}
	for _, v := range r.Levels {
		switch {
		case v.Limit == selftest.LimitDescriptors:
			add(sayOpenFiles.in(l, strconv.Itoa(v.Streams), strconv.Itoa(r.Descriptors)))
		case v.Failed > 0:
			add(sayFailed.in(l, strconv.Itoa(v.Streams), strconv.Itoa(v.Failed), v.Failure))
		}
	}
	for _, say := range []phrase{legendStamp, legendMemory, legendLevels} {
		add(say.in(l))
	}
	return notes
}

// SelftestVerdict is how far a client can be trusted on its machine, in one line.
func SelftestVerdict(s *rundir.Selftest, l Lang) string {
	if s.Streams == 0 {
		return sayTrustNone.in(l, strconv.Itoa(s.LimitStreams), why(s.Limit, l))
	}
	line := sayTrust.in(l, strconv.Itoa(s.Streams), grouped(s.TokensPerS))
	if s.ArrivalsPerS.Known() {
		line += sayTrustRates.in(l, grouped(s.ArrivalsPerS))
	} else {
		line += sayNoRates.in(l)
	}
	if s.Limit == "" {
		return line + sayTrustAll.in(l)
	}
	return line + sayTrustNext.in(l, strconv.Itoa(s.LimitStreams), why(s.Limit, l))
}

// grouped prints a whole number.
func grouped(f rundir.Number) string { return number(f, fixed(0)) }
