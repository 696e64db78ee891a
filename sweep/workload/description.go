package workload

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"llmsweep/sweep/arrival"
	"llmsweep/sweep/stats"
)

// Description describes recorded traffic without a session of it. Each value and each kind of session in it stands for at least K sessions (k-anonymity:
// Sweeney, IJUFKS 10 (2002); values are pooled as in microaggregation: Domingo-Ferrer and Mateo-Sanz, IEEE TKDE 14 (2002)).
type Description struct {
	Version   int              `json:"llmsweep_workload"` // 1
	K         int              `json:"k"`
	Sessions  int              `json:"sessions"` // described
	LeftOut   int              `json:"left_out"` // sessions that are like fewer than K others
	CutOff    int              `json:"cut_off"`  // sessions that were still open when the recording ended
	Rate      float64          `json:"sessions_per_second"`
	Shape     float64          `json:"gamma_shape,omitempty"` // of the gaps between first requests: 1 is Poisson; 0 where they do not vary
	Block     float64          `json:"block_tokens"`          // of a shared block, on average
	Clients   []arrival.Client `json:"clients,omitempty"`     // at least K in each group; absent where the recording does not tell clients apart
	Kinds     []Kind           `json:"kinds"`
	Distances []Distance       `json:"distances"`
}

// Kind describes the sessions whose first prompts begin alike. Lengths are in tokens.
type Kind struct {
	Sessions int     `json:"sessions"`
	Shared   []int64 `json:"shared_blocks"` // with which first prompts begin; equal numbers in two kinds are equal beginnings
	Turns    Pools   `json:"turns"`
	First    Pools   `json:"first_prompt"`
	Added    Pools   `json:"added_prompt"` // what each turn after the first adds to what was said
	Output   Pools   `json:"output"`
	Pause    Pools   `json:"pause_s"`
}

// Pools are a distribution: values in ascending order, each of them the mean of a pool.
type Pools []Pool

// Pool stands for values that are next to one another.
type Pool struct {
	Mean     float64 `json:"mean"`
	Count    int     `json:"count"`    // of values
	Sessions int     `json:"sessions"` // that have them; at least K
}

// Distance is how far the description of a quantity is from the recording: both means, and the largest difference between the shares of values up to a value (0 to 1:
// Kolmogorov-Smirnov).
type Distance struct {
	Quantity  string  `json:"quantity"` // of the quantities below
	Recorded  float64 `json:"recorded_mean"`
	Described float64 `json:"described_mean"`
	Distance  float64 `json:"distance"`
}

// The quantities of a [Distance].
const (
	QuantityTurns  = "turns"
	QuantityFirst  = "first_prompt"
	QuantityShared = "shared_of_first_prompt"
	QuantityAdded  = "added_prompt"
	QuantityWhole  = "whole_prompt" // with all that was said before
	QuantityOutput = "output"
	QuantityPause  = "pause_s"
)

// DescribeTraffic reads recorded traffic and describes it. k is the least number of sessions that a value stands for.
func DescribeTraffic(ctx context.Context, path string, k int) (*Description, error) {
	recorded, err := OpenTrace(ctx, path, TraceOptions{Share: true})
	if err != nil {
		return nil, err
	}
	all, _ := recorded.visits(k)
	if len(all) < k {
		return nil, fmt.Errorf("%s has %d sessions, fewer than the %d that each value must stand for: record longer, or lower --k", path, len(all), k)
	}
	d := &Description{Version: 1, K: k, CutOff: cutOff(all), Block: rounded(recorded.block)}
	d.arrivals(all)
	d.Clients = clientsOf(all, k)
	for _, alike := range d.alike(all) {
		d.Kinds = append(d.Kinds, kindOf(alike, k))
		d.Sessions += len(alike)
	}
	d.LeftOut = len(all) - d.Sessions
	if d.Sessions == 0 {
		return nil, fmt.Errorf("%s has no %d sessions that are alike: record longer, or lower --k", path, k)
	}
	d.renumber()
	named, _ := recorded.visits(2)
	cutOff(named)
	d.measure(named)
	return d, nil
}

// arrivals sets the rate of sessions and how evenly they begin.
func (d *Description) arrivals(all []visit) {
	var gaps []float64
	for i := 1; i < len(all); i++ {
		gaps = append(gaps, (all[i].at - all[i-1].at).Seconds())
	}
	if mean := stats.Mean(gaps); len(gaps) > 1 && mean > 0 {
		d.Rate = rounded(1 / mean)
		if deviation := stats.Deviation(gaps); deviation > 0 {
			d.Shape = rounded(mean * mean / (deviation * deviation))
		}
	}
}

// alike groups sessions by the longest beginning that K of them share. Fewer than K join those with a shorter one.
func (d *Description) alike(all []visit) (groups [][]visit) {
	type beginning struct {
		blocks int
		last   int64
	}
	by := map[beginning][]visit{}
	longest := 0
	key := func(v *visit) (b beginning) {
		if b.blocks = len(v.shared); b.blocks > 0 {
			b.last = v.shared[b.blocks-1]
		}
		return b
	}
	for _, v := range all {
		by[key(&v)] = append(by[key(&v)], v)
		longest = max(longest, len(v.shared))
	}
	for blocks := longest; blocks >= 0; blocks-- {
		for b, members := range by {
			if b.blocks != blocks || len(members) >= d.K {
				continue
			}
			delete(by, b)
			for _, v := range members {
				if blocks > 0 {
					v.shared = v.shared[:blocks-1]
					by[key(&v)] = append(by[key(&v)], v)
				}
			}
		}
	}
	for _, members := range by {
		slices.SortFunc(members, func(a, b visit) int { return cmp.Compare(a.at, b.at) })
		groups = append(groups, members)
	}
	slices.SortFunc(groups, func(a, b []visit) int {
		return cmp.Or(len(b)-len(a), slices.Compare(a[0].shared, b[0].shared))
	})
	return groups
}

// kindOf describes sessions that begin alike.
func kindOf(alike []visit, k int) Kind {
	talking := 0
	for _, v := range alike {
		if len(v.turns) > 1 {
			talking++
		}
	}
	var turns, first, added, output, pause held
	for i, v := range alike {
		if talking < k { // later turns would be those of a few
			v.turns, v.more = v.turns[:1], 0
		}
		turns.add(i, float64(len(v.turns)+v.more))
		first.add(i, float64(v.turns[0].prompt))
		for n, t := range v.turns {
			output.add(i, float64(t.output))
			if n > 0 {
				added.add(i, float64(t.prompt))
				pause.add(i, t.pause.Seconds())
			}
		}
	}
	return Kind{
		Sessions: len(alike), Shared: alike[0].shared,
		Turns: turns.pools(k), First: first.pools(k), Added: added.pools(k), Output: output.pools(k), Pause: pause.pools(k),
	}
}

// held are values and which session has each.
type held []heldValue

type heldValue struct {
	session int
	value   float64
}

func (h *held) add(session int, value float64) { *h = append(*h, heldValue{session, value}) }

// mostPools is how many pools describe a quantity, at most.
const mostPools = 50

// pools sorts values and pools those next to one another, until each pool is of at least k sessions.
func (h held) pools(k int) (all Pools) {
	slices.SortStableFunc(h, func(a, b heldValue) int { return cmp.Compare(a.value, b.value) })
	enough := (len(h) + mostPools - 1) / mostPools
	from := 0
	sessions := map[int]bool{}
	for i := range h {
		sessions[h[i].session] = true
		if len(sessions) >= k && i+1-from >= enough {
			all = append(all, h[from:i+1].pool(len(sessions)))
			from, sessions = i+1, map[int]bool{}
		}
	}
	if from < len(h) && len(all) > 0 { // too few are left: they join the last pool
		last := from - all[len(all)-1].Count
		for i := last; i < from; i++ {
			sessions[h[i].session] = true
		}
		all[len(all)-1] = h[last:].pool(len(sessions))
	}
	return all
}

// pool returns the pool of values in ascending order. One that is more than twice the median counts as that, so that a rare one does not show in the mean.
func (h held) pool(sessions int) Pool {
	most, sum := 2*h[len(h)/2].value, 0.0
	for _, v := range h {
		sum += min(v.value, most)
	}
	return Pool{Mean: rounded(sum / float64(len(h))), Count: len(h), Sessions: sessions}
}

// rounded returns a number with four significant digits.
func rounded(v float64) float64 {
	if v == 0 {
		return 0
	}
	scale := math.Pow(10, 3-math.Floor(math.Log10(math.Abs(v))))
	return math.Round(v*scale) / scale
}

// renumber replaces the hashes of shared blocks by numbers from 0.
func (d *Description) renumber() {
	numbers := map[int64]int64{}
	for i := range d.Kinds {
		own := make([]int64, len(d.Kinds[i].Shared))
		for n, hash := range d.Kinds[i].Shared {
			if _, known := numbers[hash]; !known {
				numbers[hash] = int64(len(numbers))
			}
			own[n] = numbers[hash]
		}
		d.Kinds[i].Shared = own
	}
}

// draw draws a value: pools as often as they have values, and evenly between those next to them.
func (p Pools) draw(rng *rand.Rand) float64 {
	total := 0
	for _, one := range p {
		total += one.Count
	}
	place := rng.Float64() * float64(total)
	for i, one := range p {
		if place >= float64(one.Count) && i+1 < len(p) {
			place -= float64(one.Count)
			continue
		}
		low, high := one.Mean, one.Mean
		if i > 0 {
			low = (p[i-1].Mean + one.Mean) / 2
		}
		if i+1 < len(p) {
			high = (p[i+1].Mean + one.Mean) / 2
		}
		share := place / float64(one.Count)
		if share < 0.5 { // the pool's mean is its middle
			return low + (one.Mean-low)*2*share
		}
		return one.Mean + (high-one.Mean)*(2*share-1)
	}
	return 0
}

// tokens draws a number of at least 1.
func (p Pools) tokens(rng *rand.Rand) int { return max(1, int(math.Round(p.draw(rng)))) }

// readDescription reads the file of a description; nil where a file is of another kind.
func readDescription(path string) (*Description, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	d := &Description{}
	if json.NewDecoder(f).Decode(d) != nil || d.Version == 0 {
		return nil, nil
	}
	if d.Version != 1 || d.Block < 1 {
		return nil, fmt.Errorf("%s: a description of version %d with blocks of %g tokens is not understood", path, d.Version, d.Block)
	}
	if err := (arrival.Clients{Rate: 1, Of: d.Clients}).Validate(); err != nil {
		return nil, fmt.Errorf("%s: clients: %w", path, err)
	}
	sessions := 0
	for i, k := range d.Kinds {
		if k.Sessions < 1 || !k.Turns.usable(1) || !k.First.usable(1) || !k.Output.usable(1) || !k.Added.usable(0) || !k.Pause.usable(0) {
			return nil, fmt.Errorf("%s: kinds[%d] has no sessions, or lengths and pauses that are not above 0: describe the recording again", path, i)
		}
		sessions += k.Sessions
	}
	if d.Sessions = sessions; sessions == 0 {
		return nil, fmt.Errorf("%s describes no sessions", path)
	}
	return d, nil
}

// usable reports whether there are the given number of pools or more, with values that can be drawn.
func (p Pools) usable(least int) bool {
	for _, one := range p {
		if one.Count < 1 || !(one.Mean >= 0 && one.Mean <= mostTokens) {
			return false
		}
	}
	return len(p) >= least
}

// mostTurns bounds a session of a file that was written by hand.
const mostTurns = 10_000

// draw draws a session.
func (d *Description) draw(rng *rand.Rand) visit {
	place := rng.IntN(d.Sessions)
	i := 0
	for place >= d.Kinds[i].Sessions {
		place -= d.Kinds[i].Sessions
		i++
	}
	k := &d.Kinds[i]
	v := visit{shared: k.Shared, turns: make([]visitTurn, min(k.Turns.tokens(rng), mostTurns))}
	for n := range v.turns {
		t := &v.turns[n]
		if t.output = k.Output.tokens(rng); n == 0 {
			t.prompt = k.First.tokens(rng)
		} else {
			t.prompt, t.pause = k.Added.tokens(rng), time.Duration(k.Pause.draw(rng)*float64(time.Second))
		}
	}
	return v
}

// measure compares recorded sessions with as many as are drawn.
func (d *Description) measure(all []visit) {
	a, b := quantities(all, d.Block), quantities(d.sample(), d.Block)
	for _, name := range []string{QuantityTurns, QuantityFirst, QuantityShared, QuantityAdded, QuantityWhole, QuantityOutput, QuantityPause} {
		if len(a[name]) > 0 {
			d.Distances = append(d.Distances, Distance{name, rounded(stats.Mean(a[name])), rounded(stats.Mean(b[name])), rounded(farApart(a[name], b[name]))})
		}
	}
}

// sample draws sessions, always the same.
func (d *Description) sample() []visit {
	const sessions = 10_000
	rng := stats.Rand(1, "description", "sample")
	drawn := make([]visit, sessions)
	for i := range drawn {
		drawn[i] = d.draw(rng)
	}
	return drawn
}

// quantities returns the values of each quantity in sessions.
func quantities(all []visit, block float64) map[string][]float64 {
	q := map[string][]float64{}
	add := func(name string, v float64) { q[name] = append(q[name], v) }
	for _, v := range all {
		add(QuantityTurns, float64(len(v.turns)+v.more))
		add(QuantityFirst, float64(v.turns[0].prompt))
		shared := 0
		if n := len(v.shared); n > 0 {
			shared = min(int((float64(n)+0.5)*block), v.turns[0].prompt)
		}
		add(QuantityShared, float64(shared))
		said := 0
		for n, t := range v.turns {
			add(QuantityWhole, float64(said+t.prompt))
			add(QuantityOutput, float64(t.output))
			said += t.prompt + t.output
			if n > 0 {
				add(QuantityAdded, float64(t.prompt))
				add(QuantityPause, t.pause.Seconds())
			}
		}
	}
	return q
}

// farApart returns the Kolmogorov-Smirnov distance of two samples, which it sorts; 1 where one has no values.
func farApart(a, b []float64) (most float64) {
	if len(a) == 0 || len(b) == 0 {
		return 1
	}
	slices.Sort(a)
	slices.Sort(b)
	for i, k := 0, 0; i < len(a) && k < len(b); {
		v := min(a[i], b[k])
		for i < len(a) && a[i] == v {
			i++
		}
		for k < len(b) && b[k] == v {
			k++
		}
		most = max(most, math.Abs(float64(i)/float64(len(a))-float64(k)/float64(len(b))))
	}
	return most
}
