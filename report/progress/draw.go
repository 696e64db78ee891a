package progress

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"llmsweep/report/draw"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// The measures of the screen, in columns and rows.
const (
	wide          = 110 // from here on the curves stand beside the numbers
	numbersWide   = 46  // width of the numbers then
	betweenLines  = 2   // columns between two blocks side by side
	leastChart    = 4   // rows of a drawing
	mostChart     = 16
	chartFrame    = 3 // rows of a chart besides its drawing: title, axis, ruler
	barCells      = 16
	barWidth      = barCells + 2
	labelWide     = 10
	valueWide     = 13
	leastFailures = 16 // columns, below which they get a line of their own
	leastLines    = 2  // about stages and notes
)

// style returns text in a style; the program leaves colours out where there are none.
func style(text string, s lipgloss.Style) string {
	if text == "" {
		return ""
	}
	return s.Render(text)
}

func bold(text string) string  { return style(text, lipgloss.NewStyle().Bold(true)) }
func faint(text string) string { return style(text, lipgloss.NewStyle().Faint(true)) }
func alarm(text string) string {
	return style(text, lipgloss.NewStyle().Foreground(lipgloss.Red).Bold(true))
}
func accent(text string) string { return style(text, lipgloss.NewStyle().Foreground(lipgloss.Cyan)) }

// draw returns the screen: head, numbers and curves, what comes next, the latest lines, keys.
func (m *model) draw() string {
	width, rows := max(m.columns-1, 1), max(m.rows, 1)
	foot := wrapped(m.foot(), width, faint)
	if m.help {
		return page(append(m.head(width), m.helpLines(width)...), foot, rows)
	}
	head := append(m.head(width), "")
	after := append(m.promises(width), m.after(width)...)
	room := rows - len(head) - len(after) - len(foot) - 1
	var body []string
	if width+1 >= wide {
		body = m.beside(width, room-leastLines)
	} else {
		body = m.beneath(width, room-leastLines)
	}
	all := slices.Concat(head, body, after)
	all = append(all, "")
	all = append(all, m.latest(width, rows-len(all)-len(foot))...)
	return page(all, foot, rows)
}

// page puts the foot at the end of the screen, and leaves out what has no room above it.
func page(lines, foot []string, rows int) string {
	room := max(rows-len(foot), 0)
	if len(lines) > room {
		lines = lines[:room]
	}
	for len(lines) < room {
		lines = append(lines, "")
	}
	all := append(slices.Clip(lines), foot...)
	return strings.Join(all[:min(len(all), rows)], "\n")
}

// wrapped breaks a text between words, and paints each line.
func wrapped(text string, width int, paint func(string) string) []string {
	var lines []string
	for line := range strings.Lines(table.Wrap(text, width, hangingIndent)) {
		if line = strings.TrimRight(line, "\n"); line != "" {
			lines = append(lines, paint(cut(line, width)))
		}
	}
	return lines
}

// cut ends a line that is still too wide, such as one long word, with dots.
func cut(line string, width int) string {
	width = max(width, 0)
	if table.Width(line) <= width {
		return line
	}
	return table.Columns().Truncate(line, width, strings.Repeat(".", min(3, width)))
}

// head is what is measured, how far it is, and how long it takes.
func (m *model) head(width int) []string {
	c, l := &m.content, m.screen.o.Lang
	parts := []string{}
	add := func(s string) {
		if s != "" {
			parts = append(parts, s)
		}
	}
	add(place(c.Stage, l))
	if c.Known {
		add(sayElapsed.In(l, clock(c.Time.Elapsed)))
		if c.Time.Low >= 0 {
			add(left(c.Time, l))
		}
	}
	lines := wrapped(c.Header, width, bold)
	lines = append(lines, wrapped(strings.Join(parts, gap), width, accent)...)
	switch {
	case m.ending:
		lines = append(lines, wrapped(sayEnding.In(l), width, alarm)...)
	case c.pause == asked:
		lines = append(lines, wrapped(sayAsked.In(l), width, alarm)...)
	case c.pause == paused:
		lines = append(lines, wrapped(sayPaused.In(l), width, alarm)...)
	}
	return lines
}

// gap is between two parts of a line.
const gap = "   "

// title is the stage that runs and what it is doing.
func (m *model) title() string {
	c, l := &m.content, m.screen.o.Lang
	title := stageName(c.Stage, l)
	if p := phase(&c.State, l); p != "" {
		title += gap + p
	}
	if title == "" {
		return sayPreparing.In(l)
	}
	return title
}

// number is a number of the stage that runs, with its course.
func (m *model) number(label, value string, values []float64, width int) string {
	text := table.Pad(label, labelWide, true) + table.Pad(value, valueWide, false) + "  "
	line := sparkline(values, width-table.Width(text))
	pad := max(width-table.Width(text)-table.Width(line), 0)
	return cut(text, width) + accent(line) + strings.Repeat(" ", pad)
}

// brief is a time; a dash where none is known yet.
func brief(d time.Duration) string {
	if d == 0 { // before the first stage: no token takes no time
		d = -1
	}
	return Brief(d)
}

// numbers are those of the stage that runs: one a line of that width.
func (m *model) numbers(width int) []string {
	c, l := &m.content, m.screen.o.Lang
	return []string{
		m.number(sayInFlight.In(l), strconv.Itoa(c.Now.InFlight), m.course.inFlight, width),
		m.number(sayOutput.In(l), outputRate(&c.Now), m.course.output, width),
		m.number(sayTTFT.In(l), brief(c.Now.TTFT), m.course.ttft, width),
		m.number(sayITL.In(l), brief(c.Now.ITL), m.course.itl, width),
	}
}

// done is how many requests of the stage have ended well.
func (m *model) done() string { return sayDone.In(m.screen.o.Lang, strconv.Itoa(m.content.Now.Done)) }

// passed is how much of the stage's planned time is over; empty where there is no room for it, or the time is not known, as in the search for the ceiling.
func (m *model) passed(width int) string {
	c, l := &m.content, m.screen.o.Lang
	if c.Time.Stage <= 0 || c.Stage.Searching || width < barWidth {
		return ""
	}
	return accent(bar(c.Now.Elapsed, c.Time.Stage)) + cut("  "+spent(&c.State, l), max(width-barWidth, 0))
}

// goesOn is until when the phase goes on, and why; nothing where that is not told.
func (m *model) goesOn(width int) []string {
	if m.content.Stage.Searching {
		return nil
	}
	return wrapped(prolonged(&m.content.State, m.screen.o.Lang), width, faint)
}

// bar shows how much of a stage is over, in barWidth columns.
func bar(elapsed, planned time.Duration) string {
	full := min(max(int(barCells*elapsed/planned), 0), barCells)
	return "[" + strings.Repeat("#", full) + strings.Repeat("-", barCells-full) + "]"
}

// failures are the failed requests of the run by class, the most frequent first.
func (m *model) failures(width int) []string {
	c, l := &m.content, m.screen.o.Lang
	all := maps.Clone(c.errors)
	if all == nil {
		all = map[string]int{}
	}
	for class, n := range c.Now.Errors {
		all[class] += n
	}
	if len(all) == 0 {
		return []string{faint(cut(sayNoErrors.In(l), width))}
	}
	classes := slices.SortedFunc(maps.Keys(all), func(a, b string) int {
		if d := all[b] - all[a]; d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	var parts []string
	for _, class := range classes {
		parts = append(parts, table.Clean(class)+" "+strconv.Itoa(all[class]))
	}
	return wrapped(sayErrors.In(l)+strings.Join(parts, lang.ListComma.In(l)), width, alarm)
}

// curves are output and TTFT against the rate, as far as they are measured, in drawings of that many rows.
func (m *model) curves(width, rows int) []string {
	l := m.screen.o.Lang
	if !m.screen.o.Together {
		return nil
	}
	run := rundir.Run{Stages: m.content.ended}
	roles := []rundir.Role{rundir.Floor, rundir.Grid, rundir.Probe, rundir.Hold, rundir.Single}
	output, ttft := draw.OutputByRate(&run, roles...), draw.TTFTByRate(&run, roles...)
	columns, ok := draw.TextColumns(width-betweenLines, 2)
	const few = 2 // points make no curve with less
	if !ok || rows < leastChart {
		return wrapped(sayNoRoom.In(l), width, faint)
	}
	if len(output.Panels[0].Series[0].Points) < few || len(ttft.Panels[0].Series[0].Points) < few {
		return wrapped(sayNoCurve.In(l), width, faint)
	}
	rows = min(rows, mostChart)
	left, right := output.Terminal(l, columns, rows, false), ttft.Terminal(l, columns, rows, false)
	var lines []string
	for i := range left {
		text := table.Pad(left[i], draw.TextWidth(columns), true) + strings.Repeat(" ", betweenLines) + right[i]
		lines = append(lines, strings.TrimRight(text, " "))
	}
	axis := sayAxis
	if draw.ByUsers(&run) {
		axis = sayUsersAxis
	}
	return append(lines, wrapped(axis.In(l), width, faint)...)
}

// beneath is the numbers, two in a line, with the curves beneath them.
func (m *model) beneath(width, room int) []string {
	title := cut(m.title(), width)
	lines := []string{bold(title)}
	if bar := m.passed(width - table.Width(title) - len(gap)); bar != "" {
		lines[0] += gap + bar
	}
	lines = append(lines, m.goesOn(width)...)
	half := (width - len(gap)) / 2
	n := m.numbers(half)
	lines = append(lines, strings.TrimRight(n[0]+gap+n[1], " "), strings.TrimRight(n[2]+gap+n[3], " "))
	rest := width - table.Width(m.done()) - len(gap)
	if failures := m.failures(rest); len(failures) == 1 && rest >= leastFailures {
		lines = append(lines, m.done()+gap+failures[0])
	} else {
		lines = append(append(lines, cut(m.done(), width)), m.failures(width)...)
	}
	lines = append(lines, "")
	return append(lines, m.curves(width, room-len(lines)-chartFrame-1)...)
}

// beside is the numbers with the curves beside them.
func (m *model) beside(width, room int) []string {
	left := slices.Concat([]string{bold(cut(m.title(), numbersWide)), m.passed(numbersWide)}, m.goesOn(numbersWide), m.numbers(numbersWide), []string{cut(m.done(), numbersWide)}, m.failures(numbersWide))
	right := m.curves(width-numbersWide-betweenLines, max(room-chartFrame-1, leastChart))
	var lines []string
	for i := range max(len(left), len(right)) {
		var a, b string
		if i < len(left) {
			a = left[i]
		}
		if i < len(right) {
			b = right[i]
		}
		pad := max(numbersWide-lipgloss.Width(a), 0)
		lines = append(lines, strings.TrimRight(a+strings.Repeat(" ", pad+betweenLines)+b, " "))
	}
	return lines
}

// promises is how the stages so far meet the terms of the SLO.
func (m *model) promises(width int) []string {
	states := termStates(m.content.ended, m.screen.o.Lang)
	if len(states) == 0 {
		return nil
	}
	const most = 4
	lines := []string{""}
	for _, s := range states[:min(most, len(states))] {
		lines = append(lines, cut(s, width))
	}
	return lines
}

// after is what follows the stage that runs.
func (m *model) after(width int) []string {
	if len(m.content.Next) == 0 {
		return nil
	}
	l := m.screen.o.Lang
	return append([]string{""}, wrapped(sayNext.In(l)+nextIn(m.content.Next, mostNext, l), width, func(s string) string { return s })...)
}

// latest are the latest lines about stages and notes, as far as there is room, whole ones only.
func (m *model) latest(width, room int) []string {
	var lines []string
	for i := len(m.content.lines) - 1; i >= 0; i-- {
		one := wrapped(m.content.lines[i], width, func(s string) string { return s })
		if len(lines)+len(one) > room {
			break
		}
		lines = append(one, lines...)
	}
	return lines
}

func (m *model) foot() string {
	l := m.screen.o.Lang
	if m.help {
		return sayBack.In(l)
	}
	if m.content.pause != running {
		return sayKeysPaused.In(l)
	}
	return sayKeys.In(l)
}

// helpLines explain each metric on the screen.
func (m *model) helpLines(width int) []string {
	l := m.screen.o.Lang
	lines := []string{""}
	for _, e := range explanations() {
		lines = append(lines, wrapped(e.name.In(l)+lang.Colon.In(l)+e.text.In(l), width, func(s string) string { return s })...)
	}
	return lines
}
