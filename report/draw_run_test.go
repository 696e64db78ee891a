package report

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"pgregory.net/rapid"

	"llmsweep/client/note"
	"llmsweep/client/testkit"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
)

// drawRun draws a sweep of a server: plain, failing at any load, or collapsing under overload. Verdicts near the edge
// are drawn at random, as is what arrived.
func drawRun(t *rapid.T) (*rundir.Run, []slo.Term) {
	f := rundir.Exactly
	between := func(label string, low, high float64) float64 { return rapid.Float64Range(low, high).Draw(t, label) }
	capacity, alone := between("capacity", 2, 40), between("alone", 0.02, 0.4)
	habit := rapid.SampledFrom([]string{"plain", "plain", "plain", "fails", "collapses"}).Draw(t, "habit")
	run := &rundir.Run{State: rundir.Complete, Plan: rundir.Plan{Kind: rundir.KindSweep, StageTime: 30, Tolerance: 0.05,
		MaxConcurrency: 64}, Client: rundir.Client{Valid: true}}
	add := func(name string, role rundir.Role, rate, offered, done, wait float64, verdict rundir.Verdict) {
		noise := between("noise", 0.01, 0.12)
		dist := func(mean float64) rundir.Dist {
			return rundir.Dist{N: 200, Neff: f(120), Mean: f(mean), P50: f(0.8 * mean), P90: f(1.9 * mean), P95: f(2.4 * mean),
				P99: f(3.5 * mean), Max: f(5 * mean)}
		}
		st := rundir.Stage{
			Name: name, Role: role, State: rundir.Complete, Verdict: verdict, Window: 30, Started: float64(40 * len(run.Stages)),
			Requests: rundir.Requests{Due: 200, Sent: 200, OK: 200}, Rates: rundir.Rates{Completed: f(done)},
			TokensPerS: rundir.TokenRates{Output: f(32 * done)}, OutputTokens: rundir.TokenStats{N: 200, Mean: f(32)},
			TTFT: dist(wait), ITL: dist(0.01 + wait/50), Latency: dist(wait + 0.6), InterToken: f(0.01 + wait/50),
			Progress: rundir.Progress{Rate: f(done), Low: f(done * (1 - noise)), High: f(done * (1 + noise)), Batches: 10},
		}
		if rate > 0 {
			st.Kind, st.Rate, st.Rates.Offered = "poisson", f(rate), f(offered)
			grows := max(0, (offered-done)/offered)
			st.Drift = rundir.Drift{Value: f(grows), Low: f(grows - 0.03), High: f(grows + 0.03)}
		} else {
			st.Kind, st.MaxConcurrency = "synchronous", 1
		}
		run.Stages = append(run.Stages, st)
	}
	add("synchronous", rundir.Synchronous, 0, 0, min(1/(alone+0.6), 0.9*capacity), alone, rundir.Closed)
	add("throughput", rundir.Throughput, 0, 0, capacity*between("filled", 0.85, 1.05), 20*alone, rundir.Closed)
	run.Stages[1].Kind, run.Stages[1].MaxConcurrency = "throughput", 64
	for i := range rapid.IntRange(3, 10).Draw(t, "rows") {
		rate := capacity * (0.2 + 0.13*float64(i))
		offered := rate * between("arrived", 0.92, 1.08)
		load := offered / capacity
		verdict := rundir.Stable
		switch chance := rapid.IntRange(0, 9).Draw(t, "verdict"); {
		case load > 0.93 && load < 1.05:
			verdict = []rundir.Verdict{rundir.Stable, rundir.Undecided, rundir.Saturated}[chance%3]
		case chance == 0:
			verdict = rundir.Undecided
		case load >= 1.05:
			verdict = rundir.Saturated
		}
		done, wait := min(offered, capacity), alone*(1+min(load, 0.97)/(1-min(load, 0.97)))
		if verdict == rundir.Saturated {
			wait = alone * 100 * load
			if habit == "collapses" {
				done = 0.3 * capacity
			}
		}
		if habit == "fails" {
			verdict, done = rundir.Shedding, 0.8*done
		}
		name, role := fmt.Sprintf("asynchronous@%.2f", rate), rundir.Grid
		if rapid.Bool().Draw(t, "hold") {
			name, role = fmt.Sprintf("hold@%.2f", rate), rundir.Hold
		}
		add(name, role, rate, offered, done, wait, verdict)
	}
	if rapid.Bool().Draw(t, "priced") {
		run.Labels.Price, run.Labels.GPUs = between("price", 0.1, 40), rapid.IntRange(0, 16).Draw(t, "gpus")
	}
	var terms []slo.Term
	if rapid.Bool().Draw(t, "slo") {
		term := testkit.Must(slo.Parse(fmt.Sprintf("ttft:p90<%dms", int(1000*alone*between("limit", 1, 8)))))
		terms = []slo.Term{term}
	}
	return run, terms
}

// tableNumbers returns the numbers that the tables of a run have.
func tableNumbers(run *rundir.Run) (all []float64) {
	for i := range run.Stages {
		st := &run.Stages[i]
		for _, n := range []rundir.Number{
			st.Rate, st.Rates.Offered, st.Rates.Completed, st.TokensPerS.Output, st.TTFT.Mean, st.TTFT.P50, st.TTFT.P90,
			st.TTFT.P95, st.TTFT.P99, st.ITL.Mean, st.InterToken,
			st.ITL.P50, st.ITL.P90, st.ITL.P95, st.ITL.P99, st.Latency.Mean, st.Latency.P50, st.Latency.P90, st.Latency.P95,
			st.Latency.P99, f64(st.MaxConcurrency),
		} {
			if !n.IsZero() {
				all = append(all, n.Value())
			}
		}
	}
	return all
}

func f64(n int) rundir.Number { return rundir.Exactly(float64(n)) }

var (
	nonFigures = regexp.MustCompile(`p\d\d|(hold|asynchronous)@[\d.]+|9?95 %|80 %|ttft:p90<[\d.]+m?s|` +
		`--[a-z-]+ [\d.]+\w*|held for [\d.]+ \w+|\d+ % of the`)
	printedNumber   = regexp.MustCompile(`(\d[\d,]*(?:\.\d+)?)( ms| %)?`)
	recommendedRate = regexp.MustCompile(`Run it at ([\d.]+) req/s`)
	sloRate         = regexp.MustCompile(`eets ttft\S+ up to ([\d.]+) req/s`)
	heldRate        = regexp.MustCompile(`Why: ([\d.]+) req/s was held for`)
	failedRate      = regexp.MustCompile(`(?:; at|Why: at) ([\d.]+) req/s `)
	output          = regexp.MustCompile(`(?:at|least|Sustains|Accepts) ([\d.]+) req/s.*?, ` +
		`([\d,]+(?:\.\d+)?) output tok/s`)
)

// isAllowed reports whether a printed number is one of those given, rounded as it is printed.
func isAllowed(printed, unit string, given []float64) bool {
	v, err := strconv.ParseFloat(strings.ReplaceAll(printed, ",", ""), 64)
	scale := map[string]float64{" ms": 1000, " %": 100}[unit]
	if scale == 0 {
		scale = 1
	}
	for _, g := range given {
		if math.Abs(g*scale-v) <= precision(printed) {
			return true
		}
	}
	return err != nil
}

// contradictions returns what in the sentences of an answer contradicts the tables, the answer, or another sentence.
// given are the numbers of both.
func contradictions(run *rundir.Run, lines []string, given []float64) (all []string, numbers int) {
	text := strings.Join(lines, "\n")
	complain := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	value := func(re *regexp.Regexp) (float64, bool) {
		m := re.FindStringSubmatch(text)
		if m == nil {
			return 0, false
		}
		v, _ := strconv.ParseFloat(strings.TrimRight(m[1], "."), 64)
		return v, true
	}
	for _, line := range lines {
		for _, m := range printedNumber.FindAllStringSubmatch(nonFigures.ReplaceAllString(line, ""), -1) {
			if numbers++; !isAllowed(m[1], m[2], given) {
				complain("%s%s stands nowhere: %s", m[1], m[2], line)
			}
		}
	}
	const rounding = 0.06
	comfort, ok := value(recommendedRate)
	if limit, meets := value(sloRate); ok && meets && comfort > limit*1.05+rounding {
		complain("to be run at %v, above the SLO's %v", comfort, limit)
	}
	for re, want := range map[*regexp.Regexp]string{heldRate: "held", failedRate: "piled up"} {
		at, ok := value(re)
		if !ok {
			continue
		}
		if text := remarkAt(run, at); !strings.HasPrefix(text, want) &&
			!(want == "piled up" && strings.HasPrefix(text, "failed")) {
			complain("%v req/s: %s by the sentence, %q by the row", at, want, text)
		}
	}
	if m := output.FindStringSubmatch(text); m != nil {
		rate, _ := strconv.ParseFloat(m[1], 64)
		tokens, _ := strconv.ParseFloat(strings.ReplaceAll(m[2], ",", ""), 64)
		if answered := 32.0; math.Abs(tokens/answered-rate) > precision(m[1])+precision(m[2])/answered {
			complain("%v req/s of %v tokens are not %v tok/s", rate, answered, tokens)
		}
	}
	if a := run.SLO; a != nil && a.Low.Known() && a.High.Known() {
		columns := findings.MainColumns(nil)
		for _, r := range findings.AllStages(run) {
			text, at := columns[len(columns)-1].Cell(r).In(lang.English), r.Stage.Rates.Offered.Value()
			if r.Stage.Rate.Known() && (strings.Contains(text, "SLO met") && at > a.Low.Value() ||
				strings.Contains(text, "SLO missed") && at < a.High.Value()) {
				complain("%v req/s: %s, and the interval is %v to %v", at, text, a.Low.Value(), a.High.Value())
			}
		}
	}
	return all, numbers
}

// precision is half of the last digit of a printed number: 140 may be 136.
func precision(printed string) float64 {
	_, decimals, _ := strings.Cut(printed, ".")
	zeros := len(printed) - len(strings.TrimRight(printed, "0"))
	if decimals != "" {
		zeros = -len(decimals)
	}
	return 0.51 * math.Pow10(zeros)
}

// remarkAt returns the remark on the hold at a rate.
func remarkAt(run *rundir.Run, rate float64) string {
	columns := findings.MainColumns(nil)
	for _, r := range findings.AllStages(run) {
		if r.Stage.Role == rundir.Hold && math.Abs(slo.Offered(r.Stage)-rate) < 0.006 {
			return columns[len(columns)-1].Cell(r).In(lang.English)
		}
	}
	return ""
}

// withoutNotes leaves out the sentences that notes make: what they count is their own.
func withoutNotes(run *rundir.Run, lines []string) []string {
	var own []note.Note
	own = append(own, run.Warnings...)
	if run.Saturation != nil {
		own = append(own, run.Saturation.Cautions...)
		own = append(own, run.Saturation.Reason)
	}
	if run.SLO != nil {
		own = append(own, run.SLO.Reason)
	}
	var left []string
	for _, line := range lines {
		said := false
		for _, n := range own {
			said = said || !n.IsZero() && findings.Note(n, lang.English) == line
		}
		if !said {
			left = append(left, line)
		}
	}
	return left
}
