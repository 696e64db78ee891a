package measure

import "time"

// The thresholds of this package, and where they come from. What the rules that use them are worth is in the tables of examples/evidence/families.md.

// errorLevel is the error that a verdict is allowed. It is spent over the looks at a stage, so that looking again does not turn chance into a
// finding: as the square of the time gone, most of it on the last look, which has the most evidence (Kim and DeMets, Biometrika 74
// (1987)). The errors of the looks are added up (Boole), as if no two ever coincided.
const errorLevel = 0.05

// timesPlanned is how many times as long as planned a stage lasts at most.
const timesPlanned = 3

// giveUp is how many times MaxTime a closed loop may take whose first wave outlasts everything.
const giveUp = 3

// rateBatches is into how many batches a rate is averaged for its interval, at most: of the 10 to 30 that Schmeiser, Operations Research
// 30 (1982), recommends.
const rateBatches = 12

// Limits on the number of averages that a slope is fitted to.
const (
	maxSlopeBatches = 30 // each spans many requests
	minSlopeBatches = 5  // a line through fewer fits anything
)

// deep is the share of the largest backlog from which on the server counts as far behind.
const deep = 0.5

// manyWaves is the number of waves from which on part of a wave more or less makes no difference.
const manyWaves = 10

// The longest waits of a stage, by which a queue is seen that only a part of the requests is in.
const (
	slowest = 0.1 // the share of the requests by which the longest waits are told: one replica of ten is seen
	perSpan = 20  // requests in a span on average: two of them waited longest
)

// A server is silent while no token of any stream arrives although requests are in flight. What is usual is the longest silence that ended in
// the stage: waits for a first token count, so that a slow server is not taken for a silent one. The limits are checked by
// TestPlainServersAreNotFrozen and TestAFrozenServerIsNamed.
const (
	prolongFrom  = 2 // times as long as usual: a silence at the window's end belongs to the window
	frozenFrom   = 5 // times as long as usual: a server that was silent to the end has frozen
	leastProlong = 500 * time.Millisecond
	leastFrozen  = 2 * time.Second

	// A stage in which each request counts would wait for a frozen server until its requests time out. It is given up earlier.
	giveUpFrom  = 10 // times as long as usual
	leastGiveUp = time.Minute
)

// byChance is the part of the tolerance, 1 % of the requests, that is put down to chance: a server below its limit refuses a few requests in a
// burst of arrivals. Above the whole tolerance the work is not done, whatever the backlog does.
const byChance = 0.2

// Beyond these a stage says as much of the client as of the server. It is invalid, and left out of the answer.
const (
	maxLate   = 0.050 // seconds at p99, of sending and of reading: people would notice it in a TTFT
	maxCPU    = 0.95  // of all cores: none is left
	maxShared = 0.2   // of the token-bearing chunks, received together with the next: the time between tokens is then the client's
)

// Answers under load are shorter where the mean length falls by more than leastShortened, with at least fewestShares answers on either side, and
// chance explains that once in a thousand times at most (Welch's test).
const (
	leastShortened = 0.02
	fewestShares   = 5
	shortenedLevel = 0.001
)

// What counts as a change between the halves of a window: of the hit rate, and of the tokens per second as a share. Smaller ones move no number of users
// by one.
const (
	hitsDrift   = 0.05
	tokensDrift = 0.1
)

// What is a stall of all streams.
const (
	timesUsual   = 6    // as long as the usual gap between two tokens, at least
	shortest     = 0.1  // seconds
	mostOfOpen   = 0.8  // of the open streams stand still
	sameInstant  = 2e-3 // seconds that client and server may need for streams that go on at one instant
	enoughTokens = 2    // besides the first: an answer with fewer has no usual gap
)

// fewTokens is how many tokens an answer must have to show a rhythm.
const fewTokens = 4

// fewestBeyond is how many values beyond a limit tell how they cluster: with ten, a single chance neighbour lowers the effective number by a sixth.
const fewestBeyond = 10

// nearLimit is the share of a limit from which values tell how those beyond it cluster. Bursts of a busy queue far below the limit do not.
const nearLimit = 0.5
