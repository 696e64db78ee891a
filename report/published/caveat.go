package published

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

// caveat is prose beside a table by which its figures are not what the table calls them.
type caveat struct {
	pattern *regexp.Regexp
	note    note.Kind
	figures []string // the groups of keys that it is about; nil for those of the columns that the line names
}

const (
	partWord = `(?:[单每]\s?(?:[卡张机]|节点|用户|请求)|` +
		`per[- ](?:gpu|card|worker|node|machine|replica|instance|user|request|stream))`
	timeWord   = `(?:latenc(?:y|ies)|times?|ttft|itl|tpot|e2e|first token|时延|延迟|时间|耗时)`
	percentile = `(?:p50|p9\d(?:\.\d+)?|\d\d(?:th)? percentiles?|percentiles?|medians?|worst|百分位数?|分位数?|中位数?)`
	rateWord   = `(?:数值|数据|吞吐|结果|请求|` +
		`throughput|figures?|numbers?|values?|results?|machine|requests?|rates?|tok(?:en)?s?(?:/s)?)`
)

// A line with a time in it tells a result, not what a column is.
var timeValue = regexp.MustCompile(`\d\s*(?:ms|s|sec|seconds|毫秒|秒)\b`)

// caveats are in the order in which they are looked for: those that spoil most first.
var caveats = sync.OnceValue(func() []caveat {
	times, rates := []string{"latency_s", "ttft_s", "itl_s", "inter_token_s", "tpot_s"}, []string{"rates", "tokens_per_s"}
	return []caveat{
		{regexp.MustCompile(`(?i)\b(?:erratum|errata|corrigend\w*|swapped|interchanged|mislabell?ed)\b|勘误|更正|写反|` +
			`\b(?:headings?|headers?|columns?|units?|tables?|labels?|rows?|figures?|numbers?)\b` +
			`.*\b(?:wrong|incorrect|mistaken|invalid)\b|` +
			`(?:表头|单位|数据|标题|列).*(?:有误|错误|错了)`), noteErratum, append(times, rates...)},
		{regexp.MustCompile(`(?i)\b(?:relative to|normali[sz]ed (?:to|by)|as a ratio|ratios? (?:of|to)|trimmed mean|` +
			`aggregated over|summed over|sums? of|added up)\b|= ?1\.00?\)|相对值|归一化|累加`), noteErratum, append(times, rates...)},
		{regexp.MustCompile(`(?i)\b(?:replica|worker|node|gpu) \d+ (?:alone|only)\b|` + partWord + `.*` + rateWord + `|` +
			rateWord + `.*` + partWord + `|divided by|multipl(?:y|ied) by|除以|乘以`), notePart, rates},
		{regexp.MustCompile(`(?i)` + timeWord + `.*\b(?:are|is|at|as|in|of|was|were|show(?:n|s)?)\b[^.;]*` + percentile + `|` +
			timeWord + `.*(?:均?为|取|是)\s*` + percentile + `|` + percentile + `\s*(?:时延|延迟)`), noteOtherStatistic, times},
		{regexp.MustCompile(`(?i)` + timeWord + `.*\b(?:includ(?:es?|ing)|exclud(?:es?|ing))\b|` +
			`throughput.*\b(?:counts?|includ(?:es?|ing))\b|(?:时延|延迟|吞吐).*(?:包含|不含|包括)`), noteErratum, nil},
		{regexp.MustCompile(`(?i)\b(?:first|second|third|last) rows?\b|(?:最后|第.)一?行`), noteOneRow, []string{}},
	}
})

type caveatLine struct {
	mention
	caveat caveat
}

type caveatLines []caveatLine

// add appends a line if there is a caveat in it, and reports whether there is.
func (all *caveatLines) add(number int, line string) bool {
	for _, c := range caveats() {
		if c.pattern.MatchString(line) && (c.note.Code != noteOtherStatistic.Code || !timeValue.MatchString(line)) {
			*all = append(*all, caveatLine{mention{line: number, text: line}, c})
			return true
		}
	}
	return false
}

// applyCaveats drops the figures for which a line above or beneath the result has a caveat.
func (r *textRun) applyCaveats() {
	if r.ownDocument || r.generated { // what llmsweep adds to a table says nothing else of it
		return
	}
	lines := slices.Clone(r.preamble.caveats)
	if h := r.heading; h != nil {
		lines.add(h.line, h.text)
	}
	lines.add(r.Run.Source.Line, r.Run.Source.Heading)
	sentences := r.preamble.prose
	for i, line := range r.lines[r.at:min(r.at+maxCaveatLines, len(r.lines))] {
		line = strings.TrimSpace(line)
		if isFramed(line) || headingLine.MatchString(line) || isHeading(line) {
			break
		}
		number := r.at + i + 1
		if lines.add(number, line) {
			r.lastCaveat = number
		} else if isSentence(line) {
			sentences = append(sentences, mention{line: number, text: line})
		}
	}
	for _, s := range sentences {
		if !r.prose[s.line] && r.Run.Source.Format == SixColumn {
			r.prose[s.line] = true
			r.remark(s.line, false, noteProse.New(short(s.text)))
		}
	}
	for _, l := range lines {
		r.remark(l.line, true, l.caveat.note.New(short(l.text)))
		r.dropFigures(l.caveat.figureGroups(l.text))
	}
}

// isSentence reports whether a line of prose may say something of the numbers beside it that is not understood.
func isSentence(line string) bool {
	const words, characters = 6, 10
	return len(strings.Fields(line)) >= words || len(chinese.FindAllString(line, characters)) >= characters
}

var chinese = regexp.MustCompile(`\p{Han}`)

// maxCaveatLines is how far beneath a table a line that speaks of it is looked for.
const maxCaveatLines = 5

func (c *caveat) figureGroups(line string) []string {
	if c.figures != nil {
		return c.figures
	}
	var all []string
	isNamed := func(name string) bool { return len(name) > 2 && strings.Contains(letters(line), name) }
	for _, col := range columns() {
		if col.hasNumbers() && slices.ContainsFunc(col.names, isNamed) {
			group, _, _ := strings.Cut(col.key, ".")
			all = append(all, group)
		}
	}
	if slices.Contains(all, "itl_s") {
		all = append(all, "inter_token_s")
	}
	return all
}

func (r *textRun) dropFigures(groups []string) {
	for i := range r.Run.Stages {
		s := &r.Run.Stages[i]
		for key := range s.Source.Printed {
			group, _, _ := strings.Cut(key, ".")
			if !slices.Contains(groups, group) {
				continue
			}
			r.doc.Figures--
			r.doc.Lost++
			delete(s.Source.Printed, key)
			switch group {
			case "rates":
				s.Rates.Completed = rundir.Number{}
			case "tokens_per_s":
				s.TokensPerS = rundir.TokenRates{}
			case "inter_token_s":
				s.InterToken = rundir.Number{}
			}
			if d := TimesAt(s, group); d != nil {
				*d = rundir.Dist{}
			}
		}
	}
}
