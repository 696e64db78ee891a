package published

import (
	"bufio"
	"cmp"
	"io"
	"path"
	"strconv"
	"strings"
	"time"

	"llmsweep/client/api"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

func stressNotes(r findings.StageRow, nearest bool, l lang.Lang) []string {
	s := r.Stage
	var notes []string
	if d := &s.Latency; s.Source != nil && d.P99.Known() && d.P99 == d.Max {
		notes = append(notes, noteMaximum.In(l))
	} else if s.Source == nil && d.P99.Known() && !nearest {
		notes = append(notes, noteInterpolated.In(l))
	}
	if !theoreticalMax(s).IsZero() {
		notes = append(notes, noteTheoretical.In(l))
	}
	notes = append(notes, lengthNote(r, l), firstAnswerNote(s, l), openNote(s, l),
		windowNote(s, l, "Total Test Duration"), unsupportedNote(l, []percentileName{
			{&s.Latency, "mean", "Average"}, {&s.Latency, "p90", "P90"}, {&s.Latency, "p95", "P95"}, {&s.Latency, "p99", "P99"},
		}), boundNote(l, &s.Latency))
	if n := s.Requests.Incomplete; n > 0 {
		notes = append(notes, noteIncomplete.In(l, countOrAbsent(s, n)))
	}
	return append(notes, lengthWarning(r, l), goodputNote(s, l))
}

// WriteStress writes a box-drawn table of two columns for each stage, as a well-known stress tester prints it: title,
// labels and units are a format that others read, so they are the same in every language. What the format has no room
// for stands beneath each table. Where a run has several stages, a summary across them stands at the end.
//
// The duration is the window over which the rates were counted, so that the table agrees with itself. Of a number of
// requests in a closed loop it is the whole run, as the format defines its throughputs: all requests and all tokens
// over the duration of the test. Percentiles are said to be interpolated, unless they are nearest: measured values.
func WriteStress(w io.Writer, runs []rundir.Run, nearest bool, l lang.Lang) error {
	out := bufio.NewWriter(w)
	for i := range runs {
		rows := wholeRunRows(&runs[i])
		for j, r := range rows {
			if i+j > 0 {
				out.WriteString("\n")
			}
			if len(rows) > 1 {
				out.WriteString("---- " + table.Clean(findings.StageName(r.Stage)) + " ----\n")
			}
			writeStress(out, r, nearest, l)
		}
		if len(rows) > 1 {
			out.WriteString("\n")
			heads := []string{"Stage", "In Flight", "Requests/s", "Tokens/s", "Average", "P95", "P99", "Failed"}
			writeBox(out, saySummary.In(l, strconv.Itoa(len(rows))), heads, ladderRows(rows))
		}
	}
	return out.Flush()
}

// wholeRunRows returns the rows of a run for formats whose rates are those of whole runs.
func wholeRunRows(run *rundir.Run) []findings.StageRow {
	rows := findings.AllStages(run)
	for i := range rows {
		rows[i].Stage = rows[i].Stage.OfWholeRun()
	}
	return rows
}

func writeStress(w *bufio.Writer, r findings.StageRow, nearest bool, l lang.Lang) {
	if r.Stage.Elapsed > 0 {
		w.WriteString("Test completed in " + lang.Number(rundir.Exactly(r.Stage.Elapsed), lang.Fixed(2)) + " seconds\n")
	}
	writeBox(w, stressHeading(r), []string{"Metric", "Value"}, stressRows(r))
	writeNotes(w, stressNotes(r, nearest, l))
}

// stressHeading names the engine where its own API was used, and when the stage ended, as the format has it.
func stressHeading(r findings.StageRow) string {
	subject := "LLM"
	if engine := findings.EngineName(r.Run); engine != "" && !isBase(address(r.Run)) {
		subject = table.Clean(engine)
	}
	title := subject + " Stress Test Results"
	if r.Run.Started.IsZero() {
		return title
	}
	after := r.Stage.EndsAt()
	if s := r.Stage; s.Source != nil {
		after = time.Duration((s.Started + max(s.Window, s.Elapsed)) * float64(time.Second))
	}
	return title + " - " + r.Run.Started.Add(after).Round(time.Millisecond).Format(time.DateTime)
}

// address returns the address that requests were sent to, or for the chat API that of the API, as the format has it.
func address(run *rundir.Run) string {
	d, err := api.DialectByName(run.Target.API)
	if run.Source != nil || err != nil || !strings.Contains(run.Target.URL, "://") { // sim: has no address
		return run.Target.URL
	}
	return strings.TrimSuffix(strings.TrimRight(run.Target.URL, "/"), "/v1") +
		strings.TrimSuffix(d.Path(), "/chat/completions")
}

// modelRow reports whether a table has a row with the model: one that was read only where it had it, and ours where
// requests name it.
func modelRow(r findings.StageRow) bool {
	if src := r.Run.Source; src != nil {
		_, printed := r.Stage.Source.At("target.model")
		return printed || src.Format != Stress
	}
	d, err := api.DialectByName(cmp.Or(r.Run.Target.API, api.Default()))
	return err == nil && d.Traits().Model
}

// isBase reports whether an address is that of an API, not of one of its endpoints.
func isBase(url string) bool {
	_, address, _ := strings.Cut(url, "://")
	last := path.Base(strings.TrimRight(address, "/"))
	_, err := strconv.Atoi(strings.TrimPrefix(last, "v"))
	return !strings.Contains(strings.TrimRight(address, "/"), "/") || err == nil
}

// stressRows leaves out what is not known of the requests, and writes n/a for other numbers that are not known.
func stressRows(r findings.StageRow) [][]string {
	run, s := r.Run, r.Stage
	var rows [][]string
	add := func(label, value string) { rows = append(rows, []string{label, value}) }
	addKnown := func(label, value string) {
		if value != "" && value != lang.Absent {
			add(label, value)
		}
	}
	label := "URL"
	if isBase(address(run)) {
		label = "API Base"
	}
	addKnown(label, address(run))
	if modelRow(r) {
		addKnown("Model", cmp.Or(run.Target.Model, findings.ModelName(run)))
	}
	addKnown("Max Tokens", lang.Number(askedTokens(r), lang.WholeOr(2)))
	temperature := func(v float64, _ bool) string { return lang.Shortest(v) }
	addKnown("Temperature", lang.Number(run.Workload.Temperature, temperature))
	if !s.Rate.Known() { // what is a bound in an open loop is no number of requests in flight
		addKnown("Concurrent Requests", countOrAbsent(s, s.MaxConcurrency))
	}
	seconds := func(label string, f rundir.Number) { add(label, withUnit(f, lang.Fixed(2), "seconds")) }
	n := s.Requests
	add("Total Requests", countOrAbsent(s, n.Due))
	add("Successful Requests", shareText(n.OK, n))
	add("Failed Requests", shareText(n.Error, n))
	seconds("Total Test Duration", positive(s.Window))
	seconds("Min Response Time", s.Latency.Min)
	seconds("Max Response Time", s.Latency.Max)
	seconds("Average Response Time", s.Latency.Mean)
	seconds("Median Response Time", s.Latency.P50)
	seconds("P90 Response Time", s.Latency.P90)
	seconds("P95 Response Time", s.Latency.P95)
	seconds("P99 Response Time", s.Latency.P99)
	seconds("Std Dev Response Time", s.Latency.Std)
	add("Theoretical Max Throughput", withUnit(theoreticalMax(s), lang.Rate, "requests/second"))
	add("Actual Throughput", withUnit(lang.NonZero(s.Rates.Completed), lang.Rate, "requests/second"))
	add("Total Generated Tokens", lang.Number(total(&s.OutputTokens), lang.WholeOr(0)))
	add("Tokens Per Second", lang.Number(lang.NonZero(s.TokensPerS.Output), lang.Rate))
	add("Avg Tokens Per Request", lang.Number(s.OutputTokens.Mean, lang.Fixed(2)))
	add("Peak Requests In Flight", countOrAbsent(s, s.Concurrency.Peak))
	return rows
}

// askedTokens is the longest answer that was asked for.
func askedTokens(r findings.StageRow) rundir.Number {
	if r.Stage.AskedTokens.Known() {
		return r.Stage.AskedTokens
	}
	return positive(r.Run.Workload.OutputTokens.Mean)
}

// positive is absent for 0, which stands for what was never set.
func positive(v float64) rundir.Number { return lang.NonZero(rundir.Exactly(v)) }

// countOrAbsent is for a count that a stage of ours always has, and that one read elsewhere may lack.
func countOrAbsent(s *rundir.Stage, n int) string {
	if n == 0 && (s.Source != nil || s.Requests.Due == 0) {
		return lang.Absent
	}
	return strconv.Itoa(n)
}

func shareText(n int, r rundir.Requests) string {
	all := cmp.Or(r.Due, r.OK+r.Error+r.Incomplete)
	if all == 0 {
		return lang.Absent
	}
	return strconv.Itoa(n) + " (" + lang.Fixed(1)(100*float64(n)/float64(all), false) + "%)"
}

func withUnit(f rundir.Number, p lang.Printer, unit string) string {
	if f.IsZero() {
		return lang.Absent
	}
	return lang.Number(f, p) + " " + unit
}

// theoreticalMax is all requests over the longest response time: what published tables of this kind show by that name.
// Over a lower bound of the time it would be an upper bound, which is no number of ours.
func theoreticalMax(s *rundir.Stage) rundir.Number {
	if !s.Rates.TheoreticalMax.IsZero() {
		return s.Rates.TheoreticalMax
	}
	if n := s.Requests.Due; n > 0 && s.Latency.Max.Known() {
		return rundir.Exactly(float64(n) / s.Latency.Max.Value())
	}
	return rundir.Number{}
}

// total is a number of tokens over all requests, which is stored as such or as a mean.
func total(t *rundir.TokenStats) rundir.Number {
	if !t.Total.IsZero() || t.N == 0 {
		return t.Total
	}
	return lang.Scale(t.Mean, float64(t.N))
}

func ladderRows(rows []findings.StageRow) [][]string {
	var lines [][]string
	for _, r := range rows {
		s := r.Stage
		lines = append(lines, []string{
			findings.StageName(s), lang.Number(s.Concurrency.Mean, lang.Tenths),
			lang.Number(lang.NonZero(s.Rates.Completed), lang.Rate), lang.Number(lang.NonZero(s.TokensPerS.Output), lang.Short),
			lang.Time(s.Latency.Mean), lang.Time(s.Latency.P95), lang.Time(s.Latency.P99), failedText(s),
		})
	}
	return lines
}

// failedText is absent for what was read from a table without counts.
func failedText(s *rundir.Stage) string {
	if s.Source != nil && s.Requests == (rundir.Requests{}) {
		return lang.Absent
	}
	return strconv.Itoa(findings.FailedRequests(s))
}

func writeBox(w *bufio.Writer, title string, heads []string, rows [][]string) {
	m := table.TerminalColumns()
	widths := make([]int, len(heads))
	for _, cells := range append([][]string{heads}, rows...) {
		for i, c := range cells {
			widths[i] = max(widths[i], m.StringWidth(table.Clean(c))+2)
		}
	}
	sum := len(widths) + 1
	for _, n := range widths {
		sum += n
	}
	spare := max(0, sum-m.StringWidth(title))
	w.WriteString(strings.Repeat(" ", spare/2) + title + strings.Repeat(" ", spare-spare/2) + "\n")
	draw := func(left, line, middle, right string) {
		parts := make([]string, len(widths))
		for i, n := range widths {
			parts[i] = strings.Repeat(line, n)
		}
		w.WriteString(left + strings.Join(parts, middle) + right + "\n")
	}
	write := func(bar string, cells []string) {
		for i, c := range cells {
			w.WriteString(bar + " " + table.Pad(table.Clean(c), widths[i]-1, true))
		}
		w.WriteString(bar + "\n")
	}
	draw("┏", "━", "┳", "┓")
	write("┃", heads)
	draw("┡", "━", "╇", "┩")
	for _, cells := range rows {
		write("│", cells)
	}
	draw("└", "─", "┴", "┘")
}
