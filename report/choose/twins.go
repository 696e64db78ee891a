// Shows a fitted twin to people: its numbers, what the measurement does not identify and what would, how it predicted stages
// that it was not fitted to, and what it predicts for other workloads.

package choose

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/twin"
)

// TwinFit is a twin with what it was asked.
type TwinFit struct {
	Schema  string        `json:"schema"` // FitSchema, which JSON fills in
	Twin    *twin.Twin    `json:"twin"`
	Answers []twin.Answer `json:"answers,omitempty"`
	// Invalid counts those of the Stages in which the client was the limit.
	Stages  int `json:"stages"`
	Invalid int `json:"invalid_stages,omitempty"`
}

// twinFitSchema is the version of a fit's JSON. The twin in it has the keys of twin.yaml.
const twinFitSchema = "llmsweep.fit/v1"

// TwinJSON writes a fit.
func TwinJSON(w io.Writer, f TwinFit) error {
	f.Schema = twinFitSchema
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(f)
}

// Sections returns the fit for people.
func (f TwinFit) Sections() []table.Section {
	all := []table.Section{f.head()}
	if len(f.Answers) > 0 {
		all = append(all, asked(f.Answers))
		if slices.ContainsFunc(f.Answers, func(a twin.Answer) bool { return a.Latencies != nil }) {
			all = append(all, latencies(f.Answers))
		}
	}
	if c := f.Twin.Check; c != nil {
		all[0].Lines = append(all[0].Lines, lang.Both(func(l lang.Lang) string { return verdict(c, l) }))
		all = append(all, held(c))
	}
	return append(all, f.numbers())
}

// numbers is the table of the twin's numbers.
func (f TwinFit) numbers() table.Section {
	t := f.Twin
	tab := table.Table{Columns: []table.Column{{Head: headKey.Text(), Left: true}, {Head: headValue.Text()}, {Head: headInterval.Text()}, {Head: headMeaning.Text(), Left: true}}}
	for _, n := range t.Numbers() {
		value, mark := short(n.Value), ""
		if n.Value == 0 && n.Key == "kv_tokens" {
			value = "n/a"
		}
		if slices.Contains(t.Unknown, n.Key) {
			mark = "?"
		}
		between := ""
		if i, ok := t.Intervals[n.Key]; ok {
			between = short(i[0]) + " - " + short(i[1])
		}
		tab.Rows = append(tab.Rows, []table.Cell{table.Literal(n.Key), {Text: lang.Same(value), Mark: mark}, table.Literal(between), {Text: lang.Both(func(l lang.Lang) string { return meaning(n.Key, l) })}})
	}
	return table.Section{Title: titleNumbers.Text(), Level: 2, Table: tab, Rest: true}
}

// head is the section with the stages that the twin was fitted to, and the costs that they do not identify.
func (f TwinFit) head() table.Section {
	t := f.Twin
	s := table.Section{Title: titleTwin.Text(strings.Join(t.From, ", ")), Level: 1}
	if f.Invalid > 0 {
		s.Lines = append(s.Lines, sayInvalidStages.Text(f.Invalid, f.Stages))
	}
	s.Lines = append(s.Lines, saySteps.Text(t.Seen.Steps, t.Seen.Batch, t.Seen.Prompt[0], t.Seen.Prompt[1], t.Seen.Output[0], t.Seen.Output[1]))
	if t.Refined {
		s.Lines = append(s.Lines, sayRefined.Text())
	}
	const unsteady = 0.05 // of which a user should know
	if t.StageError > unsteady {
		s.Lines = append(s.Lines, sayUnsteady.Text(fmt.Sprintf("%.1f", 100*t.StageError)))
		if len(t.Unlike) > 0 {
			s.Lines = append(s.Lines, lang.Both(func(l lang.Lang) string { return unlike(t.Unlike, l) }))
		}
	}
	for _, key := range t.Unknown {
		s.Notes = append(s.Notes, lang.Same(key+": ").Plus(lang.Both(func(l lang.Lang) string { return f.remedy(key, l) })))
	}
	return s
}

// unlike lists the stages that are farthest off what the others predict.
func unlike(all []twin.Unlike, l lang.Lang) string {
	const most = 3
	var named []string
	for _, u := range all[:min(most, len(all))] {
		say := saySlower
		if u.Off < 0 {
			say = sayFaster
		}
		named = append(named, say.In(l, table.Clean(u.Stage), fmt.Sprintf("%.0f", 100*math.Abs(u.Off))))
	}
	return sayUnlike.In(l, strings.Join(named, lang.ListComma.In(l)))
}

// remedy is the measurement that would identify a number.
func (f TwinFit) remedy(key string, l lang.Lang) string {
	switch key {
	case "slots":
		return saySlots.In(l, f.Twin.Seen.Batch, f.Twin.Slots)
	case "kv_tokens":
		return sayKV.In(l, f.Twin.Seen.KVTokens)
	case "step_tokens":
		return sayBudget.In(l, f.Twin.Seen.StepTokens)
	}
	if f.Twin.Seen.Prompt[0] == f.Twin.Seen.Prompt[1] {
		return sayOneLength.In(l)
	}
	if f.noCost() {
		return sayNoCost.In(l)
	}
	return saySmallCost.In(l)
}

// noCost reports whether all costs of a step are either 0 or not known.
func (f TwinFit) noCost() bool {
	values, names := f.Twin.Step.Values()
	for i, name := range names {
		if values[i] != 0 && !slices.Contains(f.Twin.Unknown, name) {
			return false
		}
	}
	return true
}

// asked is the table of the predictions.
func asked(all []twin.Answer) table.Section {
	tab := table.Table{Columns: []table.Column{
		{Head: headWorkload.Text(), Left: true}, {Head: headSaturation.Text()}, {Head: headInterval.Text()}, {Head: headRemark.Text(), Left: true}}}
	for _, a := range all {
		row := []table.Cell{lengthsOf(a), table.Absent(), {}, {}}
		switch {
		case a.Refused != "":
			row[3].Text = refusal(a.Refused).Text()
		default:
			row[1], row[2] = table.Literal(short(a.Rate)), table.Literal(between([2]float64{a.Low, a.High}))
			if a.Extrapolated {
				row[3].Text = wordTwinExtrapolated.Text()
			}
		}
		tab.Rows = append(tab.Rows, row)
	}
	return table.Section{Title: titleAsked.Text(), Level: 2, Table: tab, Lines: []lang.Text{sayTwinPredicted.Text()}}
}

// latencies is the table of the predicted latencies, each with its interval.
func latencies(all []twin.Answer) table.Section {
	metrics := slices.DeleteFunc(twinMetrics(), func(m twinMetric) bool { return !m.Latency })
	tab := table.Table{Columns: []table.Column{{Head: headWorkload.Text(), Left: true}, {Head: headAtRate.Text()}}}
	for _, m := range metrics {
		tab.Columns = append(tab.Columns, table.Column{Head: m.Head.Text()})
	}
	for _, a := range all {
		l := a.Latencies
		if l == nil {
			continue
		}
		row := []table.Cell{lengthsOf(a), table.Literal(lang.Short(l.Rate, false))}
		for _, m := range metrics {
			cell := table.Absent()
			if v := m.Of(&l.Predicted); v > 0 {
				cell = table.Literal(lang.Short(v, false) + " (" + threeDigits(m.Of(&l.Low), m.Of(&l.High)) + ")")
			}
			row = append(row, cell)
		}
		tab.Rows = append(tab.Rows, row)
	}
	return table.Section{Title: titleLatencies.Text(), Level: 2, Table: tab, Lines: []lang.Text{sayLatencies.Text()}}
}

// threeDigits is an interval.
func threeDigits(low, high float64) string {
	return lang.Short(low, false) + " - " + lang.Short(high, false)
}

// lengthsOf names the load that a twin was asked about.
func lengthsOf(a twin.Answer) table.Cell {
	return table.Literal(strings.TrimSpace(fmt.Sprintf("%s %d / %d", table.Clean(a.Name), a.Prompt, a.Output)))
}

// relative is an error in percent.
func relative(predicted, measured float64) string {
	if measured == 0 || predicted == 0 {
		return "n/a"
	}
	return fmt.Sprintf("%+.1f %%", 100*(predicted/measured-1))
}

// short writes a number with four digits, never with an exponent.
func short(v float64) string {
	const least, exponents = 1e-6, 1e-4
	switch size := math.Abs(v); {
	case size > 0 && size < least:
		return "< 0.000001"
	case size > 0 && size < exponents:
		return strconv.FormatFloat(v, 'f', 6, 64)
	}
	if math.Abs(v) >= 1000 {
		return strconv.FormatFloat(math.Round(v), 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}
