package page

import (
	"strings"

	"llmsweep/report/draw"
	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
)

// Caption returns what a drawing of a run shows, in words; empty for a drawing over time.
func Caption(name string, run *rundir.Run, l lang.Lang) string {
	for _, f := range newView(run).loadFigures() {
		if f.Name == name {
			return f.Caption.In(l)
		}
	}
	return ""
}

func axesCaption(y, x lang.Text) lang.Text { return axesText(y, x).Plus(lang.Stop.Text()) }

func axesText(y, x lang.Text) lang.Text {
	t := sayAgainst.Text(y, x)
	return lang.Text{EN: strings.ToUpper(t.EN[:1]) + t.EN[1:], ZH: t.ZH}
}

func (q *quantity) axisText() lang.Text {
	if q.metric == "" {
		return q.axis.Label
	}
	var names []lang.Text
	for _, l := range q.lines {
		names = append(names, l.name)
	}
	return q.axis.Label.Plus(lang.Same(" ")).Plus(lang.Joined(names, lang.ListComma)).Plus(unitSeconds.Text())
}

func (v *view) answerText(q *quantity) lang.Text {
	a := saturation.AnswerOf(v.Run)
	if draw.AnswerNumber(a) == "" || a.Carried != nil || !v.Open {
		return lang.Text{}
	}
	number, output := draw.AnswerRange(a), q.name == "output"
	switch {
	case !a.Rate.Known():
		return readLimit.Text(number)
	case output && a.Kind == rundir.Sustains:
		return readFalls.Text(number)
	case output:
		return readLevels.Text(number)
	case a.Kind != rundir.Accepts && q.metric != "":
		return readGrows.Text(number)
	}
	return lang.Text{}
}

func (v *view) caption(q *quantity) lang.Text {
	return axesText(q.axisText(), v.axis().Label).Plus(v.answerText(q)).Plus(lang.Stop.Text())
}
