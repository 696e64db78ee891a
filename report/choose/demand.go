package choose

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/sweep/rundir"
)

// Demand is the load that has to be served.
type Demand struct {
	Amount float64 // requests or output tokens per second, or users
	Unit   Unit
}

// Unit is what a demand counts.
type Unit uint8

// The units of demands.
const (
	Requests Unit = iota
	Tokens
	Users
)

// ParseDemand reads 20req/s, 20rps, 5000tok/s or 500users.
func ParseDemand(text string) (Demand, error) {
	t := strings.ToLower(strings.ReplaceAll(strings.ReplaceAll(text, " ", ""), ",", ""))
	for _, u := range []struct {
		suffix string
		of     Unit
	}{{"rps", Requests}, {"req/s", Requests}, {"req/sec", Requests}, {"tok/s", Tokens}, {"tokens/s", Tokens},
		{"tps", Tokens}, {"users", Users}, {"user", Users}} {
		digits, ok := strings.CutSuffix(t, u.suffix)
		if !ok {
			continue
		}
		v, err := strconv.ParseFloat(digits, 64)
		if err != nil || !(v > 0) || math.IsInf(v, 0) {
			break
		}
		return Demand{v, u.of}, nil
	}
	return Demand{}, fmt.Errorf("--demand %q: write requests or output tokens per second, or users, such as 20req/s, "+
		"5000tok/s or 500users", text)
}

// String returns the demand as ParseDemand reads it.
func (d Demand) String() string {
	return strconv.FormatFloat(d.Amount, 'f', -1, 64) + [...]string{"rps", "tok/s", "users"}[d.Unit]
}

// UnitText returns the unit of the demand in words.
func (d Demand) UnitText() lang.Text {
	return [...]lang.Text{reqPerS, lang.Same("tok/s"), unitUsers.Text()}[d.Unit]
}

// Text returns the demand in words.
func (d Demand) Text() lang.Text {
	if d.Unit == Users {
		return d.amountText(d.Amount)
	}
	return lang.Same(lang.Shortest(d.Amount) + " ").Plus(d.UnitText())
}

func (d Demand) amountText(v float64) lang.Text {
	if d.Unit == Users { // half a user is none
		return sayUsers.Text(lang.Shortest(math.Floor(v + 1e-9)))
	}
	return lang.Same(fmt.Sprintf("%.2f ", v)).Plus(d.UnitText())
}

// floorText is the amount, or the next lower one that is printed: what holds up to v holds there.
func (d Demand) floorText(v float64) lang.Text { return d.amountText(math.Floor(v*100+1e-6) / 100) }

// capacity returns what one replica delivers, in the unit of the demand.
func (d Demand) capacity(l *setup.Limit) (float64, bool) {
	n := [...]rundir.Number{rundir.Exactly(l.Rate), l.Output, l.Users}[d.Unit]
	return n.Value(), n.Known() && n.Value() > 0
}
