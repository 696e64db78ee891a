package measure

import (
	"math"
	"slices"
	"testing"
	"time"

	"llmsweep/client"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/sample"
	"llmsweep/sweep/slo"
)

// bounds are cases on either side of a threshold: a rule holds in the first, and does not in the second.
type bounds map[string][2]bool

func (b bounds) check(t *testing.T) {
	for name, c := range b {
		if !c[0] || c[1] {
			t.Errorf("%s: %v on this side, %v on the other", name, c[0], c[1])
		}
	}
}

// numbers are what rules make of cases that are as simple as can be.
type numbers map[string][2]float64

func (n numbers) check(t *testing.T) {
	for name, c := range n {
		if !(math.Abs(c[0]-c[1]) <= 1e-9) {
			t.Errorf("%s: %v, want %v", name, c[0], c[1])
		}
	}
}

// How long a stage goes on, and how often it is looked at.
func TestExtent(t *testing.T) {
	stage := func(c Criteria) *Account { return NewAccount(c) }
	tick := func(least time.Duration) float64 {
		return (&Criteria{Extent: Extent{MinTime: least}}).Tick().Seconds()
	}
	held := func(pause time.Duration) float64 {
		a := stage(Criteria{Rate: 1, Extent: Extent{MinTime: time.Minute, MaxTime: time.Minute, Hold: time.Minute}})
		a.pauses.ends = []time.Duration{0, pause, 2 * pause}
		return a.lastLook().Seconds()
	}
	octaves := Criteria{Rate: 1, Extent: Extent{MinTime: 20 * time.Second, MaxTime: 80 * time.Second}}
	late := stage(Criteria{TimeOut: 115 * time.Second})
	loop := stage(Criteria{Concurrency: 4, Extent: Extent{MaxTime: 10 * time.Second}})
	users := cachedTurns{}
	for i := range 9 {
		users.add(answer(0, float64(i+1)))
	}
	numbers{
		"two hundred ticks in the least time": {tick(20 * time.Second), 0.1},
		"the shortest tick":                   {tick(time.Second), 0.01},
		"the longest tick":                    {tick(time.Hour), 0.25},
		"looks at two octaves":                {float64(len(octaves.looksAt())), 5},
		"error of all looks":                  {(&looks{}).spend(1), 0.05},
		"time to drain":                       {late.latestClose().Seconds(), 100},
		"a loop without a wave":               {loop.closesAt().Seconds(), 30},
		"a hold of six pauses":                {held(15 * time.Second), 90},
		"a hold of twice its time":            {held(time.Minute), 120},
		"two turns of each of three users":    {users.opening(3, time.Hour).Seconds(), 6},
		"a little of three waves is missing":  {wholeWaves(0, 59_900*time.Millisecond, 20*time.Second).Seconds(), 0},
	}.check(t)

	failing := func(done, failed int) bool {
		a := stage(Criteria{MaxErrorRate: 0.1})
		a.done, a.failed = done, failed
		return a.hopeless()
	}
	rhythm := func(pauses ...time.Duration) bool {
		a := stage(Criteria{Rate: 1})
		a.pauses.ends = pauses
		return a.waveTime() > 0
	}
	busy := func(inFlight, waves int) bool {
		a := stage(Criteria{Concurrency: 20, Whole: true})
		for i := range 20 * waves {
			a.waves.Add(time.Duration(i) * time.Second)
		}
		level := sample.NewLevel(time.Second)
		level.Add(0, inFlight)
		level.Advance(time.Hour)
		s := &summary{Account: a, seen: &load.Outcome{ClosedAt: time.Hour, InFlight: level}}
		s.busyWindow()
		return s.wholeReason.IsZero()
	}
	opens := func(rate float64) bool {
		end, _ := transient(append(slices.Repeat([]float64{rate}, 20), slices.Repeat([]float64{1}, 180)...), 1, 0)
		return end == 20
	}
	waves := func(to time.Duration) bool { return wholeWaves(0, to*time.Second, 10*time.Second) > 0 }
	bounds{
		"twenty requests fail":                   {failing(0, 20), failing(0, 19)},
		"ten of them":                            {failing(10, 10), failing(11, 9)},
		"three pauses are a rhythm":              {rhythm(1, 2, 3), rhythm(1, 2)},
		"19 of 20 places are busy":               {busy(19, 9), busy(18, 9)},
		"two waves after the first":              {busy(20, 3), busy(20, 2)},
		"an opening at nine tenths of the rate":  {opens(0.89), opens(0.91)},
		"ten waves need not be whole":            {waves(98), waves(102)},
		"a hundredth of a wave may be missing":   {batches(9991, 1000, 99) == 10, batches(9989, 1000, 99) == 10},
		"a tenth more in flight than by records": {addsUp(20, 21.9), addsUp(20, 22.1)},
		"half a request more":                    {addsUp(1, 1.49), addsUp(1, 1.51)},
	}.check(t)
}

// What grows: the backlog, and the waits.
func TestGrowth(t *testing.T) {
	ticks := func(n int, end func(i int) float64) sample.Ticks {
		ticks := sample.Ticks{Width: time.Second}
		for i := range n {
			ticks.Sums, ticks.Ends = append(ticks.Sums, float64(i)), append(ticks.Ends, end(i))
		}
		return ticks
	}
	backlog := func(n int, request time.Duration) bool {
		a := ticked(ticks(n, func(i int) float64 { return float64(i) }), 10)
		a.LoneLatency = request
		g, _ := a.backlogGrowth(Window{To: time.Duration(n) * time.Second}, errorLevel)
		return g.Low.Known()
	}
	deep := func(share float64) bool {
		a := ticked(ticks(100, func(i int) float64 { return max(share, float64(i/50)) }), 10)
		a.LoneLatency = 0
		return a.overloadProgress(Window{To: 100 * time.Second}).Rate.Value() < 50 // all sums
	}
	var e waitSeries
	for i := range 50 { // ten in each of five spans of a second, which wait ever longer
		e.at, e.wait = append(e.at, float64(i)/10+0.05), append(e.wait, math.Pow(float64(i/10), 1.1))
	}
	a := NewAccount(Criteria{Rate: 10})
	a.firstTokenWaits = e
	w := Window{To: 5 * time.Second}
	_, low, _ := slope(e.longestWaits(w, 5, 0.9), 0.1/4)
	few := waitSeries{e.at[1:], e.wait[1:]}
	bounds{
		"thirty averages":                  {backlog(30, 0), backlog(29, 0)},
		"five averages make a slope":       {backlog(5, time.Second), backlog(4, time.Second)},
		"half of the largest backlog":      {deep(0.51), deep(0.49)},
		"ten waits have a longest but one": {e.longestWaits(w, 5, 1) != nil, few.longestWaits(w, 5, 1) != nil},
	}.check(t)
	numbers{
		"variation of 1 and 3":    {(&total{n: 2, sum: 4, squares: 10}).variation(), 0.5},
		"the fewest spans":        {float64(spanCount(0)), 5},
		"twenty requests to each": {float64(spanCount(179)), 8},
		"the most spans":          {float64(spanCount(1e6)), 10},
		"a quarter of the error":  {a.waitsGrowth(w, 0.1).Low.Value(), low},
		"batches of a rate":       {float64(len(newProgress(Window{To: time.Hour}, 0).batches)), 12},
	}.check(t)
}

// silentAfter is a stage in tenths of seconds: after a token comes a silence, a token, and the last silence.
func silentAfter(longest, last int) *summary {
	a := NewAccount(Criteria{Concurrency: 4})
	a.ticks = sample.Ticks{Width: 100 * time.Millisecond}
	for _, silence := range []int{longest, last} {
		a.ticks.Sums = append(append(a.ticks.Sums, 1), make([]float64, silence)...)
	}
	a.ticks.Ends = slices.Repeat([]float64{1}, len(a.ticks.Sums))
	a.lifeSigns.token = float64(longest+1) / 10
	a.lifeSigns.latest = a.lifeSigns.token
	return &summary{Account: a, seen: &load.Outcome{ClosedAt: time.Duration(len(a.ticks.Sums)) * a.ticks.Width}}
}

func TestSilence(t *testing.T) {
	closing := func(longest, last int) bool { return silentAfter(longest, last).silentAtClose() }
	hopeless := func(longest, last int) bool {
		s := silentAfter(longest, last)
		return s.silentTooLong(s.seen.ClosedAt)
	}
	frozen := func(longest int, waited float64) bool {
		s := silentAfter(longest, 0)
		s.lifeSigns.hanging, s.lifeSigns.sends = s.lifeSigns.latest+waited, []send{{1, true}, {2, true}}
		_, ok := s.frozenSince()
		return ok
	}
	bounds{
		"twice the usual belongs to the window":  {closing(9, 20), closing(9, 19)},
		"half a second at least":                 {closing(0, 5), closing(0, 4)},
		"ten times the usual is given up":        {hopeless(69, 700), hopeless(69, 699)},
		"a minute at least":                      {hopeless(0, 600), hopeless(0, 599)},
		"five times the usual is frozen":         {frozen(9, 5.01), frozen(9, 4.99)},
		"two seconds at least, before it is so":  {frozen(0, 2.01), frozen(0, 1.99)},
		"a client that stopped, and no accident": {!Stopped(time.Second).IsZero(), !Stopped(999 * time.Millisecond).IsZero()},
	}.check(t)
}

func TestMemoryIsBounded(t *testing.T) {
	a := NewAccount(Criteria{Concurrency: 1, Extent: Extent{Steady: true}})
	e := exceedances{term: slo.Term{Metric: slo.TTFT, Stat: "p95", Limit: 1}}
	var q quotas
	var h habitFinder
	r := answer(1, 2)
	for range 1<<17 + 1 {
		a.Ended(r, 1)
		e.add(r)
		q.add(r)
		h.add(r)
	}
	numbers{
		"values that show clusters": {float64(len(e.sample)), 1 << 15},
		"sends":                     {float64(len(a.lifeSigns.sends)), 1 << 12},
		"turns":                     {float64(len(a.cached.all)), 1 << 17},
		"answers with habits":       {float64(len(h.streams)), 50_000},
		"waits":                     {float64(len(a.firstTokenWaits.at)), 50_000},
		"requests of a quota":       {float64(len(q.events)), 50_000},
	}.check(t)
}

// What is shown while a stage runs is of the last two seconds, and of the last 31 values.
func TestRecent(t *testing.T) {
	rate := func(before int) float64 {
		a := NewAccount(Criteria{Extent: Extent{MinTime: 20 * time.Second}})
		a.ticks.Sums = append([]float64{2.1}, make([]float64, before)...)
		return a.Recent().TokensPS
	}
	median := func(newer int) float64 {
		var r recentTimes
		for i := range 100 + newer {
			r.add(time.Duration(i / 100))
		}
		return float64(r.median())
	}
	numbers{
		"tokens two seconds ago": {rate(20), 1}, "tokens before that": {rate(21), 0},
		"15 of 31 are newer": {median(15), 0}, "16 of 31 are newer": {median(16), 1},
	}.check(t)
}

// steadyWith is whether a window of eight seconds is steady whose hit rates, which swing, and output tokens are so much
// in either half.
func steadyWith(hit, laterHit, tokens, laterTokens, swing float64) bool {
	hits, output := [2]float64{hit, laterHit}, [2]float64{tokens, laterTokens}
	a := NewAccount(Criteria{Concurrency: 2})
	for i := range 8 {
		a.cached.all = append(a.cached.all, cachedTurn{time.Duration(i)*time.Second + 1, 1000,
			1000 * (hits[i/4] + swing*float64(i%2*2-1)), output[i/4]})
	}
	return a.steadyIn(Window{To: 8 * time.Second})
}

func TestSteadiness(t *testing.T) {
	bounds{
		"hits rise by a twentieth": {steadyWith(0.5, 0.549, 1, 1, 0), steadyWith(0.5, 0.551, 1, 1, 0)},
		"tokens rise by a tenth":   {steadyWith(1, 1, 951, 1049, 0), steadyWith(1, 1, 949, 1051, 0)},
		"hits rise by two deviations more": {
			steadyWith(0.3, 0.513, 1, 1, 0.1), steadyWith(0.3, 0.514, 1, 1, 0.1),
		},
	}.check(t)
}

// Shorter answers under load, by their mean among a number of answers, with a variance.
func TestShortened(t *testing.T) {
	shorter := func(n int, mean, variance float64) bool {
		s := Shares{n: n, mean: mean, m2: variance * float64(n-1)}
		return s.shortened(Exact()).Known()
	}
	// t of 9 degrees of freedom is above 4.297 once in a thousand times
	chance := func(sigmas float64) bool { return shorter(10, 0.9, 10*math.Pow(0.1/sigmas, 2)) }
	bounds{
		"by 2 %":                   {shorter(9, 0.979, 0), shorter(9, 0.981, 0)},
		"of five answers":          {shorter(5, 0.9, 0), shorter(4, 0.9, 0)},
		"which chance hardly does": {chance(4.30), chance(4.29)},
	}.check(t)
}

// Prompts that the server had before the run sent them.
func TestContamination(t *testing.T) {
	contaminated := func(of, n, over int, prompt float64) bool {
		var h hits
		for i := range of {
			r := &rundir.Record{Status: string(client.StatusOK), PromptTokens: rundir.Exactly(prompt),
				IdealTokens: 50, CachedTokens: rundir.Exactly(50)}
			if i < n {
				r.CachedTokens = rundir.Exactly(float64(50 + over))
			}
			h.add(r)
		}
		return h.contaminated().Known()
	}
	bounds{
		"half of the prompt is no template": {contaminated(99, 99, 256+97, 512), contaminated(99, 99, 256+96, 512)},
		"more than 96 tokens":               {contaminated(99, 9, 97, 512), contaminated(99, 9, 96, 512)},
		"prompts of 128 tokens":             {contaminated(99, 9, 120, 128), contaminated(99, 9, 120, 127)},
		"three requests":                    {contaminated(99, 3, 200, 512), contaminated(99, 2, 200, 512)},
		"one in a hundred":                  {contaminated(1000, 10, 200, 512), contaminated(1000, 9, 200, 512)},
	}.check(t)
}

func TestTurns(t *testing.T) {
	before := turn{prompt: 116}
	class := func(lost float64) string {
		return turn{index: 1, cached: rundir.Exactly(100 - lost)}.class(before)
	}
	_, of := turn{index: 1, cached: rundir.Exactly(0)}.lost(before)
	p95 := func(n int) bool {
		return slices.Repeat(turns{{ttft: rundir.Exactly(1)}}, n).group().P95.Known()
	}
	numbers{"a block of 16 tokens may be missing": {of, 100}}.check(t)
	bounds{
		"a tenth is lost":   {class(9.9) == rundir.WarmTurn, class(10.1) == rundir.WarmTurn},
		"half is lost":      {class(50.1) == rundir.AgainTurn, class(49.9) == rundir.AgainTurn},
		"twenty have a p95": {p95(20), p95(19)},
	}.check(t)
}

// A first token that came early: the second comes five times the usual gap later, in the median of five requests.
func TestEarlyTokens(t *testing.T) {
	early := func(n int, second int64) float64 {
		g, p50 := newGaps(tokenCounter{perChunk: 1}, false), rundir.Dist{P50: rundir.Exactly(0.1)}
		for range n {
			g.add(answer(0, 1, second, 1), tokenCounter{perChunk: 1})
		}
		return g.early(&rundir.Stage{ITL: p50, TTFT: p50}).Value()
	}
	numbers{"seconds to the second token": {early(5, 700_000), 0.7}}.check(t)
	bounds{
		"five times the gap": {early(5, 501_000) > 0, early(5, 499_000) > 0},
		"five requests":      {early(5, 700_000) > 0, early(4, 700_000) > 0},
	}.check(t)
}
