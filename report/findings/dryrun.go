package findings

import (
	"math"
	"strconv"
	"time"

	"llmsweep/report/lang"
)

// DryRun is what a plan sends at most. Costs are in the unit of the prices.
type DryRun struct {
	Requests, Warmup, Preflight int
	Prompt, Output              int64   // tokens of all of these
	Cost                        float64 // of these tokens
	Priced                      bool
	ByBytes                     bool // prompts were reckoned at one token a byte
	// the first stage whose number of requests follows from the server's speed; empty for none
	Unbounded string

	MaxCost  float64   // 0 for no limit
	Outlooks []Outlook // of a sweep
}

// Outlook is an estimate for a sweep of servers on which a lone request takes Alone: between bounds.
type Outlook struct {
	Alone    time.Duration
	Takes    [2]time.Duration
	Requests [2]int
}

// Minutes returns the bounds of the time, rounded.
func (o *Outlook) Minutes() string { return between(o.Takes[0].Minutes(), o.Takes[1].Minutes()) }

// between prints bounds with two digits, as one number where they are the same.
func between(low, high float64) string {
	round := func(v float64) string {
		unit := math.Pow(10, math.Floor(math.Log10(max(v, 10)))-1)
		return strconv.FormatFloat(math.Round(v/unit)*unit, 'f', 0, 64)
	}
	if round(low) == round(high) {
		return round(low)
	}
	return round(min(low, high)) + "-" + round(max(low, high))
}

// Takes returns how long a sweep takes, in a sentence.
func Takes(short, long Outlook, l lang.Lang) string {
	return sayTakes.In(l, short.Minutes(), lang.Shortest(short.Alone.Seconds()), long.Minutes(),
		lang.Shortest(long.Alone.Seconds())) + lang.Stop.In(l)
}

// Lines returns what a plan sends at most, as sentences.
func (d *DryRun) Lines(l lang.Lang) []string {
	cost := func(c float64) string { return strconv.FormatFloat(c, 'f', costDigits, 64) }
	lines := []string{sayDry.In(l)}
	for _, o := range d.Outlooks {
		requests := between(float64(o.Requests[0]), float64(o.Requests[1]))
		lines = append(lines, sayOutlook.In(l, lang.Shortest(o.Alone.Seconds()), o.Minutes(), requests))
	}
	if d.Unbounded != "" {
		lines = append(lines, sayDryOpen.In(l, d.Unbounded))
	} else {
		lines = append(lines, sayDryMost.In(l, strconv.Itoa(d.Requests), strconv.Itoa(d.Warmup), strconv.Itoa(d.Preflight)),
			sayDryTokens.In(l, strconv.FormatInt(d.Prompt, 10), strconv.FormatInt(d.Output, 10)))
		if d.ByBytes {
			lines = append(lines, sayDryBytes.In(l))
		}
		if d.Priced {
			lines = append(lines, sayDryCost.In(l, cost(d.Cost)))
		} else {
			lines = append(lines, sayDryNoPrice.In(l))
		}
	}
	if d.MaxCost > 0 {
		lines = append(lines, sayDryCostTo.In(l, cost(d.MaxCost)))
	}
	for i := range lines {
		lines[i] += lang.Stop.In(l)
	}
	return lines
}
