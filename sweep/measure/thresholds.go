package measure

import "time"

// The thresholds of this package, and where they come from. What the rules that use them are worth is in the tables of
// examples/evidence/families.md.

// errorLevel is the error that a verdict is allowed. It is spent over the looks at a stage, so that looking again does
// not turn chance into a finding: as the square of the time gone, most of it on the last look, which has the most
// evidence (Kim and DeMets, Biometrika 74 (1987)). The errors of the looks are added up (Boole), as if no two ever
// coincided.
const errorLevel = 0.05

// giveUpFactor is how many times MaxTime a closed loop may take whose first wave outlasts everything.
const giveUpFactor = 3

// rateBatches is into how many batches a rate is averaged for its interval, at most: of the 10 to 30 that Schmeiser,
// Operations Research 30 (1982), recommends.
const rateBatches = 12

// Limits on the number of averages that a slope is fitted to.
const (
	maxSlopeBatches = 30 // each spans many requests
	minSlopeBatches = 5  // a line through fewer fits anything
)

// deepBacklog is the share of the largest backlog from which on the server counts as far behind.
const deepBacklog = 0.5

// manyWaves is the number of waves from which on part of a wave more or less makes no difference.
const manyWaves = 10

// What grows in a stage.
const (
	leastGrowth     = 0.01 // of the rate: less is none
	fewestInSpan    = 10   // requests, of which the longest wait but one is taken
	requestsPerSpan = 20   // requests in a span of a window on average
	mostSpans       = 10
	fastGrowth      = 0.25 // of the rate: it ends a hold at once,
	slowGrowth      = 0.05 // and this much not before lateShare of the hold
	lateShare       = 0.5
	waitsLevel      = 4 // times less error is allowed to each of the two series of waits, on either side
)

// A server is silent while no token of any stream arrives although requests are in flight. What is usual is the longest
// silence that ended in the stage: waits for a first token count, so that a slow server is not taken for a silent one.
// The limits are checked by TestPlainServersAreNotFrozen and TestAFrozenServerIsNamed.
const (
	prolongFrom  = 2 // times as long as usual: a silence at the window's end belongs to the window
	frozenFrom   = 5 // times as long as usual: a server that was silent to the end has frozen
	leastProlong = 500 * time.Millisecond
	leastFrozen  = 2 * time.Second

	// A stage in which each request counts would wait for a frozen server until its requests time out. It is given up
	// earlier.
	giveUpFrom  = 10 // times as long as usual
	leastGiveUp = time.Minute
)

// A server pauses where nothing comes for at least leastPause although requests wait. From fewestPauses on the time
// between them is a rhythm.
const (
	leastPause    = time.Second
	fewestPauses  = 3
	pausesPerHold = 6 // from one pause to the next, that a rate is held
	longestHold   = 2 // times as long as planned, for their sake
)

// Beyond these a stage says as much of the client as of the server. It is invalid, and left out of the answer.
const (
	maxLate = 0.050 // seconds at p99, of sending and of reading: people would notice it in a TTFT
	maxCPU  = 0.95  // of all cores: none is left
	// of the token-bearing chunks, received together with the next: the time between tokens is then the client's
	maxShared = 0.2
)

// Answers under load are shorter where the mean length falls by more than leastShortened, with at least fewestShares
// answers on either side, and chance explains that once in a thousand times at most (Welch's test).
const (
	leastShortened = 0.02
	fewestShares   = 5
	shortenedLevel = 0.001
)

// What counts as a change between the halves of a window: of the hit rate, and of the tokens per second as a share.
// Smaller ones move no number of users by one.
const (
	hitsDrift   = 0.05
	tokensDrift = 0.1
)

// Little's law: the mean number in flight by the requests' own instants is that which the runner counted. They may
// differ by littleShare, since the runner counts in bins, and by littleRequests.
const (
	littleShare    = 0.1
	littleRequests = 0.5
)

// driftSigmas is how many standard errors a change between the halves of a window must be beyond what counts.
const driftSigmas = 2

// How the window of a stage is found.
const (
	nearlyWhole = 0.01 // of a wave: it may be missing
	fewestWaves = 2    // of a closed loop by number: of one, the rates depend on how it began
	nearlyFull  = 0.95 // of the places of a closed loop are busy: it is full
	opensSlower = 0.9  // times the rate after it, or less: the opening of a server that fills up; checked by TestVerdicts
)

// fewestOfMean is how many requests must be due in the window of a row, so that it has means and rates. On the servers of
// TestBench what rows of fewer completed per second is off by 15 to 30 % in the median, of five by 6 %.
const fewestOfMean = 5

// How long a stage goes on.
const (
	drainFactor = 1.15 // of the window's time, until its requests have ended; checked by TestBudgets
	fewestEnded = 20   // requests, before errors end it: fewer say little of a share
)

// mostTraced is how many requests of a stage are looked at for habits. More would show nothing new, and cost memory.
const mostTraced = 50_000

// The first token came early where the second comes earlyFactor times the usual gap later, in the median of fewestEarly
// requests at least.
const (
	earlyFactor = 5
	fewestEarly = 5
)

// Answers in bursts, and from a cache.
const (
	withinBurst    = 0.1 // of the mean gap: a smaller gap is no wait at all
	tokensPerBurst = 2.5 // tokens between two waits, on average
	mostlyBursts   = 0.5 // of the answers: the server is one that sends bursts
	// times the median first token of the others: an answer in one piece that comes before is a cache's
	cachedSooner = 0.7
	surelyCached = 1.5 // bursts' worth of tokens: a buffer sends a shorter answer in one piece as well
)

// A request is contaminated that has excessHits tokens beyond what the run had sent before and what all requests have
// beyond that: a chat template or a system prompt of the server, as far as it is no more than half of the prompt.
// Prompts below shortPrompt tokens do not tell. Of the requests of a contaminated row at least fewContaminated are so,
// and a share of shareContaminated.
const (
	excessHits        = 96
	shortPrompt       = 128
	fewContaminated   = 3
	shareContaminated = 0.01
)

// Turns of conversations.
const (
	cacheBlock   = 16  // tokens: what servers cache is rounded down to whole blocks
	warmLoss     = 0.1 // of what the session had sent before: with no more lost, a turn is warm
	againLoss    = 0.5 // with more lost, its context was computed again
	enoughForP95 = 20  // values: one lies beyond
)

// Servers behind one address that are not alike.
const (
	// times the mean first token of the fastest, with intervals that do not meet: less is no reason to look at a server
	slowReplica     = 1.2
	fewestOfReplica = 40    // first tokens: the interval of fewer is too narrow under load
	replicaLevel    = 0.025 // of each bound of the shares that fail
)

// What is a stall of all streams.
const (
	stallFactor   = 6    // as long as the usual gap between two tokens, at least
	shortestStall = 0.1  // seconds
	stalledShare  = 0.8  // of the open streams stand still
	sameInstant   = 2e-3 // seconds that client and server may need for streams that go on at one instant
	enoughTokens  = 2    // besides the first: an answer with fewer has no usual gap
)

// fewTokens is how many tokens an answer must have to show a rhythm.
const fewTokens = 4

// fewestBeyond is how many values beyond a limit tell how they cluster: with ten, a single chance neighbour lowers the
// effective number by a sixth.
const fewestBeyond = 10

// nearLimit is the share of a limit from which values tell how those beyond it cluster. Bursts of a busy queue far
// below the limit do not.
const nearLimit = 0.5

// A closed loop whose pace is measured before its requests have ended.
const (
	leastPaced  = time.Second // without new prompts
	manyWait    = 0.2         // of them, when the server has no place for them
	rhythmError = 0.04        // of what a full server serves in a few whole waves
	fewWait     = 0.02        // of its requests, for a first token, when the others are at work
)
