// Package audit finds rows that cannot be right: figures that contradict each other, their own row, their neighbours or
// arithmetic. It looks at results read elsewhere and at runs measured here alike. It never says what the right figure
// is, never judges a server by its figures (slow is not wrong), and stays silent where rounding or chance explains a
// difference: each rule says how much it tolerates, and why.
package audit

import (
	"cmp"
	"slices"
	"strings"

	"llmsweep/sweep/rundir"
)

// Grade says how sure a finding is.
type Grade string

// The grades there are.
const (
	Wrong    Grade = "wrong"    // the figures contradict each other: at least one cannot be right
	Doubtful Grade = "doubtful" // they can be right only under conditions that nobody named
)

// Finding is one thing that is not right.
type Finding struct {
	File       string `json:"file"`
	Result     string `json:"result"`                // what the result is of
	ResultLine int    `json:"result_line,omitempty"` // where it begins
	Line       int    `json:"line,omitempty"`        // of the figure, from 1; 0 in run.json
	Row        string `json:"row"`
	Rule       string `json:"rule"`
	Grade      Grade  `json:"grade"`
	Text       string `json:"text"` // the numbers
}

// Rule is one thing that is looked for.
type Rule struct {
	Name      string `json:"name"`
	Says      string `json:"says"`
	Tolerance string `json:"tolerance"` // and why
	check     func(all []*table) []hit
}

// hit is a finding where it was found. Key is the figure that stands for it.
type hit struct {
	row   *row
	key   string
	text  string
	grade Grade
}

// Subject is a run to look at, and the file that it stands in. What was read elsewhere knows its file.
type Subject struct {
	File string
	Run  *rundir.Run
}

// Runs looks at runs, in the order they were printed or made, and at each next to the others.
func Runs(subjects []Subject) []Finding {
	all := tables(subjects)
	var found []Finding
	for _, r := range Rules() {
		for _, h := range r.check(all) {
			found = append(found, h.finding(r.Name))
		}
	}
	sortFindings(found)
	return found
}

// sortFindings puts findings in the order of the files' lines, those of one line in the order of the rules.
func sortFindings(found []Finding) {
	slices.SortStableFunc(found, func(a, b Finding) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.ResultLine, b.ResultLine), cmp.Compare(a.Line, b.Line))
	})
}

func (h hit) finding(rule string) Finding {
	t := h.row.table
	return Finding{
		File: t.file, Result: t.title, ResultLine: t.line, Line: h.row.line(h.key), Row: h.row.name(), Rule: rule,
		Grade: cmp.Or(h.grade, Wrong), Text: h.text,
	}
}

// each makes a check of all rows out of a check of one. The check returns the figure that stands for the finding, and
// the numbers; no text is no finding.
func each(check func(*row) (key, text string)) func([]*table) []hit {
	return func(all []*table) []hit {
		var hits []hit
		for _, t := range all {
			for _, r := range t.rows {
				if key, text := check(r); text != "" {
					hits = append(hits, hit{row: r, key: key, text: text})
				}
			}
		}
		return hits
	}
}

// perTable makes a check of all tables out of a check of one.
func perTable(check func(*table) []hit) func([]*table) []hit {
	return func(all []*table) []hit {
		var hits []hit
		for _, t := range all {
			hits = append(hits, check(t)...)
		}
		return hits
	}
}

// doubtful lowers the grade of what a check finds.
func doubtful(check func([]*table) []hit) func([]*table) []hit {
	return func(all []*table) []hit {
		hits := check(all)
		for i := range hits {
			hits[i].grade = Doubtful
		}
		return hits
	}
}

// Rules lists what is looked for, in the order in which a reader should hear of it.
func Rules() []Rule {
	return []Rule{
		{"zeros", "A row of zeros: nothing was completed, and it is printed as if no time had passed.",
			"none: a request takes time.", each(zeros)},
		{"unit", "A unit contradicts the rest of its column.",
			"ten times beyond the range of the other rows, and inside it in their unit: columns do span two powers of ten.", each(units)},
		{"ttft", "The first token came later than the last.",
			"rounding alone: it holds for each request, so for the means.", each(ttftAboveLatency)},
		{"latency", "Latency is not TTFT + (n-1) x inter-token latency.",
			"5 %: it is an identity of means; good rows agree with it within 2 %, one within 4 %; n is tokens/s over requests/s or what was asked for, whichever fits.", each(latencyIdentity)},
		{"tokens", "More tokens per request than were asked for, or fewer than half.",
			"5 % above: an end token or two; and five times what the rows of the table differ by, for requests cut at a window's edges. Half below: answers may end by themselves, and good tables go down to 55 %.", each(tokensPerRequest)},
		{"offered", "More was completed than was offered.",
			"four standard deviations of the number of arrivals; where their number is not told 40 %, three of them in a stage of 60.", each(completedOverOffered)},
		{"synchronous", "One request at a time, and the rate is not 1 / latency.",
			"5 % above, where more than one would be in flight; 15 % below, for pauses between requests; one request at the edge of a short stage.", each(synchronousRate)},
		{"order", "Percentiles out of order, a mean outside its extremes, or a spread that they leave no room for.",
			"rounding; 5 % for the spread, which some divide by n-1.", each(order)},
		{"arithmetic", "A figure does not follow from the figures it is made of.",
			"rounding and 0.5 %: the clock is read twice, once for the duration and once for the rates.", each(arithmetic)},
		{"copied", "Figures are those of the row above.",
			"four digits or more alike; and chance or a steady server explains it unless what is made of the figures differs: latency by over 2 % where TTFT and inter-token latency are both the same, latency less TTFT by over 10 % where inter-token latency is, the rate asked where all are.", perTable(copied)},
		{"grid", "A rate is off a grid that the other rates are on.",
			"rounding of the two ends and of the rate; silent unless two thirds of the rates are on the grid.", perTable(offGrid)},
		{"retokenized", "The text tokenizes to another number of tokens than was reported.",
			"10 %: tokenizing anew loses special tokens and joins others, a per cent or two.", each(retokenized)},
		{"tpot", "Mean time per output token is far above mean inter-token latency.",
			"twice: both average the same gaps, one by request and the other by token, and agree within 2 % unless the stream repeats text or stalls at its end.", each(tpotAboveITL)},
		{"default-limit", "The server stopped at a length of its own, not at Max Tokens.",
			"5 % of spread and of duration while Max Tokens differ by half or more, and a printed response that stopped at fewer tokens: all three.", stoppedByDefault},
		{"closed-loop", "Fewer requests were in flight than the table says.",
			"5 %: n requests kept at c in flight end within their sum / c + the longest (Graham 1966), whatever their order.", each(closedLoop)},
		{"twice", "One configuration is printed more than once, with other values.",
			"where most figures are alike it is one measurement and none may differ; else 25 % and four standard errors: runs of 100 requests repeat within 16 %.", printedTwice},
		{"even", "All requests took the same time, yet the counted tokens are fewer than Max Tokens.",
			"2.5 % of spread at a temperature above 0, and 10 % of tokens: answers that end by themselves do not end together.", doubtful(each(evenLengths))},
		{"ceiling", "The throughput row is above what the same rate completed when it was offered.",
			"25 %: a stage of four latencies that begins empty leaves a quarter in flight at its end.", doubtful(perTable(ceiling))},
	}
}
