package report

import (
	"bufio"
	"slices"
	"strconv"
	"strings"

	"llmsweep/sweep/rundir"
)

// What stands beneath the formats that have no room for it.
var (
	saySummary       = phrase{"Summary of %s stages", "%s 个阶段汇总"}
	noteMaximum      = phrase{"P99 Response Time is the largest response time, whatever the percentile's name: so it was printed.", "P99 Response Time 取的是最大响应时间，与其名称不符：原文如此。"}
	noteInterpolated = phrase{"P99 Response Time is interpolated between samples; other tools print the largest response time there.", "P99 Response Time 由样本插值得出；其他工具在此处给出的是最大响应时间。"}
	noteTheoretical  = phrase{"Theoretical Max Throughput is total requests / max response time. It is no limit of anything.", "Theoretical Max Throughput 等于总请求数除以最大响应时间，并不代表任何上限。"}
	noteWindow       = phrase{"%s is the window in which rates were counted, without opening and drain; requests are those due in it.", "%s 为统计速率的时间窗，不含启动与收尾；请求数为窗内应发出的请求。"} // the reader of such blocks knows them by their first words
	noteOpen         = phrase{"Requests arrived at %s a second, not in a closed loop%s.", "请求按每秒 %s 个到达，并非闭环%s。"}
	noteCap          = phrase{", with at most %s in flight", "，并发上限 %s"}
	noteUnsupported  = phrase{"Too few requests to support: %s.", "请求太少，不足以支持：%s。"}
	noteBound        = phrase{"Behind > some requests had not ended: the figure is at least this.", "带 > 的数值：有请求尚未结束，实际值不小于此值。"}
	noteIncomplete   = phrase{"%s requests had neither ended nor failed.", "%s 个请求既未完成也未失败。"}
	noteRetokenized  = phrase{"The text of all answers tokenizes to %s tokens, and %s were reported: the stream repeats or loses text.", "全部回答文本重新分词得到 %s 个 token，而报告为 %s 个：流式输出有重复或丢失。"}
)

// percentileName is a percentile of a distribution, and its line in a format.
type percentileName struct {
	dist        *rundir.Dist
	name, label string
}

// unsupported notes the percentiles that too few samples support.
func unsupported(l Lang, all []percentileName) string {
	var labels []string
	for _, p := range all {
		if !p.dist.Get(p.name).IsZero() && !p.dist.Supported(p.name) {
			labels = append(labels, p.label)
		}
	}
	if len(labels) == 0 {
		return ""
	}
	return noteUnsupported.in(l, strings.Join(labels, listComma.in(l)))
}

// windowNote reports whether the duration, as the format calls it, is not that of the whole stage.
func windowNote(s *rundir.Stage, l Lang, duration string) string {
	if s.Whole || s.Window == 0 {
		return ""
	}
	return noteWindow.in(l, duration)
}

// openNote says at what rate requests arrived, which a stress table has no line for.
func openNote(s *rundir.Stage, l Lang) string {
	if !s.Rate.Known() {
		return ""
	}
	bound := ""
	if s.MaxConcurrency > 0 {
		bound = noteCap.in(l, strconv.Itoa(s.MaxConcurrency))
	}
	return noteOpen.in(l, number(s.Rate, rate), bound)
}

// received notes that answers were not as long as was forced.
func received(r row, l Lang) string {
	if about := lengths(r.stage, l); about != "" {
		return warnLength.in(l) + inParens.in(l, about) + stop.in(l)
	}
	return ""
}

// bounded reports whether one of the distributions holds lower bounds.
func bounded(l Lang, dists ...*rundir.Dist) string {
	for _, d := range dists {
		if slices.ContainsFunc(d.Numbers(), func(f rundir.Named) bool { return f.Number.Bound() }) {
			return noteBound.in(l)
		}
	}
	return ""
}

// stressNotes are what a reader of a stress table must know.
func stressNotes(r row, l Lang) []string {
	s := r.stage
	var notes []string
	if d := &s.Latency; s.Source != nil && d.P99.Known() && d.P99 == d.Max {
		notes = append(notes, noteMaximum.in(l))
	} else if s.Source == nil && d.P99.Known() {
		notes = append(notes, noteInterpolated.in(l))
	}
	if !theoreticalMax(s).IsZero() {
		notes = append(notes, noteTheoretical.in(l))
	}
	notes = append(notes, openNote(s, l), windowNote(s, l, "Total Test Duration"), unsupported(l, []percentileName{
		{&s.Latency, "p90", "P90"}, {&s.Latency, "p95", "P95"}, {&s.Latency, "p99", "P99"},
	}), bounded(l, &s.Latency))
	if n := s.Requests.Incomplete; n > 0 {
		notes = append(notes, noteIncomplete.in(l, counted(s, n)))
	}
	return append(notes, received(r, l), goodputNote(s, l))
}

// writeNotes writes what stands beneath a table. No note begins like a line of the format.
func writeNotes(w *bufio.Writer, notes []string) {
	for _, n := range notes {
		if n != "" {
			w.WriteString(strings.Repeat(" ", indent) + clean(n) + "\n")
		}
	}
}
