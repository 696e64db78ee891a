package saturation

import (
	"llmsweep/sweep/measure"
	"llmsweep/sweep/slo"
)

// The thresholds of this package, and where they come from. What the rules for a rate and its interval are worth is in
// the tables of examples/evidence/families.md: the servers there were not made for them.

// ComfortableShare is the share of the saturation rate that leaves room for a busy minute: at 80 % the mean queue of a
// server with random arrivals is a tenth of that at 98 % (Kingman, Mathematical Proceedings of the Cambridge
// Philosophical Society 57 (1961)). That room is the half-width up to which a rate is an answer.
const ComfortableShare = 1 - slo.MaxHalfWidth // 0.8

// The search for the bracket, in shares of a rate unless said otherwise. What each is worth is in
// examples/evidence/families.md.
const (
	firstHoldShare = 0.97 // of what the throughput stage completed is held first
	rateTolerance  = 0.02 // rates that differ by less are one: of 2000 random arrivals about 2 % more or fewer come
	narrowRatio    = 1.15 // ratio of the ends of a bracket that is narrow
	stepUp         = 0.15 // so much more than what was kept is held next
	stepUpFar      = 1    // or so much, where the search for the ceiling ended although the output still grew,
	growthFactor   = 1.05 // by more than this factor in its last step
	maxStepDown    = 1.5  // times lower at most is held next
	recentHolds    = 4    // of the latest holds, among which one that did not decide is not repeated
	undecidedStep  = 0.94
	countSigmas    = 0.75 // standard deviations of the number of requests: so far below the throughput is the first hold
	pausesPerHold  = 3    // pauses, or times from one to the next, that a hold lasts at least
	staleAfter     = 180  // seconds after which a rate that failed is held again
	rhythmError    = 0.02 // of what was served: requests of equal length keep the rhythm in which a stage began
)

// How long a rate is held.
const (
	holdStages   = 5 // stage times
	holdRequests = 600
	holdWaves    = 6 // of lone requests, at least
)

// tolerance is the share of the requests, and of their length, that may be missing.
const tolerance = measure.DefaultTolerance

// A habit is named only from these counts and shares of the requests on: fewer are an accident of the network or of
// this machine, and do not change the mean of a row.
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
	fullCache  = 0.95 // of the KV cache in use: the blocks of the next request may not fit
	fullBatch  = 0.95 // of the most requests seen running, on average: the batch is as large as it gets
	halfBatch  = 0.6  // of the most requests seen running: a load that leaves much of the batch empty
	minWaiting = 1    // request on average
)

// What counts as a cache that is too small for the contexts, and as a throughput that does not grow with the users.
const (
	hitsFall   = 0.1  // of the prompt tokens
	lostShare  = 0.1  // of their sessions' earlier prompts, that turns have lost
	fullOutput = 0.95 // of the most output tokens per second
)

// How full a batch is on average while requests wait, where slots are what runs out: in the row with the most users, of
// a few slots within slotMargin of all, and in the first that misses the SLO. Requests that arrive between two steps
// wait beside free slots, so that it is less than all. Where slots are left, requests wait for tokens of a step while
// fewer run than at other times. Chosen on 103 servers of TestUsersAgreeWithExhaustiveSearch.
const (
	fullSlots  = 0.97
	slotMargin = 0.25
	fullAtMiss = 0.8
)

// mostCautions is how many cautions an answer has: a reader takes in no more.
const mostCautions = 3

// unwritten is the time in seconds within which a record is written at the latest: records of a killed process are
// missing for as long.
const unwritten = 1.0

// Near the edge a queue swings more slowly than a stage lasts, and what one stage shows of latencies is narrower than
// the truth: beyond these shares of the saturation rate their intervals would hold the truth less often than in 95 %
// (TestLatencyIntervalsCover). A queue at a share x takes about x/(1-x)^2 requests to swing: means of fewer swings show
// no interval.
const (
	percentilesHold = 0.8
	meansHold       = 0.9
	leastSwings     = 14
	unknownShare    = 0.5
)
