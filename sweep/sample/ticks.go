package sample

import "time"

// Ticks is a list of sums and levels, one each per tick: the output tokens that arrived in the tick, and those owed at
// its end. When there are too many ticks, neighbours are merged and the tick doubles.
type Ticks struct {
	Width time.Duration
	Sums  []float64 // what was added within each tick
	Ends  []float64 // the level at the end of each tick
}

// MaxTicks bounds the memory of ticks to 512 KiB: two hours and a quarter of 250 ms.
const MaxTicks = 1 << 15

// Add notes an amount that came since the last call, and the level now. A busy machine drops ticks: what came in them
// is shared out, so that the place of a sum tells its time.
func (t *Ticks) Add(now time.Duration, amount, level float64) {
	missing := int(now/t.Width) - len(t.Sums)
	if missing < 1 {
		if n := len(t.Sums); n > 0 {
			t.Sums[n-1] += amount
			t.Ends[n-1] = level
			return
		}
		missing = 1
	}
	for range missing {
		t.Sums = append(t.Sums, amount/float64(missing))
		t.Ends = append(t.Ends, level)
	}
	for len(t.Sums) > MaxTicks {
		t.Sums = MergePairs(t.Sums, add)
		t.Ends = MergePairs(t.Ends, func(_, b float64) float64 { return b })
		t.Width *= 2
	}
}

// Count returns the number of ticks that had passed at an instant.
func (t *Ticks) Count(at time.Duration) int { return min(len(t.Sums), int(at/t.Width)) }

// Range returns the range of ticks between two instants, as indices into Sums and Ends.
func (t *Ticks) Range(from, to time.Duration) (first, end int) { return t.Count(from), t.Count(to) }
