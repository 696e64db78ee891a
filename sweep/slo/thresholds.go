package slo

// The thresholds of this package, and where they come from. What the rules that use them are worth is in the tables of examples/evidence/families.md.

// level is the probability with which a term that is just missed is called met, and one just met is called missed.
const level = 0.05

// doubtless is the probability with which a term that is just met is called missed beyond doubt.
const doubtless = 0.001

// mlperfLevel is the probability with which MLPerf's rule may pass a server that misses a percentile: its confidence is 99 %
// (loadgen/early_stopping.cc).
const mlperfLevel = 0.01

// stallGap is the shortest gap that counts as a stall, in seconds, where a term does not set it.
const stallGap = 0.5

// speedOff is what an answer's speed may be off by, as a share, because its first chunk holds several tokens.
const speedOff = 0.05

// mostTimes limits the advice to measure longer: where more than this many times the requests would be needed, the share is so near the limit that
// measuring longer is no advice.
const mostTimes = 100

// The curve of a term is read by a line through the stages near its limit. All were chosen with TestSLOSearchAgreesWithBruteForce
// (package sweep).
const (
	reach   = 0.3   // of the rate, on either side: farther away the curve bends, and within less the line's slope is unsure
	scatter = 0.015 // of the rate: what a single stage is off by, besides its own noise (the rhythm in package saturation)
)

// Widened is how many times as wide as the line's an interval is: the search ends where that happens to be narrow, and the line is read where it
// crosses. It was chosen with TestSLOSearchAgreesWithBruteForce (package sweep).
const Widened = 1.25

// How crowded arrivals were tells most of how far the share of a stage is off by chance. On simulated servers the middle half of the slopes was from
// 0.6 to 1.0, and crowding and rate together explained 40 to 95 % of the variance between stages at one rate.
const (
	crowdingCounts, crowdingVaries = 0.75, 0.3 // slope of the share's log-odds on crowding: mean and standard deviation over servers
	explained                      = 2.5       // times the independent requests that a share is worth once crowding is taken off
)

// crowdedOfWaiting is the share of the waiting requests by which crowding is counted where fewer than a term's tail wait at all.
const crowdedOfWaiting = 0.6

// clusterReach is how far from a rate, as a share of it, stages tell how values cluster there.
const clusterReach = 0.3

// noInterval is the standard error of the logarithm of a mean without an interval: it hardly counts beside others.
const noInterval = 0.1

// How many requests a percentile takes.
const (
	enough   = 5    // samples must lie beyond a percentile: see [stats.Supported]
	roundOff = 1e-9 // so that 5/0.05 is 100 requests and not 101
)
