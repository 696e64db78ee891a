package progress

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
)

var (
	stageOf     = lang.Say("stage %s of %s", "第 %s/%s 阶段")
	stageNumber = lang.Say("stage %s", "第 %s 阶段")
	ofParts     = lang.Say("%s (%s)", "%s（%s）")
	upToMore    = lang.Say("%s, up to %s more", "%s，之后至多 %s 个")
	partLimits  = lang.Say("limits", "上下限")
	partGrid    = lang.Say("grid of rates", "到达率网格")
	partEdge    = lang.Say("edge", "饱和边缘")
	partHold    = lang.Say("hold", "长时保持")
	partSLO     = lang.Say("SLO", "SLO")
	partControl = lang.Say("control", "复测")
	upToLeft    = lang.Say("at most %s %s left", "至多还剩 %s %s")
	goesOn      = lang.Say("goes on until %s s at most: %s", "至多延至 %s 秒：%s")
	whyRequests = lang.Say("too few requests so far", "请求还太少")
	whyVerdict  = lang.Say("not decided yet", "尚无判定")
	whyWaves    = lang.Say("too few waves so far", "轮次还太少")
	whyHold     = lang.Say("the rate is held for long", "长时间保持该到达率")
	endsBy      = lang.Say("until %s s at most", "至多到 %s 秒")
	stillThere  = lang.Say("no news for %s s", "已有 %s 秒没有消息")
	termState   = lang.Say("%s: %s (%s)", "%s：%s（%s）")
	metUpTo     = lang.Say("met up to %s req/s", "到达率 %s req/s 及以下满足")
	missedFrom  = lang.Say("missed from %s req/s", "从 %s req/s 起不满足")
	unsureSoFar = lang.Say("not decided yet", "尚无判定")
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
	phaseTail   = lang.Say("tail", "收尾")
	phaseDrain  = lang.Say("draining", "排空")
	phaseIdle   = lang.Say("waiting for the server to become idle", "等待服务空闲")
	nextSearch  = lang.Say("search for the ceiling", "寻找上限")
	nextCeiling = lang.Say("maximum throughput", "最大吞吐")
	nextRates   = lang.Say("%s arrival rates", "%s 个到达率")
	nextRate    = lang.Say("1 arrival rate", "1 个到达率")
	nextProbes  = lang.Say("up to %s probes", "至多 %s 个探测阶段")
	nextHolds   = lang.Say("up to %s stages that hold a rate", "至多 %s 个长时保持阶段")
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
func follows(left experiment.ForecastTodo, stages []string) []lang.Text {
	var next []lang.Text
	add := func(ok bool, p lang.Phrase, args ...any) {
		if ok {
			next = append(next, p.Text(args...))
		}
	}
	most := func(c experiment.ForecastCounts) string { return strconv.Itoa(int(c.High)) }
	for _, name := range stages {
		next = append(next, lang.Same(oneLine(name)))
	}
	add(left.Search, nextSearch)
	add(left.Ceiling, nextCeiling)
	add(left.Rows == 1, nextRate)
	add(left.Rows > 1, nextRates, strconv.Itoa(left.Rows))
	add(left.Probes.High >= 1, nextProbes, most(left.Probes))
	add(left.Holds.High >= 1, nextHolds, most(left.Holds))
	add(left.SLO.High >= 1, nextSLO, most(left.SLO))
	add(left.Controls, nextControl)
	return next
}

// mostNext is how many parts of what follows are named.
const mostNext = 8

// nextIn returns the parts that follow in a language, at most a given number.
func nextIn(next []lang.Text, most int, l lang.Lang) string {
	var all []string
	for _, t := range next {
		all = append(all, t.In(l))
	}
	if len(all) > most {
		all = append(all[:most], "...")
	}
	return strings.Join(all, lang.ListComma.In(l))
}

// spent returns how much of the planned time of a stage has passed. A stage that takes longer than planned shows no plan.
func spent(s *State, l lang.Lang) string {
	elapsed, planned := seconds(s.Now.Elapsed), seconds(s.Time.Stage)
	if elapsed > planned {
		return spentOnly.In(l, strconv.Itoa(elapsed))
	}
	return ofPlanned.In(l, strconv.Itoa(elapsed), strconv.Itoa(planned))
}

// prolonged returns until when a phase goes on at most, and why a stage goes on past its planned time; empty where nothing is to be told.
func prolonged(s *State, l lang.Lang) string {
	until := seconds(s.Now.Until)
	why, measuring := whys[s.Now.Awaits]
	switch {
	case until < seconds(s.Now.Elapsed) || until <= 0, measuring && s.Now.Elapsed <= s.Time.Stage:
		return ""
	case measuring:
		return goesOn.In(l, strconv.Itoa(until), why.In(l))
	}
	return endsBy.In(l, strconv.Itoa(until))
}

// whys say why a stage goes on.
var whys = map[load.Awaits]lang.Phrase{
	load.AwaitsRequests: whyRequests, load.AwaitsVerdict: whyVerdict, load.AwaitsWaves: whyWaves, load.AwaitsHold: whyHold,
}

// parts are the names of the parts of a sweep.
var parts = map[experiment.ForecastPart]lang.Phrase{
	experiment.PartLimits: partLimits, experiment.PartGrid: partGrid, experiment.PartEdge: partEdge, experiment.PartHold: partHold,
	experiment.PartSLO: partSLO, experiment.PartControl: partControl,
}

// place returns the position of a stage in the run: its number, the part of the sweep, and how many stages more there may be.
func place(s Stage, l lang.Lang) string {
	if s.Index <= 0 {
		return ""
	}
	text := stageNumber.In(l, strconv.Itoa(s.Index))
	if s.Total >= s.Index {
		text = stageOf.In(l, strconv.Itoa(s.Index), strconv.Itoa(s.Total))
	}
	if part, ok := parts[s.Part]; ok {
		text = ofParts.In(l, text, part.In(l))
	}
	if s.More > 0 {
		text = upToMore.In(l, text, strconv.Itoa(s.More))
	}
	return text
}

// termsOf returns the terms of the SLO as a stage shows them; empty where there are none.
func termsOf(st *rundir.Stage, l lang.Lang) string {
	if st.Goodput == nil {
		return ""
	}
	var all []string
	for _, p := range st.Goodput.Terms {
		text := oneLine(p.Term) + lang.Colon.In(l) + findings.Promised(p.Verdict).Text.In(l)
		if t, err := slo.Parse(p.Term); err == nil && !p.Value.IsZero() {
			text = termState.In(l, oneLine(p.Term), findings.Promised(p.Verdict).Text.In(l), t.Amount(p.Value.Value()))
		}
		all = append(all, text)
	}
	return strings.Join(all, lang.Semicolon.In(l))
}

// termStates returns a line for each term of the SLO: up to which rate the stages so far meet it, and from which they miss it.
func termStates(stages []rundir.Stage, l lang.Lang) []string {
	var terms []string
	missed, met := map[string]float64{}, map[string]float64{}
	each := func(do func(term string, v rundir.Promised, rate float64)) {
		for i := range stages {
			if st := &stages[i]; st.Goodput != nil && st.Rate.Known() {
				for _, p := range st.Goodput.Terms {
					do(p.Term, p.Verdict, slo.Offered(st))
				}
			}
		}
	}
	each(func(term string, v rundir.Promised, rate float64) {
		if !slices.Contains(terms, term) {
			terms = append(terms, term)
		}
		if before, ok := missed[term]; v == rundir.Broken && (!ok || rate < before) {
			missed[term] = rate
		}
	})
	each(func(term string, v rundir.Promised, rate float64) {
		if from, ok := missed[term]; v == rundir.Kept && (!ok || rate < from) {
			met[term] = max(met[term], rate)
		}
	})
	var lines []string
	for _, term := range terms {
		var states []string
		if rate, ok := met[term]; ok {
			states = append(states, metUpTo.In(l, lang.Short(rate, false)))
		}
		if rate, ok := missed[term]; ok {
			states = append(states, missedFrom.In(l, lang.Short(rate, false)))
		}
		if len(states) == 0 {
			states = []string{unsureSoFar.In(l)}
		}
		lines = append(lines, oneLine(term)+lang.Colon.In(l)+strings.Join(states, lang.Comma.In(l)))
	}
	return lines
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
	const vague = 8                           // a ratio of bounds whose middle says nothing
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
	if low*vague < high { // so that a middle would say nothing
		return upToLeft.In(l, round(high), unit.In(l))
	}
	middle := math.Sqrt(max(low, 1) * high)
	return aboutLeft.In(l, round(middle), unit.In(l), round(low), round(high))
}
