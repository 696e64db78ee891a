package slo

// The thresholds of this package, and where they come from. What the rules that use them are worth is in the tables of
// examples/evidence/families.md.

// level is the probability with which a term that is just missed is called met, and one just met is called missed.
const level = 0.05

// mlperfLevel is the probability with which MLPerf's rule may pass a server that misses a percentile: its confidence is
// 99 % (loadgen/early_stopping.cc).
const mlperfLevel = 0.01

// stallGap is the shortest gap that counts as a stall, in seconds, where a term does not set it.
const stallGap = 0.5

// speedOff is what an answer's speed may be off by, as a share, because its first chunk holds several tokens.
const speedOff = 0.05

// maxAdvice limits the advice to measure longer: where more than this many times the requests would be needed, the
// share is so near the limit that measuring longer is no advice.
const maxAdvice = 100

// The search for the highest rate that meets an SLO, and the line that shows it. Rates are shares of that rate. Checked
// by TestSLOFamilies.
const (
	probeDistance       = 0.05 // so far below and above it rates are held; the half-width that is aimed at
	firstProbe          = 0.8  // of the saturation rate, where the stages show nothing
	lineReach           = 0.3  // on either side: farther away the curve bends, and within less the slope is unsure
	stageScatter        = 0.03 // what a single stage is off by, besides its own noise
	valuesPerRelaxation = 20   // independent values of a stage in the time in which a queue forgets what it was
	minShare            = 1e-4 // of the values beyond a limit
	usualSlope          = 12   // of the log-odds of the share beyond a limit
	minSlope            = 2
	defaultLogError     = 0.1 // standard error of the logarithm of a mean without an interval
	bisections          = 24  // of a range of twice lineReach
	fits                = 8   // of a line, each from the one before
	intervalFactor      = 1.4 // times as wide as the line's: the search ends where that happens to be narrow
)

// MaxHalfWidth is the half-width of an interval up to which a rate counts as located, as a share of the rate. It is the
// room that a comfortable load leaves below saturation: with a wider interval it is not known whether the server
// sustains even that.
const MaxHalfWidth = 0.2

// How many requests a percentile takes.
const (
	tailSamples = 5    // samples must lie beyond a percentile: see [stats.Supported]
	rounding    = 1e-9 // so that 5/0.05 is 100 requests and not 101
)
