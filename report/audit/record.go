package audit

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"llmsweep/sweep/rundir"
)

// recordRules list what Records looks for.
func recordRules() []Rule {
	return []Rule{
		{Name: "instants", Says: "A request whose instants are out of order: due, sent, headers, first token, last token, end.",
			Tolerance: "1 ms: instants come from two clocks of one machine, the kernel's and the program's."},
		{Name: "gaps", Says: "Gaps between chunks that do not add up to the time between the first and the last token.",
			Tolerance: "1 ms: gaps are rounded to microseconds cumulatively, so they do add up."},
		{Name: "stopped", Says: "Answers stopped by length below the length asked for: a limit of the server's own.",
			Tolerance: "5 %: an end token or two; and a tenth of the answers, for contexts that were full."},
		{Name: "empty", Says: "Requests that ended well with no output token counted.",
			Tolerance: "none."},
	}
}

// instantSlack is what two clocks of one machine, and rounding, may be apart.
const instantSlack = 1e-3

// tally gathers what one rule finds in the records of one stage.
type tally struct {
	n, line int
	text    string
}

// Records looks at the requests of a run, of which run.json shows the sums only. File names the records.
func Records(run *rundir.Run, file string, records iter.Seq2[*rundir.Record, error]) ([]Finding, error) {
	found := map[[2]string]*tally{}
	ended := map[string]int{}
	line := 0
	for r, err := range records {
		if err != nil {
			return nil, err
		}
		line++
		if r.Status == "ok" {
			ended[r.Stage]++
		}
		for _, c := range []struct {
			rule  string
			check func(*rundir.Record) string
		}{{"instants", instants}, {"gaps", gaps}, {"stopped", stopped}, {"empty", empty}} {
			text := c.check(r)
			if text == "" {
				continue
			}
			t := found[[2]string{r.Stage, c.rule}]
			if t == nil {
				t = &tally{line: line, text: text}
				found[[2]string{r.Stage, c.rule}] = t
			}
			t.n++
		}
	}
	return tallied(run, file, found, ended), nil
}

// tallied makes findings, one a stage and rule.
func tallied(run *rundir.Run, file string, found map[[2]string]*tally, ended map[string]int) []Finding {
	var out []Finding
	for key, t := range found {
		stage, rule := key[0], key[1]
		if rule == "stopped" && 10*t.n < ended[stage] {
			continue
		}
		text := t.text
		if t.n > 1 {
			text = fmt.Sprintf("%d requests, the first: %s", t.n, t.text)
		}
		out = append(out, Finding{File: file, Result: title(run), Line: t.line, Row: stage, Rule: rule, Grade: Wrong, Text: text})
	}
	slices.SortFunc(out, func(a, b Finding) int { return strings.Compare(a.Row+"\x00"+a.Rule, b.Row+"\x00"+b.Rule) })
	sortFindings(out)
	return out
}

// instants finds a request that got something before it had what comes first.
func instants(r *rundir.Record) string {
	last, lastName := rundir.Number{}, ""
	for _, at := range []struct {
		name string
		f    rundir.Number
	}{{"due", r.Due}, {"sent", r.Sent}, {"headers", r.Headers}, {"first token", r.FirstToken}, {"last token", r.LastToken}, {"end", r.End}} {
		if !at.f.Known() {
			continue
		}
		if last.Known() && at.f.Value() < last.Value()-instantSlack {
			return fmt.Sprintf("%s at %s, %s at %s", at.name, seconds(at.f.Value()), lastName, seconds(last.Value()))
		}
		last, lastName = at.f, at.name
	}
	return ""
}

// gaps finds chunk gaps that do not add up.
func gaps(r *rundir.Record) string {
	if len(r.GapsUS) == 0 || !known(r.FirstToken, r.LastToken) {
		return ""
	}
	sum := int64(0)
	for _, g := range r.GapsUS {
		sum += g
	}
	between := r.LastToken.Value() - r.FirstToken.Value()
	if math.Abs(between-float64(sum)/1e6) <= instantSlack {
		return ""
	}
	return fmt.Sprintf("%d gaps make %s, and %s passed between first and last token", len(r.GapsUS), seconds(float64(sum)/1e6), seconds(between))
}

// stopped finds an answer that a limit ended, and not the one that was asked for.
func stopped(r *rundir.Record) string {
	if r.Finish != "length" || r.AskedTokens == 0 || !r.OutputTokens.Known() ||
		r.OutputTokens.Value() >= float64(r.AskedTokens)*(1-tokensAbove)-1 {
		return ""
	}
	return fmt.Sprintf("stopped by length at %.0f tokens, and %d were asked for", r.OutputTokens.Value(), r.AskedTokens)
}

// empty finds a success without a token.
func empty(r *rundir.Record) string {
	if r.Status != "ok" || !r.OutputTokens.Known() || r.OutputTokens.Value() > 0 {
		return ""
	}
	return "ended well with 0 output tokens"
}
