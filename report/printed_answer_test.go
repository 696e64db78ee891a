package report_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"llmsweep/report"
	"llmsweep/report/lang"
)

// printedAnswer is an answer as a text tells it: its numbers as they are printed, by what they are.
type printedAnswer map[string]string

// pattern is a sentence of an answer in one language. Its groups are the numbers of keys.
type pattern struct {
	keys []string
	is   *regexp.Regexp
}

// number is a number in a sentence.
const number = `(\d[\d,]*(?:\.\d+)?)`

func newPattern(text string, keys ...string) pattern {
	return pattern{keys, regexp.MustCompile(strings.NewReplacer("#", number, "@", `(\d[\d.]* m?s)`).Replace(text))}
}

// answerPatterns are the sentences of answers that have rates, the result first.
var answerPatterns = map[lang.Lang][]pattern{
	lang.Chinese: {
		newPattern(`(?:饱和点为|(?:^|[^少多])可承受|可接受) # req/s(?:（95 % 区间：#-#）)?`, "rate", "low", "high"),
		newPattern(`(?:在最高实测到达率|至少可承受) # req/s`, "least"),
		newPattern(`单个副本在 # req/s 以内满足 SLO`, "slo"),
		newPattern(`饱和点在 # 与 # req/s 之间`, "low", "high"),
		newPattern(`饱和点：(?:各行不一致。一行在高于) # req/s 时已跟不上到达，而另一行完成了 # req/s`, "low", "high"),
		newPattern(`到达率不超过 # req/s 时满足 [^\n]*?(?:（95 % 区间：#-#）|$)`, "slo", "slo low", "slo high"),
		newPattern(`在所有实测到达率下均满足 [^\n]*?，最高为 # req/s`, "slo"),
		newPattern(`满足 [^\n]*? 的最高到达率在 # 与 # req/s 之间`, "slo low", "slo high"),
		newPattern(`依据：# req/s 保持了 `, "held"),
		newPattern(`(?:保持了 [^\n]*；|依据：)# req/s 时`, "failed"),
		newPattern(`建议负载 # req/s（饱和点的 80 %）：(?:TTFT @（p90 @）\W*ITL @)?`, "at 80 %", "TTFT", "p90", "ITL"),
		newPattern(`建议负载 # req/s（满足 SLO）`, "at SLO"),
	},
	lang.English: {
		newPattern(`(?:Saturates at|Sustains|Accepts) # req/s(?: \(95 %: #-#\))?`, "rate", "low", "high"),
		newPattern(`(?:Not saturated at|Sustains at least) # req/s`, "least"),
		newPattern(`One replica meets the SLO up to # req/s`, "slo"),
		newPattern(`Saturates between # and # req/s`, "low", "high"),
		newPattern(`One fell behind its arrivals above # req/s, and a later one completed # req/s`, "low", "high"),
		newPattern(`eets [^\n]*? up to # req/s(?: \(95 %: #-#\))?`, "slo", "slo low", "slo high"),
		newPattern(`eets [^\n]*? at all rates measured, the highest # req/s`, "slo"),
		newPattern(`eets [^\n]*? up to a rate between # and # req/s`, "slo low", "slo high"),
		newPattern(`Why: # req/s was held`, "held"),
		newPattern(`(?:; at|Why: at) # req/s `, "failed"),
		newPattern(`Run it at # req/s \(80 %\):(?: TTFT @ \(p90 @\), ITL @)?`, "at 80 %", "TTFT", "p90", "ITL"),
		newPattern(`Run it at # req/s, which meets the SLO:`, "at SLO"),
	},
}

// resultPatterns is how many of the sayings begin an answer.
const resultPatterns = 5

// readAnswers returns the answers that a text tells in a language, in order. An answer begins with its result.
func readAnswers(text string, l lang.Lang) (all []printedAnswer) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		for i, s := range answerPatterns[l] {
			m := s.is.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			if i < resultPatterns || len(all) == 0 {
				all = append(all, printedAnswer{})
			}
			for j, key := range s.keys {
				if v := strings.TrimRight(strings.ReplaceAll(m[j+1], ",", ""), "."); v != "" {
					all[len(all)-1][key] = v
				}
			}
		}
	}
	return all
}

// checkOrder returns what in an answer that a text tells is out of order.
func (a printedAnswer) checkOrder() (wrong []string) {
	for _, pair := range [][2]string{
		{"low", "rate"}, {"rate", "high"}, {"low", "high"}, {"slo low", "slo"}, {"slo", "slo high"}, {"slo low", "slo high"},
		{"held", "failed"}, {"held", "high"},
		{"at 80 %", "rate"}, {"at 80 %", "slo"}, {"at 80 %", "slo high"}, {"at SLO", "rate"}, {"at SLO", "slo"},
		{"at SLO", "slo high"}, {"slo", "high"},
	} {
		small, large := a[pair[0]], a[pair[1]]
		if small == "" || large == "" {
			continue
		}
		x, err1 := strconv.ParseFloat(small, 64)
		y, err2 := strconv.ParseFloat(large, 64)
		if err1 != nil || err2 != nil || x > y+report.Precision(small)+report.Precision(large) {
			wrong = append(wrong, fmt.Sprintf("%s %s is above %s %s", pair[0], small, pair[1], large))
		}
	}
	return wrong
}

func (a printedAnswer) String() string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(a)) {
		parts = append(parts, key+" "+a[key])
	}
	return strings.Join(parts, ", ")
}

// TestAnswersAreRead: the patterns know the sentence of a saturation rate. Where its wording changes, tests that read
// answers would check nothing.
func TestAnswersAreRead(t *testing.T) {
	run := report.SweptRun()
	for _, l := range lang.All() {
		if all := readAnswers(renderRun(t, "markdown", &run, l), l); len(all) == 0 || all[0]["rate"] == "" {
			t.Errorf("%s: answerPatterns find no rate in the answer: %v", l, all)
		}
	}
}
