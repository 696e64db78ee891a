package saturation

// The thresholds of this package, and where they come from. All but the first are seen in the tables of examples/evidence/families.md: the servers there were
// not made for them.

// comfortable is the share of the saturation rate that leaves room for a busy minute: at 80 % the mean queue of a server with random arrivals is a
// tenth of that at 98 % (Kingman, Mathematical Proceedings of the Cambridge Philosophical Society 57 (1961)).
const comfortable = 0.8

const (
	// held is the share of the saturation rate at which the answer is tested: nearer to it a stage of three minutes cannot tell a queue that swings from
	// one that grows, since its drift is known to about 3 over the root of the number of arrivals.
	held = 0.95
	// nearHeld is how near to a rate a hold counts for it: arrivals are random, so that about 2 % more or fewer come than asked in 2000.
	nearHeld = 0.02
	// tolerated is how much more than the plateau a stable stage may have been offered: the tolerance of drift in a verdict.
	tolerated = 1.05
	// narrow is the ratio of the bounds of a bracket that is an answer: the rate in the middle is known to within 7 %.
	narrow = 1.15
)

// rhythm is the relative standard deviation between single stages besides their own noise: requests of equal length keep the rhythm in
// which a stage began, a few per cent faster or slower than another stage's, and no batch of the same stage shows that.
const rhythm = 0.02

// noInterval is the relative standard error of a stage that is too short for an interval of its own: it hardly counts beside others.
const noInterval = 0.1

// A change between two stages of one load counts from here on. Smaller ones are within what stages of one server differ by (rhythm).
const (
	leastDrift = 0.03 // of the time per token with one request in flight, or at one rate
	leastScale = 0.10 // of a closed loop's completed rate, of the time to the first token, or of the time per token where the floor has not changed
)

// exceeds is how much more a later row must complete than the ceiling, besides that their intervals are apart: two rhythms and a half.
const exceeds = 1.05

// moreAlone is how much more than the saturation rate the floor must complete for a caution: less is within what stages of one server differ by.
const moreAlone = 1.03

// fullWhenRefusing is the share of refusals from which a server that sheds is always busy. With fewer it is idle between bursts of
// arrivals, and accepts less than it can do: its queue is too short to bridge them.
const fullWhenRefusing = 0.25

// The token bucket that refusals show: the share of them that it must explain, and of a stage's rate that a closed loop without refusals must complete
// to show that there is none. A server that sheds refuses when it is full, and a bucket of the same rate explains less of it.
const (
	wellExplained = 0.97
	unrefused     = 0.97
)

// Near the edge a queue swings more slowly than a stage lasts, and what one stage shows of latencies is narrower than the truth:
// beyond these shares of the saturation rate their intervals would hold the truth less often than in 95 % (TestLatencyIntervalsCover).
const (
	percentilesHold = 0.8
	meansHold       = 0.9
)

// HeldShare is the share of the saturation rate at which the answer is tested, for plans.
const HeldShare = held
