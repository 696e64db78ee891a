package progress

import (
	"math"
	"strconv"
	"strings"
	"time"

	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
)

var (
	phaseLimits  = lang.Say("limits", "极限")
	phaseRows    = lang.Say("rates", "各到达率")
	phaseBracket = lang.Say("bracket", "区间")
	phaseSLO     = lang.Say("SLO", "SLO")
	saySearching = lang.Say("search for the maximum", "寻找最大吞吐")
	sayDoneOf    = lang.Say("stages done: %s of %s", "已完成阶段：%s/%s")
	sayInFlight  = lang.Say("%s in flight", "并发 %s")
	sayFailed    = lang.Say("%s failed", "%s 个失败")

	leftOnly   = lang.Say("%s left", "剩余 %s")
	aboutLeft  = lang.Say("about %s %s left (%s-%s)", "约剩 %s %s（%s-%s）")
	upToLeft   = lang.Say("at most %s %s left", "至多还剩 %s %s")
	unitSecond = lang.Say("s", "秒")
	unitMinute = lang.Say("min", "分钟")
	unitHour   = lang.Say("h", "小时")

	termState = lang.Say("%s: %s (%s)", "%s：%s（%s）")
	sayServed = lang.Say("the run is shown at %s, with numbers for Prometheus at %smetrics", "运行情况见 %s，供 Prometheus 读取的数据见 %smetrics")
)

// phases say what a stage is doing while it is not measured.
var phases = map[string]lang.Phrase{
	load.PhaseWarmUp:   lang.Say("warm-up", "预热"),
	load.PhaseTail:     lang.Say("tail", "收尾"),
	load.PhaseDraining: lang.Say("draining", "排空"),
	load.PhaseIdle:     lang.Say("waiting for the server to become idle", "等待服务空闲"),
}

func termsOf(st *rundir.Stage, l lang.Lang) string {
	if st.Goodput == nil {
		return ""
	}
	var all []string
	for _, p := range st.Goodput.Terms {
		text := table.Clean(p.Term) + lang.Colon.In(l) + findings.SLOCell(p.Verdict).Text.In(l)
		if t, err := slo.Parse(p.Term); err == nil && !p.Value.IsZero() {
			text = termState.In(l, table.Clean(p.Term), findings.SLOCell(p.Verdict).Text.In(l), t.Amount(p.Value.Value()))
		}
		all = append(all, text)
	}
	return strings.Join(all, lang.Semicolon.In(l))
}

// timeLeft prints the time that is left: as a clock where it is known, and otherwise as a rough time with its bounds.
func timeLeft(shortest, longest time.Duration, l lang.Lang) string {
	const sure, short = 1.15, 5 * time.Second // a ratio, and a difference, that make no difference to who waits
	const vague = 8                           // a ratio of bounds whose middle says nothing
	low, high := shortest.Seconds(), longest.Seconds()
	if high <= sure*low || longest-shortest <= short {
		return leftOnly.In(l, lang.Clock(((shortest + longest) / 2).Seconds()))
	}
	const longSeconds, longMinutes, decimalMinutes = 90, 90 * 60, 10 * 3600 // from here on the next unit, and whole hours
	unit, size, decimals := unitSecond, 1.0, 0
	round := func(s float64) string {
		if size == 1 && s > 10 { // a second more or less means nothing
			s = 5 * math.Round(s/5)
		}
		return strconv.FormatFloat(s/size, 'f', decimals, 64)
	}
	switch {
	case high >= longMinutes:
		unit, size = unitHour, 3600
		if high < decimalMinutes {
			decimals = 1
		}
	case high >= longSeconds:
		unit, size = unitMinute, 60
		if high < 4*size {
			decimals = 1
		}
	}
	if low*vague < high { // so that a middle would say nothing
		return upToLeft.In(l, round(high), unit.In(l))
	}
	middle := math.Sqrt(max(low, 1) * high)
	return aboutLeft.In(l, round(middle), unit.In(l), round(low), round(high))
}
