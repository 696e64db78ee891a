package progress

import (
	"slices"
	"strings"
	"time"

	"llmsweep/sweep/load"
)

const (
	sampled    = 500 * time.Millisecond // between two values of a course
	mostValues = 240                    // of a course: two minutes
)

// course holds the latest values of a run, for its curves.
type course struct {
	last             time.Time
	inFlight, output []float64
	ttft, itl        []float64 // seconds; those not known are left out
}

// add adds the values of a snapshot, where it is time for the next.
func (c *course) add(now time.Time, s *State) {
	if now.Sub(c.last) < sampled || s.Stage.Index == 0 && !s.Known {
		return
	}
	c.last = now
	c.inFlight = keep(c.inFlight, float64(s.Now.InFlight))
	c.output = keep(c.output, s.Now.TokensPS)
	if s.Now.Phase == load.PhaseIdle {
		return
	}
	if s.Now.TTFT >= 0 {
		c.ttft = keep(c.ttft, s.Now.TTFT.Seconds())
	}
	if s.Now.ITL >= 0 {
		c.itl = keep(c.itl, s.Now.ITL.Seconds())
	}
}

func keep(all []float64, v float64) []float64 {
	if all = append(all, v); len(all) > mostValues {
		all = append(all[:0:0], all[len(all)-mostValues:]...)
	}
	return all
}

// bars are the heights of a sparkline's columns.
var bars = []rune("▁▂▃▄▅▆▇█")

// sparkline draws the latest values in at most width columns, from their lowest to their highest. Values that hardly differ are a flat line.
func sparkline(values []float64, width int) string {
	if width <= 0 || len(values) == 0 {
		return ""
	}
	const flat = 0.05 // of the highest: less is no movement
	values = values[max(0, len(values)-width):]
	low, high := slices.Min(values), slices.Max(values)
	var b strings.Builder
	for _, v := range values {
		i := len(bars) / 2
		switch {
		case high <= 0:
			i = 0
		case high-low > flat*high:
			i = min(int((v-low)/(high-low)*float64(len(bars))), len(bars)-1)
		}
		b.WriteRune(bars[i])
	}
	return b.String()
}
