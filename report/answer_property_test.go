package report

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
	"pgregory.net/rapid"

	"llmsweep/client/testkit"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
)

// allowedNumbers returns the numbers that sentences may have: those of the tables, and those of the answer.
func allowedNumbers(t interface{ Fatal(...any) }, run *rundir.Run, a *rundir.Answer) []float64 {
	b := testkit.Must(json.Marshal(a))
	all := tableNumbers(run)
	var walk func(_, v gjson.Result) bool
	walk = func(_, v gjson.Result) bool {
		if v.Type == gjson.Number {
			all = append(all, v.Num)
		} else if v.IsObject() || v.IsArray() {
			v.ForEach(walk)
		}
		return true
	}
	walk(gjson.Result{}, gjson.ParseBytes(b))
	if run.SLO != nil {
		all = append(all, run.SLO.Goodput.Value())
	}
	if c := run.Target.Capacity; c.Known() {
		all = append(all, c.Value())
	}
	for _, rate := range []float64{a.Rate.Value(), loadOf(a)} {
		perHour := 3600 * rate * a.Output.Value() / a.Rate.Value() // tokens
		all = append(all, run.Labels.Price*float64(run.Labels.GPUs)/perHour*1e6)
	}
	return append(all, run.Labels.Price, float64(run.Labels.GPUs))
}

// loadOf returns the load that an answer recommends; NaN where it recommends none.
func loadOf(a *rundir.Answer) float64 {
	if a.Comfortable == nil {
		return math.NaN()
	}
	return a.Comfortable.Rate.Value()
}

// checkCosts returns what is wrong with the cost of output: it is told where price, number of GPUs, rate and output are
// known, and nowhere else.
func checkCosts(run *rundir.Run, a *rundir.Answer) (wrong []string) {
	said := strings.Contains(strings.Join(findings.Answer(run, lang.English), "\n"), "per million output tokens")
	known := run.Labels.Price > 0 && run.Labels.GPUs > 0 && a.Rate.Known() && a.Output.Known()
	if said != known {
		wrong = append(wrong, "the cost of output is told, or not, in the wrong place")
	}
	return wrong
}

// checkOrder returns what in an answer is out of order.
func checkOrder(a *rundir.Answer) (wrong []string) {
	if a.Rate.Known() && a.Low.Known() && (a.Rate.Value() < a.Low.Value() || a.Rate.Value() > a.High.Value()) {
		wrong = append(wrong, "the interval does not hold the rate")
	}
	if c := a.Comfortable; c != nil {
		if c.Rate.Value() > a.Rate.Value() || a.Promise != nil && (a.Promise.Rate.IsZero() && a.Promise.Low.IsZero() ||
			c.Rate.Value() > a.Promise.Rate.Or(a.Promise.Low.Or(c.Rate.Value()))) {
			wrong = append(wrong, "comfortable above its limits")
		}
		if c.TTFTMean.Known() && c.TTFTP90.Known() && c.TTFTP90.Value() < c.TTFTMean.Value()/2 {
			wrong = append(wrong, "p90 far below the mean")
		}
	}
	if len(a.Cautions) > 3 {
		wrong = append(wrong, "more than three cautions")
	}
	return wrong
}

// TestAnswersContradictNothing: over many sweeps, each number of an answer's sentences stands in the tables or in the
// answer, no two sentences contradict each other, and rates are in order.
func TestAnswersContradictNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		run, terms := drawRun(t)
		saturation.WriteAnswer(run, terms)
		a := saturation.AnswerOf(run)
		for _, l := range lang.All() {
			if said := findings.Answer(run, l); len(said) > 5+len(a.Cautions) || len(a.Cautions) > 3 {
				t.Errorf("%d lines of answer with %d cautions:\n%s", len(said), len(a.Cautions), strings.Join(said, "\n"))
			}
		}
		en, zh := strings.Join(findings.Answer(run, lang.English), "\n"), strings.Join(findings.Answer(run, lang.Chinese),
			"\n")
		if !slices.Equal(numbersOf(en), numbersOf(zh)) {
			t.Errorf("numbers differ by language:\n%s\n%s", en, zh)
		}
		lines := append(withoutNotes(run, findings.Answer(run, lang.English)),
			withoutNotes(run, findings.Notes(run, lang.English))...)
		wrong, _ := contradictions(run, lines, allowedNumbers(t, run, a))
		for _, w := range slices.Concat(wrong, checkOrder(a), checkCosts(run, a)) {
			t.Errorf("%s\n%s\n%s", w, strings.Join(lines, "\n"), rowList(run))
		}
	})
}

// numbersOf returns the numbers of a text in one order, so that two languages, which have them in another one, can be
// compared.
func numbersOf(text string) []string {
	all := regexp.MustCompile(`\d+(?:\.\d+)?`).FindAllString(text, -1)
	slices.Sort(all)
	return all
}

// rowList is the table of a run as short as it can be.
func rowList(run *rundir.Run) string {
	var b strings.Builder
	for i := range run.Stages {
		st := &run.Stages[i]
		b.WriteString(st.Name + " " + lang.Number(st.Rates.Offered, lang.Rate) + " " + lang.Number(st.Rates.Completed,
			lang.Rate) + " " + string(st.Verdict) + "\n")
	}
	return b.String()
}
