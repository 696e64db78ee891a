package saturation

// The thresholds of this package, and where they come from. What the rules for a rate and its interval are worth is in the tables of
// examples/evidence/families.md: the servers there were not made for them.

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

// widest is the half-width of an interval up to which a saturation rate counts as located, as a share of the rate. It is the room that a
// comfortable load leaves below saturation: with a wider interval it is not known whether the server sustains even that.
const widest = 1 - comfortable

// farBeyond is how many times the saturation rate of a server that sheds is probed: it is always busy only far beyond its edge.
const farBeyond = 1.5

// searchGain is the gain of a step that the search for the ceiling takes for noise (package sweep): a step may be off by so much.
const searchGain = 1.05

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

// meansDiffer is what means over requests of two stages of one server differ by anyway, as a share: requests are many, and keep no rhythm.
const meansDiffer = 0.002

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

// How far a bucket's rate in requests per second is unsure at least: of its own rate, and of the mean cost of a request in tokens.
const (
	unsureRate = 0.01
	unsureCost = 0.02
)

// usualTolerance is the tolerance of drift of runs that do not say theirs: the default of a sweep.
const usualTolerance = 0.05

// A habit is named from so many requests or pauses on: fewer are an accident of the network or of this machine. And from such a share of the requests on,
// since what is rarer moves no mean of a row.
const (
	fewestPauses  = 3
	fewestLone    = 2 // failures among requests sent one at a time
	leastFails    = 0.02
	fewestCached  = 5
	leastCached   = 0.02
	fewestDropped = 5
	leastDropped  = 0.01
	mostBurst     = 0.5 // most of the answers come in bursts
)

// What a saturated server ran out of.
const (
	fullCache = 0.95 // of the KV cache in use: the blocks of the next request may not fit
	fullBatch = 0.95 // of the most requests seen running, on average: the batch is as large as it gets
	oneWaits  = 1    // request on average
)

// What counts as a cache that is too small for the contexts, and as a throughput that does not grow with the users.
const (
	hitsFall  = 0.1  // of the prompt tokens
	lostShare = 0.1  // of their sessions' earlier prompts, that turns have lost
	noMore    = 0.95 // of the most output tokens per second
)

// How full a batch is on average while requests wait, where slots are what runs out: in the row with the most users, of a few slots within aSlot of all,
// and in the first that misses the SLO. Requests that arrive between two steps wait beside free slots, so that it is less than all. Where slots are left,
// requests wait for tokens of a step while fewer run than at other times. Chosen on 103 servers of TestUsersAgreeWithExhaustiveSearch.
const (
	fullSlots  = 0.97
	aSlot      = 0.25
	fullAtEdge = 0.8
)

// A server stays slow after an overload and does not drift where it has slowed since by less than halfOfDrift of what a drift at that pace would
// have. Where it was watched for less than leastWait seconds, nothing is known of its recovery.
const (
	halfOfDrift = 0.5
	leastWait   = 1
)

// What the next sweep is advised.
const (
	mostLonger       = 4  // times as long at most: from so little nothing better is known
	advisedWaves     = 12 // of the longest requests in a stage
	controlTime      = 30 // seconds of a stage at least, with which there is time for control measurements: a sweep has some 13 stages, and
	controlLatencies = 10 // 4 % of its time are for controls, which take so many requests of the floor
)

// mostCautions is how many cautions an answer has: a reader takes in no more.
const mostCautions = 3

// unwritten is the time in seconds within which a record is written at the latest: records of a killed process are missing for as long.
const unwritten = 1.0

// Near the edge a queue swings more slowly than a stage lasts, and what one stage shows of latencies is narrower than the truth:
// beyond these shares of the saturation rate their intervals would hold the truth less often than in 95 % (TestLatencyIntervalsCover).
const (
	percentilesHold = 0.8
	meansHold       = 0.9
)

// HeldShare is the share of the saturation rate at which the answer is tested, for plans.
const HeldShare = held
