package history

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"llmsweep/report/compare"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// Answer returns what changed: a sentence for each change, the last of each series, and one about the rest.
func (h *History) Answer() []lang.Text {
	return lang.Sentences(func(l lang.Lang) []string {
		var all []string
		same := 0
		for i := range h.Series {
			s := &h.Series[i]
			if c, ok := s.latest(); ok {
				all = append(all, s.changeSentence(c, l)+lang.Stop.In(l))
			} else {
				same++
			}
		}
		if len(all) == 0 {
			return []string{sayNone.In(l, len(h.Series)) + lang.Stop.In(l)}
		}
		if same == 0 {
			return all
		}
		return append(all, sayOthers.In(l, same)+lang.Stop.In(l))
	})
}

// changeSentence returns a change in words, without a stop.
func (s *Series) changeSentence(c Change, l lang.Lang) string {
	say, from, to := sayStep, &s.Points[c.Before], &s.Points[c.From]
	if c.Drift {
		say, to = sayDrift, &s.Points[c.To]
	}
	commits := ""
	if from.Commit != "" && to.Commit != "" {
		commits = sayCommits.In(l, table.Clean(from.Commit), table.Clean(to.Commit))
	}
	low, high := percentSize(c.Low), percentSize(c.High)
	if c.Ratio.Value() < 0 {
		low, high = high, low
	}
	return say.In(l, table.Clean(s.metric().In(l)), table.Clean(s.title.In(l)), percentSize(c.Ratio), c.direction().In(l),
		low, high, day(from.At, to.At, l), day(to.At, from.At, l), commits)
}

// percentSize returns the size of a ratio in per cent, without a sign where the whole interval is on one side.
func percentSize(n rundir.Number) string {
	v := 100 * math.Abs(n.Value())
	if v < 10 {
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}

// direction returns the word for a rise or a fall: times become longer or shorter.
func (c *Change) direction() lang.Phrase {
	rose := c.Ratio.Value() > 0
	switch {
	case compare.HigherIsBetter(c.key) && rose:
		return wordHigher
	case compare.HigherIsBetter(c.key):
		return wordLower
	case rose:
		return wordLonger
	}
	return wordShorter
}

func (s *Series) metric() lang.Text {
	if name, load, ok := strings.Cut(s.Key, "@"); ok && !slices.Contains(compare.Keys(), s.Key) {
		title := map[string]lang.Text{"ttft": lang.Same("TTFT"), "itl": lang.Same("ITL")}[name]
		if title.IsZero() {
			title, _ = compare.MetricFormat(name)
		}
		return atLoad.Text(title, load)
	}
	name, _ := compare.MetricFormat(s.Key)
	return name
}

func (s *Series) cell(v rundir.Number) table.Cell {
	if !compare.HigherIsBetter(s.Key) {
		return table.Seconds(v)
	}
	name, _, _ := strings.Cut(s.Key, "@")
	_, print := compare.MetricFormat(name)
	return print(v)
}

// day returns the date of a run, with its time where the other run is of the same day.
func day(at, other time.Time, l lang.Lang) string {
	switch {
	case at.IsZero():
		return unknownDay.In(l)
	case at.Format(time.DateOnly) == other.Format(time.DateOnly):
		return at.Format("2006-01-02 15:04")
	}
	return at.Format(time.DateOnly)
}

// Sections returns the history as sections of a report.
func (h *History) Sections() []table.Section {
	first := table.Section{Title: titleHistory.Text(h.Runs), Level: 1, Lines: append(h.Answer(), h.RequiredRuns())}
	first.Notes = append(first.Notes, legendAlarms.Text(strconv.FormatFloat(1/h.Alarms, 'f', -1, 64)))
	if n := h.countShort(); n > 0 {
		first.Notes = append(first.Notes, legendLittle.Text(n, minChangeRuns))
	}
	all := []table.Section{first}
	if t := h.changeTable(); len(t.Rows) > 0 {
		all = append(all, table.Section{Title: titleChanges.Text(), Level: 2, Table: t})
	}
	return append(all, h.Noise())
}

// Noise returns the series with the spread between their runs, and how many runs show a difference of 5 % beside it.
func (h *History) Noise() table.Section {
	return table.Section{Title: titleSeries.Text(), Level: 2, Table: h.seriesTable(),
		Notes: []lang.Text{legendSpread.Text()}}
}

// RequiredRuns returns how many runs a side show a difference of 5 % in the noisiest series, or that there are too few
// runs to tell.
func (h *History) RequiredRuns() lang.Text {
	known := slices.DeleteFunc(slices.Clone(h.Series), func(s Series) bool { return s.Needed == 0 })
	if len(known) == 0 {
		return sayTooFew.Text(minSpreadRuns)
	}
	most := slices.MaxFunc(known, func(a, b Series) int { return cmp.Compare(a.Needed, b.Needed) })
	return sayNeeds.Text(most.metric(), most.Needed)
}

// minChangeRuns is the fewest runs in which a change can be found: two before and two after it, and those that give the
// spread between runs.
const minChangeRuns = 12

func (h *History) countShort() (n int) {
	for _, s := range h.Series {
		if len(s.Points) < minChangeRuns {
			n++
		}
	}
	return n
}

func (h *History) changeTable() table.Table {
	t := table.Table{Columns: []table.Column{
		{Head: headMetric.Text(), Left: true}, {Head: headChange.Text()}, {Head: headSince.Text(), Left: true},
		{Head: headRun.Text(), Left: true}, {Head: headConfig.Text(), Left: true, Drop: 1},
	}}
	for i := range h.Series {
		s := &h.Series[i]
		for _, c := range s.Changes {
			tone := table.Bad
			if c.Better {
				tone = table.Good
			}
			from := s.Points[c.From]
			t.Rows = append(t.Rows, []table.Cell{
				{Text: s.metric(), Tone: table.Strong}, {Text: lang.Same(compare.Percent(c.Ratio, c.Low, c.High)), Tone: tone},
				{Text: lang.Both(func(l lang.Lang) string { return day(from.At, time.Time{}, l) })},
				table.Literal(from.Run), {Text: s.title, Long: true},
			})
		}
	}
	return t
}

func (h *History) seriesTable() table.Table {
	t := table.Table{Columns: []table.Column{
		{Head: headMetric.Text(), Left: true}, {Head: headRuns.Text()}, {Head: headLatest.Text()},
		{Head: headSpread.Text(), Sub: subBetween.Text()}, {Head: headNeeded.Text()},
		{Head: headConfig.Text(), Left: true, Drop: 1},
	}}
	for i := range h.Series {
		s := &h.Series[i]
		needed := table.Absent()
		if s.Needed > 0 {
			needed = table.Count(s.Needed)
		}
		t.Rows = append(t.Rows, []table.Cell{
			{Text: s.metric(), Tone: table.Strong}, table.Count(len(s.Points)), s.cell(s.Points[len(s.Points)-1].Value),
			table.Percent(s.Spread), needed, {Text: s.title, Long: true},
		})
	}
	return t
}
