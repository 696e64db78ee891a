package page

import (
	"io"
	"math"
	"slices"
	"strconv"
	"time"

	"llmsweep/report/draw"
	"llmsweep/report/history"
	"llmsweep/report/lang"
	"llmsweep/report/table"
)

var (
	titleRuns   = lang.Say("Runs over time", "各次运行")
	axisDays    = lang.Say("days since the first run", "距首次运行的天数")
	axisHours   = lang.Say("hours since the first run", "距首次运行的小时数")
	axisRuns    = lang.Say("runs since the first", "首次运行之后的运行次数")
	axisMinutes = lang.Say("minutes since the first run", "距首次运行的分钟数")
	noteHistory = lang.Say("A line is the mean of the runs between two changes; the band is twice the spread between runs. A vertical line is a change.",
		"横线为两次变化之间各次运行的均值，色带为运行间离散度的两倍，竖线为变化。")
	headRunPlace  = lang.Say("Run", "运行")
	headRunTime   = lang.Say("Time", "时间")
	headRunCommit = lang.Say("Commit", "提交")
	headRunValue  = lang.Say("Value", "值")
)

// History writes the page of a history: the answer, each series with its changes, and the tables.
func History(w io.Writer, h *history.History, o WriteOptions) error {
	sections := h.Sections()
	d := &Document{Title: sections[0].Title}
	said := []Block{{Lines: &Lines{Items: sections[0].Lines, Whole: true}}, {Lines: &Lines{Items: sections[0].Notes, Plain: true}}}
	d.Sections = append(d.Sections, Section{ID: "answer", Title: titleAnswer.Text(), Blocks: said})
	var figures []FigureBlock
	for _, changed := range []bool{true, false} { // what changed comes first
		for i := range h.Series {
			if s := &h.Series[i]; (len(s.Changes) > 0) == changed {
				figures = append(figures, ofSeries("series-"+strconv.Itoa(i+1), s))
			}
		}
	}
	d.Sections = append(d.Sections, Section{ID: "series", Title: titleRuns.Text(), Blocks: []Block{{Figures: figures}}})
	d.Sections = append(d.Sections, FromSections("part", sections[1:])...)
	return WriteHTML(w, d, o)
}

// ofSeries draws the runs of a series, the level of each segment and its changes.
func ofSeries(name string, s *history.Series) FigureBlock {
	title := s.Title()
	t := &Grid{Name: "t-" + name, Table: table.Table{Title: title, Columns: []table.Column{
		{Head: headRunPlace.Text(), Left: true}, {Head: headRunTime.Text(), Left: true}, {Head: headRunCommit.Text(), Left: true}, {Head: headRunValue.Text()},
	}}}
	since, label := sinceFirst(s)
	runs := draw.Series{Key: "runs", Colour: 0, Style: draw.Loose}
	for i, p := range s.Points {
		runs.Points = append(runs.Points, draw.Point{X: since(i), Y: p.Value.Value(), Row: i + 1, Title: p.Run})
		t.Add(table.Literal(p.Run), table.Literal(p.At.Format(time.DateTime)), table.Literal(p.Commit), s.Cell(p.Value))
	}
	axis := draw.Axis{Label: s.Metric(), Format: draw.Number}
	if s.Times() {
		axis.Format = draw.Seconds
	}
	fig := draw.Figure{Name: name, Title: title, X: draw.Axis{Label: label, Format: draw.Number}}
	panel := draw.Panel{Y: axis, Height: 120, Series: []draw.Series{runs}}
	for _, segment := range s.Levels() {
		level := draw.Series{Key: "level", Colour: 2, Style: draw.Line}
		for _, i := range []int{segment.From, segment.To} {
			q := draw.Point{X: since(i), Y: segment.Mean, Low: math.NaN(), High: math.NaN()}
			if s.Spread.Known() {
				half := 2 * s.Spread.Value() * segment.Mean
				q.Low, q.High = max(0, segment.Mean-half), segment.Mean+half
			}
			level.Points = append(level.Points, q)
		}
		panel.Series = append(panel.Series, level)
	}
	for _, c := range s.Changes {
		fig.Marks = append(fig.Marks, draw.Mark{Text: lang.Same(c.Percent()), At: (since(c.Before) + since(c.From)) / 2})
	}
	fig.Panels = []draw.Panel{panel}
	return FigureBlock{Name: name, Title: title, Note: noteHistory.Text(), Variants: []Variant{newVariant("lin", lang.Text{}, &fig, false)}, Table: t}
}

// sinceFirst returns the time of a run since the first of its series, and the label with its unit: days, or hours or minutes where few days have passed. The
// number of the run stands for its time where times are not known.
func sinceFirst(s *history.Series) (since func(i int) float64, label lang.Text) {
	if slices.ContainsFunc(s.Points, func(p history.Point) bool { return p.At.IsZero() }) {
		return func(i int) float64 { return float64(i) }, axisRuns.Text()
	}
	first, last := s.Points[0].At, s.Points[len(s.Points)-1].At
	unit, label := 24*time.Hour, axisDays.Text()
	switch span := last.Sub(first); {
	case span < 3*time.Hour:
		unit, label = time.Minute, axisMinutes.Text()
	case span < 3*24*time.Hour:
		unit, label = time.Hour, axisHours.Text()
	}
	return func(i int) float64 { return float64(s.Points[i].At.Sub(first)) / float64(unit) }, label
}
