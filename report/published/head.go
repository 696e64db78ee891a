package published

import (
	"regexp"
	"strings"
	"unicode"
)

// head is the heading of a column, or the label of a line. Brackets are read, never cut: what stands in them changes
// what the numbers mean.
type head struct {
	name      string // reduced to letters
	statistic string // mean, p50, ...; empty where none is named
	unit      string // as written; empty where none is named
	scope     string // input, output, total, or a part such as "per GPU", as written; empty where none is named
	unknown   string // what is not understood
}

var (
	brackets      = regexp.MustCompile(`[(\[【]([^()\[\]【】]*)[)\]】]`)
	statisticWord = `p50|p90|p95|p99(?:\.9)?|p999|mean|avg|average|median|max(?:imum)?|min(?:imum)?|std|` +
		`平均值?|均值|中位数?|最大值?|最小值?`
	statisticFirst = regexp.MustCompile(`^(` + statisticWord + `)(?:$|[^a-z0-9]+|\b)`)
	statisticLast  = regexp.MustCompile(`(?:[^a-z0-9]+|\b)(` + statisticWord + `)\.?$`)
	statisticAlone = regexp.MustCompile(`^(?:` + statisticWord + `)$`)
	unitLast       = regexp.MustCompile(`[^a-z0-9/]+(ms|msec|s|secs?|us|µs|μs|min)$|[^每](毫秒|微秒|秒)$`)
	scopeWord      = regexp.MustCompile(`^(?:(?:per|each)[- ]?\S+|/ ?(?:gpu|card|request|user|worker)|[单每](?:[卡张机路]|节点|用户|请求)\S*)$`)
	wholeWord      = regexp.MustCompile(`^(?:overall|system|aggregated?|全部|系统|整机|合计)$`)
)

func readHead(label string) head {
	label = strings.ToLower(strings.TrimSpace(strings.NewReplacer("（", "(", "）", ")", "：", ":").Replace(label)))
	var h head
	rest := brackets.ReplaceAllStringFunc(label, func(s string) string {
		h.readBracket(strings.TrimSpace(brackets.FindStringSubmatch(s)[1]))
		return " "
	})
	h.name = letters(rest)
	return h
}

// core returns the heading without the words outside of brackets that name a statistic or a unit: "P99 TTFT ms". Whole
// names come before it: a second is no unit in "requests per second".
func (h head) core(label string) head {
	rest := strings.ToLower(strings.ReplaceAll(strings.ReplaceAll(label, "（", "("), "）", ")"))
	rest = strings.TrimSpace(brackets.ReplaceAllString(rest, " "))
	if m := unitLast.FindStringSubmatchIndex(rest); m != nil {
		at := max(m[2], m[4])
		h.set(&h.unit, rest[at:])
		rest = strings.TrimRight(rest[:at], " ,:_/-")
	}
	for _, re := range []*regexp.Regexp{statisticFirst, statisticLast} {
		if m := re.FindStringSubmatchIndex(rest); m != nil {
			h.set(&h.statistic, statisticName(rest[m[2]:m[3]]))
			rest = rest[:m[2]] + rest[m[3]:]
		}
	}
	h.name = letters(rest)
	return h
}

// readBracket reads what stands in a pair of brackets: a unit, a statistic, a scope, or several of them.
func (h *head) readBracket(text string) {
	parts := []string{text}
	if _, known := unitOf(text); !known {
		parts = strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(",，;；、", r) })
	}
	for _, part := range parts {
		part = strings.TrimSpace(part)
		_, known := unitOf(part)
		switch {
		case part == "":
		case known:
			h.set(&h.unit, part)
		case statisticAlone.MatchString(part):
			h.set(&h.statistic, statisticName(part))
		case scopeName(part) != "":
			h.set(&h.scope, scopeName(part))
		case wholeWord.MatchString(part), strings.HasPrefix(part, "retokenized"):
		default:
			if !h.readWords(part) {
				h.unknown = part
			}
		}
	}
}

// readWords reads "mean, ms" without the comma.
func (h *head) readWords(text string) bool {
	fields := strings.Fields(text)
	if len(fields) < 2 {
		return false
	}
	for _, part := range fields {
		_, known := unitOf(part)
		if !known && !statisticAlone.MatchString(part) && !wholeWord.MatchString(part) {
			return false
		}
	}
	for _, part := range fields {
		h.readBracket(part)
	}
	return true
}

// set keeps what is named first; a second that says something else is not understood.
func (h *head) set(to *string, value string) {
	if *to != "" && *to != value {
		h.unknown = value
		return
	}
	*to = value
}

func statisticName(word string) string {
	switch strings.TrimSuffix(word, "值") {
	case "mean", "avg", "average", "平均", "均":
		return "mean"
	case "median", "p50", "中位", "中位数":
		return "p50"
	case "max", "maximum", "最大":
		return "max"
	case "min", "minimum", "最小":
		return "min"
	case "p99.9", "p999":
		return "p999"
	}
	return word
}

// scopeName is what the numbers are of, where that is not the whole of a configuration's output; empty for no scope.
func scopeName(text string) string {
	switch text {
	case "input", "prompt", "输入":
		return "input"
	case "output", "generated", "输出", "生成":
		return "output"
	case "total", "input+output", "总", "总计":
		return "total"
	}
	if scopeWord.MatchString(text) {
		return text
	}
	return ""
}

// letters reduces a label to what two people would write alike: no case, no spaces, no punctuation.
func letters(label string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, label)
}
