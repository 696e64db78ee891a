package page

import (
	"testing"
	"time"

	"llmsweep/report/history"
	"llmsweep/report/lang"
)

// The axis of a history counts minutes, hours or days, whichever its runs are apart, and runs where their times are not known.
func TestUnitOfAHistory(t *testing.T) {
	first := time.Date(2026, 11, 3, 2, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		first, last time.Time
		want        float64
		label       lang.Phrase
	}{
		{first, first.Add(9 * time.Minute), 9, axisMinutes},
		{first, first.Add(30 * time.Hour), 30, axisHours},
		{first, first.Add(40 * 24 * time.Hour), 40, axisDays},
		{time.Time{}, time.Time{}, 1, axisRuns},
	} {
		since, label := sinceFirst(&history.Series{Points: []history.Point{{At: c.first}, {At: c.last}}})
		if since(1) != c.want || label != c.label.Text() {
			t.Errorf("%v after: %v %s, want %v %s", c.last.Sub(c.first), since(1), label.EN, c.want, c.label.Text().EN)
		}
	}
}
