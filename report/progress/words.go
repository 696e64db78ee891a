package progress

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"llmsweep/report/lang"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
)

var (
	stageOf     = lang.Say("stage %s of %s", "第 %s/%s 阶段")
	stageNumber = lang.Say("stage %s", "第 %s 阶段")
	leftOnly    = lang.Say("%s left", "剩余 %s")
	aboutLeft   = lang.Say("about %s %s left (%s-%s)", "约剩 %s %s（%s-%s）")
	unitSecond  = lang.Say("s", "秒")
	unitMinute  = lang.Say("min", "分钟")
	unitHour    = lang.Say("h", "小时")
	inFlight    = lang.Say("%s in flight", "并发 %s")
	doneCount   = lang.Say("%s done", "%s 个完成")
	failedCount = lang.Say("%s failed", "%s 个失败")
	ofPlanned   = lang.Say("%s of %s s", "%s / %s 秒")
	spentOnly   = lang.Say("%s s", "%s 秒")
	plannedFor  = lang.Say("%s s planned", "计划 %s 秒")
	phaseWarmUp = lang.Say("warm-up", "预热")
	phaseCanary = lang.Say("canaries alone", "单独询问金丝雀")
	phaseGraded = lang.Say("graded questions alone", "单独询问计分问题")
	phaseText   = lang.Say("scoring the text", "为文本计分")
	phaseTail   = lang.Say("tail", "收尾")
	phaseDrain  = lang.Say("draining", "排空")
	phaseIdle   = lang.Say("waiting for the server to become idle", "等待服务空闲")
	nextSearch  = lang.Say("search for the ceiling", "寻找上限")
	nextCeiling = lang.Say("maximum throughput", "最大吞吐")
	nextRates   = lang.Say("%s arrival rates", "%s 个到达率")
	nextRate    = lang.Say("1 arrival rate", "1 个到达率")
	nextProbes  = lang.Say("up to %s probes", "至多 %s 个探测阶段")
	nextSLO     = lang.Say("up to %s stages for the SLO", "为 SLO 至多 %s 个阶段")
	nextControl = lang.Say("two loads once more", "重测两个负载")
	searching   = lang.Say("searching for the ceiling", "寻找上限")
)

// phase returns what a stage is doing, empty while it is measured. A phase without words is shown as it is.
func phase(s *State, l lang.Lang) string {
	name := s.Now.Phase
	switch name {
	case "", load.PhaseMeasuring:
		return ""
	case load.PhaseWarmUp:
		return phaseWarmUp.In(l)
	case experiment.PhaseCanaries:
		return phaseCanary.In(l)
	case experiment.PhaseGraded:
		return phaseGraded.In(l)
	case experiment.PhaseText:
		return phaseText.In(l)
	case load.PhaseTail:
		return phaseTail.In(l)
	case load.PhaseDraining:
		return phaseDrain.In(l)
	case load.PhaseIdle:
		return phaseIdle.In(l)
	}
	return oneLine(name)
}

// stageName returns the name of a stage as the table has it; the search for the ceiling is no row.
func stageName(s Stage, l lang.Lang) string {
	if s.Searching {
		return searching.In(l)
	}
	return lang.Row(s.Name)
}

// follows puts into words what follows a stage: what is left of a sweep, or the names of a run's stages.
func follows(left experiment.ForecastTodo, stages []string, l lang.Lang) []string {
	var next []string
	add := func(ok bool, p lang.Phrase, args ...any) {
		if ok {
			next = append(next, p.In(l, args...))
		}
	}
	most := func(c experiment.ForecastCounts) string { return strconv.Itoa(int(c.High)) }
	next = append(next, stages...)
	add(left.Search, nextSearch)
	add(left.Ceiling, nextCeiling)
	add(left.Rows == 1, nextRate)
	add(left.Rows > 1, nextRates, strconv.Itoa(left.Rows))
	add(left.Probes.High >= 1, nextProbes, most(left.Probes))
	add(left.SLO.High >= 1, nextSLO, most(left.SLO))
	add(left.Controls, nextControl)
	return next
}

// spent returns how much of the planned time of a stage has passed. A stage that takes longer than planned shows no plan.
func spent(s *State, l lang.Lang) string {
	elapsed, planned := seconds(s.Now.Elapsed), seconds(s.Time.Stage)
	if elapsed > planned {
		return spentOnly.In(l, strconv.Itoa(elapsed))
	}
	return ofPlanned.In(l, strconv.Itoa(elapsed), strconv.Itoa(planned))
}

// place returns the position of a stage in the run.
func place(s Stage, l lang.Lang) string {
	if s.Index <= 0 {
		return ""
	}
	if s.Total < s.Index {
		return stageNumber.In(l, strconv.Itoa(s.Index))
	}
	return stageOf.In(l, strconv.Itoa(s.Index), strconv.Itoa(s.Total))
}

// clock prints a time as people read a clock: 03:12, or 1:03:12.
func clock(d time.Duration) string {
	t := int(d.Round(time.Second).Seconds())
	if t >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", t/3600, t/60%60, t%60)
	}
	return fmt.Sprintf("%02d:%02d", t/60, t%60)
}

// Brief prints a short time; a dash where it is not known.
func Brief(d time.Duration) string {
	ms := float64(d) / 1e6
	switch {
	case d < 0:
		return "-"
	case ms < 9.95:
		return fmt.Sprintf("%.1f ms", ms)
	case ms < 999.5:
		return fmt.Sprintf("%.0f ms", ms)
	}
	return fmt.Sprintf("%.1f s", ms/1e3)
}

// seconds returns a duration in whole seconds.
func seconds(d time.Duration) int { return int(d.Round(time.Second).Seconds()) }

// left prints the time that is left: as a clock where it is known, and otherwise as a rough time with its bounds.
func left(t Time, l lang.Lang) string {
	const sure, short = 1.15, 5 * time.Second // a ratio, and a difference, that make no difference to who waits
	low, high := t.Low.Seconds(), t.High.Seconds()
	if high <= sure*low || t.High-t.Low <= short {
		return leftOnly.In(l, clock((t.Low+t.High)/2))
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
	middle := math.Sqrt(max(low, 1) * high)
	return aboutLeft.In(l, round(middle), unit.In(l), round(low), round(high))
}
