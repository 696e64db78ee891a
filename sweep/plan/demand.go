// The requests that a service is to answer: at a rate, with a daily profile, or as a trace recorded them, multiplied.

package plan

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
	"llmsweep/sweep/workload"
)

// DemandWish is what is asked for.
type DemandWish struct {
	Rate           float64       // mean requests per second; 0 for those of the profile or of the trace
	Profile        DemandProfile // nil: the rate is constant
	Trace          *workload.Trace
	Length         time.Duration  // of what is simulated; 0 for that of the profile or of the trace, or an hour
	Prompt, Output rundir.Lengths // not of a trace, unless their mean is above 0
	Seed           uint64
}

// Day is the requests of a wish.
type Day struct {
	Requests []FleetRequest
	Length   time.Duration
	Rate     float64 // mean
	Peak     float64 // mean of the busiest minute
	Prompt   DemandLengths
	Output   DemandLengths
	Block    int // tokens of a block of the requests' hashes; 0 where they have none
}

// DemandLengths is what is known of lengths in tokens.
type DemandLengths struct {
	Mean float64 `json:"mean"`
	Min  int     `json:"min"`
	P99  int     `json:"p99"`
	Max  int     `json:"max"`
}

// mostRequests bounds the memory of a day.
const mostRequests = 50_000_000

var (
	errNothing = errors.New("the demand is empty: give --rate, --users with --requests-per-user-hour, --trace or --profile")
	errTooMany = fmt.Errorf("the demand has more than %d requests; give a shorter --duration", mostRequests)
)

// NewDemand draws the requests of a wish: the same wish gives the same requests.
func NewDemand(w DemandWish) (*Day, error) {
	d := &Day{}
	var err error
	if w.Trace != nil {
		err = d.replay(w)
	} else {
		err = d.arrive(w)
	}
	if err != nil {
		return nil, err
	}
	if len(d.Requests) == 0 {
		return nil, errNothing
	}
	d.describe()
	return d, nil
}

// hour is the length of a demand at a constant rate, unless told otherwise.
const hour = time.Hour

// arrive draws Poisson arrivals at a rate that may change.
func (d *Day) arrive(w DemandWish) error {
	d.Length = w.Length
	rate, peak := func(time.Duration) float64 { return w.Rate }, w.Rate
	if d.Length == 0 {
		d.Length = hour
	}
	if w.Profile != nil {
		if w.Length == 0 {
			d.Length = dayLength
		}
		scale := 1.0
		if w.Rate > 0 {
			scale = w.Rate / w.Profile.mean()
		}
		rate, peak = func(at time.Duration) float64 { return scale * w.Profile.at(at) }, scale*w.Profile.peak()
	}
	if peak*d.Length.Seconds() > mostRequests {
		return errTooMany
	}
	if !(peak > 0) {
		return errNothing
	}
	rng := stats.Rand(w.Seed, "demand", "arrivals")
	for at := 0.0; ; {
		at += rng.ExpFloat64() / peak
		when := time.Duration(at * 1e9)
		if when >= d.Length {
			return nil
		}
		if rng.Float64()*peak <= rate(when) {
			d.Requests = append(d.Requests, FleetRequest{At: when, Prompt: draw(w.Prompt, rng), Output: draw(w.Output, rng)})
		}
	}
}

func draw(l rundir.Lengths, rng *rand.Rand) int32 { return int32(max(1, workload.Draw(l, rng))) }

// replay takes the requests of a trace.
func (d *Day) replay(w DemandWish) error {
	times := 1.0
	if w.Rate > 0 {
		times = w.Rate / w.Trace.Rate()
	}
	if times*float64(w.Trace.Rows()) > mostRequests {
		return errTooMany
	}
	rng := stats.Rand(w.Seed, "demand", "lengths")
	for r := range w.Trace.All() {
		if w.Length > 0 && r.At >= w.Length {
			break
		}
		q := FleetRequest{At: r.At, Prompt: int32(r.Prompt), Output: int32(r.Output), Hashes: r.Hashes}
		if w.Prompt.Mean > 0 {
			q.Prompt = draw(w.Prompt, rng)
		}
		if w.Output.Mean > 0 {
			q.Output = draw(w.Output, rng)
		}
		if len(q.Hashes) > 0 {
			d.Block = w.Trace.Block()
		}
		d.Requests = append(d.Requests, q)
	}
	if d.Length = w.Length; d.Length == 0 && len(d.Requests) > 0 {
		d.Length = d.Requests[len(d.Requests)-1].At + time.Second
	}
	d.Requests = d.copies(times)
	return nil
}

// shifted is how far copies of a request are moved at most, so that they do not come together.
const shifted = 30 * time.Second

// Times returns a day with times as many requests of the same kind at the same hours.
func (d *Day) Times(times float64) *Day {
	out := *d
	out.Requests = d.copies(times)
	if len(out.Requests) > 0 {
		out.describe()
	}
	return &out
}

// copies repeats requests. Some are repeated and some left out where the number of times is no whole number.
func (d *Day) copies(times float64) []FleetRequest {
	if times == 1 {
		return d.Requests
	}
	rng := stats.Rand(0, "demand", "copies")
	all := make([]FleetRequest, 0, int(times*float64(len(d.Requests)))+16)
	for _, q := range d.Requests {
		n := int(times)
		if rng.Float64() < times-float64(n) {
			n++
		}
		for copied := range n {
			one := q
			if copied > 0 {
				one.At += time.Duration((2*rng.Float64() - 1) * float64(shifted))
				one.At = mirrored(one.At, d.Length)
				one.Hashes = other(q.Hashes, int64(copied))
			}
			all = append(all, one)
		}
	}
	slices.SortStableFunc(all, func(a, b FleetRequest) int { return cmp.Compare(a.At, b.At) })
	return all
}

// mirrored returns an instant that is not beyond the ends of a day.
func mirrored(at, length time.Duration) time.Duration {
	if at < 0 {
		at = -at
	}
	if at >= length {
		at = 2*length - 1 - at
	}
	return min(max(0, at), length-1)
}

// other returns the hashes of another user with the same habits: copies share no prefixes with each other.
func other(hashes []int64, copied int64) []int64 {
	if len(hashes) == 0 {
		return nil
	}
	all := make([]int64, len(hashes))
	for i, h := range hashes {
		all[i] = h + copied<<40
	}
	return all
}

// describe fills in the rates and the lengths.
func (d *Day) describe() {
	d.Rate = float64(len(d.Requests)) / d.Length.Seconds()
	minutes := make([]int, int(d.Length/time.Minute)+2)
	var prompts, outputs []int32
	for _, r := range d.Requests {
		minutes[r.At/time.Minute]++
		prompts, outputs = append(prompts, r.Prompt), append(outputs, r.Output)
	}
	d.Peak = float64(slices.Max(minutes)) / min(60, d.Length.Seconds())
	d.Prompt, d.Output = lengthsOf(prompts), lengthsOf(outputs)
}

func lengthsOf(v []int32) DemandLengths {
	slices.Sort(v)
	sum := 0.0
	for _, x := range v {
		sum += float64(x)
	}
	const p99 = 0.99
	return DemandLengths{sum / float64(len(v)), int(v[0]), int(v[int(p99*float64(len(v)-1))]), int(v[len(v)-1])}
}

// Busiest returns the part of a day, of some length, with the most tokens.
func (d *Day) Busiest(length time.Duration) (from time.Duration) {
	if length >= d.Length {
		return 0
	}
	const step = time.Minute
	sums := make([]float64, int(d.Length/step)+1)
	for _, r := range d.Requests {
		sums[r.At/step] += float64(r.Prompt) + weight*float64(r.Output)
	}
	width, most, now := int(length/step), math.Inf(-1), 0.0
	for i, v := range sums {
		if now += v; i >= width {
			now -= sums[i-width]
		}
		if i >= width-1 && now > most {
			most, from = now, time.Duration(i-width+1)*step
		}
	}
	return from
}

// weight is about how many prompt tokens an output token costs.
const weight = 8

// Part returns a part of a day as a day of its own.
func (d *Day) Part(from, length time.Duration) *Day {
	out := *d
	out.Length, out.Requests = min(length, d.Length-from), nil
	for _, r := range d.Requests {
		if r.At >= from && r.At < from+length {
			r.At -= from
			out.Requests = append(out.Requests, r)
		}
	}
	return &out
}

// Stretched returns a day with other prompts and answers: times as long.
func (d *Day) Stretched(prompts, answers float64) *Day {
	out := *d
	out.Requests = slices.Clone(d.Requests)
	for i := range out.Requests {
		r := &out.Requests[i]
		r.Prompt, r.Output = int32(max(1, math.Round(prompts*float64(r.Prompt)))), int32(max(1, math.Round(answers*float64(r.Output))))
		if prompts != 1 {
			r.Hashes = nil
		}
	}
	out.describe()
	return &out
}

// DemandProfile is a rate over the hours of a day: straight lines between points, and from the last to the first of the next day.
type DemandProfile []DemandPoint

// DemandPoint is a rate at an hour.
type DemandPoint struct{ Hour, Rate float64 }

const dayLength = 24 * time.Hour

// ParseProfile reads 0=2,8=10,9:30=20.
func ParseProfile(text string) (DemandProfile, error) {
	bad := func() (DemandProfile, error) {
		return nil, fmt.Errorf("--profile %s: write hours of the day and requests per second, such as 0=2,8=10,9:30=20,18=12", text)
	}
	var p DemandProfile
	for _, part := range strings.Split(text, ",") {
		h, v, ok := strings.Cut(part, "=")
		hours, minutes, split := strings.Cut(strings.TrimSpace(h), ":")
		at, err := strconv.ParseFloat(hours, 64)
		if err == nil && split {
			var m float64
			m, err = strconv.ParseFloat(minutes, 64)
			at += m / 60
		}
		rate, err2 := strconv.ParseFloat(strings.TrimSpace(v), 64)
		if !ok || err != nil || err2 != nil || !(at >= 0 && at < 24) || !(rate >= 0) || math.IsInf(rate, 0) {
			return bad()
		}
		if len(p) > 0 && at <= p[len(p)-1].Hour {
			return bad()
		}
		p = append(p, DemandPoint{at, rate})
	}
	if p.peak() == 0 {
		return bad()
	}
	return p, nil
}

// at returns the rate at a time of the first day.
func (p DemandProfile) at(t time.Duration) float64 {
	h := math.Mod(t.Hours(), 24)
	before, after := p[len(p)-1], p[0]
	before.Hour -= 24
	for i, q := range p {
		if q.Hour > h {
			after = q
			break
		}
		before = q
		if after = p[(i+1)%len(p)]; i == len(p)-1 {
			after.Hour += 24
		}
	}
	if after.Hour == before.Hour {
		return before.Rate
	}
	return before.Rate + (after.Rate-before.Rate)*(h-before.Hour)/(after.Hour-before.Hour)
}

func (p DemandProfile) peak() (most float64) {
	for _, q := range p {
		most = max(most, q.Rate)
	}
	return most
}

// mean returns the mean rate of a day.
func (p DemandProfile) mean() float64 {
	sum := 0.0
	for i, q := range p {
		next := p[(i+1)%len(p)]
		if i == len(p)-1 {
			next.Hour += 24
		}
		sum += (q.Rate + next.Rate) / 2 * (next.Hour - q.Hour)
	}
	return sum / 24
}
