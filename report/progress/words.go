package progress

import (
	"fmt"
	"strconv"
	"time"

	"llmsweep/report"
	"llmsweep/sweep"
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
	stageOf     = phrase{"stage %s of %s", "第 %s/%s 阶段"}
	stageNumber = phrase{"stage %s", "第 %s 阶段"}
	elapsedLeft = phrase{"%s elapsed, %s left", "已用 %s，剩余 %s"}
	elapsedOnly = phrase{"%s elapsed", "已用 %s"}
	leftOnly    = phrase{"%s left", "剩余 %s"}
	inFlight    = phrase{"%s in flight", "%s 个进行中"}
	doneCount   = phrase{"%s done", "%s 个完成"}
	failedCount = phrase{"%s failed", "%s 个失败"}
	ofPlanned   = phrase{"%s of %s s", "%s / %s 秒"}
	spentOnly   = phrase{"%s s", "%s 秒"}
	plannedFor  = phrase{"%s s planned", "计划 %s 秒"}
	phaseWarmUp = phrase{"warm-up", "预热"}
	phaseTail   = phrase{"tail", "收尾"}
	phaseDrain  = phrase{"draining", "排空"}
	searching   = phrase{"searching for the ceiling", "寻找上限"}
)

// phase returns what a stage is doing, empty while it is measured. A phase without words is shown as it is.
func phase(s *state, l report.Lang) string {
	name := s.now.Phase
	switch name {
	case "", sweep.PhaseMeasuring:
		return ""
	case sweep.PhaseWarmUp:
		return phaseWarmUp.in(l)
	case sweep.PhaseTail:
		return phaseTail.in(l)
	case sweep.PhaseDraining:
		return phaseDrain.in(l)
	}
	return oneLine(name)
}

// stageName returns the name of a stage as the table has it; the search for the ceiling is no row.
func stageName(s Stage, l report.Lang) string {
	if s.Searching {
		return searching.in(l)
	}
	return s.Name
}

// spent returns how much of the planned time of a stage has passed. A stage that takes longer than planned shows no plan.
func spent(s *state, l report.Lang) string {
	elapsed, planned := seconds(s.now.Elapsed), seconds(s.time.Stage)
	if elapsed > planned {
		return spentOnly.in(l, strconv.Itoa(elapsed))
	}
	return ofPlanned.in(l, strconv.Itoa(elapsed), strconv.Itoa(planned))
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

// seconds returns a duration in whole seconds.
func seconds(d time.Duration) int { return int(d.Round(time.Second).Seconds()) }
