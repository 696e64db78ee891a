package live

import (
	"fmt"
	"strconv"
	"time"

	"llmsweep/report"
)

// phrase is one thing we say, in every language there is: a literal without one of them does not compile.
type phrase struct{ en, zh string }

func (p phrase) in(l report.Lang, args ...any) string {
	s := p.en
	if l == report.Chinese {
		s = p.zh
	}
	if len(args) == 0 {
		return s
	}
	return fmt.Sprintf(s, args...)
}

var (
	stageOf      = phrase{"stage %s of %s", "第 %s/%s 阶段"}
	stageNumber  = phrase{"stage %s", "第 %s 阶段"}
	elapsedLeft  = phrase{"%s elapsed, %s left", "已用 %s，剩余 %s"}
	elapsedOnly  = phrase{"%s elapsed", "已用 %s"}
	leftOnly     = phrase{"%s left", "剩余 %s"}
	inFlight     = phrase{"%s in flight", "%s 个进行中"}
	doneCount    = phrase{"%s done", "%s 个完成"}
	failedCount  = phrase{"%s failed", "%s 个失败"}
	ofPlanned    = phrase{"%s of %s s", "%s / %s 秒"}
	plannedFor   = phrase{"%s s planned", "计划 %s 秒"}
	phaseWarmUp  = phrase{"warm-up", "预热"}
	phaseMeasure = phrase{"measuring", "测量"}
	phaseTail    = phrase{"tail", "收尾"}
	phaseDrain   = phrase{"draining", "排空"}
	phaseSearch  = phrase{"searching the ceiling", "寻找上限"}
)

// phase is a phase in words.
func phase(name string, l report.Lang) string {
	switch name {
	case WarmUp:
		return phaseWarmUp.in(l)
	case Measuring:
		return phaseMeasure.in(l)
	case Tail:
		return phaseTail.in(l)
	case Draining:
		return phaseDrain.in(l)
	case Searching:
		return phaseSearch.in(l)
	}
	return oneLine(name)
}

// place is where in the run a stage stands.
func place(s Stage, l report.Lang) string {
	if s.Index <= 0 {
		return ""
	}
	if s.Total < s.Index {
		return stageNumber.in(l, strconv.Itoa(s.Index))
	}
	return stageOf.in(l, strconv.Itoa(s.Index), strconv.Itoa(s.Total))
}

// clock prints a time as people read a clock: 03:12, or 1:03:12.
func clock(d time.Duration) string {
	t := int(d.Round(time.Second).Seconds())
	if t >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", t/3600, t/60%60, t%60)
	}
	return fmt.Sprintf("%02d:%02d", t/60, t%60)
}

// brief prints a short time; a dash where it is not known.
func brief(d time.Duration) string {
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

func seconds(d time.Duration) string { return strconv.Itoa(int(d.Round(time.Second).Seconds())) }
